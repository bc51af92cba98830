import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { DiscoveryAnswer } from "../../../src/api/Market.ts"
import { SOL } from "../../../src/domain/Address.ts"
import type { Launch } from "../../../src/api/schemas/Launch.ts"
import { Tape } from "../../../src/market/tape/Tape.ts"
import { poolOf } from "../../market/tape/decoded.ts"
import { mintOf, MONDAY, walletOf } from "../../market/tape/tape.ts"
import { type Answer, call, keyOf } from "../../support/http.ts"
import { block, makeBooks, minted, reading, setSecond } from "../../support/reads.ts"
import { at, poolWith, priceAll } from "../../support/views.ts"

/** Two fifths, three fifths and nine tenths of the way to the end of a curve. */
const sold = { 1: 40n, 2: 60n, 3: 90n } as const
const FOR_SALE = 793_100_000_000_000n

const books = makeBooks()
priceAll(books, [1, 2, 3, 4].map(mintOf))
for (const [n, percent] of Object.entries(sold)) {
  const mint = mintOf(Number(n))
  books.tokens.set(mint, minted(10n ** 15n, 6))
  const dex = n === "2" ? "meteora-dbc" : "pump-fun-curve"
  const graduation = { numerator: percent, denominator: 100n }
  books.pools.set(mint, [{ ...poolWith(mint, dex, [(FOR_SALE * (100n - percent)) / 100n, 1_000_000n]), graduation }])
}

const launched = (n: number, event: Launch["event"], launchpad = "pump-fun"): Launch => ({
  event,
  mint: mintOf(n),
  launchpad,
  pool: poolOf(n)
})

const keys = "abc".split("").map((letter) => keyOf(letter))
type Query = Record<string, string>
const discovery = (query: Query = {}, key = "a") =>
  call(`/api/v1/market/discovery?${new URLSearchParams(query)}`, { key })
const code = (answer: Answer) => `${answer.status} ${String(answer.json("error.code"))}`
const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(DiscoveryAnswer))
const found = Effect.fnUntraced(function* (query: Query, key = "a") {
  const { data } = yield* decode((yield* discovery(query, key)).text)
  return data.map(({ token }) => Array.from({ length: 9 }, (_, n) => n).find((n) => mintOf(n) === token.address))
})

const now = 4000

