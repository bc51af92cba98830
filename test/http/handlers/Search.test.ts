import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { TestClock } from "effect/testing"
import { SearchAnswer } from "../../../src/api/Search.ts"
import { Address, SOL, USDC } from "../../../src/domain/Address.ts"
import { DOLLARS } from "../../../src/domain/stables.ts"
import { Tape } from "../../../src/market/tape/Tape.ts"
import type { TokenState } from "../../../src/tokens/TokenCache.ts"
import { poolOf } from "../../market/tape/decoded.ts"
import { mintOf, MONDAY } from "../../market/tape/tape.ts"
import { assertInvalid, assertRefused, keys } from "./tokenCalls.ts"
import { type Answer, call } from "../../support/http.ts"
import { block, makeBooks, minted, reading, setSecond } from "../../support/reads.ts"
import { at, DOLLAR, poolWith, priceAll } from "../../support/views.ts"

const NOW = 4000
const books = makeBooks()

const named = (symbol: string, name: string, given: { readonly mintAuthority?: string } = {}): TokenState => {
  const state = minted(10n ** 15n, 6)
  const observation = { slot: 5, observedAtMs: (MONDAY + NOW) * 1000 }
  return state._tag === "Token" && state.facts !== null
    ? {
        ...state,
        observation,
        facts: {
          ...state.facts,
          mintAuthority: given.mintAuthority === undefined ? null : Address.make(given.mintAuthority)
        },
        metadata: { name, symbol, uri: null }
      }
    : state
}

/** Micro-dollars in the pools of a token: each of its two reserves. */
const hold = (n: number, dex: string, micro: bigint) =>
  books.pools.set(mintOf(n), [poolWith(mintOf(n), dex, [micro, micro])])

books.tokens.set(mintOf(1), named("BONK", "Bonk"))
books.tokens.set(mintOf(2), named("B\u041eNK\u202e", "Bonk Official", { mintAuthority: mintOf(40) }))
books.tokens.set(mintOf(3), named("BONK", "Bonk Copy"))
books.tokens.set(mintOf(4), named("BONKERS", "Bonkers"))
books.tokens.set(mintOf(5), named("USDC", "USD Coin"))
books.tokens.set(USDC, named("USDC", "USD Coin"))
hold(1, "orca-whirlpool", 10n ** 12n)
hold(2, "raydium-cpmm", 10n ** 9n)
hold(4, "raydium-cpmm", 5n * 10n ** 11n)
hold(5, "raydium-cpmm", 10n ** 13n)
priceAll(books, [1, 2, 3, 4, 5].map(mintOf))

const search = (query: Record<string, string>, key = "b") =>
  call(`/api/v1/search?${new URLSearchParams(query)}`, { key })
const read = (answer: Answer) => {
  assert.strictEqual(answer.status, 200, answer.text)
  return Schema.decodeUnknownSync(Schema.fromJsonString(SearchAnswer))(answer.text)
}
const numbersOf = (answer: Answer) =>
  read(answer).data.map(({ token }) => Array.from({ length: 50 }, (_, n) => n).find((n) => mintOf(n) === token.address))

