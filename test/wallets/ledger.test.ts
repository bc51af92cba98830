import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SOL, USDC } from "../../src/domain/Address.ts"
import type { TapeTrade } from "../../src/market/model/TapeTrade.ts"
import { USDT } from "../../src/domain/stables.ts"
import { applyTrade, emptyPosition, positionsOf } from "../../src/wallets/ledger.ts"
import { NO_LOTS, unitsOf } from "../../src/wallets/lots.ts"
import { pnlOf, usdText } from "../../src/wallets/pnl.ts"
import { after, applied, covered, Mark, mark, Order, Orders } from "./positions.ts"
import { MINT, MINT_2, OTHER, START, tradeOf, usd } from "./trades.ts"

describe("a position", () => {
  it("takes the average cost of units sold from the units held", () => {
    const position = after(
      { amount: 100n, volumeUsdNanos: usd(100) },
      { amount: 300n, volumeUsdNanos: usd(500) },
      { side: "sell", amount: 200n, volumeUsdNanos: usd(400) }
    )
    assert.deepInclude(position, {
      held: 200n,
      lots: { ...NO_LOTS, known: 200n, costNanos: usd(300) },
      boughtUnits: 400n,
      soldUnits: 200n,
      boughtNanos: usd(600),
      proceedsNanos: usd(400),
      realizedNanos: usd(100),
      buys: 2,
      sells: 1,
      unknownBasis: 0
    })
  })

  it("has neither a result nor a holding after a sale of more units than were seen, and a clean basis after that", () => {
    const oversold = after(
      { amount: 10n, volumeUsdNanos: usd(10) },
      { side: "sell", amount: 15n, volumeUsdNanos: usd(30) }
    )
    assert.deepInclude(oversold, {
      held: null,
      lots: NO_LOTS,
      realizedNanos: null,
      knownRealizedNanos: usd(10),
      proceedsNanos: usd(30),
      unknownBasis: 1
    })
    assert.deepInclude(pnlOf(oversold, mark(1n)), { open: true, value: null, openCost: null, unrealized: null })
    const later = applyTrade(oversold, tradeOf({ amount: 5n, volumeUsdNanos: usd(5) }))
    assert.deepInclude(later, { held: null, realizedNanos: null })
    assert.deepStrictEqual(later.lots, { ...NO_LOTS, known: 5n, costNanos: usd(5) })
    const sold = applyTrade(later, tradeOf({ side: "sell", amount: 5n, volumeUsdNanos: usd(7) }))
    assert.deepInclude(sold, { knownRealizedNanos: usd(12), realizedNanos: null })
  })

  it("has no cost while units bought at an unknown price are held, and still knows the cost of the others", () => {
    const unpriced = after({ amount: 10n, volumeUsdNanos: null }, { amount: 10n, volumeUsdNanos: usd(1) })
    assert.deepInclude(unpriced, { held: 20n, boughtNanos: null, realizedNanos: 0n, unknownBasis: 1 })
    assert.deepStrictEqual(unpriced.lots, { ...NO_LOTS, known: 10n, costNanos: usd(1), unpriced: 10n })
    const sold = applyTrade(unpriced, tradeOf({ side: "sell", amount: 20n, volumeUsdNanos: usd(9) }))
    assert.deepInclude(sold, { held: 0n, lots: NO_LOTS, realizedNanos: null, proceedsNanos: usd(9) })
    assert.strictEqual(sold.knownRealizedNanos, usd(3.5), "half of the proceeds less the cost of that half")
  })

  it("loses its result, not its cost, to a sale at an unknown price", () => {
    const position = after({ amount: 10n, volumeUsdNanos: usd(10) }, { side: "sell", amount: 4n, volumeUsdNanos: null })
    assert.deepInclude(position, { held: 6n, realizedNanos: null, proceedsNanos: null, unpricedTrades: 1 })
    assert.deepStrictEqual(position.lots, { ...NO_LOTS, known: 6n, costNanos: usd(6) })
  })

  it("counts front-end fees into cost and proceeds", () => {
    const position = after(
      { amount: 10n, volumeUsdNanos: usd(10), feeUsdNanos: usd(1) },
      { side: "sell", amount: 5n, volumeUsdNanos: usd(8), feeUsdNanos: usd(0.5) }
    )
    assert.deepInclude(position, {
      boughtNanos: usd(11),
      proceedsNanos: usd(7.5),
      realizedNanos: usd(2),
      volumeNanos: usd(18)
    })
    const unpriced = after({ amount: 10n, volumeUsdNanos: usd(10), feeUsdNanos: null })
    assert.deepInclude(unpriced, { boughtNanos: null, unknownBasis: 1 })
  })

  it("keeps its first and last time, and the decimals once known", () => {
    const position = after({ slot: 3 }, { slot: 9, decimals: null, side: "sell" })
    assert.deepInclude(position, { firstAtMs: START + 1200, lastAtMs: START + 3600, decimals: 6 })
    assert.deepInclude(emptyPosition(MINT), { firstAtMs: null, lastAtMs: null, decimals: null, lots: NO_LOTS })
  })
})

