import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { copyPnlOf, groupPositions, type Marks, spanOf } from "../../../src/wallets/copying/copyPnl.ts"
import { copyPositions } from "./copies.ts"
import { slippageVsLeader } from "../../../src/wallets/copying/slippage.ts"
import type { FilledCopy } from "../../../src/api/schemas/Copying.ts"
import type { CopyPnl } from "../../../src/api/schemas/CopyPnl.ts"
import { toAtomic } from "../../../src/domain/decimal.ts"
import { addressOf } from "../../callouts/callouts.ts"

const USD = 1_000_000_000n
const HOUR = 3_600_000
const NOW = 1_000 * HOUR
const [MINT, OTHER] = [addressOf(1), addressOf(2)]

const copied = (number: number, other: Partial<FilledCopy>): FilledCopy => ({
  id: `fl_${String(number).padStart(5, "0")}`,
  followId: "cf_a",
  mint: MINT,
  side: "buy",
  leaderSlot: number,
  slot: number,
  atMs: NOW - HOUR + number,
  amount: 1000n,
  valueUsdNanos: 100n * USD,
  feeUsdNanos: USD,
  ...other
})

/** Every mint at 15 cents a unit. */
const marks: Marks = { of: () => ({ numerator: 150_000n, denominator: 1n }), missing: "mark_unknown" }
const noMarks: Marks = { of: () => null, missing: "mark_unknown" }
const always = spanOf("all", NOW)

const pnlOf = (copies: ReadonlyArray<FilledCopy>, span = always, at = marks) =>
  copyPnlOf(copyPositions(copies), span, at)

const half = { amount: 500n, side: "sell" as const }
const bought = copied(1, {})
const sold = copied(2, { ...half, valueUsdNanos: 80n * USD, feeUsdNanos: USD / 2n })

