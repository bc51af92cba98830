import { assert, describe, it } from "@effect/vitest"
import { bigintOf, type Entry, textOf } from "../../../src/quotes/execution/poolFixture.ts"
import { isUnpriceable, type Pool } from "../../../src/programs/interface/Program.ts"
import { readAddress } from "../../../src/programs/layout/bytes.ts"
import { swapSteps } from "../../../src/programs/math/swapSteps.ts"
import { isFailure } from "../../../src/programs/layout/unpriceable.ts"
import { whirlpool, whirlpoolSwapPaths } from "../../../src/programs/orca/whirlpool.ts"
import {
  arraySequence,
  arrayStart,
  sequenceEdge,
  WHIRLPOOL_PROGRAM,
  whirlpoolArrayAddress,
  whirlpoolOffsets
} from "../../../src/programs/orca/whirlpoolLayout.ts"
import { whirlpoolSqrtPriceAt } from "../../../src/programs/orca/whirlpoolTicks.ts"
import { MAX_U64 } from "../../../src/domain/Amount.ts"
import { SOL, USDC } from "../../../src/domain/Address.ts"
import { hasRecordings, recordings } from "../recorded.ts"
import { clock, derive, dynamicArray, type PoolPlan, randomPlan, whirlpoolFrom } from "../syntheticPools.ts"

const plan: PoolPlan = {
  tickSpacing: 64,
  tick: -32_102,
  feeRate: 3000,
  positions: [
    { lower: -32_128, upper: -32_064, liquidity: 10n ** 12n },
    { lower: -38_400, upper: -25_600, liquidity: 10n ** 11n }
  ]
}

const priced = (pool: ReturnType<typeof whirlpool.decode>): Pool => {
  if (isUnpriceable(pool)) {
    throw new Error(pool.detail)
  }
  return pool
}

const decode = ({ accounts, pool }: ReturnType<typeof whirlpoolFrom>) =>
  priced(whirlpool.decode(pool, accounts, derive))

describe.skipIf(!hasRecordings)("recorded Whirlpool swaps", () => {
  const sets = recordings("orca-whirlpool-").filter(({ fixture }) => fixture.accounts.size > 0)

  const setUp = ({ fixture }: (typeof sets)[number]) => {
    const account = [...fixture.accounts.values()].find(whirlpool.isPool)
    const { pool: synthetic, accounts: mints } = whirlpoolFrom(plan)
    assert.isDefined(account)
    const accounts = (address: typeof SOL) => fixture.accounts.get(address) ?? mints(address)
    return { account: account ?? synthetic, accounts, fixture }
  }

  it("exist", () => {
    assert.isAbove(sets.length, 0)
  })

  it.each(sets)("of $name leave the pool at the same tick as the program", (set) => {
    const { account, accounts, fixture } = setUp(set)
    const swapPaths = whirlpoolSwapPaths(account, accounts, derive)
    assert.isFalse(isFailure(swapPaths))
    const sides = isFailure(swapPaths) ? null : swapPaths.at(clock)
    for (const entry of fixture.cases) {
      const down = !isFailure(swapPaths) && textOf(entry, "inputMint") === swapPaths.state.mintA
      const swapPath = down ? sides?.down : sides?.up
      assert.isDefined(swapPath)
      const end = swapPath === undefined ? null : swapSteps(swapPath, bigintOf(entry, "amountIn") ?? 0n)
      assert.strictEqual(end?.amountOut, bigintOf(entry, "expectedOut"))
      assert.strictEqual(end?.tick, Number(textOf(entry, "tickAfter")))
    }
  })

  it.each(sets)("of $name are quoted to the unit, and refused swaps are not filled", (set) => {
    const { account, accounts, fixture } = setUp(set)
    const pool = priced(whirlpool.decode(account, accounts, derive))
    const swap = (entry: Entry) =>
      pool.swap(textOf(entry, "inputMint") === pool.mintA, bigintOf(entry, "amountIn") ?? 0n, fixture.clockOf(entry))
    for (const entry of fixture.cases) {
      const amountIn = bigintOf(entry, "expectedIn")
      assert.deepStrictEqual(swap(entry), { ending: "filled", amountIn, amountOut: bigintOf(entry, "expectedOut") })
    }
    for (const entry of fixture.errors) {
      assert.strictEqual(swap(entry).ending, "exhausted")
    }
  })
})