describe("the positions of a wallet", () => {
  it("leave out quote money and pool swaps", () => {
    const trades = [SOL, USDC, USDT].map((mint, index) => tradeOf({ mint, index }))
    const positions = positionsOf([...trades, tradeOf({ role: "pool" }), tradeOf({ mint: MINT_2, role: "wallet" })])
    assert.deepStrictEqual(Array.from(positions.keys()), [MINT_2])
  })

  it("are the same in any order of the trades", () => {
    const trades = [
      tradeOf({ slot: 5, index: 9, side: "sell", amount: 10n }),
      tradeOf({ slot: 4, index: 90, amount: 5n }),
      tradeOf({ slot: 5, index: 8, amount: 5n })
    ]
    assert.deepInclude(positionsOf(trades).get(MINT), { held: 0n, unknownBasis: 0, buys: 2, sells: 1 })
  })
})

describe("profit and loss", () => {
  it("matches the worked example of a position", () => {
    const position = after({ amount: 2_000_000_000_000n, volumeUsdNanos: usd(244) })
    const pnl = pnlOf(position, { numerator: 12_139n, denominator: 100_000_000n })
    assert.deepInclude(pnl, { realized: 0n, cost: usd(244), proceeds: 0n, open: true, avgCost: "0.000122" })
    assert.strictEqual(usdText(pnl.unrealized ?? 0n), "-1.22")
    assert.deepInclude(pnl, { total: usd(-1.22), value: usd(242.78), roiPct: "-0.5" })
  })

  it("has no unrealized part without a mark, unless nothing is held", () => {
    const open = after({ amount: 10n, volumeUsdNanos: usd(10) })
    assert.deepInclude(pnlOf(open, null), { realized: 0n, unrealized: null, total: null, value: null, roiPct: null })
    const closed = applyTrade(open, tradeOf({ side: "sell", amount: 10n, volumeUsdNanos: usd(12) }))
    assert.deepInclude(pnlOf(closed, null), { unrealized: 0n, total: usd(2), value: 0n, avgCost: null, roiPct: "20" })
  })

  it.effect.prop(
    "realized and unrealized together are cash flow and holdings at mark, to the nano-dollar",
    [Orders, Mark],
    ([orders, price]) =>
      Effect.sync(() => {
        const position = applied(covered(orders))
        const { total, value } = pnlOf(position, price)
        const flow = (position.proceedsNanos ?? -1n) - (position.boughtNanos ?? -1n)
        assert.strictEqual(total, flow + (value ?? -1n))
        const worth = unitsOf(position.lots) * price.numerator * 1000n
        assert.isTrue((value ?? -1n) * price.denominator <= worth)
        assert.isTrue(((value ?? -1n) + 1n) * price.denominator > worth)
      })
  )

  it.effect.prop("order does not matter between two buys, nor between mints", [Orders, Order, Order], ([past, a, b]) =>
    Effect.sync(() => {
      const before = covered(past)
      const [first, second] = [a, b].map(({ amount, nanos }) => tradeOf({ slot: 99, amount, volumeUsdNanos: nanos }))
      assert.isDefined(first)
      assert.isDefined(second)
      assert.deepStrictEqual(applied([...before, first, second]), applied([...before, second, first]))

      const side = b.isBuy ? ("buy" as const) : ("sell" as const)
      const elsewhere = { ...second, mint: MINT_2, side, wallet: OTHER }
      const one = positionsOf([...before, { ...first, index: 1 }, { ...elsewhere, index: 2 }])
      const two = positionsOf([...before, { ...first, index: 2 }, { ...elsewhere, index: 1 }])
      assert.deepStrictEqual(new Map(Array.from(one).toSorted()), new Map(Array.from(two).toSorted()))
    })
  )

  const Part = Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: 1n, maximum: 1000n }))
  it.effect.prop(
    "a trade made in two parts at its price moves one nano-dollar at most",
    [Orders, Order, Part, Part],
    ([past, { isBuy, amount, nanos }, a, b]) =>
      Effect.sync(() => {
        const before = covered(past)
        const side = isBuy ? ("buy" as const) : ("sell" as const)
        const of = (share: bigint) => tradeOf({ slot: 99, side, amount: amount * share, volumeUsdNanos: nanos * share })
        const [whole, split] = [applied([...before, of(a + b)]), applied([...before, of(a), of(b)])]
        assert.strictEqual(split.held, whole.held)
        assert.strictEqual(split.boughtNanos, whole.boughtNanos)
        assert.strictEqual(split.proceedsNanos, whole.proceedsNanos)
        assert.strictEqual(split.realizedNanos === null, whole.realizedNanos === null)
        const moved = (split.realizedNanos ?? 0n) - (whole.realizedNanos ?? 0n)
        assert.isTrue(moved >= -1n && moved <= 1n, `${moved}`)
        assert.strictEqual(whole.lots.costNanos - split.lots.costNanos, -moved)
      })
  )
})