describe("profit and loss of copies", () => {
  it("includes every fee in cost and proceeds", () => {
    // 1,000 units cost 100 and a fee of 1; 500 of them cost 50.5 and brought 80 less 0.5. The rest is worth 75.
    assert.deepStrictEqual(pnlOf([bought, sold]), {
      realized: "29",
      unrealized: "24.5",
      total: "53.5",
      costUsd: "101",
      soldCostUsd: "50.5",
      proceedsUsd: "79.5",
      feesUsd: "1.5",
      roiPct: "52.970297029703",
      fills: 2,
      wins: 1,
      losses: 0,
      unknownBasis: 0,
      openPositions: 1,
      known: {
        realized: "29",
        unrealized: "24.5",
        total: "53.5",
        costUsd: "101",
        proceedsUsd: "79.5",
        feesUsd: "1.5",
        unmarkedPositions: 0
      },
      pnlMode: "unknown-basis-null",
      coverage: { complete: true, reason: null }
    })
  })

  it("is zero and known without copies", () => {
    assert.deepInclude(pnlOf([]), { realized: "0", total: "0", costUsd: "0", roiPct: null, fills: 0, openPositions: 0 })
    assert.isTrue(pnlOf([], always, noMarks).coverage.complete)
  })

  it("counts sales inside the window at a cost from before the window", () => {
    const early = { ...bought, atMs: NOW - 24 * HOUR - 1 }
    const late = { ...sold, atMs: NOW - 24 * HOUR }
    const day = pnlOf([early, late], spanOf("24h", NOW))
    assert.deepInclude(day, { realized: "29", feesUsd: "0.5", fills: 1, openPositions: 1, unrealized: "24.5" })
    const after = pnlOf([early, { ...late, atMs: NOW - 24 * HOUR - 1 }], spanOf("24h", NOW))
    assert.deepInclude(after, { realized: "0", feesUsd: "0", fills: 0, unrealized: "24.5", roiPct: null })
  })

  it("counts wins and losses, and neither for a result of zero", () => {
    const even = copied(3, { amount: 250n, side: "sell", valueUsdNanos: 25_250_000_000n, feeUsdNanos: 0n })
    const worse = copied(4, { amount: 250n, side: "sell", valueUsdNanos: USD, feeUsdNanos: 2n * USD })
    assert.deepInclude(pnlOf([bought, sold, even, worse]), {
      wins: 1,
      losses: 1,
      realized: "2.75",
      openPositions: 0,
      unrealized: "0"
    })
  })

  it("gives null for a sum with a part of unknown cost", () => {
    const unknown = { realized: null, total: null, soldCostUsd: null, roiPct: null, unknownBasis: 1 }
    const basis = { complete: false, reason: "basis_unknown" } as const
    // Sold more than was seen bought, paid an unknown price, paid an unknown fee.
    assert.deepInclude(pnlOf([copied(2, half)]), { ...unknown, coverage: basis, unrealized: null, costUsd: "0" })
    for (const lacking of [{ valueUsdNanos: null }, { feeUsdNanos: null }]) {
      const pnl = pnlOf([copied(1, lacking), sold])
      assert.deepInclude(pnl, {
        ...unknown,
        coverage: basis,
        unrealized: null,
        costUsd: null,
        proceedsUsd: "79.5",
        openPositions: 1
      })
    }
    assert.deepInclude(pnlOf([bought, copied(2, { ...half, valueUsdNanos: null })]), { ...unknown, proceedsUsd: null })
    assert.isNull(pnlOf([copied(1, { feeUsdNanos: null })]).feesUsd)
  })

  it("gives the known part beside a sum with an unknown part", () => {
    // 500 of 1,000 units are sold, one purchase of another mint has no value, and so has its sale.
    const other = { mint: "4WShe4GjxtcjM54xcfky72bi7WwTmW99UsE5cW1dKfVH" } as Partial<FilledCopy>
    const unknown = copied(3, { ...other, valueUsdNanos: null })
    const pnl = pnlOf([bought, sold, unknown, copied(4, { ...other, ...half, valueUsdNanos: 10n * USD })])
    assert.deepInclude(pnl, { realized: null, unrealized: null, total: null, costUsd: null, proceedsUsd: "88.5" })
    assert.deepStrictEqual(pnl.known, {
      realized: "29",
      unrealized: "24.5",
      total: "53.5",
      costUsd: "101",
      proceedsUsd: "88.5",
      feesUsd: "3.5",
      unmarkedPositions: 0
    })
    const { known } = pnlOf([bought, sold], always, noMarks)
    assert.deepInclude(known, { realized: "29", unrealized: null, total: null, unmarkedPositions: 1 })
  })

  it("gives a null value without a mark, and known sales", () => {
    assert.deepInclude(pnlOf([bought, sold], always, noMarks), {
      realized: "29",
      unrealized: null,
      total: null,
      coverage: { complete: false, reason: "mark_unknown" }
    })
  })

  it("keeps the positions of follows apart", () => {
    const pnl = pnlOf([bought, { ...sold, followId: "cf_b" }])
    assert.deepInclude(pnl, { realized: null, unknownBasis: 1, unrealized: null, openPositions: 2 })
  })

  it("groups what traded in the window or is still held", () => {
    const closed = [copied(1, { mint: OTHER }), copied(2, { mint: OTHER, side: "sell" })]
    const positions = copyPositions([...closed, bought].map((copy) => ({ ...copy, atMs: NOW - 25 * HOUR })))
    const keys = (span = spanOf("24h", NOW)) => groupPositions(positions, span, "mint").map(([key]) => key)
    assert.deepStrictEqual(keys(), [MINT])
    assert.deepStrictEqual(keys(always), [MINT, OTHER].toSorted())
  })
})

const Amount = Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: 1n, maximum: 2n ** 40n }))
const Trades = Schema.Array(
  Schema.Struct({
    follow: Schema.Literals(["cf_a", "cf_b", "cf_c"]),
    mint: Schema.Literals(["1", "2"]),
    isBuy: Schema.Boolean,
    amount: Amount,
    value: Amount,
    fee: Amount,
    hoursAgo: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 60 }))
  })
)

