import { assert, describe, it } from "@effect/vitest"
import { check } from "../../../scripts/exactness/check.ts"
import { bigintOf, textOf } from "../../../src/quotes/execution/poolFixture.ts"
import type { Field } from "../../../src/quotes/execution/makeAccount.ts"
import { lookup } from "../../../src/quotes/execution/decodeFixture.ts"
import { dlmmBinArrayAt, dlmmBinAt } from "../../../src/programs/meteora/dlmmBins.ts"
import { dlmmRate, dlmmReference } from "../../../src/programs/meteora/dlmmFees.ts"
import { dlmmPairAt } from "../../../src/programs/meteora/dlmmPair.ts"
import { dlmmAfter, fillDlmm } from "../../../src/programs/meteora/dlmmSwap.ts"
import { meteoraDlmm } from "../../../src/programs/meteora/dlmm.ts"
import { writeBinArray, writeDlmmPair } from "../../../src/programs/meteora/writes.ts"
import { SOL } from "../../../src/domain/Address.ts"
import { MAX_U64 } from "../../../src/domain/Amount.ts"
import { binArrayAt, dlmmBinsOf, dlmmPairOf, dlmmWith, type PlannedBin, type SyntheticPool } from "./meteoraPools.ts"
import { hasRecordings, recordings } from "../recorded.ts"
import { clock, derive, failing, filled, mintWithFee, priced } from "../stateAccounts.ts"

const decode = ({ accounts, pool }: SyntheticPool) => meteoraDlmm.decode(pool, accounts, derive)

// Most tests use only bins 0 and 1: prices are 1 and 1.001.
const near: ReadonlyArray<PlannedBin> = [
  { id: 0, y: 1_000_000n },
  { id: 1, x: 1_000_000n }
]
const rateOf = (percent: bigint): Field => [dlmmPairAt.baseFactor, percent * 10_000n, 2]

const reason = (offset: number, value: bigint) => failing(decode(dlmmWith(near, [[offset, value, 1]]))).reason

const at = (unixTimestamp: number) => ({ ...clock, unixTimestamp })

/** Swaps 9, 10, 119 and 120 seconds after the last one. The filter period is 10 s, the decay period 120 s. */
const endingsWith = (accumulator: bigint) => {
  const fields: ReadonlyArray<Field> = [
    [dlmmPairAt.volatilityAccumulator, accumulator, 4],
    [dlmmPairAt.volatilityUpdatedAt, 1000n]
  ]
  const pool = priced(decode(dlmmWith(near, fields)))
  return [1009, 1010, 1119, 1120].map((time) => pool.swap(true, 100_000n, at(time)).ending)
}