/** The pool of a vector. Three tick arrays in each direction do not exist. */
const courseOfVector = (entry: Entry) => {
  const tick = Number(textOf(entry, "currTickIndex"))
  const tickSpacing = Number(textOf(entry, "tickSpacing"))
  const { accounts, pool } = whirlpoolFrom({
    tick,
    tickSpacing,
    feeRate: Number(textOf(entry, "feeRate")),
    positions: []
  })
  const data = Uint8Array.from(pool.data)
  const view = new DataView(data.buffer)
  const liquidity = bigintOf(entry, "liquidity") ?? 0n
  view.setBigUint64(whirlpoolOffsets.liquidity, BigInt.asUintN(64, liquidity), true)
  view.setBigUint64(whirlpoolOffsets.liquidity + 8, liquidity >> 64n, true)
  view.setUint16(whirlpoolOffsets.protocolFeeRate, Number(textOf(entry, "protocolFeeRate")), true)
  const swapPaths = whirlpoolSwapPaths({ ...pool, data }, accounts, derive)
  const sides = isFailure(swapPaths) ? null : swapPaths.at(clock)
  return entry["aToB"] === true ? sides?.down : sides?.up
}

describe.skipIf(!hasRecordings)("the Whirlpool program's own vectors", () => {
  const sets = recordings("orca-whirlpool-program-vectors")

  it.each(sets)("$name end where the program ended, with its fees", ({ fixture }) => {
    const traded = fixture.cases.filter((entry) => textOf(entry, "tradeAmount") !== "0")
    assert.isAbove(traded.length, 1000)
    for (const entry of traded) {
      const swapPath = courseOfVector(entry)
      assert.isDefined(swapPath)
      const expectation = entry["expectation"] as Entry
      const exactIn = entry["amountIsInput"] === true
      const end = swapPath === undefined ? null : swapSteps(swapPath, bigintOf(entry, "tradeAmount") ?? 0n, exactIn)
      const label = `vector ${textOf(entry, "testId")}`
      if (textOf(expectation, "exception") !== "") {
        assert.strictEqual(end?.ending, "refused", label)
        continue
      }
      assert.notStrictEqual(end?.ending, "refused", label)
      const [a, b] = swapPath?.down === true ? [end?.amountIn, end?.amountOut] : [end?.amountOut, end?.amountIn]
      const got = [a, b, end?.liquidity, end?.sqrtPrice, end?.feeGrowth, end?.cuts[0], BigInt(end?.tick ?? 0)]
      const fields = ["amountA", "amountB", "nextLiquidity", "nextSqrtPrice", "nextFeeGrowthGlobal", "nextProtocolFee"]
      const wanted = [...fields, "nextTickIndex"].map((field) => bigintOf(expectation, field))
      assert.deepStrictEqual(got, wanted, label)
    }
  })
})

