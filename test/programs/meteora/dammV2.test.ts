import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { check } from "../../../scripts/exactness/check.ts"
import type { Field } from "../../../src/quotes/execution/makeAccount.ts"
import { dammV2At, readDammV2 } from "../../../src/programs/meteora/dammV2State.ts"
import { dammV2After, fillDammV2 } from "../../../src/programs/meteora/dammV2Swap.ts"
import { meteoraDammV2 } from "../../../src/programs/meteora/dammV2.ts"
import { writeDammV2 } from "../../../src/programs/meteora/writes.ts"
import { isFailure } from "../../../src/programs/layout/unpriceable.ts"
import { SOL } from "../../../src/domain/Address.ts"
import { MAX_U64 } from "../../../src/domain/Amount.ts"
import { dammV2With } from "./meteoraPools.ts"
import { hasRecordings, recordings } from "../recorded.ts"
import { derive, failing, filled, mintWithFee, priced } from "../stateAccounts.ts"

const clock = { slot: 360_000_000, epoch: 900, unixTimestamp: 1_754_982_385 }
const SECONDS_OPEN = clock.unixTimestamp - 1_747_446_361

const decode = (fields: ReadonlyArray<Field> = [], mints: Parameters<typeof dammV2With>[1] = []) => {
  const { accounts, pool } = dammV2With(fields, mints)
  return meteoraDammV2.decode(pool, accounts, derive)
}

const outOf = (fields: ReadonlyArray<Field>, aToB: boolean, amountIn: bigint) =>
  priced(decode(fields)).swap(aToB, amountIn, clock).amountOut

const stateOf = (data: Uint8Array) => {
  const state = readDammV2(data)
  if (isFailure(state)) {
    throw new Error(state.detail)
  }
  return state
}

// Without volatility and with liquidity at a price of one: an output is the input less fees and a unit of rounding.
const flat: ReadonlyArray<Field> = [
  [dammV2At.volatilityOn, 0n, 1],
  [dammV2At.liquidity, (1n << 127n) - 1n, 16],
  [dammV2At.sqrtPrice, 1n << 64n, 16],
  [dammV2At.sqrtMinPrice, 1n << 63n, 16],
  [dammV2At.sqrtMaxPrice, 1n << 65n, 16]
]

const scheduled = (mode: bigint, reduction: bigint): ReadonlyArray<Field> => [
  ...flat,
  [dammV2At.cliffRate, 500_000_000n],
  [dammV2At.baseFeeMode, mode, 1],
  [dammV2At.periods, 10n, 2],
  // A little more than three periods have passed.
  [dammV2At.secondFactor, BigInt(Math.floor(SECONDS_OPEN / 3.5))],
  [dammV2At.reduction, reduction]
]

const byPrice = (duration: bigint): ReadonlyArray<Field> => [
  ...flat,
  [dammV2At.cliffRate, 500_000_000n],
  [dammV2At.baseFeeMode, 3n, 1],
  [dammV2At.periods, 10n, 2],
  [dammV2At.secondFactor, 1000n, 4],
  [dammV2At.secondFactor + 4, duration, 4],
  [dammV2At.reduction, 40_000_000n],
  // The square-root price has risen by a quarter: two steps of 10 %.
  [dammV2At.initialSqrtPrice, ((1n << 64n) * 4n) / 5n, 16]
]

const limited = (duration: bigint): ReadonlyArray<Field> => [
  ...flat,
  [dammV2At.cliffRate, 10_000_000n],
  [dammV2At.baseFeeMode, 2n, 1],
  [dammV2At.periods, 100n, 2],
  [dammV2At.secondFactor, duration, 4],
  [dammV2At.secondFactor + 4, 500n, 4],
  [dammV2At.reduction, 1000n]
]