layer(reading({ books, world: { keys } }))("the search", (it) => {
  it.effect("is unavailable before the first block", () =>
    Effect.gen(function* () {
      assertRefused(yield* search({ q: "bonk" }), 503, "data_unavailable")
    })
  )

  it.effect("orders by match, then liquidity, and marks look-alikes", () =>
    Effect.gen(function* () {
      const tape = yield* Tape
      yield* setSecond(NOW)
      yield* tape.apply(block(0))
      const launch = {
        event: "created",
        mint: mintOf(4),
        launchpad: "pump-fun",
        pool: poolOf(4)
      } as const
      yield* tape.apply(block(1000, { launches: [launch] }))
      yield* tape.apply(block(NOW, { trades: [at(NOW, { mint: mintOf(4), volumeUsdNanos: 70n * DOLLAR })] }))
      yield* TestClock.adjust("10 seconds")
      const answer = yield* search({ q: "Bonk" })
      assert.deepStrictEqual(numbersOf(answer), [1, 3, 2, 4])
      const { data, meta } = read(answer)
      assert.deepStrictEqual(
        data.map(({ match }) => match),
        ["symbol", "symbol", "confusable", "symbol_prefix"]
      )
      const [first, copy, confusable] = data
      assert.deepInclude(first?.lookAlike, { isLookAlike: false, of: null })
      assert.strictEqual(first?.lookAlike.coverage.reason, "not_captured")
      // Its pools are not loaded, so it is not known to be smaller.
      assert.deepStrictEqual([copy?.lookAlike.isLookAlike, copy?.liquidityUsd.value, copy?.venues], [null, null, null])
      assert.deepInclude(confusable?.lookAlike, { isLookAlike: true, isConfusable: true })
      assert.strictEqual(confusable?.lookAlike.of?.address, mintOf(1))
      assert.strictEqual(confusable?.token.symbol, "B\u041eNK\u202e")
      assert.strictEqual(confusable?.shownSymbol, "B\u041eNK\\u{202e}")
      assert.deepInclude(confusable, { authoritiesKnown: true, mintAuthority: mintOf(40), freezeAuthority: null })
      assert.strictEqual(first?.liquidityUsd.value, "2000000")
      assert.include(books.warmed, mintOf(3))
      // Nothing but the mint 3 and the money was met without a name.
      assert.deepStrictEqual(meta.coverage, { complete: false, reason: "not_captured" })
      assert.isBelow(meta.index.named, meta.index.mints)
    })
  )

  it.effect("marks a copy of a dollar, whatever it holds", () =>
    Effect.gen(function* () {
      const { data } = read(yield* search({ q: "usdc" }))
      const copy = data.find(({ token }) => token.address === mintOf(5))
      assert.deepStrictEqual(copy?.lookAlike.of?.address, USDC)
      const dollar = data.find(({ token }) => token.address === USDC)
      assert.strictEqual(dollar?.lookAlike.isLookAlike, false)
    })
  )

  it.effect("ranks no copy of a name or a symbol above what it imitates, and marks it", () =>
    Effect.gen(function* () {
      const tape = yield* Tape
      const solana = [
        [20, "SOLANA", "Solana"],
        [21, "XYZ", "S\u043elana"],
        [22, "S\u041eL", "Anything"]
      ] as const
      solana.forEach(([n, symbol, name]) => {
        books.tokens.set(mintOf(n), named(symbol, name))
        hold(n, "raydium-cpmm", 10n ** 15n)
      })
      // Larger by the match and by what it holds, but named like a token that holds ten times as much.
      books.tokens.set(mintOf(23), named("FERN", "Fern Network"))
      books.tokens.set(mintOf(24), named("FERN NETWORK", "Copy"))
      hold(23, "raydium-cpmm", 10n ** 12n)
      hold(24, "raydium-cpmm", 10n ** 10n)
      // Its pools are not loaded.
      books.tokens.set(mintOf(25), named("FERN NETWORK", "Unknown"))
      books.tokens.set(SOL, named("SOL", "Wrapped SOL"))
      priceAll(books, [20, 21, 22, 23, 24, 25].map(mintOf))
      yield* TestClock.adjust("11 seconds")
      yield* tape.apply(block(NOW + 100))
      for (const q of ["solana", "SOL", "sola", "s\u041eL", "so", "Wrapped SOL"]) {
        const { data } = read(yield* search({ q }, "h"))
        const place = data.findIndex(({ token }) => token.address === SOL)
        assert.isAtLeast(place, 0, q)
        const above = data.slice(0, place).map(({ token }) => token.address)
        solana.forEach(([n]) => assert.notInclude(above, mintOf(n), q))
      }
      const { data } = read(yield* search({ q: "solana" }, "h"))
      assert.strictEqual(data[0]?.token.address, SOL)
      const verdictOf = (n: number, rows = data) => {
        const { by, isConfusable, isLookAlike, of } =
          rows.find(({ token }) => token.address === mintOf(n))?.lookAlike ?? {}
        return [isLookAlike, by, isConfusable, of?.address]
      }
      assert.deepStrictEqual(verdictOf(20), [true, "symbol", false, SOL])
      assert.deepStrictEqual(verdictOf(21), [true, "name", true, SOL])
      const fern = read(yield* search({ q: "fern network" }, "h")).data
      assert.deepStrictEqual(
        fern.map(({ token }) => token.address),
        [23, 24, 25].map(mintOf)
      )
      assert.deepStrictEqual(verdictOf(24, fern), [true, "symbol", false, mintOf(23)])
      assert.deepStrictEqual(verdictOf(25, fern), [null, null, null, undefined])
    })
  )

  it.effect("finds typing errors and addresses", () =>
    Effect.gen(function* () {
      assert.include(numbersOf(yield* search({ q: "bokn" }, "c")), 1)
      const [row] = read(yield* search({ q: mintOf(3) }, "c")).data
      assert.deepStrictEqual([row?.token.address, row?.match], [mintOf(3), "address"])
    })
  )

  it.effect("filters, and counts tokens of which the value is unknown", () =>
    Effect.gen(function* () {
      const of = Effect.fnUntraced(function* (query: Record<string, string>) {
        const answer = yield* search({ q: "bonk", ...query }, "d")
        return [numbersOf(answer), read(answer).meta.excluded.unknownFilter]
      })
      assert.deepStrictEqual(yield* of({ minLiquidityUsd: "500000" }), [[1, 4], 1])
      assert.deepStrictEqual(yield* of({ venue: "raydium-cpmm" }), [[2, 4], 1])
      assert.deepStrictEqual(yield* of({ launchpad: "pump-fun" }), [[4], 3])
      assert.deepStrictEqual(yield* of({ maxAgeSeconds: "3100" }), [[4], 3])
      assert.deepStrictEqual(yield* of({ minAgeSeconds: "3100" }), [[], 3])
      assert.deepStrictEqual(yield* of({ authoritiesRevoked: "false" }), [[2], 0])
      assert.deepStrictEqual(yield* of({ minVolumeUsd: "60" }), [[4], 3])
      assert.deepStrictEqual(yield* of({ minVolumeUsd: "80" }), [[], 3])
    })
  )

  it.effect("comes in pages of one view", () =>
    Effect.gen(function* () {
      const first = yield* search({ q: "bonk", limit: "1" }, "e")
      const cursor = String(first.json("nextCursor"))
      const second = yield* search({ q: "bonk", limit: "1", cursor }, "e")
      assert.deepStrictEqual([numbersOf(first), numbersOf(second)], [[1], [3]])
      assertRefused(yield* search({ q: "wif", limit: "1", cursor }, "e"), 400, "invalid_cursor")
      yield* TestClock.adjust("61 seconds")
      assertRefused(yield* search({ q: "bonk", limit: "1", cursor }, "e"), 409, "cursor_expired")
    })
  )

  it.effect("is known once every mint has a name or is known to have none", () =>
    Effect.gen(function* () {
      const tape = yield* Tape
      const observation = { slot: 5, observedAtMs: (MONDAY + NOW) * 1000 }
      const absent = DOLLARS.filter((mint) => mint !== USDC)
      books.tokens.set(SOL, named("SOL", "Wrapped SOL"))
      books.tokens.set(mintOf(1), named("BONK", "Bonk"))
      absent.forEach((mint) => books.tokens.set(mint, { _tag: "NoToken", observation }))
      yield* TestClock.adjust("11 seconds")
      yield* tape.apply(block(NOW + 200))
      const { meta } = read(yield* search({ q: "sol" }, "g"))
      assert.deepStrictEqual([meta.status, meta.coverage], ["known", { complete: true, reason: null }])
      assert.strictEqual(meta.index.named, meta.index.mints)
      absent.forEach((mint) => books.tokens.delete(mint))
    })
  )

  it.effect("names the field of a bad request", () =>
    Effect.gen(function* () {
      assertInvalid(yield* call("/api/v1/search", { key: "f" }), "query", "q", "missing")
      assertInvalid(yield* search({ q: "" }, "f"), "query", "q", "out_of_range")
      assertInvalid(yield* search({ q: "x".repeat(65) }, "f"), "query", "q", "too_long")
      assertInvalid(yield* search({ q: " \u202e\u200b " }, "f"), "query", "q", "format")
      assertInvalid(yield* search({ q: "a", venue: "UPPER" }, "f"), "query", "venue", "format")
      assertInvalid(yield* search({ q: "a", limit: "101" }, "f"), "query", "limit", "out_of_range")
      assertInvalid(
        yield* search({ q: "a", minAgeSeconds: "2", maxAgeSeconds: "1" }, "f"),
        "query",
        "maxAgeSeconds",
        "conflict"
      )
    })
  )
})
