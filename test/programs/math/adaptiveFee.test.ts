import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import {
  accumulatorAt,
  adaptiveRate,
  coreRadius,
  type Reference,
  referenceIn,
  regimeAfter,
  type Volatility
} from "../../../src/programs/math/adaptiveFee.ts"
import { type SwapPath, type FeeSchedule, staticFee } from "../../../src/programs/math/swapPath.ts"
import { makePriceTable } from "../../../src/programs/math/priceTable.ts"
import { clmmDynamicFee } from "../../../src/programs/raydium/clmmDynamicFee.ts"
import { raydiumGrid } from "../../../src/programs/raydium/clmmTicks.ts"
import { floorDiv } from "../../../src/programs/math/ticks.ts"
import { swapSteps } from "../../../src/programs/math/swapSteps.ts"
import { whirlpoolAdaptiveFee, whirlpoolRegime } from "../../../src/programs/orca/whirlpoolAdaptiveFee.ts"
import { whirlpoolGrid } from "../../../src/programs/orca/whirlpoolTicks.ts"
import { MAX_U64 } from "../../../src/domain/Amount.ts"
import { randomBits, randomFrom } from "../syntheticPools.ts"

const Seed = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 ** 31 }))

const volatility: Volatility = {
  filterPeriod: 30,
  decayPeriod: 600,
  reductionFactor: 5000n,
  control: 4000n,
  maxAccumulator: 350_000n,
  groupSize: 64,
  groupReference: 3,
  volatilityReference: 500n,
  accumulator: 20_001n
}

describe("a fee that follows volatility", () => {
  it("adds the square of the groups crossed, rounded up", () => {
    // 4000·(10000·64)² / 10^13 = 163.84
    assert.strictEqual(adaptiveRate(3000n, volatility, 10_000n), 3164n)
    // 4000·(500·64)² / 10^13 = 0.4096
    assert.strictEqual(adaptiveRate(3000n, volatility, 500n), 3001n)
    assert.strictEqual(adaptiveRate(3000n, volatility, 0n), 3000n)
  })

  it("never exceeds ten percent", () => {
    assert.strictEqual(adaptiveRate(3000n, { ...volatility, control: 99_999n }, 350_000n), 100_000n)
  })

  it("counts groups from the reference in both directions up to the maximum", () => {
    const reference: Reference = { group: 3, volatility: 500n }
    assert.strictEqual(accumulatorAt(volatility, reference, 3), 500n)
    assert.strictEqual(accumulatorAt(volatility, reference, 5), 20_500n)
    assert.strictEqual(accumulatorAt(volatility, reference, 1), 20_500n)
    assert.strictEqual(accumulatorAt(volatility, reference, 100), 350_000n)
    // ceil((350000 - 500) / 10000)
    assert.strictEqual(coreRadius(volatility, reference), 35)
  })

  it("keeps, decays or forgets its reference with time", () => {
    assert.deepStrictEqual(
      [0, 29, 30, 599, 600].map((seconds) => regimeAfter(volatility, seconds)),
      ["kept", "kept", "decayed", "decayed", "reset"]
    )
    assert.deepStrictEqual(referenceIn("kept", volatility, 9), { group: 3, volatility: 500n })
    assert.deepStrictEqual(referenceIn("decayed", volatility, 9), { group: 9, volatility: 10_000n })
    assert.deepStrictEqual(referenceIn("reset", volatility, 9), { group: 9, volatility: 0n })
  })
})

describe("the time that a Whirlpool's oracle knows", () => {
  const oracle = { ...volatility, tradeEnableAt: 0, majorSwapTicks: 64, referenceUpdatedAt: 1000, majorSwapAt: 4000 }

  it("counts from the later of reference and major swap", () => {
    assert.strictEqual(whirlpoolRegime(oracle, 4029), "kept")
    assert.strictEqual(whirlpoolRegime(oracle, 4030), "decayed")
    assert.strictEqual(whirlpoolRegime(oracle, 4599), "decayed")
    assert.strictEqual(whirlpoolRegime(oracle, 4600), "reset")
  })

  it("resets a reference older than an hour, however recent the last major swap", () => {
    const busy = { ...oracle, majorSwapAt: 4590 }
    assert.strictEqual(whirlpoolRegime(busy, 4600), "kept")
    assert.strictEqual(whirlpoolRegime(busy, 4601), "reset")
  })

  it("takes a clock behind its own last write as the time of that write", () => {
    assert.strictEqual(whirlpoolRegime(oracle, 3000), "kept")
  })
})

interface Setting {
  readonly swapPath: SwapPath
  readonly volatility: Volatility
  readonly reference: Reference
  readonly base: bigint
}

type MakeFee = (
  base: bigint,
  volatility: Volatility,
  reference: Reference,
  tick: number,
  down: boolean
) => () => FeeSchedule

