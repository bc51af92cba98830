import { assert, describe, it } from "@effect/vitest"
import { eventsOf, positionsOf } from "../../src/wallets/ledger.ts"
import { type LotMethod, lotBook } from "../../src/wallets/lotSales.ts"
import { NO_LOTS } from "../../src/wallets/lots.ts"
import { type LotRowPlace, lotsPage } from "../../src/wallets/walletLots.ts"
import { MINT, tradeOf, usd } from "./trades.ts"

const trades = [
  tradeOf({ slot: 1, amount: 10n, volumeUsdNanos: usd(10) }),
  tradeOf({ slot: 2, amount: 10n, volumeUsdNanos: usd(30) }),
  tradeOf({ slot: 3, amount: 10n, volumeUsdNanos: usd(20) }),
  tradeOf({ slot: 4, side: "sell", amount: 15n, volumeUsdNanos: usd(45) }),
  tradeOf({ slot: 5, side: "sell", amount: 15n, volumeUsdNanos: usd(15) })
]

const bookOf = (method: LotMethod, rows = trades) => lotBook(eventsOf(rows), method)
const costs = (method: LotMethod) =>
  bookOf(method).sold.map(({ acquired, costNanos, units }) => [acquired?.signature ?? null, units, costNanos])

/** What is left of the first four trades when the chain has so many units. */
const unitsLeft = (units: bigint | null) => {
  const { isBroken, open } = lotBook(eventsOf(trades.slice(0, 4)), "fifo", units)
  return { isBroken, units: open.reduce((sum, lot) => sum + lot.units, 0n) }
}

