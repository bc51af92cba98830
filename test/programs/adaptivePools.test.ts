import { assert, describe, it } from "@effect/vitest"
import { isUnpriceable, type Pool, type Unpriceable } from "../../src/programs/interface/Program.ts"
import { raydiumClmm } from "../../src/programs/raydium/clmm.ts"
import {
  CLMM_PROGRAM,
  clmmArrayAddress,
  clmmArrayOffsets,
  clmmPoolOffsets,
  dynamicFeeOffsets
} from "../../src/programs/raydium/clmmLayout.ts"
import { raydiumSqrtPriceAt } from "../../src/programs/raydium/clmmTicks.ts"
import { whirlpool } from "../../src/programs/orca/whirlpool.ts"
import {
  ORACLE_DISCRIMINATOR,
  oracleAddress,
  oracleOffsets,
  WHIRLPOOL_PROGRAM,
  whirlpoolOffsets
} from "../../src/programs/orca/whirlpoolLayout.ts"
import { whirlpoolSqrtPriceAt } from "../../src/programs/orca/whirlpoolTicks.ts"
import type { OnChainAccount } from "../../src/domain/OnChainAccount.ts"
import { MAX_U64 } from "../../src/domain/Amount.ts"
import { clmmFrom, clock, derive, type PoolPlan, whirlpoolFrom, writer } from "./syntheticPools.ts"

const plan: PoolPlan = {
  tickSpacing: 64,
  // Inside group 100 of 64 ticks, not at its edge: a step downwards from an edge would belong to the next group.
  tick: 6430,
  feeRate: 1000,
  positions: [{ lower: 0, upper: 12_800, liquidity: 10n ** 12n }]
}

const priced = (pool: Pool | Unpriceable): Pool => {
  if (isUnpriceable(pool)) {
    throw new Error(pool.detail)
  }
  return pool
}

const swappedAt = clock.unixTimestamp
const after = (seconds: number) => ({ ...clock, unixTimestamp: swappedAt + seconds })

/** Fee of a tiny swap in millionths, from the marginal rate at a given square-root price. */
const feeAt = (pool: Pool, sqrtPrice: bigint, seconds: number): bigint => {
  const { denominator, numerator } = pool.marginalRate(true, after(seconds))
  return (
    1_000_000n -
    (((numerator * 1_000_000n) << 128n) / denominator + sqrtPrice * sqrtPrice - 1n) / (sqrtPrice * sqrtPrice)
  )
}

describe("a Whirlpool with an adaptive fee", () => {
  const { accounts, pool: constant } = whirlpoolFrom(plan)
  const data = Uint8Array.from(constant.data)
  new DataView(data.buffer).setUint16(whirlpoolOffsets.feeTierIndex, 1025, true)
  const pool = { ...constant, data }
  const address = oracleAddress(derive, pool.address)

  const oracle = (change: (view: DataView) => void = () => {}): OnChainAccount => {
    const at = oracleOffsets
    const { data, view } = writer(366, ORACLE_DISCRIMINATOR)
    view.setUint16(at.filterPeriod, 30, true)
    view.setUint16(at.decayPeriod, 600, true)
    view.setUint16(at.reductionFactor, 5000, true)
    view.setUint32(at.control, 4000, true)
    view.setUint32(at.maxAccumulator, 350_000, true)
    view.setUint16(at.groupSize, 64, true)
    view.setUint16(at.majorSwapTicks, 64, true)
    view.setBigUint64(at.referenceUpdatedAt, BigInt(swappedAt), true)
    // The last swap came from two groups away.
    view.setInt32(at.groupReference, 98, true)
    view.setUint32(at.accumulator, 20_000, true)
    change(view)
    return { address, owner: WHIRLPOOL_PROGRAM, lamports: 1n, data, slot: 2 }
  }

  const decode = (account: OnChainAccount | null | undefined) =>
    whirlpool.decode(pool, (asked) => (asked === address ? account : accounts(asked)), derive)

  it("also needs its oracle", () => {
    assert.include(whirlpool.needs(pool, accounts, derive), address)
    assert.notInclude(whirlpool.needs(constant, accounts, derive), address)
    for (const [account, reason] of [
      [undefined, "incomplete"],
      [null, "malformed"]
    ] as const) {
      const decoded = decode(account)
      assert.strictEqual(isUnpriceable(decoded) ? decoded.reason : "priced", reason)
    }
  })

  it("charges more right after the price moved, less later, and its base fee in the end", () => {
    const fees = [0, 30, 600].map((seconds) => feeAt(priced(decode(oracle())), whirlpoolSqrtPriceAt(6430), seconds))
    // 4000·(20000·64)²/10^13 = 655.36 at once, 4000·(10000·64)²/10^13 = 163.84 once decayed by half.
    assert.deepStrictEqual(fees, [1656n, 1164n, 1000n])
  })

  it("charges a swap more the farther it moves the price", () => {
    const adaptive = priced(decode(oracle()))
    const plain = priced(whirlpool.decode(constant, accounts, derive))
    const shareLost = (amount: bigint) => {
      const [less, more] = [adaptive.swap(true, amount, after(600)), plain.swap(true, amount, clock)]
      return Number(more.amountOut - less.amountOut) / Number(more.amountOut)
    }
    assert.strictEqual(shareLost(10n ** 6n), 0)
    assert.isAbove(shareLost(10n ** 10n), 0)
    assert.isAbove(shareLost(10n ** 11n), shareLost(10n ** 10n))
  })

  it("refuses every swap until its trading starts", () => {
    const later = priced(
      decode(oracle((view) => view.setBigUint64(oracleOffsets.tradeEnable, BigInt(swappedAt + 60), true)))
    )
    assert.strictEqual(later.swap(true, 10n ** 6n, after(59)).ending, "refused")
    assert.strictEqual(later.swap(true, 10n ** 6n, after(60)).ending, "filled")
  })
})

