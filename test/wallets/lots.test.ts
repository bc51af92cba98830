import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import type { TapeTrade } from "../../src/market/model/TapeTrade.ts"
import { applyEvent, emptyPosition, type MintEvent, type Position, positionsOf } from "../../src/wallets/ledger.ts"
import { addLots, NO_LOTS, takeLots, unitsOf } from "../../src/wallets/lots.ts"
import { pnlOf } from "../../src/wallets/pnl.ts"
import { MINT, START, tradeOf, usd } from "./trades.ts"

/** A transaction that leaves `after` units where `before` were, with these trades. */
const event = (before: bigint, after: bigint, ...trades: ReadonlyArray<Partial<TapeTrade>>): MintEvent => ({
  timeMs: START,
  decimals: 6,
  trades: trades.map((trade) => tradeOf(trade)),
  balance: { before, after }
})

const applied = (...events: ReadonlyArray<MintEvent>): Position => events.reduce(applyEvent, emptyPosition(MINT))

const bought = (amount: bigint, dollars: number) => ({ amount, volumeUsdNanos: usd(dollars) })
const sold = (amount: bigint, dollars: number) => ({ side: "sell" as const, amount, volumeUsdNanos: usd(dollars) })

describe("a position with balances", () => {
  it("treats units from before the first transaction as inherited, and sells them in proportion", () => {
    // The worked example of docs/numbers.md.
    const opened = applied(event(300n, 400n, bought(100n, 50)))
    assert.deepInclude(opened, { held: 400n, realizedNanos: 0n, boughtNanos: usd(50) })
    assert.deepStrictEqual(opened.lots, { ...NO_LOTS, known: 100n, costNanos: usd(50), inherited: 300n })
    const after = applyEvent(opened, event(400n, 320n, sold(80n, 80)))
    assert.deepInclude(after, { held: 320n, realizedNanos: null, proceedsNanos: usd(80), knownRealizedNanos: usd(10) })
    assert.deepStrictEqual(after.lots, { ...NO_LOTS, known: 80n, costNanos: usd(40), inherited: 240n })
    const pnl = pnlOf(after, { numerator: 1_000_000n, denominator: 1n })
    assert.deepInclude(pnl, { unrealized: null, total: null, openCost: null, avgCost: null, value: usd(320) })
    assert.deepStrictEqual(pnl.known, { realized: usd(10), unrealized: usd(40), total: usd(50), cost: usd(50) })
    assert.strictEqual(pnl.knownAvgCost, "500000", "40 dollars for 80 of the 320 units, of 6 decimals")
    const gone = applyEvent(after, event(320n, 0n, sold(320n, 320)))
    const again = applyEvent(gone, event(0n, 10n, bought(10n, 20)))
    assert.deepStrictEqual(again.lots, { ...NO_LOTS, known: 10n, costNanos: usd(20) }, "a clean basis")
  })

  it("keeps its strict result when everything was seen", () => {
    const position = applied(event(0n, 10n, bought(10n, 10)), event(10n, 4n, sold(6n, 9)))
    assert.deepInclude(position, { held: 4n, realizedNanos: usd(3), knownRealizedNanos: usd(3), unknownBasis: 0 })
  })

  it("takes transfers in as received, and lets transfers out take their average cost without a profit", () => {
    const position = applied(event(0n, 10n, bought(10n, 10)), event(10n, 15n), event(15n, 9n))
    assert.deepStrictEqual(position.lots, { ...NO_LOTS, known: 6n, costNanos: usd(6), received: 3n })
    assert.deepInclude(position, { held: 9n, realizedNanos: 0n, boughtNanos: usd(10), sells: 0 })
  })

  it("counts incoming units of a transaction before outgoing ones", () => {
    const loop = applied(event(0n, 1n, sold(10n, 12), bought(11n, 11)))
    assert.deepInclude(loop, { held: 1n, realizedNanos: usd(2), unknownBasis: 0 })
    const swept = applied(event(5n, 0n, bought(10n, 10)))
    assert.deepInclude(swept, { held: 0n, lots: NO_LOTS, realizedNanos: 0n, buys: 1 })
  })

  it("follows the chain after a gap: units that arrived are inherited, and units that left make the result unknown", () => {
    const bigger = applied(event(0n, 10n, bought(10n, 10)), event(25n, 20n, sold(5n, 5)))
    assert.deepInclude(bigger, { held: 20n, realizedNanos: null })
    assert.strictEqual(bigger.lots.known + bigger.lots.inherited, 20n)
    const smaller = applied(event(0n, 10n, bought(10n, 10)), event(4n, 5n, bought(1n, 2)))
    assert.deepInclude(smaller, { held: 5n, realizedNanos: null, knownRealizedNanos: 0n })
    assert.deepStrictEqual(smaller.lots, { ...NO_LOTS, known: 5n, costNanos: usd(6) })
  })

  it("finds its holding again after a sale of more units than were seen", () => {
    const lost = positionsOf([tradeOf({ side: "sell", amount: 7n })]).get(MINT)
    assert.strictEqual(lost?.held, null)
    const found = applyEvent(lost ?? emptyPosition(MINT), event(18n, 19n, bought(1n, 1)))
    assert.deepInclude(found, { held: 19n })
    assert.deepStrictEqual(found.lots, { ...NO_LOTS, known: 1n, costNanos: usd(1), inherited: 18n })
  })

  it("is not changed by a transaction that names none of its accounts, except for units from an escrow", () => {
    const start = applied(event(0n, 10n, bought(10n, 10)))
    const filled = applyEvent(start, { ...event(0n, 0n, sold(4n, 9)), balance: "unchanged" })
    assert.deepInclude(filled, { held: 10n, sells: 1, realizedNanos: null, unknownBasis: 1 })
  })
})

const Part = Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: 0n, maximum: 10n ** 18n }))
const Parts = Schema.Struct({ known: Part, costNanos: Part, inherited: Part, received: Part, unpriced: Part })

describe("lots", () => {
  it("give up cost only for the known units taken, at their average", () => {
    // One of the three units taken is known and cost 10; three of seven units would be a cost of 12.
    const mixed = takeLots({ ...NO_LOTS, known: 3n, costNanos: 30n, inherited: 4n }, 3n)
    assert.deepStrictEqual(mixed.taken, { ...NO_LOTS, known: 1n, costNanos: 10n, inherited: 2n })
    assert.deepStrictEqual(mixed.left, { ...NO_LOTS, known: 2n, costNanos: 20n, inherited: 2n })
    const tooFew = takeLots({ ...NO_LOTS, known: 2n, costNanos: 10n, received: 3n }, 1n)
    assert.deepStrictEqual(tooFew.taken, { ...NO_LOTS, received: 1n }, "no known unit, no cost")
  })

  it.effect.prop(
    "give exactly the units taken, never more than a lot has, and keep the rest",
    [Parts, Part],
    ([lots, share]) =>
      Effect.sync(() => {
        const amount = unitsOf(lots) === 0n ? 0n : share % (unitsOf(lots) + 1n)
        const { left, taken } = takeLots(lots, amount)
        assert.strictEqual(unitsOf(taken), amount)
        assert.deepStrictEqual(addLots(left, taken), lots)
        const parts = [left, taken].flatMap((each) => Object.values(each))
        assert.isTrue(parts.every((part) => part >= 0n))
        if (amount > 0n) {
          assert.strictEqual(taken.known, (lots.known * amount) / unitsOf(lots))
          assert.strictEqual(taken.costNanos, taken.known === 0n ? 0n : (lots.costNanos * taken.known) / lots.known)
        }
      })
  )
})
