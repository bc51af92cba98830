import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { SOL } from "../../src/domain/Address.ts"
import type { WalletPosition } from "../../src/api/schemas/WalletPositions.ts"
import { countsOf, plannedExits, rungsIn, totalOf, walletExitPosition } from "../../src/quotes/walletExit.ts"
import { at } from "./toyChain.ts"

const held = (n: number, fields: Partial<WalletPosition> = {}): WalletPosition => ({
  mint: at(n),
  decimals: 6,
  realized: null,
  unrealized: null,
  total: null,
  roiPct: null,
  costUsd: null,
  proceedsUsd: null,
  avgCostUsd: null,
  valueUsd: null,
  holding: 1000n,
  quantities: { known: 0n, inherited: 0n, received: 0n, unpriced: 0n },
  known: { realized: "0", unrealized: null, total: null, cost: "0", avgCostUsd: null },
  markUsd: null,
  markMethod: null,
  markAtMs: null,
  lastTrade: null,
  buys: 1,
  sells: 0,
  open: true,
  firstAtMs: 0,
  lastAtMs: n,
  ...fields
})

const terms = { quoteMint: SOL, quoteDecimals: 9, slippageBps: 100, ladder: [0.01, 1], maxImpactPct: 2, limit: 50 }

describe("plannedExits", () => {
  it("puts known balances first, then the most valuable, then the newest", () => {
    const positions = [
      held(1, { holding: null, valueUsd: null }),
      held(2),
      held(3),
      held(4, { valueUsd: "9" }),
      held(5, { valueUsd: "10" }),
      held(6, { open: false, holding: 0n })
    ]
    const { open, planned } = plannedExits(positions, terms)
    assert.strictEqual(open, 5)
    assert.deepStrictEqual(
      planned.map(({ held: { mint } }) => mint),
      [5, 4, 3, 2, 1].map((n) => at(n))
    )
    assert.deepStrictEqual(
      plannedExits(positions, { ...terms, limit: 2 }).planned.map(({ held: { mint } }) => mint),
      [at(5), at(4)]
    )
  })

  it("prices nothing when the balance is unknown, the mint is the one of the proceeds, or there are too few units", () => {
    const positions = [held(4), held(3, { mint: SOL }), held(2, { holding: 50n }), held(1, { holding: null })]
    const { planned } = plannedExits(positions, terms)
    assert.deepStrictEqual(
      planned.map(({ position, state }) => [state, position?.ladder.map(({ amount }) => amount)]),
      [
        ["not_reached", [10n, 1000n]],
        ["quote_mint", undefined],
        ["not_reached", [50n]],
        ["unknown_balance", undefined]
      ]
    )
    assert.strictEqual(rungsIn(planned), 3)
    assert.strictEqual(
      plannedExits([held(1, { holding: 5n })], { ...terms, ladder: [0.1] }).planned[0]?.state,
      "too_small"
    )
  })

  const Drawn = Schema.Array(Schema.Struct({ units: Schema.NullOr(Schema.Int), isOpen: Schema.Boolean }))

  it.prop("accounts for every open position", [Drawn, Schema.Boolean], ([drawn, isSmall]) => {
    const positions = drawn.map(({ isOpen, units }, i) =>
      held(i % 200, { holding: units === null ? null : BigInt(Math.abs(units)), open: isOpen })
    )
    const own = { ...terms, limit: isSmall ? 2 : 50 }
    const { open, planned } = plannedExits(positions, own)
    const report = planned.map((plan) => walletExitPosition(plan, null, own.maxImpactPct))
    const { open: counted, ...states } = countsOf(report, open)
    assert.strictEqual(counted, positions.filter(({ open: isOpen }) => isOpen).length)
    assert.strictEqual(
      Object.values(states).reduce((sum, count) => sum + count, 0),
      counted
    )
  })
})

describe("totalOf", () => {
  it("is unknown without a measured position, and complete only when the wallet was read", () => {
    const known = totalOf([], terms, { open: 0, isKnown: true })
    assert.deepInclude(known, { outAmount: null, outUiAmount: null, fullExitOutAmount: null, complete: true })
    assert.isFalse(totalOf([], terms, { open: 0, isKnown: false }).complete)
  })
})
