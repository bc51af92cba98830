import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { PoolsAnswer } from "../../../src/api/Pools.ts"
import type { LiquidityChange } from "../../../src/api/schemas/LiquidityEvent.ts"
import { TradeStoreUnavailable } from "../../../src/api/schemas/Trade.ts"
import { type Mint, SOL, USDC } from "../../../src/domain/Address.ts"
import type { TapeTrade } from "../../../src/market/model/TapeTrade.ts"
import { Tape } from "../../../src/market/tape/Tape.ts"
import { makeMemoryStores } from "../../../src/testing/MemoryStores.ts"
import { address, mintOf, MONDAY, walletOf } from "../../market/tape/tape.ts"
import { type Answer, call, keyOf } from "../../support/http.ts"
import { replaced } from "../../support/marketStores.ts"
import { block, makeBooks, minted, reading, setSecond } from "../../support/reads.ts"
import { at, DOLLAR, poolWith, priceAll } from "../../support/views.ts"

const [A, B, C, D] = [mintOf(1), mintOf(2), mintOf(3), mintOf(4)]
const poolAt = (n: number) => address(5, n)
const now = 4000

const books = makeBooks()
priceAll(books, [A, B, C, USDC])
const loaded = (mint: Mint, n: number, dex: string, units: bigint) =>
  books.pools.set(mint, [
    ...(books.pools.get(mint) ?? []),
    { ...poolWith(mint, dex, [units, units]), address: poolAt(n) }
  ])
for (const mint of [A, B]) {
  books.tokens.set(mint, minted(2_000_000_000n, 6))
}
loaded(A, 1, "raydium-cpmm", 1_000_000n)
loaded(A, 9, "orca-whirlpool", 7_000_000n)
loaded(B, 2, "pumpswap", 3_000_000n)

const memory = makeMemoryStores()
const store = { isUnavailable: false, from: Number.NEGATIVE_INFINITY }
const stored = replaced(memory, {
  trades: {
    poolsOpened: (fromMs, most) =>
      Effect.suspend(() =>
        store.isUnavailable
          ? Effect.fail(new TradeStoreUnavailable({ cause: new Error("unavailable") }))
          : Effect.map(memory.trades.poolsOpened(fromMs, most), (found) => ({ ...found, from: store.from }))
      )
  }
})

const opening = (n: number, mint: Mint, other: Mint): LiquidityChange => ({
  signature: "s",
  index: n * 1024,
  kind: "added",
  pool: poolAt(n),
  dex: "raydium-cpmm",
  provider: walletOf(3),
  sides: [
    { mint, amount: 5n, decimals: 6 },
    { mint: other, amount: 5n, decimals: 9 }
  ],
  opens: true,
  includesFees: false
})

const swap = (n: number, mint: Mint, dollars: bigint, given: Partial<TapeTrade> = {}) =>
  at(now - 50, { mint, pool: poolAt(n), index: n, dex: "raydium-cpmm", volumeUsdNanos: dollars * DOLLAR, ...given })

const keys = "abcdef".split("").map((letter) => keyOf(letter))
const pools = (query: Record<string, string> = {}, key = "a") =>
  call(`/api/v1/pools?${new URLSearchParams(query)}`, { key })
const decode = Schema.decodeUnknownSync(Schema.fromJsonString(PoolsAnswer))
const code = (answer: Answer) => `${answer.status} ${String(answer.json("error.code"))}`
const rows = ({ status, text }: Answer) => {
  assert.strictEqual(status, 200, text)
  return decode(text).data
}
const numbers = (answer: Answer) => rows(answer).map(({ pool }) => [1, 2, 3, 4, 5, 9].find((n) => poolAt(n) === pool))