describe("meteoraDlmm", () => {
  it("pays what the program pays", () => {
    // The two bins next to the price of the pair 9t3EyC9F…, which takes 1 % in Y, and 0.0005 % more one bin away.
    const pool = priced(
      decode(
        dlmmWith(
          [
            { id: 0, y: 6_451_612_902n },
            { id: 1, x: 6_763_735_451_948n }
          ],
          [
            [dlmmPairAt.collectFeeMode, 1n, 1],
            [dlmmPairAt.variableFeeControl, 50_000n, 4]
          ]
        )
      )
    )
    assert.deepStrictEqual(pool.swap(true, 1_000_003n, clock), filled(1_000_003n, 990_002n))
    assert.deepStrictEqual(pool.swap(true, 5_000_000_003n, clock), filled(5_000_000_003n, 4_950_000_002n))
    assert.deepStrictEqual(pool.swap(false, 1_000_003n, clock), filled(1_000_003n, 989_007n))
    assert.deepStrictEqual(pool.swap(false, 30_000_000_001n, clock), filled(30_000_000_001n, 29_670_179_820n))
  })

  it("refuses a payout of zero", () => {
    assert.strictEqual(priced(decode(dlmmWith(near))).swap(false, 1n, clock).ending, "refused")
  })

  it("empties bins one after the other, with the fee on top of each", () => {
    const pool = priced(
      decode(
        dlmmWith([
          { id: 0, y: 1000n },
          { id: -1, y: 1000n },
          { id: -200, y: 1000n }
        ])
      )
    )
    // 1000 and ceil(1000·0.01/0.99) = 11 for bin 0; 990 of the other 1000 go in at 1/1.001.
    assert.strictEqual(pool.swap(true, 1011n, clock).amountOut, 1000n)
    assert.strictEqual(pool.swap(true, 2011n, clock).amountOut, 1989n)
    // 1001 units and 11 for bin -1, then ceil(1000·1.001^200) = 1222 and 13 for bin -200.
    assert.deepStrictEqual(pool.swap(true, 1_000_000n, clock), {
      ending: "exhausted",
      amountIn: 1011n + 1012n + 1235n,
      amountOut: 3000n
    })
  })

  it("takes its fee in Y in both directions in mode 1, else from the input", () => {
    const inY: Field = [dlmmPairAt.collectFeeMode, 1n, 1]
    const selling = (...fields: ReadonlyArray<Field>) =>
      priced(decode(dlmmWith(near, fields))).swap(true, 101n, clock).amountOut
    // ceil(1.01) = 2 off the input; ceil(1.01) = 2 off the output.
    assert.strictEqual(selling(), 99n)
    assert.strictEqual(selling(inY), 99n)
    const buying = priced(decode(dlmmWith([{ id: 0, x: 1_000_000n }], [inY])))
    assert.strictEqual(buying.swap(false, 101n, clock).amountOut, 99n)
    const whole = priced(decode(dlmmWith([{ id: 0, y: 1000n }], [inY]))).swap(true, 5000n, clock)
    assert.deepStrictEqual(whole, { ending: "exhausted", amountIn: 1000n, amountOut: 990n })
  })

  it("raises its fee with the distance from where swaps last paused", () => {
    const volatile: ReadonlyArray<Field> = [
      [dlmmPairAt.variableFeeControl, 1_000_000n, 4],
      [dlmmPairAt.volatilityAccumulator, 100_000n, 4],
      [dlmmPairAt.volatilityReference, 20_000n, 4],
      [dlmmPairAt.indexReference, 7n, 4],
      [dlmmPairAt.volatilityUpdatedAt, 1000n]
    ]
    const pair = dlmmPairOf(dlmmWith(near, volatile).pool.data)
    assert.deepStrictEqual(dlmmReference(pair, 1009), { index: 7, volatility: 20_000 })
    assert.deepStrictEqual(dlmmReference(pair, 1010), { index: 0, volatility: 50_000 })
    assert.deepStrictEqual(dlmmReference(pair, 1120), { index: 0, volatility: 0 })
    // Volatility (2 + |7 - 3|)·1e4, times 10, squared, times 1e6 / 1e11: 0.36 % on top of 1 %.
    assert.strictEqual(dlmmRate(pair, { index: 7, volatility: 20_000 }, 3), 13_600_000n)
    // The accumulator stops at 350000, the fee at 10 %.
    assert.strictEqual(dlmmRate(pair, { index: 0, volatility: 0 }, 35), 100_000_000n)
    assert.strictEqual(dlmmRate(pair, { index: 0, volatility: 0 }, 900), 100_000_000n)
  })

  it("prices every clock with its own reference", () => {
    const volatile: ReadonlyArray<Field> = [
      [dlmmPairAt.variableFeeControl, 1_000_000n, 4],
      [dlmmPairAt.volatilityAccumulator, 100_000n, 4],
      [dlmmPairAt.volatilityReference, 20_000n, 4],
      [dlmmPairAt.volatilityUpdatedAt, 1000n]
    ]
    const pool = priced(decode(dlmmWith(near, volatile)))
    const outAt = (unixTimestamp: number) => pool.swap(true, 100_000n, { ...clock, unixTimestamp }).amountOut
    // 1 % and 0.04 %, 0.25 %, nothing. In turns, so that no answer is taken from another clock.
    const turns = [1009, 1010, 1120, 1009, 1010, 1120]
    assert.deepStrictEqual(turns.map(outAt), [98_960n, 98_750n, 99_000n, 98_960n, 98_750n, 99_000n])
  })

  it("refuses every swap while the program's product of accumulator and reduction does not fit 32 bits", () => {
    // 858,993 · 5000 = 2^32 - 2296. One more in the accumulator is 2704 beyond.
    assert.deepStrictEqual(endingsWith(858_993n), ["filled", "filled", "filled", "filled"])
    assert.deepStrictEqual(endingsWith(858_994n), ["filled", "refused", "refused", "filled"])
  })

  it("fills orders after provided liquidity, partly filled orders first", () => {
    const bin: PlannedBin = { id: 0, y: 100n, processed: 50n, open: 30n }
    const whole = (fields: ReadonlyArray<Field>, bins: ReadonlyArray<PlannedBin> = [bin]) =>
      priced(decode(dlmmWith(bins, [rateOf(0n), ...fields]))).swap(true, 1000n, clock).amountOut
    assert.strictEqual(whole([[dlmmPairAt.functionType, 2n, 1]]), 180n)
    assert.strictEqual(whole([]), 180n)
    // A pair for liquidity mining takes no orders, nor does an undetermined pair with a reward.
    assert.strictEqual(whole([[dlmmPairAt.functionType, 1n, 1]]), 100n)
    assert.strictEqual(whole([[dlmmPairAt.rewards + 144, 1n]]), 100n)
    // Orders that sell X do not fill a sale of X.
    assert.strictEqual(whole([], [{ ...bin, ordersSellX: true }]), 100n)
    const buying = priced(decode(dlmmWith([{ id: 0, x: 100n, processed: 50n, ordersSellX: true }], [rateOf(0n)])))
    assert.strictEqual(buying.swap(false, 150n, clock).amountOut, 150n)
  })

  it("takes the transfer fee of the input first and of the output last", () => {
    const mint = mintWithFee(SOL, [0n, MAX_U64, 1000n], [0n, MAX_U64, 1000n])
    const bins: ReadonlyArray<PlannedBin> = [{ id: 0, x: 2000n, y: 2000n }]
    const pool = priced(decode(dlmmWith(bins, [rateOf(0n), [dlmmPairAt.tokenFlagX, 1n, 1]], [mint])))
    assert.deepStrictEqual(pool.swap(true, 1000n, clock), filled(1000n, 900n))
    assert.deepStrictEqual(pool.swap(false, 1000n, clock), filled(1000n, 900n))
    // 2000 must arrive: ceil(2000/0.9) are sent.
    assert.deepStrictEqual(pool.swap(true, 9000n, clock), { ending: "exhausted", amountIn: 2223n, amountOut: 2000n })
  })

  it("has the marginal rate of a vanishingly small swap", () => {
    const pool = priced(
      decode(
        dlmmWith([
          { id: 0, y: 1n },
          { id: 3, x: 1n }
        ])
      )
    )
    const selling = pool.marginalRate(true, clock)
    assert.strictEqual(selling.numerator * 100n, selling.denominator * 99n)
    const buying = pool.marginalRate(false, clock)
    assert.approximately(Number(buying.numerator) / Number(buying.denominator), 0.99 / 1.001 ** 3, 1e-12)
    assert.strictEqual(priced(decode(dlmmWith([]))).marginalRate(true, clock).numerator, 0n)
  })

  it("waits for activation when its kind requires it", () => {
    const later: Field = [dlmmPairAt.activationPoint, 2n]
    const ending = (...fields: ReadonlyArray<Field>) =>
      priced(decode(dlmmWith(near, [later, ...fields]))).swap(true, 1000n, clock).ending
    assert.strictEqual(ending(), "filled")
    assert.strictEqual(ending([dlmmPairAt.pairType, 1n, 1]), "refused")
    assert.strictEqual(ending([dlmmPairAt.pairType, 2n, 1]), "refused")
    assert.strictEqual(ending([dlmmPairAt.pairType, 3n, 1]), "filled")
    assert.strictEqual(ending([dlmmPairAt.pairType, 2n, 1], [dlmmPairAt.activationType, 1n, 1]), "filled")
  })

  it("does not price unknown modes", () => {
    assert.strictEqual(reason(dlmmPairAt.status, 1n), "closed")
    assert.strictEqual(reason(dlmmPairAt.pairType, 4n), "unsupported")
    assert.strictEqual(reason(dlmmPairAt.functionType, 3n), "unsupported")
    assert.strictEqual(reason(dlmmPairAt.collectFeeMode, 2n), "unsupported")
    assert.strictEqual(reason(dlmmPairAt.activationType, 2n), "malformed")
  })
})