const transfer = (slot: number, before: bigint, after: bigint): TapeTrade =>
  tradeOf({
    role: "transfer",
    slot,
    index: 255,
    side: after > before ? "buy" : "sell",
    amount: after > before ? after - before : before - after,
    volumeUsdNanos: null,
    held: { before, after }
  })

describe("a transfer between trades", () => {
  const bought = tradeOf({ slot: 2, amount: 100n, volumeUsdNanos: usd(50), held: { before: 300n, after: 400n } })
  const sold = tradeOf({
    slot: 5,
    side: "sell",
    amount: 80n,
    volumeUsdNanos: usd(80),
    held: { before: 200n, after: 120n }
  })

  it("moves units with their average cost, or units without one, and makes no profit", () => {
    const position = positionsOf([bought, transfer(3, 400n, 200n)]).get(MINT)
    assert.deepInclude(position, { held: 200n, realizedNanos: 0n, buys: 1, sells: 0, unpricedTrades: 0 })
    assert.deepStrictEqual(position?.lots, { ...NO_LOTS, known: 50n, costNanos: usd(25), inherited: 150n })
    const more = positionsOf([bought, transfer(3, 400n, 500n)]).get(MINT)
    assert.deepStrictEqual(more?.lots, {
      ...NO_LOTS,
      known: 100n,
      costNanos: usd(50),
      inherited: 300n,
      received: 100n
    })
  })

  it("does not put a later sale in doubt: the units that left were seen", () => {
    const own = tradeOf({ slot: 2, amount: 400n, volumeUsdNanos: usd(400), held: { before: 0n, after: 400n } })
    assert.isNull(positionsOf([own, sold]).get(MINT)?.realizedNanos)
    assert.strictEqual(positionsOf([own, transfer(3, 400n, 200n), sold]).get(MINT)?.realizedNanos, 0n)
  })

  it("begins no position: earlier units are part of the balance that the first trade finds", () => {
    assert.strictEqual(positionsOf([transfer(1, 0n, 300n)]).size, 0)
    assert.deepStrictEqual(positionsOf([transfer(1, 0n, 300n), bought]).get(MINT), positionsOf([bought]).get(MINT))
  })
})
