import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { ceilDiv, squareRoot } from "../../../src/programs/math/integers.ts"
import {
  limitedRate,
  limitedRateOfNet,
  type RateLimiter,
  scheduledRate,
  variableRate,
  withFee,
  withoutFee
} from "../../../src/programs/meteora/fees.ts"
import { beforeTransfer } from "../../../src/programs/math/transferFee.ts"
import { volatilityAfter, type VolatilityRules } from "../../../src/programs/meteora/volatility.ts"
import { powerQ64 } from "../../../src/programs/math/powerQ64.ts"
import { afterTransfer } from "../../../src/programs/math/transferFee.ts"
import type { TransferFees } from "../../../src/programs/layout/tokenAccount.ts"

const ONE = 1n << 64n
const stepOf = (bps: bigint) => ONE + (bps << 64n) / 10_000n

const between = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

describe("powers in Q64.64", () => {
  it("equal the prices that the program has written into bins", () => {
    // Bins of the pairs B5Eia4cE… (10 basis points) and EtAdVRLF… (250 basis points) on mainnet.
    assert.strictEqual(powerQ64(stepOf(10n), 1), 18_465_190_817_783_261_167n)
    assert.strictEqual(powerQ64(stepOf(10n), -30), 17_901_828_741_379_573_416n)
    assert.strictEqual(powerQ64(stepOf(250n), 29), 37_749_553_471_836_417_067n)
    assert.strictEqual(powerQ64(stepOf(250n), -18), 11_827_423_438_401_757_663n)
    assert.strictEqual(powerQ64(stepOf(250n), 0), ONE)
  })

  it("fail where the program fails", () => {
    assert.isNull(powerQ64(stepOf(1n), 0x80000))
    assert.isNull(powerQ64(ONE / 2n, 65))
    assert.isNull(powerQ64(0n, 1))
  })

  it.prop("of fractions are truncated after every product", [between(1, 9999), between(1, 64)], ([bps, exponent]) => {
    const base = ONE - (BigInt(bps) << 64n) / 10_000n
    const power = powerQ64(base, exponent) ?? 0n
    const exact = (base ** BigInt(exponent)) >> (64n * BigInt(exponent - 1))
    assert.isTrue(power <= exact)
    assert.isTrue(exact - power <= 2n * BigInt(exponent))
  })
})

describe("square roots", () => {
  it.prop("are rounded down", [Schema.BigInt], ([value]) => {
    const square = value < 0n ? -value : value
    const root = squareRoot(square)
    assert.isTrue(root * root <= square && square < (root + 1n) * (root + 1n))
  })
})

describe("scheduled fee rates", () => {
  const schedule = { cliff: 500_000_000n, periods: 100n, reduction: 4_000_000n, exponential: false }

  it("fall by a step in each period and stop at the last period", () => {
    assert.strictEqual(scheduledRate(schedule, 0n), 500_000_000n)
    assert.strictEqual(scheduledRate(schedule, 7n), 472_000_000n)
    assert.strictEqual(scheduledRate(schedule, 1000n), 100_000_000n)
  })

  it("fall by a share in each period, rounded down", () => {
    const halving = { ...schedule, reduction: 5000n, exponential: true }
    assert.strictEqual(scheduledRate(halving, 3n), 62_500_000n)
    // 0.97 in Q64.64, squared and truncated, times 5e8 is a little less than 470450000.
    assert.strictEqual(scheduledRate({ ...halving, reduction: 300n }, 2n), 470_450_000n)
    assert.strictEqual(scheduledRate({ ...halving, reduction: 0n }, 50n), 500_000_000n)
  })

  it("fail where the program would go below zero", () => {
    assert.isNull(scheduledRate({ ...schedule, reduction: 6_000_000n }, 100n))
    assert.isNull(scheduledRate({ ...schedule, reduction: 10_001n, exponential: true }, 1n))
  })
})

describe("the variable fee rate", () => {
  it("is the squared swing times its control over 1e11, rounded up", () => {
    // (10000·250)²·7500 / 1e11 = 468750 exactly; one less in the accumulator rounds up.
    assert.strictEqual(variableRate(10_000n, 250n, 7500n), 468_750n)
    assert.strictEqual(variableRate(9999n, 250n, 7500n), 468_657n)
  })
})

