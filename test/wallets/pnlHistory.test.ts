import { assert, describe, it } from "@effect/vitest"
import type { TapeTrade } from "../../src/market/model/TapeTrade.ts"
import { eventsOf } from "../../src/wallets/ledger.ts"
import { dailyPnl, unitPrice } from "../../src/wallets/pnlHistory.ts"
import { mintOf } from "../market/tape/tape.ts"
import { tradeOf, usd } from "./trades.ts"

const DAY = 86_400_000
const OTHER = mintOf(7)
const FIRST = Date.UTC(2026, 10, 20)

/** A trade `day` days after the first one, at noon. */
const on = (day: number, other: Partial<TapeTrade>): TapeTrade =>
  tradeOf({ slot: 1 + day, timeMs: FIRST + day * DAY + DAY / 2, ...other })

const history = (trades: ReadonlyArray<TapeTrade>, days = 30) =>
  dailyPnl(eventsOf(trades), {
    days,
    nowMs: FIRST + 3 * DAY + 1000,
    // One dollar a token on the first day, two on the next.
    priceAt: (_, dayMs) => ({ numerator: BigInt((dayMs - FIRST) / DAY + 1), denominator: 1n })
  })

const row = (day: string, values: ReadonlyArray<unknown>) => [`2026-11-${day}`, ...values]

describe("profit by day", () => {
  it("has a row for every UTC day from the first trade through today", () => {
    const rows = history([
      on(0, { amount: 10_000_000n, volumeUsdNanos: usd(10) }),
      on(2, { side: "sell", amount: 4_000_000n, volumeUsdNanos: usd(12), feeUsdNanos: usd(1) })
    ])
    assert.deepStrictEqual(
      rows.map(({ costUsd, day, knownRealized, proceedsUsd, realized, trades, valueUsd }) => [
        day,
        realized,
        knownRealized,
        costUsd,
        proceedsUsd,
        trades,
        valueUsd
      ]),
      [
        row("20", ["0", "0", "10", "0", 1, "10"]),
        row("21", ["0", "0", "0", "0", 0, "20"]),
        row("22", ["7", "7", "0", "11", 1, "18"]),
        row("23", ["0", "0", "0", "0", 0, "24"])
      ]
    )
    assert.deepStrictEqual(
      rows.map(({ throughMs }) => throughMs - FIRST),
      [DAY - 1, 2 * DAY - 1, 3 * DAY - 1, 3 * DAY + 1000]
    )
  })

  it("counts trades from before its first day into cost, not into its days", () => {
    const rows = history(
      [
        on(0, { amount: 10_000_000n, volumeUsdNanos: usd(10) }),
        on(3, { timeMs: FIRST + 3 * DAY, side: "sell", amount: 10_000_000n, volumeUsdNanos: usd(15) })
      ],
      2
    )
    assert.deepStrictEqual(
      rows.map(({ day, realized, costUsd, valueUsd }) => [day, realized, costUsd, valueUsd]),
      [
        ["2026-11-22", "0", "0", "30"],
        ["2026-11-23", "5", "0", "0"]
      ]
    )
  })

  it("is null only on the day of an unknown result, with the known part beside it", () => {
    const rows = history([
      on(0, {
        side: "sell",
        amount: 5_000_000n,
        volumeUsdNanos: usd(5),
        held: { before: 9_000_000n, after: 4_000_000n }
      }),
      on(1, { amount: 4_000_000n, volumeUsdNanos: usd(4), held: { before: 4_000_000n, after: 8_000_000n } }),
      on(2, { side: "sell", amount: 8_000_000n, volumeUsdNanos: usd(16), held: { before: 8_000_000n, after: 0n } })
    ])
    assert.deepStrictEqual(
      rows.map(({ knownRealized, realized, valueUsd }) => [realized, knownRealized, valueUsd]),
      [
        [null, "0", "4"],
        ["0", "0", "16"],
        [null, "4", "0"],
        ["0", "0", "0"]
      ]
    )
  })

  it("has the known part of a day's value beside a mint without a mark, and none where nothing is known", () => {
    const trades = [
      on(0, { amount: 10_000_000n, volumeUsdNanos: usd(10) }),
      on(1, { mint: OTHER, amount: 1_000_000n, volumeUsdNanos: usd(3) }),
      on(3, { timeMs: FIRST + 3 * DAY, side: "sell", amount: 10_000_000n, volumeUsdNanos: usd(15) })
    ]
    const rows = dailyPnl(eventsOf(trades), {
      days: 30,
      nowMs: FIRST + 3 * DAY + 1000,
      priceAt: ({ mint }) => (mint === OTHER ? null : { numerator: 1n, denominator: 1n })
    })
    assert.deepStrictEqual(
      rows.map(({ knownValueUsd, unvalued, valueUsd }) => [valueUsd, knownValueUsd, unvalued]),
      [
        ["10", "10", 0],
        [null, "10", 1],
        [null, "10", 1],
        [null, null, 1]
      ]
    )
  })

  it("is empty without trades", () => {
    assert.deepStrictEqual(history([]), [])
  })

  it("reads a candle's price without rounding", () => {
    assert.deepStrictEqual(unitPrice(0.00012, 6), { numerator: 12n * 1_000_000n, denominator: 10n ** 11n })
    assert.deepStrictEqual(unitPrice(1.5e-7, 0), { numerator: 15n * 1_000_000n, denominator: 10n ** 8n })
    assert.isNull(unitPrice(0, 6))
  })
})
