import { assert, describe, it } from "@effect/vitest"
import { SOL } from "../../../src/domain/Address.ts"
import { SearchIndex } from "../../../src/market/reads/SearchIndex.ts"
import { coins, launchNames } from "../../../src/simulator/pools/catalog.ts"
import { mintOf } from "../tape/tape.ts"

const NAMES: ReadonlyArray<readonly [symbol: string | null, name: string | null]> = [
  ["BONK", "Bonk"],
  ["B\u041eNK", "Official Bonk"],
  ["WIF", "dogwifhat"],
  ["POPCAT", "Popcat the Cat"],
  ["BONKERS", "Bonkers"],
  [null, null],
  ["JITOSOL", "Jito Staked SOL"],
  ["🎩", "Hat"]
]

const indexOf = (names: typeof NAMES = NAMES, most = 100): SearchIndex => {
  const index = new SearchIndex(most)
  names.forEach(([symbol, name], i) => index.put(mintOf(i + 1), { symbol, name }))
  return index
}

const found = (index: SearchIndex, text: string) =>
  index
    .find(text, 50)
    .found.map(({ match, token }) => [NAMES.findIndex((_, i) => mintOf(i + 1) === token.mint) + 1, match])

describe("the search index", () => {
  it("finds symbols, look-alikes, beginnings and words", () => {
    const index = indexOf()
    assert.deepStrictEqual(found(index, "bonk"), [
      [1, "symbol"],
      [2, "confusable"],
      [5, "symbol_prefix"]
    ])
    assert.deepStrictEqual(found(index, "$wif"), [[3, "symbol"]])
    assert.deepStrictEqual(found(index, "dogwifhat"), [[3, "name"]])
    assert.deepStrictEqual(found(index, "staked jito"), [[7, "name_prefix"]])
    assert.deepStrictEqual(found(index, "w"), [[3, "symbol_prefix"]])
    assert.deepStrictEqual(found(index, "🎩"), [[8, "symbol"]])
    assert.deepStrictEqual(found(index, "nothing like it"), [])
    assert.deepStrictEqual(found(index, "\u202e"), [])
  })

  it("forgives one typing error from four characters on, and more in long names", () => {
    const index = indexOf()
    for (const typed of ["bnok", "bokn", "onk", "bonl", "bponk"]) {
      assert.include(
        found(index, typed).map(([n]) => n),
        1,
        typed
      )
    }
    assert.deepStrictEqual(found(index, "popcta"), [[4, "typo"]])
    assert.deepStrictEqual(found(index, "wof"), [])
    assert.deepStrictEqual(found(index, "jito stakd sool"), [[7, "typo"]])
  })

  it("gives the best and reports that there are more", () => {
    const { found: best, isCut } = indexOf().find("bonk", 2)
    assert.deepStrictEqual([best.map(({ match }) => match), isCut], [["symbol", "confusable"], true])
    assert.isFalse(indexOf().find("bonk", 3).isCut)
  })

  it("finds addresses by their beginning, with case, named or not", () => {
    const index = indexOf()
    index.see(mintOf(60))
    const address = mintOf(60)
    assert.deepStrictEqual(
      index.find(address, 50).found.map(({ match }) => match),
      ["address"]
    )
    const prefix = index.find(address.slice(0, -1), 50).found.map(({ match, token }) => [token.mint, match])
    assert.deepInclude(prefix, [address, "address_prefix"])
    assert.deepStrictEqual(index.find(address.slice(0, 2), 50).found, [])
    assert.deepStrictEqual([index.size, index.named], [9, 8])
  })

  it("finds every mint of the simulated market by every beginning of its symbol and of its name", () => {
    const named = [...coins.map(({ name, symbol }) => [symbol, name] as const), ...launchNames]
    const index = indexOf([...named, ["\u0392\u039f\u039d\u039a", "(hat) -- Barn Owl's rn vv"], [".x", "- dash"]])
    const all = [
      ...named,
      ["\u0392\u039f\u039d\u039a", "(hat) -- Barn Owl's rn vv"] as const,
      [".x", "- dash"] as const
    ]
    for (const [place, texts] of all.entries()) {
      for (const text of texts) {
        const letters = Array.from(text)
        for (let length = 1; length <= letters.length; length++) {
          const typed = letters.slice(0, length).join("")
          const rows = index.find(typed, 1000).found.map(({ token }) => token.mint)
          assert.include(rows, mintOf(place + 1), `${typed} of ${text}`)
        }
      }
    }
    assert.isAbove(all.length, 20)
    assert.deepStrictEqual(
      index.find("fer", 10).found.map(({ token }) => token.names?.symbol),
      ["FERN"]
    )
  })

  it("finds texts that look alike by more than one letter as a whole alone", () => {
    const index = indexOf([
      ["BARN", "Barn"],
      ["VVIF", "vvif"]
    ])
    assert.deepStrictEqual(
      index.find("bam", 10).found.map(({ match }) => match),
      ["confusable"]
    )
    assert.deepStrictEqual(
      index.find("wif", 10).found.map(({ match }) => match),
      ["confusable"]
    )
    assert.deepStrictEqual(index.find("wi", 10).found, [])
  })

  it("never cuts SOL off for copies of its names", () => {
    const index = indexOf(Array.from({ length: 30 }, () => ["SOLANA", "Solana"] as const))
    index.put(SOL, { symbol: "SOL", name: "Wrapped SOL" })
    const { found, isCut } = index.find("solana", 20)
    assert.deepStrictEqual([found.length, isCut], [20, true])
    assert.deepInclude(
      found.map(({ match, token }) => [token.mint, match]),
      [SOL, "name"]
    )
  })

  it("orders equal matches by volume", () => {
    const index = indexOf([
      ["DOGE", "a"],
      ["DOGE", "b"]
    ])
    assert.deepStrictEqual(found(index, "doge")[0], [mintOf(1) < mintOf(2) ? 1 : 2, "symbol"])
    const second = mintOf(1) < mintOf(2) ? 2 : 1
    index.see(mintOf(second), 5)
    assert.deepStrictEqual(found(index, "doge")[0], [second, "symbol"])
  })

  it("follows a new name, and makes room for new mints", () => {
    const index = indexOf([["OLD", "Old"]], 3)
    index.put(mintOf(1), { symbol: "NEW", name: "New" })
    assert.deepStrictEqual(found(index, "old"), [])
    assert.deepStrictEqual(found(index, "new"), [[1, "symbol"]])
    index.see(mintOf(1), 10)
    for (let n = 2; n <= 20; n++) {
      index.put(mintOf(n), { symbol: `T${n}`, name: null })
    }
    assert.deepStrictEqual([index.size, index.named], [3, 3])
    // The one with volume stays.
    assert.deepStrictEqual(found(index, "new"), [[1, "symbol"]])
    assert.lengthOf(index.find("t", 50).found, 2)
    assert.strictEqual(index.find("t20", 50).found[0]?.token.mint, mintOf(20))
    assert.deepStrictEqual(
      index.alike("new").map(({ mint }) => mint),
      [mintOf(1)]
    )
  })

  it("finds the same as a comparison with every mint, however old its postings are", () => {
    const index = new SearchIndex(40)
    const syllables = ["ba", "do", "ki", "nu", "pe", "sol"]
    let seed = 7
    const next = (bound: number) => (seed = (seed * 48_271) % 2_147_483_647) % bound
    const word = () => Array.from({ length: 1 + next(3) }, () => syllables[next(6)]).join("")
    const current = new Map<string, string>()
    for (let step = 0; step < 400; step++) {
      const mint = mintOf(1 + next(30))
      const symbol = word()
      index.put(mint, { symbol, name: null })
      current.set(mint, symbol)
      const typed = word()
      const expected = [...current].filter(([, known]) => known === typed).map(([mint]) => mint)
      const exact = index.find(typed, 50).found.filter(({ match }) => match === "symbol")
      assert.sameMembers(
        exact.map(({ token }) => token.mint),
        expected
      )
    }
  })
})