describe("a DLMM pair after a swap", () => {
  it("is the pair that the next swap finds", () => {
    const { accounts, pool } = dlmmWith(
      [
        { id: 0, x: 5n, y: 1000n },
        { id: -1, y: 1000n }
      ],
      [
        [dlmmPairAt.protocolShare, 2000n, 2],
        [dlmmPairAt.variableFeeControl, 1n, 4]
      ]
    )
    const pair = dlmmPairOf(pool.data)
    const reference = dlmmReference(pair, clock.unixTimestamp)
    const { fills } = fillDlmm(pair, reference, true, dlmmBinsOf(pool, accounts, true), 1511n)
    const after = dlmmAfter(pair, reference, fills, clock.unixTimestamp)
    const data = writeDlmmPair(pool.data, after, true, fills)
    assert.deepStrictEqual(dlmmPairOf(data), after)
    assert.deepStrictEqual([after.activeId, after.volatilityAccumulator], [-1, 10_000])
    // A fifth of 11 and of 6, each rounded down.
    assert.strictEqual(new DataView(data.buffer).getBigUint64(dlmmPairAt.protocolFeeX, true), 3n)
    const upper = writeBinArray(accounts(binArrayAt(0))?.data ?? data, 0, true, fills)
    const view = new DataView(upper.buffer)
    assert.strictEqual(view.getBigUint64(dlmmBinArrayAt.bins + dlmmBinAt.amountX, true), 1005n)
    assert.strictEqual(view.getBigUint64(dlmmBinArrayAt.bins + dlmmBinAt.amountY, true), 0n)
    const lower = writeBinArray(accounts(binArrayAt(-1))?.data ?? data, -1, true, fills)
    const last = dlmmBinArrayAt.bins + 69 * dlmmBinArrayAt.binSize
    assert.strictEqual(new DataView(lower.buffer).getBigUint64(last + dlmmBinAt.amountY, true), 1000n - 493n)
  })
})

