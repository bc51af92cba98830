import { assert, describe, it } from "@effect/vitest"
import { allPositions } from "../../src/wallets/positionPages.ts"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Market } from "../../src/market/tape/Market.ts"
import { Tape } from "../../src/market/tape/Tape.ts"
import { WalletAccounts } from "../../src/wallets/WalletAccounts.ts"
import { WalletReader } from "../../src/wallets/WalletReader.ts"
import { type Findings, readerOver } from "./readers.ts"
import { blockOf, MINT, OTHER, START, tradeOf, usd, WALLET } from "./trades.ts"

/** Ten tokens bought for ten dollars. */
const bought = tradeOf({
  slot: 1,
  amount: 10_000_000n,
  volumeUsdNanos: usd(10),
  held: { before: 0n, after: 10_000_000n }
})

/** The positions and days of the wallet, after somebody else traded the mint at 2.5 dollars, `lateMs` before the reads. */
const read = (findings: Findings, lateMs = 1000) =>
  Effect.gen(function* () {
    const tape = yield* Tape
    yield* TestClock.setTime(START + 400)
    yield* tape.apply(blockOf([bought]))
    yield* TestClock.setTime(START + 5000)
    const swap = tradeOf({ slot: 2, wallet: OTHER, role: "pool", priceUsd: 2.5, timeMs: START + 5000 })
    yield* tape.apply(blockOf([swap], { timeMs: START + 5000 }))
    yield* TestClock.setTime(START + 5000 + lateMs)
    const market = Layer.succeed(Market, yield* Market)
    return yield* WalletReader.use((reader) =>
      Effect.all([reader.positionsOf(WALLET, allPositions(10)), reader.pnlHistoryOf(WALLET, 1)])
    ).pipe(Effect.provide(readerOver({ trades: { [WALLET]: [bought] }, tape: market, ...findings })))
  }).pipe(Effect.provide(Market.layerManual()))

const lastTrade = { priceUsd: "2.5", atMs: START + 5000 }

describe("a position", () => {
  it.effect("of a mint that no pool quotes is valued at its last trade, now and by day, with method and time", () =>
    Effect.gen(function* () {
      const [{ positions, summary }, { days }] = yield* read({})
      assert.deepInclude(positions[0], {
        markUsd: "2.5",
        markMethod: "last_trade",
        markAtMs: START + 5000,
        lastTrade,
        valueUsd: "25",
        unrealized: "15"
      })
      assert.deepStrictEqual(summary?.marks, { poolMedian: 0, lastTrade: 1, oldestAtMs: START + 5000 })
      assert.strictEqual(summary?.wallet.unrealized, "15")
      assert.strictEqual(days.at(-1)?.valueUsd, "25")
    })
  )

  it.effect("is valued at the median over pools where there is one, with the last trade beside it", () =>
    Effect.gen(function* () {
      const [{ positions, summary }, { days }] = yield* read({ marks: { [MINT]: 3n } })
      assert.deepInclude(positions[0], {
        markUsd: "3",
        markMethod: "pool_median",
        markAtMs: START + 6000,
        lastTrade,
        valueUsd: "30"
      })
      assert.deepStrictEqual(summary?.marks, { poolMedian: 1, lastTrade: 0, oldestAtMs: START + 6000 })
      assert.strictEqual(days.at(-1)?.valueUsd, "30")
    })
  )

  it.effect("is valued at the last trade while the pools are stale, and at nothing while blocks are late too", () =>
    Effect.gen(function* () {
      const [{ positions: byTrade }] = yield* read({ marks: { [MINT]: 3n }, stalePrices: true })
      assert.deepInclude(byTrade[0], { markUsd: "2.5", markMethod: "last_trade" })
      const [{ positions, summary }] = yield* read({ marks: { [MINT]: 3n }, stalePrices: true }, 300_000)
      assert.deepInclude(positions[0], { markUsd: null, markMethod: null, valueUsd: null, lastTrade })
      assert.deepStrictEqual(summary?.marks, { poolMedian: 0, lastTrade: 0, oldestAtMs: null })
    })
  )

  it.effect("has no value and no known result until its accounts are read, and the coverage says the same", () =>
    Effect.gen(function* () {
      const accounts = Layer.effect(
        WalletAccounts,
        Effect.map(WalletAccounts, (named) => ({ ...named, of: () => "waiting" as const }))
      ).pipe(Layer.provide(WalletAccounts.layerNamed))
      const [{ positions, summary }, { days }] = yield* read({ marks: { [MINT]: 3n }, accounts })
      const unread = { realized: null, unrealized: null, total: null }
      assert.deepInclude(positions[0], { ...unread, valueUsd: null })
      assert.deepInclude(positions[0]?.known, { ...unread, cost: "10", avgCostUsd: null })
      assert.deepInclude(summary?.known, { ...unread, cost: "10", volumeShare: null, openValueShare: null })
      const { valuation } = summary?.historyCoverage.solana ?? {}
      assert.deepStrictEqual(valuation, { complete: false, known: 0, status: "unavailable", total: 1 })
      assert.strictEqual(days.at(-1)?.knownRealized, null)
    })
  )
})