describe("a Whirlpool pool", () => {
  it("is found by either mint", () => {
    assert.deepStrictEqual(
      whirlpool.poolsOf(SOL).map(({ matches }) => matches[0]?.offset),
      [whirlpoolOffsets.mintA, whirlpoolOffsets.mintB]
    )
  })

  it("is recognized by owner, length and discriminator", () => {
    const { pool } = whirlpoolFrom(plan)
    assert.isTrue(whirlpool.isPool(pool))
    assert.isFalse(whirlpool.isPool({ ...pool, owner: SOL }))
    assert.isFalse(whirlpool.isPool({ ...pool, data: pool.data.slice(1) }))
    assert.isFalse(whirlpool.isPool({ ...pool, data: new Uint8Array(pool.data.length) }))
  })

  it("needs its mints, its vaults and the three arrays of each direction", () => {
    const { accounts, pool } = whirlpoolFrom(plan)
    const array = (start: number) => whirlpoolArrayAddress(derive, pool.address, start)
    const starts = [-33_792, -39_424, -45_056, -28_160, -22_528]
    const vaults = [whirlpoolOffsets.vaultA, whirlpoolOffsets.vaultB].map((offset) => readAddress(pool.data, offset))
    assert.sameMembers([...whirlpool.needs(pool, accounts, derive)], [SOL, USDC, ...vaults, ...starts.map(array)])
  })

  it("is incomplete without the array at its price, and quotes as far as it knows when a farther one is missing", () => {
    const { accounts, pool } = whirlpoolFrom(plan)
    const without = (start: number) => {
      const missing = whirlpoolArrayAddress(derive, pool.address, start)
      return whirlpool.decode(pool, (address) => (address === missing ? undefined : accounts(address)), derive)
    }
    const near = without(-33_792)
    assert.strictEqual(isUnpriceable(near) ? near.reason : "priced", "incomplete")
    const far = priced(without(-39_424))
    const whole = decode({ accounts, pool })
    assert.deepStrictEqual(far.swap(true, 1_000_000n, clock), whole.swap(true, 1_000_000n, clock))
    assert.strictEqual(whole.swap(true, 10n ** 11n, clock).ending, "filled")
    assert.strictEqual(far.swap(true, 10n ** 11n, clock).ending, "exhausted")
  })

  it("ends exhausted at the edge of the third array", () => {
    const pool = decode(
      whirlpoolFrom({ ...plan, positions: [{ lower: -443_584, upper: 443_584, liquidity: 10n ** 12n }] })
    )
    const end = pool.swap(true, MAX_U64, clock)
    assert.strictEqual(end.ending, "exhausted")
    assert.deepStrictEqual(pool.swap(true, end.amountIn, clock), { ...end, ending: "filled" })
    assert.strictEqual(pool.swap(true, end.amountIn + 1n, clock).ending, "exhausted")
  })

  it("pays nothing for a unit that buys less than one, as the program does", () => {
    assert.deepStrictEqual(decode(whirlpoolFrom(plan)).swap(true, 1n, clock), {
      ending: "filled",
      amountIn: 1n,
      amountOut: 0n
    })
  })

  it("refuses an amount of zero", () => {
    assert.strictEqual(decode(whirlpoolFrom(plan)).swap(true, 0n, clock).ending, "refused")
  })

  it("charges at least the input that would buy an exact output", () => {
    const pool = decode(whirlpoolFrom(plan))
    const bought = pool.swap(false, 5_000_000n, clock)
    const sold = pool.swapExactOut?.(false, bought.amountOut, clock)
    assert.strictEqual(sold?.ending, "filled")
    assert.strictEqual(sold?.amountOut, bought.amountOut)
    assert.isTrue((sold?.amountIn ?? 0n) <= 5_000_000n)
    assert.isTrue(pool.swap(false, sold?.amountIn ?? 0n, clock).amountOut >= bought.amountOut)
  })

  it("prices the same from dynamic tick arrays as from fixed ones", () => {
    for (let seed = 0; seed < 50; seed++) {
      const random = randomPlan(seed, whirlpoolSqrtPriceAt)
      const fixed = decode(whirlpoolFrom(random))
      const dynamic = decode(whirlpoolFrom(random, dynamicArray))
      for (const amount of [1n, 10n ** 6n, 10n ** 10n, MAX_U64]) {
        assert.deepStrictEqual(dynamic.swap(true, amount, clock), fixed.swap(true, amount, clock))
        assert.deepStrictEqual(dynamic.swap(false, amount, clock), fixed.swap(false, amount, clock))
      }
    }
  })

  it("is malformed when a tick array is cut short or starts elsewhere", () => {
    const { accounts, pool } = whirlpoolFrom(plan)
    const address = whirlpoolArrayAddress(derive, pool.address, -33_792)
    const withArray = (data: Uint8Array) => {
      const account = { address, owner: WHIRLPOOL_PROGRAM, lamports: 1n, data, slot: 1 }
      const decoded = whirlpool.decode(pool, (asked) => (asked === address ? account : accounts(asked)), derive)
      return isUnpriceable(decoded) ? decoded.reason : "priced"
    }
    const data = accounts(address)?.data ?? new Uint8Array()
    assert.strictEqual(withArray(data), "priced")
    assert.strictEqual(withArray(data.slice(0, 9000)), "malformed")
    assert.strictEqual(withArray(data.with(8, 1)), "malformed")
    assert.strictEqual(
      withArray(dynamicArray(-33_792, 64, [[-32_128, { net: 1n, gross: 1n }]]).slice(0, -1)),
      "malformed"
    )
  })
})

describe("the arrays of a swap", () => {
  it("start with the next array upwards when no usable tick is left in this one", () => {
    assert.deepStrictEqual(arraySequence(5631, 64, false), [5632, 11_264, 16_896])
    assert.deepStrictEqual(arraySequence(5567, 64, false), [0, 5632, 11_264])
    assert.deepStrictEqual(arraySequence(5631, 64, true), [0, -5632, -11_264])
  })

  it("stop at the ends of the grid", () => {
    assert.deepStrictEqual(arraySequence(-443_000, 64, true), [-444_928])
    assert.strictEqual(sequenceEdge(-444_928, 64, true), -443_636)
    assert.strictEqual(sequenceEdge(arrayStart(443_000, 64), 64, false), 443_636)
  })
})