layer(reading({ books, world: { keys } }))("GET /api/v1/market/discovery", (it) => {
  it.effect("is unavailable before the first block", () =>
    Effect.gen(function* () {
      assert.strictEqual(code(yield* discovery({ stage: "trending" })), "503 data_unavailable")
    })
  )

  it.effect("finds new tokens, the newest first, with complete figures since an observed launch", () =>
    Effect.gen(function* () {
      const tape = yield* Tape
      yield* setSecond(now)
      yield* tape.apply(block(0))
      yield* tape.apply(block(10, { launches: [launched(1, "created"), launched(4, "created", "meteora-dbc")] }))
      yield* tape.apply(block(3800, { launches: [launched(2, "created")], trades: [at(3800, { mint: mintOf(2) })] }))
      yield* tape.apply(block(now, { launches: [launched(3, "created"), launched(4, "migrated", "meteora-dbc")] }))
      const answer = yield* discovery()
      assert.strictEqual(answer.status, 200, answer.text)
      const { data, meta, nextCursor } = yield* decode(answer.text)
      assert.deepStrictEqual(yield* found({}), [3, 2, 1, 4])
      assert.deepInclude(data[1], {
        stage: "new",
        launchpad: "pump-fun",
        pool: poolOf(2),
        createdAtMs: (MONDAY + 3800) * 1000,
        graduatedAtMs: null,
        trendBasis: null
      })
      assert.strictEqual(data[1]?.curveProgressPct.value, "60")
      assert.strictEqual(data[1]?.volumeUsd.value, "1")
      assert.strictEqual(data[1]?.priceUsd.value, "1")
      assert.strictEqual(data[1]?.marketCapUsd.value, "1000000000")
      assert.strictEqual(data[1]?.holders.status, "unavailable")
      const { marketCapUsd, priceUsd } = data[2] ?? {}
      assert.deepStrictEqual([priceUsd?.value, marketCapUsd?.value], ["1", "1000000000"], "without a trade")
      assert.strictEqual(nextCursor, null)
      assert.deepStrictEqual(meta.ranking, { stage: "new", window: "24h", order: "createdAtMs_desc" })
      assert.deepStrictEqual(yield* found({ window: "5m" }), [3, 2])
    })
  )

  it.effect("finds tokens about to graduate by the share sold, and graduated ones", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* found({ stage: "graduating" }), [3, 2])
      assert.deepStrictEqual(yield* found({ stage: "graduated" }), [4])
      const graduated = yield* discovery({ stage: "graduated" })
      assert.strictEqual(graduated.json("data.0.curveProgressPct.value"), "100")
      assert.strictEqual(graduated.json("data.0.graduatedAtMs"), (MONDAY + now) * 1000)
    })
  )

  it.effect("keeps to launchpads and minima, and counts rows with unknown values", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* found({ launchpad: "meteora-dbc" }), [4])
      assert.deepStrictEqual(yield* found({ launchpad: "meteora-dbc,pump-fun" }), [3, 2, 1, 4])
      const deep = yield* discovery({ minLiquidityUsd: "400000000" })
      assert.strictEqual(deep.json("data.length"), 1)
      assert.deepStrictEqual(deep.json("meta.excluded"), { unknownRank: 0, unknownFilter: 1 })
      assert.include(books.warmed, mintOf(4))
      const held = yield* discovery({ minHolders: "1" })
      assert.deepStrictEqual(held.json("data"), [])
      assert.strictEqual(held.json("meta.excluded.unknownFilter"), 4)
    })
  )

  it.effect("finds what more and more wallets trade", () =>
    Effect.gen(function* () {
      const tape = yield* Tape
      const many = [1, 2, 3, 4, 5].map((n) => at(now, { mint: mintOf(3), wallet: walletOf(n), index: n }))
      const steady = [0, 1].map((n) => at(now, { mint: mintOf(2), wallet: walletOf(n), index: 10 + n }))
      yield* tape.apply(block(now, { trades: [...many, ...steady] }))
      const { data } = yield* decode((yield* discovery({ stage: "trending", window: "5m" }, "b")).text)
      assert.deepStrictEqual(
        data.map(({ token, trendBasis }) => [token.address, trendBasis]),
        [
          [mintOf(3), "traders_growth"],
          [mintOf(2), "traders_growth"]
        ]
      )
      assert.strictEqual(data[0]?.traders.value, "5")
      assert.strictEqual(data[0]?.traders.status, "known")
    })
  )

  it.effect("turns pages of one snapshot, until it is gone", () =>
    Effect.gen(function* () {
      const tape = yield* Tape
      const first = yield* discovery({ limit: "3" }, "b")
      yield* tape.apply(block(now, { launches: [launched(5, "created")] }))
      const cursor = String(first.json("nextCursor"))
      const second = yield* discovery({ limit: "3", cursor }, "b")
      assert.strictEqual(second.json("data.0.token.address"), mintOf(4))
      assert.strictEqual(second.json("nextCursor"), null)
      const others: ReadonlyArray<Query> = [
        { limit: "2" },
        { stage: "graduated" },
        { window: "6h" },
        { launchpad: "pump-fun" },
        { minHolders: "0" },
        { minLiquidityUsd: "1" }
      ]
      for (const other of others) {
        assert.strictEqual(code(yield* discovery({ limit: "3", cursor, ...other }, "b")), "400 invalid_cursor")
      }
      yield* setSecond(now + 61)
      assert.strictEqual(code(yield* discovery({ limit: "3", cursor }, "b")), "409 cursor_expired")
    })
  )

  it.effect("never shows SOL or a stable coin as a token on a curve", () =>
    Effect.gen(function* () {
      const tape = yield* Tape
      books.pools.set(SOL, books.pools.get(mintOf(1)) ?? [])
      const paid = [1, 2, 3, 4, 5, 6].map((n) => at(now + 64, { mint: SOL, wallet: walletOf(n), index: 20 + n }))
      yield* setSecond(now + 64)
      yield* tape.apply(block(now + 64, { trades: paid }))
      const { data } = yield* decode((yield* discovery({ stage: "trending", window: "5m" }, "c")).text)
      const sol = data.find(({ token }) => token.address === SOL)
      assert.strictEqual(sol?.curveProgressPct.status, "unavailable")
    })
  )

  it.effect("is unavailable without a launch feed, except for trending tokens", () =>
    Effect.gen(function* () {
      const tape = yield* Tape
      yield* setSecond(now + 62)
      yield* tape.apply(block(now + 62, { launches: null }))
      for (const stage of ["new", "graduating", "graduated"]) {
        assert.strictEqual(code(yield* discovery({ stage }, "c")), "503 data_unavailable")
      }
      assert.strictEqual((yield* discovery({ stage: "trending" }, "c")).status, 200)
    })
  )

  const refusals: ReadonlyArray<Query> = [
    { stage: "safe" },
    { window: "7d" },
    { launchpad: "" },
    { launchpad: "a,a" },
    { minHolders: "1.5" },
    { minLiquidityUsd: "x" },
    { limit: "101" },
    { sort: "asc" }
  ]
  for (const query of refusals) {
    it.effect(`refuses ${JSON.stringify(query)}`, () =>
      Effect.gen(function* () {
        assert.strictEqual(code(yield* discovery(query, "c")), "400 invalid_request")
      })
    )
  }
})