/** A dynamic fee whose last swap came from two groups away, a moment ago. */
const moved = (view: DataView): void => {
  const fee = new DataView(view.buffer, clmmPoolOffsets.dynamicFee)
  const at = dynamicFeeOffsets
  fee.setUint16(at.filterPeriod, 30, true)
  fee.setUint16(at.decayPeriod, 600, true)
  fee.setUint16(at.reductionFactor, 5000, true)
  fee.setUint32(at.control, 4000, true)
  fee.setUint32(at.maxAccumulator, 350_000, true)
  fee.setInt32(at.groupReference, 98, true)
  fee.setUint32(at.accumulator, 20_000, true)
  fee.setBigUint64(at.updatedAt, BigInt(swappedAt), true)
}

describe("a Raydium CLMM pool with a dynamic fee", () => {
  it("charges more right after the price moved, less later, and its base fee in the end", () => {
    const { accounts, pool } = clmmFrom(plan, moved)
    const decoded = priced(raydiumClmm.decode(pool, accounts, derive))
    const fees = [0, 30, 600].map((seconds) => feeAt(decoded, raydiumSqrtPriceAt(6430), seconds))
    assert.deepStrictEqual(fees, [1656n, 1164n, 1000n])
  })
})

describe("a Raydium CLMM pool with limit orders", () => {
  const { accounts, pool } = clmmFrom({ ...plan, feeRate: 0 })
  const below = clmmArrayAddress(derive, pool.address, 0)

  /** The pool with orders on tick zero: fresh ones, and the rest of a partial fill. */
  const withOrders = (opened: bigint, partFilled: bigint) => {
    const array = accounts(below)
    const data = Uint8Array.from(array?.data ?? [])
    const view = new DataView(data.buffer)
    view.setBigUint64(clmmArrayOffsets.ticks + clmmArrayOffsets.tickOrders, opened, true)
    view.setBigUint64(clmmArrayOffsets.ticks + clmmArrayOffsets.tickPartFilledOrders, partFilled, true)
    const changed = { address: below, owner: CLMM_PROGRAM, lamports: 1n, data, slot: 1 }
    return priced(raydiumClmm.decode(pool, (asked) => (asked === below ? changed : accounts(asked)), derive))
  }

  it("fills them where they rest", () => {
    // Tick zero ends the position. Beyond it there are only the orders, at a price of one.
    const [none, some] = [withOrders(0n, 0n), withOrders(700n, 300n)]
    const all = none.swap(true, MAX_U64, clock)
    const more = some.swap(true, MAX_U64, clock)
    assert.strictEqual(all.ending, "exhausted")
    assert.deepStrictEqual([more.amountIn - all.amountIn, more.amountOut - all.amountOut], [1000n, 1000n])
  })
})