describe("sales by lots", () => {
  it("take the oldest, the newest or the dearest lot first", () => {
    assert.deepStrictEqual(costs("fifo"), [
      ["sig_1_0", 10n, usd(10)],
      ["sig_2_0", 5n, usd(15)],
      ["sig_2_0", 5n, usd(15)],
      ["sig_3_0", 10n, usd(20)]
    ])
    assert.deepStrictEqual(costs("lifo"), [
      ["sig_3_0", 10n, usd(20)],
      ["sig_2_0", 5n, usd(15)],
      ["sig_2_0", 5n, usd(15)],
      ["sig_1_0", 10n, usd(10)]
    ])
    assert.deepStrictEqual(costs("hifo"), [
      ["sig_2_0", 10n, usd(30)],
      ["sig_3_0", 5n, usd(10)],
      ["sig_3_0", 5n, usd(10)],
      ["sig_1_0", 10n, usd(10)]
    ])
  })

  it("give the profit of the position by average cost, and the same in all once everything is sold", () => {
    for (const method of ["average", "fifo", "lifo", "hifo"] as const) {
      const gain = bookOf(method).sold.reduce(
        (sum, { costNanos, proceedsNanos }) => sum + (proceedsNanos ?? 0n) - (costNanos ?? 0n),
        0n
      )
      assert.strictEqual(gain, positionsOf(trades).get(MINT)?.realizedNanos, method)
      assert.deepStrictEqual(bookOf(method).open, [])
    }
    const half = trades.slice(0, 4)
    const gain = bookOf("average", half).sold.reduce(
      (sum, { costNanos, proceedsNanos }) => sum + (proceedsNanos ?? 0n) - (costNanos ?? 0n),
      0n
    )
    assert.strictEqual(gain, positionsOf(half).get(MINT)?.realizedNanos)
  })

  it("have no cost for units that were there before, and no proceeds without a price", () => {
    const { sold } = bookOf("fifo", [
      tradeOf({ slot: 1, amount: 10n, volumeUsdNanos: usd(10), held: { before: 5n, after: 15n } }),
      tradeOf({ slot: 2, side: "sell", amount: 8n, volumeUsdNanos: usd(8), held: { before: 15n, after: 7n } }),
      tradeOf({ slot: 3, side: "sell", amount: 7n, volumeUsdNanos: null, held: { before: 7n, after: 0n } })
    ])
    assert.deepStrictEqual(
      sold.map(({ costNanos, origin, proceedsNanos, units }) => [origin, units, costNanos, proceedsNanos]),
      [
        ["inherited", 5n, null, usd(5)],
        ["bought", 3n, usd(3), usd(3)],
        ["bought", 7n, usd(7), null]
      ]
    )
  })

  it("count units that were never seen to arrive as the oldest", () => {
    const { sold } = bookOf("fifo", [
      tradeOf({ slot: 1, amount: 10n, volumeUsdNanos: usd(10), held: { before: 0n, after: 10n } }),
      tradeOf({ slot: 2, side: "sell", amount: 6n, volumeUsdNanos: usd(6), held: { before: 15n, after: 9n } })
    ])
    assert.deepStrictEqual(
      sold.map(({ origin, units }) => [origin, units]),
      [
        ["inherited", 5n],
        ["bought", 1n]
      ]
    )
  })

  it("have no cost while the token accounts of the wallet are unread", () => {
    const request = {
      method: "fifo",
      state: "sold",
      mint: null,
      fromMs: null,
      toMs: null,
      after: null,
      limit: 9
    } as const
    const { rows, sums } = lotsPage({ events: eventsOf(trades), isUnread: () => true, units: null }, request)
    assert.deepStrictEqual(
      rows.map(({ costUsd, gainUsd }) => [costUsd, gainUsd]),
      Array.from({ length: 4 }, () => [null, null])
    )
    assert.deepInclude(sums, { unknown: 4, costUsd: null, gainUsd: null, knownGainUsd: null, proceedsUsd: "60" })
    const open = lotsPage(
      { events: eventsOf(trades), isUnread: () => true, units: null },
      { ...request, state: "open" }
    )
    assert.deepInclude(open.sums, { costUsd: null, gainUsd: null, knownGainUsd: null })
  })

  it("end with the units on the chain: missing ones were there before, and extra ones may have been sold", () => {
    const left = 15n
    assert.deepStrictEqual(unitsLeft(left), { isBroken: false, units: left })
    assert.deepStrictEqual(unitsLeft(left + 5n), { isBroken: false, units: left + 5n })
    assert.deepStrictEqual(unitsLeft(left - 1n), { isBroken: true, units: left - 1n })
  })

  it("have no cost where another wallet of the owner gave them, but for the average", () => {
    const given = eventsOf(trades)
      .slice(0, 1)
      .map((event) => ({
        ...event,
        trades: [],
        balance: { before: 0n, after: 7n },
        arrived: { ...NO_LOTS, known: 7n, costNanos: 70n }
      }))
    const costOf = (method: LotMethod) =>
      lotBook(given, method).open.map(({ costNanos, origin }) => [origin, costNanos])
    assert.deepStrictEqual(costOf("average"), [["bought", 70n]])
    assert.deepStrictEqual(costOf("hifo"), [["received", null]])
  })

  it("have one lot for units from another wallet of the owner, however that wallet got them", () => {
    const given = eventsOf(trades)
      .slice(0, 1)
      .map((event) => ({
        ...event,
        trades: [],
        balance: { before: 2n, after: 12n },
        arrived: { ...NO_LOTS, known: 3n, costNanos: 30n, inherited: 2n, unpriced: 1n }
      }))
    const openOf = (method: LotMethod) => lotBook(given, method).open.map(({ origin, units }) => [origin, units])
    assert.deepStrictEqual(openOf("fifo"), [
      ["inherited", 2n],
      ["received", 10n]
    ])
    assert.deepStrictEqual(openOf("average"), [
      ["bought", 3n],
      ["inherited", 4n],
      ["received", 4n],
      ["unpriced", 1n]
    ])
  })

  it("keep their places when lots come and go between two pages", () => {
    const page = (rows: typeof trades, state: "sold" | "open", after: LotRowPlace | null = null) =>
      lotsPage(
        { events: eventsOf(rows), isUnread: () => false, units: null },
        { method: "fifo", state, mint: null, fromMs: null, toMs: null, after, limit: 1 }
      )
    const sold = page(trades, "sold")
    const later = tradeOf({ slot: 6, side: "sell", amount: 5n, held: { before: 5n, after: 0n } })
    const second = page([...trades, later], "sold", sold.next)
    assert.deepStrictEqual(
      [sold.rows, second.rows].flat().map(({ acquiredSignature, soldSignature }) => [soldSignature, acquiredSignature]),
      [
        ["sig_5_0", "sig_2_0"],
        ["sig_5_0", "sig_3_0"]
      ]
    )
    const open = page(trades.slice(0, 3), "open")
    const rest = page(trades.slice(0, 4), "open", open.next)
    assert.deepStrictEqual(
      [open.rows, rest.rows].flat().map(({ acquiredSignature, units }) => [acquiredSignature, units]),
      [
        ["sig_1_0", 10n],
        ["sig_2_0", 5n]
      ]
    )
  })
})