describe.skipIf(!hasRecordings)("recorded DLMM swaps", () => {
  const sets = recordings("meteora-dlmm-")

  it("exist", () => {
    assert.isAbove(sets.length, 0)
  })

  it.each(sets)("of $name are quoted to the unit", ({ fixture }) => {
    const notes: Array<string> = []
    const { cases, exact } = check(fixture, (line) => notes.push(line))
    assert.strictEqual(exact, cases, notes.join("\n"))
  })

  // The recorder passed the arrays of two pairs in ascending order only. Swaps that cross downwards then lacked
  // accounts, which is no property of the pool.
  it.each(sets)("of $name are not filled where the program refused", ({ fixture }) => {
    const errors = fixture.errors.filter((entry) => textOf(entry, "programError") !== "AccountNotEnoughKeys")
    const notes: Array<string> = []
    assert.strictEqual(check({ ...fixture, errors }, (line) => notes.push(line)).errorsWrong, 0, notes.join("\n"))
  })

  it.each(sets)("of $name leave the pair at the same bin as the program", ({ fixture }) => {
    const pool = [...fixture.accounts.values()].find(meteoraDlmm.isPool)
    assert.isDefined(pool)
    if (pool !== undefined) {
      const accounts = lookup(fixture.accounts, new Set())
      const pair = dlmmPairOf(pool.data)
      const decoded = priced(meteoraDlmm.decode(pool, accounts, derive))
      for (const entry of fixture.cases) {
        const sellsX = textOf(entry, "inputMint") === decoded.mintA
        const { unixTimestamp } = fixture.clockOf(entry)
        const reference = dlmmReference(pair, unixTimestamp)
        const amount = bigintOf(entry, "amountIn") ?? 0n
        const { fills } = fillDlmm(pair, reference, sellsX, dlmmBinsOf(pool, accounts, sellsX), amount)
        const after = dlmmAfter(pair, reference, fills, unixTimestamp)
        assert.strictEqual(BigInt(after.activeId), bigintOf(entry, "activeIdAfter"))
      }
    }
  })
})