/** The trades as copies, which never sell more than is held. */
const covered = (trades: typeof Trades.Type): ReadonlyArray<FilledCopy> => {
  const held = new Map<string, bigint>()
  return trades.flatMap(({ amount, fee, follow, hoursAgo, isBuy, mint, value }, number) => {
    const key = `${follow} ${mint}`
    const have = held.get(key) ?? 0n
    const moved = isBuy || amount < have ? amount : have
    held.set(key, isBuy ? have + moved : have - moved)
    const trade = {
      followId: follow,
      mint: addressOf(Number(mint)),
      amount: moved,
      valueUsdNanos: value,
      feeUsdNanos: fee
    }
    const atMs = NOW - hoursAgo * HOUR
    return moved === 0n ? [] : [copied(number, { ...trade, side: isBuy ? "buy" : "sell", atMs })]
  })
}

const nanos = (text: string | null): bigint => {
  const size = toAtomic((text ?? "none").replace("-", ""), 9)
  assert.isTrue(typeof size === "bigint", `${text}`)
  return text?.startsWith("-") ? -BigInt(size) : BigInt(size)
}

const sums = ["realized", "unrealized", "total", "costUsd", "proceedsUsd", "feesUsd"] as const
const counts = ["fills", "wins", "losses", "unknownBasis", "openPositions"] as const

describe("the sums", () => {
  it.effect.prop(
    "of the groups add up to the sums of the whole",
    [Trades, Schema.Literals(["24h", "all"])],
    ([trades, window]) =>
      Effect.sync(() => {
        const positions = copyPositions(covered(trades))
        const span = spanOf(window, NOW)
        const total = copyPnlOf(positions, span, marks)
        for (const groupBy of ["follow", "mint"] as const) {
          const groups = groupPositions(positions, span, groupBy).map(([, own]) => copyPnlOf(own, span, marks))
          const add = <A>(read: (pnl: CopyPnl) => A, plus: (a: A, b: A) => A, none: A) =>
            groups.map(read).reduce(plus, none)
          for (const field of sums) {
            assert.strictEqual(
              add(
                (pnl) => nanos(pnl[field]),
                (a, b) => a + b,
                0n
              ),
              nanos(total[field]),
              field
            )
          }
          for (const field of counts) {
            assert.strictEqual(
              add(
                (pnl) => pnl[field],
                (a, b) => a + b,
                0
              ),
              total[field],
              field
            )
          }
        }
      })
  )

  it.effect.prop("are cash flow and holdings at mark, to the nano-dollar", [Trades], ([trades]) =>
    Effect.sync(() => {
      const copies = covered(trades)
      const { proceedsUsd, soldCostUsd, realized, total } = pnlOf(copies)
      const flow = copies.reduce((sum, { feeUsdNanos, side, valueUsdNanos }) => {
        const value = valueUsdNanos ?? 0n
        return sum + (side === "buy" ? -value : value) - (feeUsdNanos ?? 0n)
      }, 0n)
      const held = copies.reduce((sum, { amount, side }) => (side === "buy" ? sum + amount : sum - amount), 0n)
      assert.strictEqual(nanos(total), flow + held * 150_000_000n)
      assert.strictEqual(nanos(realized), nanos(proceedsUsd) - nanos(soldCostUsd))
    })
  )
})

describe("the slippage of a copy against its leader", () => {
  it("is worse when a sale was cheaper or a purchase dearer", () => {
    const prices = { leader: "0.000131", copy: "0.0001298" }
    assert.strictEqual(slippageVsLeader("sell", prices), "0.916030534351145")
    assert.strictEqual(slippageVsLeader("buy", prices), "-0.916030534351145")
    assert.strictEqual(slippageVsLeader("buy", { leader: "2", copy: "3" }), "50")
    assert.strictEqual(slippageVsLeader("buy", { leader: "7", copy: "7" }), "0")
    assert.isNull(slippageVsLeader("buy", { leader: "0", copy: "7" }))
  })
})