/** A swap path through a few ticks, with liquidity everywhere and any fee settings. */
const settingOf = (seed: number, down: boolean, whirlpool: boolean): Setting => {
  const random = randomFrom(seed)
  const spacing = [1, 4, 64][Math.floor(random() * 3)] ?? 1
  const groupSize = whirlpool ? Math.max(1, Math.floor(spacing / 2 ** Math.floor(random() * 3))) : spacing
  const tick = Math.floor((random() - 0.5) * 40_000)
  const rules = whirlpool ? whirlpoolGrid : raydiumGrid
  const low = rules.sqrtPriceAt(tick)
  const sqrtPrice = random() < 0.3 ? low : low + (randomBits(random, 100) % (rules.sqrtPriceAt(tick + 1) - low))
  const first = floorDiv(tick, spacing)
  const indexes = Array.from({ length: 6 }, (_, i) => {
    const ahead = 1 + i * 6 + Math.floor(random() * 6)
    return (down ? first - ahead + 1 : first + ahead) * spacing
  })
  const liquidity = 10n ** 9n + randomBits(random, 60)
  const ticks = indexes.map((index) => ({
    index,
    liquidityNet: (down ? -1n : 1n) * randomBits(random, 40),
    orders: whirlpool || random() < 0.6 ? 0n : randomBits(random, 30)
  }))
  const group = floorDiv(tick, groupSize)
  const settings: Volatility = {
    ...volatility,
    groupSize,
    control: BigInt(Math.floor(random() * 90_000)),
    maxAccumulator: BigInt(Math.floor(random() * 300_000))
  }
  const reference = {
    group: group + Math.floor((random() - 0.5) * 30),
    volatility: BigInt(Math.floor(random() * 50_000))
  }
  const base = BigInt(Math.floor(random() * 5000))
  const fee = (whirlpool ? whirlpoolAdaptiveFee : clmmDynamicFee)(base, settings, reference, tick, down)
  const feeOnInput = whirlpool || random() < 0.5
  const cuts = [{ rate: 1300n, scale: 10_000n }]
  const swapPath = { grid: rules, down, feeOnInput, sqrtPrice, tick, liquidity, ticks, edge: null, fee, cuts }
  return { swapPath, volatility: settings, reference, base }
}

const families: ReadonlyArray<readonly [string, boolean, MakeFee]> = [
  ["Whirlpool", true, whirlpoolAdaptiveFee],
  ["Raydium CLMM", false, clmmDynamicFee]
]

for (const [name, whirlpool, makeFee] of families) {
  describe(`a ${name} swap under a fee that follows volatility`, () => {
    it.prop("costs the same by the table as by the step loop", [Seed, Schema.Boolean], ([seed, down]) => {
      const { swapPath } = settingOf(seed, down, whirlpool)
      const { quote } = makePriceTable(swapPath)
      const random = randomFrom(seed)
      const most = swapSteps(swapPath, MAX_U64).amountIn
      const sizes = Array.from({ length: 20 }, () => 1n + (randomBits(random, 63) % (most + 2n)))
      for (const amount of [...sizes, most, most + 1n]) {
        const { amountIn, amountOut, ending } = swapSteps(swapPath, amount)
        assert.deepStrictEqual(quote(amount), { ending, amountIn, amountOut }, `${amount} of seed ${seed}`)
      }
    })

    it.prop("costs the same as swaps through one group after the other", [Seed, Schema.Boolean], ([seed, down]) => {
      const setting = settingOf(seed, down, whirlpool)
      const open = { ...setting.volatility, maxAccumulator: 10n ** 9n }
      const { sqrtPrice, tick } = setting.swapPath
      const [last] = setting.swapPath.ticks.map((next) => ({ ...next, orders: 0n }))
      if (last === undefined) {
        return
      }
      const fee = makeFee(setting.base, open, setting.reference, tick, down)
      const swapPath = { ...setting.swapPath, ticks: [last], fee }
      let [price, spent, paid] = [sqrtPrice, 0n, 0n]
      for (let group = floorDiv(tick, open.groupSize), done = false; !done; group += down ? -1 : 1) {
        const end = (down ? group : group + 1) * open.groupSize
        done = down ? end <= last.index : end >= last.index
        const index = done ? last.index : end
        const feeRate = adaptiveRate(setting.base, open, accumulatorAt(open, setting.reference, group))
        const ticks = [{ index, liquidityNet: 0n, orders: 0n }]
        const moved = swapSteps({ ...swapPath, sqrtPrice: price, ticks, fee: staticFee(feeRate) }, MAX_U64)
        price = moved.sqrtPrice
        spent += moved.amountIn
        paid += moved.amountOut
      }
      const whole = swapSteps(swapPath, MAX_U64)
      assert.deepStrictEqual([whole.amountIn, whole.amountOut], [spent, paid], `seed ${seed} from ${sqrtPrice}`)
    })

    it("finds its group again after a stretch without liquidity", () => {
      const reference: Reference = { group: 0, volatility: 0n }
      const { sqrtPriceAt } = whirlpool ? whirlpoolGrid : raydiumGrid
      const rateBehind = (from: number, to: number) => {
        const fee = makeFee(1000n, volatility, reference, from, to < from)()
        const target = sqrtPriceAt(to)
        assert.strictEqual(fee.rateToward(target, 0n).until, target)
        fee.priceMoved(target, to, target)
        return fee.rateToward(sqrtPriceAt(to < from ? -6400 : 6400), 1n).feeRate
      }
      // Upwards tick 640 opens group 10 of 64 ticks; downwards tick -640 closes group -10, and -11 follows.
      assert.strictEqual(rateBehind(5, 640), adaptiveRate(1000n, volatility, 100_000n))
      assert.strictEqual(rateBehind(5, -640), adaptiveRate(1000n, volatility, 110_000n))
    })

    it.prop("costs the constant fee when volatility adds nothing", [Seed, Schema.Boolean], ([seed, down]) => {
      const { base, swapPath, reference, volatility: settings } = settingOf(seed, down, whirlpool)
      const still = { ...settings, control: 0n, maxAccumulator: 0n }
      const calm = makePriceTable({ ...swapPath, fee: makeFee(base, still, reference, swapPath.tick, down) })
      const constant = makePriceTable({ ...swapPath, fee: staticFee(base) })
      for (const amount of [1n, 1000n, 10n ** 7n, 10n ** 9n, MAX_U64]) {
        assert.deepStrictEqual(calm.quote(amount), constant.quote(amount))
      }
    })
  })
}