describe("meteoraDammV2", () => {
  it("pays what the program pays", () => {
    // CGPxT5d1…, run through the program of the SDK's tests.
    const pool = priced(decode())
    assert.deepStrictEqual(pool.swap(true, 1009n, clock), filled(1009n, 175n))
    assert.deepStrictEqual(pool.swap(true, 1_000_000_007n, clock), filled(1_000_000_007n, 174_640_084n))
    assert.deepStrictEqual(pool.swap(false, 1_000_003n, clock), filled(1_000_003n, 5_695_453n))
    assert.deepStrictEqual(pool.swap(false, 10_000_000_019n, clock), filled(10_000_000_019n, 55_830_068_728n))
  })

  it("fills a swap that buys nothing, as the program does", () => {
    assert.deepStrictEqual(priced(decode()).swap(false, 1n, clock), filled(1n, 0n))
  })

  it("takes the input that moves the price to the end of its range, and no more", () => {
    const pool = priced(decode())
    const whole = pool.swap(false, 2_000_000_000_003n, clock)
    assert.strictEqual(whole.ending, "exhausted")
    // The last unit is rounded up to reach the limit, so only the program's partial fill takes it.
    assert.deepStrictEqual(pool.swap(false, whole.amountIn, clock), whole)
    assert.strictEqual(pool.swap(false, whole.amountIn - 1n, clock).ending, "filled")
  })

  it("charges the output in mode 0, token B in mode 1", () => {
    const rate: Field = [dammV2At.cliffRate, 100_000_000n]
    // Mode 0 buying A: 1000 in, 999 gross, ceil(99.9) off. Mode 1: 900 of 1000 go in, 899 come out.
    assert.strictEqual(outOf([...flat, rate, [dammV2At.collectFeeMode, 0n, 1]], false, 1000n), 899n)
    assert.strictEqual(outOf([...flat, rate], false, 1000n), 899n)
    assert.strictEqual(outOf([...flat, rate], false, 1001n), 899n)
    assert.strictEqual(outOf([...flat, rate, [dammV2At.collectFeeMode, 0n, 1]], false, 1001n), 900n)
  })

  it("is a constant product over its counted amounts in mode 2", () => {
    const compounding: ReadonlyArray<Field> = [
      ...flat,
      [dammV2At.cliffRate, 10_000_000n],
      [dammV2At.collectFeeMode, 2n, 1],
      [dammV2At.layoutVersion, 1n, 1],
      [dammV2At.amountA, 1_000_000n],
      [dammV2At.amountB, 4_000_000n]
    ]
    // floor(4e6·1000/1001000) = 3996, ceil(39.96) off; ceil(40) off 4000, floor(1e6·3960/4003960) = 989.
    assert.strictEqual(outOf(compounding, true, 1000n), 3956n)
    assert.strictEqual(outOf(compounding, false, 4000n), 989n)
    const rate = priced(decode(compounding)).marginalRate(true, clock)
    assert.strictEqual(rate.numerator * 100n, rate.denominator * 396n)
  })

  it("lowers its base fee with time, linearly and exponentially", () => {
    // 50 % - 3·4 % = 38 %; 50 %·0.5³ = 6.25 %.
    assert.strictEqual(outOf(scheduled(0n, 40_000_000n), true, 10_000n), 9999n - 3800n)
    assert.strictEqual(outOf(scheduled(1n, 5000n), true, 10_000n), 9999n - 625n)
  })

  it("lowers its base fee as the price rises, until that schedule expires", () => {
    assert.strictEqual(outOf(byPrice(BigInt(SECONDS_OPEN)), true, 10_000n), 9999n - 4200n)
    assert.strictEqual(outOf(byPrice(BigInt(SECONDS_OPEN - 1)), true, 10_000n), 9999n - 1000n)
  })

  it("charges large purchases more while the rate limiter lasts", () => {
    // 400 of 10000 while it lasts, 100 afterwards, and always 100 on sales.
    assert.strictEqual(outOf(limited(BigInt(SECONDS_OPEN)), false, 10_000n), 9599n)
    assert.strictEqual(outOf(limited(BigInt(SECONDS_OPEN - 1)), false, 10_000n), 9899n)
    assert.strictEqual(outOf(limited(BigInt(SECONDS_OPEN)), true, 10_000n), 9899n)
  })

  it("adds the fee of its stored volatility, up to the cap of its version", () => {
    const volatile: ReadonlyArray<Field> = [
      ...flat,
      [dammV2At.volatilityOn, 1n, 1],
      [dammV2At.cliffRate, 100_000_000n],
      [dammV2At.volatilityControl, 1_000_000n, 4],
      [dammV2At.volatilityAccumulator, 4_000_000n, 16]
    ]
    // 4e6²·1e6/1e11 = 16 % on top of 10 %; at ten times the swing the cap is 50 % or 99 %.
    assert.strictEqual(outOf(volatile, true, 10_000n), 9999n - 2600n)
    const wild: Field = [dammV2At.volatilityAccumulator, 40_000_000n, 16]
    assert.strictEqual(outOf([...volatile, wild], true, 10_000n), 9999n - 5000n)
    assert.strictEqual(outOf([...volatile, wild, [dammV2At.feeVersion, 1n, 1]], true, 10_000n), 9999n - 9900n)
  })

  it("takes the transfer fee of the input first and of the output last", () => {
    const mint = mintWithFee(SOL, [0n, MAX_U64, 1000n], [0n, MAX_U64, 1000n])
    const pool = priced(decode([...flat, [dammV2At.cliffRate, 0n], [dammV2At.tokenFlagA, 1n, 1]], [mint]))
    // 900 arrive, 899 come out. In the other case 999 come out and ceil(99.9) are withheld.
    assert.deepStrictEqual(pool.swap(true, 1000n, clock), filled(1000n, 899n))
    assert.deepStrictEqual(pool.swap(false, 1000n, clock), filled(1000n, 899n))
  })

  it("refuses swaps before activation, by slot or by second", () => {
    const later: Field = [dammV2At.activationPoint, BigInt(clock.unixTimestamp + 1)]
    const bySlot: Field = [dammV2At.activationType, 0n, 1]
    assert.strictEqual(priced(decode([later])).swap(true, 1000n, clock).ending, "refused")
    assert.strictEqual(priced(decode([bySlot])).swap(true, 1000n, clock).ending, "refused")
    const opened: Field = [dammV2At.activationPoint, BigInt(clock.slot)]
    assert.strictEqual(priced(decode([opened, bySlot])).swap(true, 1000n, clock).ending, "filled")
  })

  it("does not price unknown modes", () => {
    assert.strictEqual(failing(decode([[dammV2At.status, 1n, 1]])).reason, "closed")
    assert.strictEqual(failing(decode([[dammV2At.sqrtPrice, 0n, 16]])).reason, "malformed")
    assert.strictEqual(failing(decode([[dammV2At.collectFeeMode, 2n, 1]])).reason, "malformed")
    for (const [offset, value] of [
      [dammV2At.collectFeeMode, 3n],
      [dammV2At.baseFeeMode, 5n],
      [dammV2At.feeVersion, 2n],
      [dammV2At.layoutVersion, 2n]
    ] as const) {
      assert.strictEqual(failing(decode([[offset, value, 1]])).reason, "unsupported")
    }
  })

  it("refuses, as the program does, while there is no price to compare with", () => {
    const recent: ReadonlyArray<Field> = [
      [dammV2At.sqrtPriceReference, 0n, 16],
      [dammV2At.volatilityUpdatedAt, BigInt(clock.unixTimestamp - 5)]
    ]
    assert.strictEqual(priced(decode(recent)).swap(true, 1000n, clock).ending, "refused")
    const later = { ...clock, unixTimestamp: clock.unixTimestamp + 5 }
    assert.strictEqual(priced(decode(recent)).swap(true, 1000n, later).ending, "filled")
    const state = stateOf(dammV2With(recent).pool.data)
    const fill = fillDammV2(state, true, 1_000_000n, BigInt(clock.unixTimestamp))
    assert.isNotNull(fill)
    if (fill !== null) {
      assert.isNull(dammV2After(state, true, fill, BigInt(clock.unixTimestamp)))
    }
  })

  it("leaves the pool as the next swap finds it", () => {
    const { pool } = dammV2With()
    const before = stateOf(pool.data)
    const fill = fillDammV2(before, false, 10_000_000_019n, BigInt(clock.unixTimestamp))
    assert.isNotNull(fill)
    if (fill !== null) {
      const after = dammV2After(before, false, fill, BigInt(clock.unixTimestamp))
      if (after === null) {
        throw new Error("refused")
      }
      assert.deepStrictEqual(stateOf(writeDammV2(pool.data, after)), after)
      assert.isTrue(after.sqrtPrice > before.sqrtPrice)
      // 0.25 % of the input, rounded up. A fifth of it goes to the protocol.
      assert.strictEqual(fill.fee, 25_000_001n)
      assert.strictEqual(after.protocolFeeB, 5_000_000n)
      assert.strictEqual(after.volatility.updatedAt, BigInt(clock.unixTimestamp))
    }
  })

  it.prop(
    "never pays less for more",
    [
      Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 2 ** 44 })),
      Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 ** 20 })),
      Schema.Boolean
    ],
    ([amount, more, aToB]) => {
      const pool = priced(decode())
      const [less, greater] = [BigInt(amount), BigInt(amount) + BigInt(more)].map((n) => pool.swap(aToB, n, clock))
      assert.isTrue((greater?.amountOut ?? 0n) >= (less?.amountOut ?? 0n))
    }
  )
})