describe("the rate limiter", () => {
  // 1 % on the first thousand, 1 % more on every further thousand, at most 5 %.
  const limiter: RateLimiter = { cliff: 10_000_000n, increment: 10_000_000n, reference: 1000n, maximum: 50_000_000n }

  /** The fee as a sum over the references in an amount. */
  const feeByLoop = (amount: bigint): bigint => {
    let fee = 0n
    let rate = limiter.cliff
    for (let left = amount; left > 0n; left -= limiter.reference) {
      fee += (left < limiter.reference ? left : limiter.reference) * rate
      rate = rate < limiter.maximum ? rate + limiter.increment : rate
    }
    return ceilDiv(fee, 1_000_000_000n)
  }

  it("charges every further reference amount a higher rate", () => {
    assert.strictEqual(limitedRate(limiter, 1000n), 10_000_000n)
    // 10 + 20 of 2000.
    assert.strictEqual(limitedRate(limiter, 2000n), 15_000_000n)
    // 10 + 20 + half of 30, of 2500.
    assert.strictEqual(limitedRate(limiter, 2500n), 18_000_000n)
    // 10 + 20 + 30 + 40 + 50, then 5 % of 5000: 400 of 10000.
    assert.strictEqual(limitedRate(limiter, 10_000n), 40_000_000n)
  })

  it("finds the same rate from the net amount", () => {
    assert.strictEqual(limitedRateOfNet(limiter, 990n), 10_000_000n)
    assert.strictEqual(limitedRateOfNet(limiter, 1970n), 15_000_000n)
    assert.strictEqual(limitedRateOfNet(limiter, 9600n), 40_000_000n)
  })

  it("fails where the program divides by zero", () => {
    assert.isNull(limitedRate({ ...limiter, increment: 0n }, 1001n))
    assert.isNull(limitedRate({ ...limiter, reference: 0n }, 1n))
  })

  it.prop(
    "charges the sum over its references, and at most one unit more for rounding the rate",
    [between(1, 2 ** 20)],
    ([n]) => {
      const amount = BigInt(n)
      const fee = amount - withoutFee(amount, limitedRate(limiter, amount) ?? 0n)
      assert.include([0n, 1n], fee - feeByLoop(amount))
    }
  )

  it.prop("finds a rate that leaves the wanted amount, to a unit or two", [between(1, 2 ** 20)], ([n]) => {
    const net = BigInt(n)
    const rate = limitedRateOfNet(limiter, net) ?? 0n
    const again = withoutFee(withFee(net, rate), limitedRate(limiter, withFee(net, rate)) ?? 0n)
    assert.isTrue(again >= net - 2n && again <= net + 2n)
  })
})

describe("a fee", () => {
  it.prop(
    "on top leaves the amount when it is taken off again",
    [between(0, 2 ** 40), between(0, 990_000_000)],
    ([n, r]) => {
      const [amount, rate] = [BigInt(n), BigInt(r)]
      assert.strictEqual(withoutFee(withFee(amount, rate), rate), amount)
    }
  )
})

const fees = (bps: number, maximum: number): TransferFees => {
  const fee = { epoch: 0n, maximum: BigInt(maximum), bps: BigInt(bps) }
  return { older: fee, newer: fee }
}

describe("a transfer fee", () => {
  it.prop(
    "on top lets the amount arrive, and less would not",
    [between(1, 2 ** 40), between(0, 10_000), between(0, 2 ** 20)],
    ([n, bps, maximum]) => {
      const sent = beforeTransfer(fees(bps, maximum), BigInt(n), 0)
      assert.isTrue(afterTransfer(fees(bps, maximum), sent, 0) >= BigInt(n))
      assert.isTrue(afterTransfer(fees(bps, maximum), sent - 1n, 0) < BigInt(n) || sent - 1n < BigInt(n))
    }
  )
})

describe("volatility", () => {
  const rules: VolatilityRules = {
    maximum: 14_460_000n,
    control: 239n,
    binStep: 1n,
    binStepQ64: 1_844_674_407_370_955n,
    filterPeriod: 10n,
    decayPeriod: 120n,
    reduction: 5000n
  }
  const quiet = { updatedAt: 1000n, sqrtPriceReference: ONE, accumulator: 40_000n, reference: 0n }
  // A square-root price 1 % higher is 100 steps of a basis point, and the price itself moves twice as many.
  const higher = ONE + ONE / 100n

  it("remembers half of past movement between filter and decay period", () => {
    const after = volatilityAfter(rules, quiet, ONE, higher, 1050n)
    assert.deepStrictEqual(after, {
      updatedAt: 1050n,
      sqrtPriceReference: ONE,
      accumulator: 20_000n + 2_000_000n,
      reference: 20_000n
    })
  })

  it("forgets it after the decay period and keeps its reference within the filter period", () => {
    assert.strictEqual(volatilityAfter(rules, quiet, ONE, higher, 1200n)?.reference, 0n)
    const within = volatilityAfter(rules, quiet, higher, higher, 1005n)
    assert.deepStrictEqual(within, { ...quiet, accumulator: 2_000_000n })
  })
})
