import { assert, describe, it } from "@effect/vitest"
import { bigintOf, type Entry, textOf } from "../../../src/quotes/execution/poolFixture.ts"
import { isUnpriceable, type Pool } from "../../../src/programs/interface/Program.ts"
import { initializedArrays } from "../../../src/programs/raydium/clmmBitmap.ts"
import { clmmSwapPaths, raydiumClmm } from "../../../src/programs/raydium/clmm.ts"
import {
  bitmapExtensionAddress,
  CLMM_POOL_SIZE,
  clmmArrayAddress,
  clmmPoolOffsets
} from "../../../src/programs/raydium/clmmLayout.ts"
import { swapSteps } from "../../../src/programs/math/swapSteps.ts"
import { isFailure } from "../../../src/programs/layout/unpriceable.ts"
import { SOL, USDC } from "../../../src/domain/Address.ts"
import { MAX_U64 } from "../../../src/domain/Amount.ts"
import { hasRecordings, recordings } from "../recorded.ts"
import { clmmFrom, clock, derive, type PoolPlan } from "../syntheticPools.ts"

const plan: PoolPlan = {
  tickSpacing: 1,
  tick: -24_473,
  feeRate: 400,
  positions: [
    { lower: -24_480, upper: -24_450, liquidity: 10n ** 12n },
    { lower: -24_960, upper: -23_940, liquidity: 10n ** 11n }
  ]
}

const reasonOf = (pool: ReturnType<typeof raydiumClmm.decode>) => (isUnpriceable(pool) ? pool.reason : "priced")

const priced = (pool: ReturnType<typeof raydiumClmm.decode>): Pool => {
  if (isUnpriceable(pool)) {
    throw new Error(pool.detail)
  }
  return pool
}

const decode = ({ accounts, pool }: ReturnType<typeof clmmFrom>) => raydiumClmm.decode(pool, accounts, derive)

describe.skipIf(!hasRecordings)("recorded Raydium CLMM swaps", () => {
  const sets = recordings("raydium-clmm-")

  const setUp = ({ fixture }: (typeof sets)[number]) => {
    const account = [...fixture.accounts.values()].find(raydiumClmm.isPool)
    const { accounts: mints, pool: synthetic } = clmmFrom(plan)
    assert.isDefined(account)
    const accounts = (address: typeof SOL) => fixture.accounts.get(address) ?? mints(address)
    return { account: account ?? synthetic, accounts, fixture }
  }

  it("exist", () => {
    assert.isAbove(sets.length, 0)
  })

  it.each(sets)("of $name leave the pool at the same tick as the program", (set) => {
    const { account, accounts, fixture } = setUp(set)
    const swapPaths = clmmSwapPaths(account, accounts, derive)
    assert.isFalse(isFailure(swapPaths))
    for (const entry of fixture.cases) {
      const sides = isFailure(swapPaths) ? null : swapPaths.at(fixture.clockOf(entry))
      const swapPath = textOf(entry, "inputMint") === SOL ? sides?.down : sides?.up
      assert.isDefined(swapPath)
      const end = swapPath === undefined ? null : swapSteps(swapPath, bigintOf(entry, "amountIn") ?? 0n)
      assert.strictEqual(end?.amountOut, bigintOf(entry, "expectedOut"))
      if (textOf(entry, "tickAfter") !== undefined) {
        assert.strictEqual(end?.tick, Number(textOf(entry, "tickAfter")))
      }
    }
  })

  it.each(sets)("of $name are quoted to the unit, and refused swaps are not filled", (set) => {
    const { account, accounts, fixture } = setUp(set)
    const pool = priced(raydiumClmm.decode(account, accounts, derive))
    const swap = (entry: Entry) =>
      pool.swap(textOf(entry, "inputMint") === pool.mintA, bigintOf(entry, "amountIn") ?? 0n, fixture.clockOf(entry))
    for (const entry of fixture.cases) {
      const amountIn = bigintOf(entry, "expectedIn")
      assert.deepStrictEqual(swap(entry), { ending: "filled", amountIn, amountOut: bigintOf(entry, "expectedOut") })
    }
    for (const entry of fixture.errors) {
      const tooSmall = textOf(entry, "programError") === "TooSmallInputOrOutputAmount"
      assert.strictEqual(swap(entry).ending, tooSmall ? "refused" : "exhausted")
    }
  })
})