layer(reading({ books, stored, world: { keys } }))("GET /api/v1/pools", (it) => {
  it.effect("is unavailable before the first block", () =>
    Effect.gen(function* () {
      assert.strictEqual(code(yield* pools()), "503 data_unavailable")
    })
  )

  it.effect("has the pools of the day by volume, with what is known of each", () =>
    Effect.gen(function* () {
      const tape = yield* Tape
      yield* setSecond(now)
      yield* memory.blocks.open({ genesis: "one", isSandbox: false })
      yield* tape.apply(block(0))
      const created = block(now - 100, { liquidity: [opening(3, C, SOL), opening(5, D, USDC)] })
      yield* memory.blocks.append([created])
      yield* tape.apply(created)
      yield* tape.apply(
        block(now, {
          trades: [
            swap(1, A, 10n),
            swap(2, B, 30n, { dex: "pumpswap" }),
            swap(3, C, 20n),
            swap(4, D, 0n, { volumeUsdNanos: null, lamports: null })
          ],
          launches: [{ event: "migrated", mint: B, launchpad: "pump-fun", pool: poolAt(2) }]
        })
      )
      const answer = yield* pools()
      // The volume of the last one is not known over the whole day.
      assert.deepStrictEqual(numbers(answer), [2, 3, 5, 1])
      const [first, second, last, third] = rows(answer)
      assert.deepInclude(first, { dex: "pumpswap", provenance: "graduated", launchpad: "pump-fun", trades24h: 1 })
      assert.strictEqual(first?.createdAtMs, (MONDAY + now) * 1000)
      assert.strictEqual(first?.liquidityUsd.value, "6")
      assert.deepInclude(second, { provenance: "created", createdAtMs: (MONDAY + now - 100) * 1000, quoteMint: SOL })
      assert.deepStrictEqual([second?.liquidityUsd.value, second?.liquidityUsd.status], [null, "unavailable"])
      // Created after the record began, so its volume since is whole.
      assert.deepStrictEqual([second?.volume24hUsd.value, second?.volume24hUsd.status], ["20", "known"])
      assert.deepInclude(third, { provenance: null, createdAtMs: null })
      assert.isNull(third?.volume24hUsd.value)
      assert.deepStrictEqual([last?.quoteMint, last?.volume24hUsd.value], [USDC, "0"])
      const { meta } = decode(answer.text)
      assert.deepInclude(meta, {
        pools: 5,
        examined: 4,
        excluded: { unknownRank: 1, unknownFilter: 0 },
        sort: "volume"
      })
    })
  )

  it.effect("is ordered by liquidity and by age, without pools whose value is unknown", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(numbers(yield* pools({ sort: "liquidity" })), [2, 1])
      assert.deepStrictEqual(numbers(yield* pools({ sort: "new" })), [2, 3, 5])
      const { meta } = decode((yield* pools({ sort: "liquidity" })).text)
      assert.strictEqual(meta.excluded.unknownRank, 3)
    })
  )

  it.effect("is filtered by token, quote, venue, liquidity, creation and provenance, and counts what is unknown", () =>
    Effect.gen(function* () {
      // A pool in memory that did not trade.
      assert.deepStrictEqual(numbers(yield* pools({ token: A }, "b")), [1, 9])
      assert.deepStrictEqual(numbers(yield* pools({ quoteToken: USDC }, "b")), [5])
      assert.deepStrictEqual(numbers(yield* pools({ venue: "pumpswap,orca-whirlpool" }, "b")), [2])
      assert.deepStrictEqual(numbers(yield* pools({ minLiquidityUsd: "6" }, "b")), [2])
      const since = yield* pools({ createdSince: String(MONDAY + now - 100) }, "b")
      assert.deepStrictEqual(numbers(since), [2, 3, 5])
      assert.strictEqual(decode(since.text).meta.excluded.unknownFilter, 2)
      assert.deepStrictEqual(numbers(yield* pools({ createdSince: String(MONDAY + now - 99) }, "b")), [2])
      assert.deepStrictEqual(numbers(yield* pools({ provenance: "created" }, "b")), [3, 5])
    })
  )

  it.effect("is read in pages, and queues tokens that are not loaded", () =>
    Effect.gen(function* () {
      const first = yield* pools({ limit: "3" }, "c")
      const cursor = String(first.json("nextCursor"))
      const second = yield* pools({ limit: "3", cursor }, "c")
      assert.deepStrictEqual([numbers(first), numbers(second)], [[2, 3, 5], [1]])
      assert.isNull(second.json("nextCursor"))
      assert.strictEqual(code(yield* pools({ limit: "2", cursor }, "c")), "400 invalid_cursor")
      assert.include(books.warmed, C)
    })
  )

  it.effect("refuses bad input by its field", () =>
    Effect.gen(function* () {
      for (const [field, value] of Object.entries({ sort: "age", provenance: "x", token: "x", limit: "101" })) {
        const answer = yield* pools({ [field]: value }, "d")
        assert.deepStrictEqual([answer.status, answer.json("error.details.0.field")], [400, field])
      }
    })
  )

  it.effect("says when the store does not know which pools are new", () =>
    Effect.gen(function* () {
      store.isUnavailable = true
      const { meta } = decode((yield* pools({ createdSince: String(MONDAY + now - 3000) }, "e")).text)
      assert.strictEqual(meta.coverage.complete, false)
      store.isUnavailable = false
    })
  )
})

const reasonSince = (second: number) =>
  Effect.map(pools({ createdSince: String(MONDAY + second) }, "e"), ({ text }) => decode(text).meta.coverage.reason)

layer(reading({ stored, world: { keys } }))("GET /api/v1/pools over a whole day", (it) => {
  it.effect("is not captured before the second from which changes of liquidity are stored", () =>
    Effect.gen(function* () {
      const end = 2 * 86_400
      const tape = yield* Tape
      yield* setSecond(end)
      yield* tape.apply(block(0))
      yield* tape.apply(block(end))
      const before = yield* reasonSince(end - 80)
      store.from = MONDAY + end - 70
      // Other selectors, because equal ones share a view for two seconds.
      assert.deepStrictEqual(
        [before, yield* reasonSince(end - 79), yield* reasonSince(end - 70)],
        [null, "not_captured", null]
      )
      store.from = Number.NEGATIVE_INFINITY
    })
  )
})