describe.skipIf(!hasRecordings)("recorded DAMM v2 swaps", () => {
  const sets = recordings("meteora-dammv2-")

  it("exist", () => {
    assert.isAbove(sets.length, 0)
  })

  it.each(sets)("of $name are quoted to the unit", ({ fixture }) => {
    const notes: Array<string> = []
    const { cases, errorsWrong, exact } = check(fixture, (line) => notes.push(line))
    assert.strictEqual(exact, cases, notes.join("\n"))
    assert.strictEqual(errorsWrong, 0, notes.join("\n"))
  })
})

describe("a corrupted pool", () => {
  it.each([
    { title: "a price below its least", sqrtPrice: (1n << 63n) - 1n },
    { title: "a price above its greatest", sqrtPrice: (1n << 65n) + 1n }
  ])("with $title is refused, because its amounts would be negative", ({ sqrtPrice }) => {
    const decoded = decode([...flat, [dammV2At.sqrtPrice, sqrtPrice, 16]])
    assert.deepInclude(decoded, { reason: "malformed", detail: "no price" })
  })

  it("at either end of its prices is not corrupted", () => {
    for (const sqrtPrice of [1n << 63n, 1n << 65n]) {
      for (const aToB of [true, false]) {
        const { amountIn, amountOut } = priced(decode([...flat, [dammV2At.sqrtPrice, sqrtPrice, 16]])).swap(
          aToB,
          1000n,
          clock
        )
        assert.isTrue(amountIn >= 0n && amountOut >= 0n)
      }
    }
  })
})