describe("a Raydium CLMM pool", () => {
  it("is told from a CPMM pool, which starts with the same bytes, by its owner", () => {
    const { pool } = clmmFrom(plan)
    assert.isTrue(raydiumClmm.isPool(pool))
    assert.isFalse(raydiumClmm.isPool({ ...pool, owner: SOL }))
    assert.isFalse(raydiumClmm.isPool({ ...pool, data: pool.data.slice(0, 637) }))
  })

  it("needs its configuration, mints, vaults, bitmap extension and the arrays that hold ticks", () => {
    const { accounts, pool } = clmmFrom(plan)
    const arrays = [-24_960, -24_480, -23_940].map((tick) => clmmArrayAddress(derive, pool.address, tick))
    const needed = raydiumClmm.needs(pool, accounts, derive)
    assert.includeMembers([...needed], [SOL, USDC, bitmapExtensionAddress(derive, pool.address), ...arrays])
    assert.strictEqual(needed.length, 6 + arrays.length)
  })

  it("is closed while its status disables swaps", () => {
    assert.strictEqual(reasonOf(decode(clmmFrom(plan, (pool) => pool.setUint8(clmmPoolOffsets.status, 16)))), "closed")
    assert.strictEqual(reasonOf(decode(clmmFrom(plan, (pool) => pool.setUint8(clmmPoolOffsets.status, 15)))), "priced")
  })

  it("is refused by name when its fee mode is unknown", () => {
    assert.strictEqual(
      reasonOf(decode(clmmFrom(plan, (pool) => pool.setUint8(clmmPoolOffsets.feeOn, 3)))),
      "unsupported"
    )
  })

  it("trades only after its opening second", () => {
    const opensNow = clmmFrom(plan, (pool) =>
      pool.setBigUint64(clmmPoolOffsets.openTime, BigInt(clock.unixTimestamp), true)
    )
    const pool = priced(decode(opensNow))
    assert.strictEqual(pool.swap(true, 1_000_000n, clock).ending, "refused")
    const later = { ...clock, unixTimestamp: clock.unixTimestamp + 1 }
    assert.strictEqual(pool.swap(true, 1_000_000n, later).ending, "filled")
  })

  it("refuses a payout of zero", () => {
    assert.strictEqual(priced(decode(clmmFrom(plan))).swap(true, 2n, clock).ending, "refused")
  })

  it("is incomplete without the array at its price, and ends where a farther one is missing", () => {
    const { accounts, pool } = clmmFrom(plan)
    const without = (start: number, answer: null | undefined) => {
      const missing = clmmArrayAddress(derive, pool.address, start)
      return raydiumClmm.decode(pool, (address) => (address === missing ? answer : accounts(address)), derive)
    }
    assert.strictEqual(reasonOf(without(-24_480, undefined)), "incomplete")
    const whole = priced(raydiumClmm.decode(pool, accounts, derive))
    const far = 5n * 10n ** 9n
    assert.strictEqual(whole.swap(true, far, clock).ending, "filled")
    for (const answer of [null, undefined]) {
      const short = priced(without(-24_960, answer))
      const end = short.swap(true, far, clock)
      assert.strictEqual(end.ending, "exhausted")
      assert.deepStrictEqual(short.swap(true, end.amountIn, clock), { ...end, ending: "filled" })
    }
  })

  it("takes its fee from the output when it collects fees in that token", () => {
    const both = (feeOn: number) =>
      priced(decode(clmmFrom(plan, (pool) => pool.setUint8(clmmPoolOffsets.feeOn, feeOn))))
    const [onInput, onToken0, onToken1] = [both(0), both(1), both(2)]
    const amount = 1_000_003n
    assert.deepStrictEqual(onToken0.swap(true, amount, clock), onInput.swap(true, amount, clock))
    assert.deepStrictEqual(onToken1.swap(false, amount, clock), onInput.swap(false, amount, clock))
    // Gross output at a price of 0.0865 and this size, less ceil(gross·400/10^6).
    const free = priced(decode(clmmFrom({ ...plan, feeRate: 0 }))).swap(true, amount, clock).amountOut
    assert.strictEqual(onToken1.swap(true, amount, clock).amountOut, free - (free * 400n + 999_999n) / 1_000_000n)
  })
})

describe("the bitmap of tick arrays", () => {
  const starts = [-443_640, -61_440, -30_780, -30_720, -60, 0, 30_660, 30_720, 61_380, 443_580]

  it("is read in both directions, through the extension and out to the ends of the grid", () => {
    const positions = starts.map((lower) => ({ lower: Math.max(lower, -443_636), upper: 443_600, liquidity: 1n }))
    const { accounts, pool } = clmmFrom({ ...plan, tick: 5, positions })
    const extension = accounts(bitmapExtensionAddress(derive, pool.address))?.data ?? null
    const search = { tick: 5, spacing: 1, count: 20 }
    assert.deepStrictEqual(
      initializedArrays(pool.data, extension, { ...search, down: false }),
      [0, 30_660, 30_720, 61_380, 443_580]
    )
    assert.deepStrictEqual(
      initializedArrays(pool.data, extension, { ...search, down: true }),
      [0, -60, -30_720, -30_780, -61_440, -443_640]
    )
    assert.deepStrictEqual(initializedArrays(pool.data, null, { ...search, down: true }), [0, -60, -30_720])
    assert.deepStrictEqual(initializedArrays(pool.data, extension, { ...search, down: true, count: 2 }), [0, -60])
  })

  it("is empty for an empty pool", () => {
    const empty = new Uint8Array(CLMM_POOL_SIZE)
    assert.deepStrictEqual(initializedArrays(empty, null, { tick: 0, spacing: 10, down: true, count: 8 }), [])
  })

  it("leaves a pool without liquidity exhausted", () => {
    const pool = priced(decode(clmmFrom({ ...plan, positions: [] })))
    assert.deepStrictEqual(pool.swap(true, MAX_U64, clock), { ending: "exhausted", amountIn: 0n, amountOut: 0n })
  })
})
