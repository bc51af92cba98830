import { assert, describe, it } from "@effect/vitest"
import { NO_ADDRESS } from "../../../src/programs/pump/fees.ts"
import { Schema } from "effect"
import { check } from "../../../scripts/exactness/check.ts"
import type { Field } from "../../../src/quotes/execution/makeAccount.ts"
import { dbcConfigAt, dbcPoolAt, readDbc } from "../../../src/programs/meteora/dbcState.ts"
import { dbcAfter, fillDbc } from "../../../src/programs/meteora/dbcSwap.ts"
import { meteoraDbc } from "../../../src/programs/meteora/dbc.ts"
import { writeDbc } from "../../../src/programs/meteora/writes.ts"
import { isFailure } from "../../../src/programs/layout/unpriceable.ts"
import { SOL, USDC } from "../../../src/domain/Address.ts"
import { MAX_U64 } from "../../../src/domain/Amount.ts"
import { dbcWith } from "./meteoraPools.ts"
import { hasRecordings, recordings } from "../recorded.ts"
import { derive, failing, filled, mintWithFee, priced } from "../stateAccounts.ts"

const clock = { slot: 327_665_017, epoch: 758, unixTimestamp: 1_750_997_303 }

type Mints = Parameters<typeof dbcWith>[2]

const decode = (pool: ReadonlyArray<Field> = [], config: ReadonlyArray<Field> = [], mints: Mints = []) => {
  const made = dbcWith(pool, config, mints)
  return meteoraDbc.decode(made.pool, made.accounts, derive)
}

// One stretch around a price of one: an output is the input less fees and a unit of rounding. 2^40 units of quote are
// missing.
const flatPool: ReadonlyArray<Field> = [
  [dbcPoolAt.sqrtPrice, 1n << 64n, 16],
  [dbcPoolAt.baseReserve, 1n << 60n],
  [dbcPoolAt.quoteReserve, 1n << 60n]
]
const flatConfig: ReadonlyArray<Field> = [
  [dbcConfigAt.cliffRate, 0n],
  [dbcConfigAt.migrationQuoteThreshold, 1n << 61n],
  [dbcConfigAt.migrationSqrtPrice, (1n << 64n) + (1n << 41n), 16],
  [dbcConfigAt.sqrtStartPrice, (1n << 64n) - (1n << 41n), 16],
  [dbcConfigAt.curve, 1n << 65n, 16],
  [dbcConfigAt.curve + 16, 1n << 127n, 16],
  [dbcConfigAt.curve + 32, 0n, 16],
  [dbcConfigAt.curve + 48, 0n, 16]
]

const outOf = (config: ReadonlyArray<Field>, sells: boolean, amountIn: bigint, pool: ReadonlyArray<Field> = []) =>
  priced(decode([...flatPool, ...pool], [...flatConfig, ...config])).swap(sells, amountIn, clock).amountOut

const scheduled = (mode: bigint, reduction: bigint): ReadonlyArray<Field> => [
  [dbcConfigAt.cliffRate, 500_000_000n],
  [dbcConfigAt.baseFeeMode, mode, 1],
  [dbcConfigAt.firstFactor, 10n, 2],
  [dbcConfigAt.secondFactor, 100n],
  [dbcConfigAt.thirdFactor, reduction]
]

const limited = (duration: bigint): ReadonlyArray<Field> => [
  [dbcConfigAt.cliffRate, 10_000_000n],
  [dbcConfigAt.baseFeeMode, 2n, 1],
  [dbcConfigAt.firstFactor, 100n, 2],
  [dbcConfigAt.secondFactor, duration],
  [dbcConfigAt.thirdFactor, 1000n]
]

const existing = <A>(value: A | null): A => {
  if (value === null) {
    throw new Error("refused")
  }
  return value
}

const stored = (accumulator: bigint): ReadonlyArray<Field> => [[dbcPoolAt.volatilityAccumulator, accumulator, 16]]

const standsAt = (sqrtPrice: bigint): Field => [dbcPoolAt.sqrtPrice, sqrtPrice, 16]

const tenPercentOf = (mint: typeof SOL) => mintWithFee(mint, [0n, MAX_U64, 1000n], [0n, MAX_U64, 1000n])

describe("meteoraDbc", () => {
  it("pays what the program pays", () => {
    // 64Vqtn4q…, run through a dump of the program.
    const pool = priced(decode())
    assert.deepStrictEqual(pool.swap(true, 1_000_000_007n, clock), filled(1_000_000_007n, 40_054n))
    assert.deepStrictEqual(pool.swap(true, 1_000_000_000_039n, clock), filled(1_000_000_000_039n, 40_007_725n))
    assert.deepStrictEqual(pool.swap(false, 1_000_003n, clock), filled(1_000_003n, 24_467_960_791n))
    assert.deepStrictEqual(pool.swap(false, 20_000_000_003n, clock), filled(20_000_000_003n, 309_167_048_959_949n))
  })

  it("shows how far it is from its migration: its quote as a share of the quote that ends it", () => {
    const halfway: ReadonlyArray<Field> = [[dbcPoolAt.quoteReserve, 1n << 60n]]
    const { graduation } = priced(decode([...flatPool, ...halfway], flatConfig))
    assert.deepStrictEqual(graduation, { numerator: 1n << 60n, denominator: 1n << 61n })
  })

  it("fills a swap that buys nothing, as the program does", () => {
    assert.deepStrictEqual(priced(decode()).swap(true, 1009n, clock), filled(1009n, 0n))
  })

  it("takes what completes the curve and no more", () => {
    const pool = priced(decode())
    const whole = pool.swap(false, 1_000_000_000_000n, clock)
    assert.strictEqual(whole.ending, "exhausted")
    // ceil(L·(migration - sqrt) / 2^128) = 80927322892, and 1 % on top.
    assert.strictEqual(whole.amountIn, 81_744_770_598n)
    assert.deepStrictEqual(pool.swap(false, whole.amountIn, clock), { ...whole, ending: "filled" })
    assert.strictEqual(pool.swap(false, whole.amountIn + 2n, clock).ending, "exhausted")
  })

  it("buys back what the curve has sold and no more", () => {
    const pool = priced(decode())
    const whole = pool.swap(true, MAX_U64, clock)
    assert.strictEqual(whole.ending, "exhausted")
    // floor(L·(sqrt - start) / 2^128) = 7018473205, less 1 %.
    assert.strictEqual(whole.amountOut, 6_948_288_472n)
  })

  it("charges quote in mode 0 and the output in mode 1", () => {
    const rate: Field = [dbcConfigAt.cliffRate, 100_000_000n]
    const output: Field = [dbcConfigAt.collectFeeMode, 1n, 1]
    // Mode 0: 900 of 1001 go in, 899 come out. Mode 1: 1000 come out, less 100.
    assert.strictEqual(outOf([rate], false, 1001n), 899n)
    assert.strictEqual(outOf([rate, output], false, 1001n), 900n)
    assert.strictEqual(outOf([rate], true, 1001n), 900n)
    assert.strictEqual(outOf([rate, output], true, 1001n), 900n)
  })

  it("follows the points of its curve in both directions", () => {
    // Twice the liquidity above the price of one, from where the pool stands.
    const points: ReadonlyArray<Field> = [
      [dbcConfigAt.migrationSqrtPrice, 1n << 66n, 16],
      [dbcConfigAt.curve, 1n << 64n, 16],
      [dbcConfigAt.curve + 16, 1n << 80n, 16],
      [dbcConfigAt.curve + 32, 1n << 66n, 16],
      [dbcConfigAt.curve + 48, 1n << 81n, 16],
      [dbcConfigAt.sqrtStartPrice, 1n << 63n, 16]
    ]
    // From √p = 1/2: 2^15 quote take it to 1 for 2^16 base, 2^17 more to 2 for 2^16 base.
    assert.strictEqual(outOf(points, false, 2n ** 15n, [standsAt(1n << 63n)]), 2n ** 16n)
    assert.strictEqual(outOf(points, false, 2n ** 15n + 2n ** 17n, [standsAt(1n << 63n)]), 2n ** 17n)
    // And back from 2: 2^16 base for 2^17 quote, 2^16 more for 2^15.
    assert.strictEqual(outOf(points, true, 2n ** 16n, [standsAt(1n << 65n)]), 2n ** 17n)
    assert.strictEqual(outOf(points, true, 2n ** 17n, [standsAt(1n << 65n)]), 2n ** 17n + 2n ** 15n)
  })

  it("lowers its base fee with time and charges large purchases more", () => {
    const activated: Field = [dbcPoolAt.activationPoint, BigInt(clock.slot - 350)]
    assert.strictEqual(outOf(scheduled(0n, 40_000_000n), true, 10_001n, [activated]), 10_000n - 3800n)
    assert.strictEqual(outOf(scheduled(1n, 5000n), true, 10_001n, [activated]), 10_000n - 625n)
    // 10 + 20 + 30 + 40 for the first four thousands.
    assert.strictEqual(outOf(limited(350n), false, 4000n, [activated]), 3899n)
    assert.strictEqual(outOf(limited(349n), false, 4000n, [activated]), 3959n)
    assert.strictEqual(outOf(limited(350n), true, 4001n, [activated]), 3960n)
  })

  it("adds the fee of its stored volatility", () => {
    const config: ReadonlyArray<Field> = [
      [dbcConfigAt.cliffRate, 100_000_000n],
      [dbcConfigAt.volatilityOn, 1n, 1],
      [dbcConfigAt.volatilityControl, 1_000_000n, 4],
      [dbcConfigAt.binStep, 1n, 2]
    ]
    assert.strictEqual(outOf(config, true, 10_001n, stored(4_000_000n)), 10_000n - 2600n)
    assert.strictEqual(outOf(config, true, 10_001n, stored(40_000_000n)), 10_000n - 9900n)
  })

  it("takes the transfer fees of its mints", () => {
    const config: ReadonlyArray<Field> = [
      ...flatConfig,
      [dbcConfigAt.baseTransferFeeBps, 1000n, 2],
      [dbcConfigAt.quoteTokenFlag, 1n, 1]
    ]
    const pool = priced(decode(flatPool, config, [tenPercentOf(SOL), tenPercentOf(USDC)]))
    // 900 arrive, 899 come out, 90 of them are withheld.
    assert.deepStrictEqual(pool.swap(true, 1000n, clock), filled(1000n, 809n))
    assert.deepStrictEqual(pool.swap(false, 1000n, clock), filled(1000n, 809n))
  })

  it("does not price a completed curve or unknown modes", () => {
    assert.strictEqual(failing(decode([[dbcPoolAt.isMigrated, 1n, 1]])).reason, "closed")
    assert.strictEqual(failing(decode([[dbcPoolAt.sqrtPrice, 0n, 16]])).reason, "malformed")
    assert.strictEqual(failing(decode([[dbcPoolAt.quoteReserve, 87_945_796_097n]])).reason, "closed")
    assert.strictEqual(failing(decode([], [[dbcConfigAt.collectFeeMode, 2n, 1]])).reason, "unsupported")
    assert.strictEqual(failing(decode([], [[dbcConfigAt.baseFeeMode, 3n, 1]])).reason, "unsupported")
    assert.strictEqual(failing(decode([[0, 0x23a9bd2a17b8dbedn]])).reason, "unsupported")
    const { pool } = dbcWith()
    assert.strictEqual(failing(meteoraDbc.decode(pool, () => undefined, derive)).reason, "incomplete")
    assert.strictEqual(failing(meteoraDbc.decode(pool, () => null, derive)).reason, "malformed")
  })

  it("refuses, as the program does, while there is no price to compare with", () => {
    const recent: ReadonlyArray<Field> = [[dbcPoolAt.volatilityUpdatedAt, BigInt(clock.unixTimestamp - 5)]]
    const rules: ReadonlyArray<Field> = [
      [dbcConfigAt.volatilityOn, 1n, 1],
      [dbcConfigAt.filterPeriod, 10n, 2]
    ]
    const referenced: Field = [dbcPoolAt.sqrtPriceReference, 1n << 64n, 16]
    assert.strictEqual(priced(decode(recent, rules)).swap(false, 1_000_000n, clock).ending, "refused")
    assert.strictEqual(priced(decode([...recent, referenced], rules)).swap(false, 1_000_000n, clock).ending, "filled")
    const later = { ...clock, unixTimestamp: clock.unixTimestamp + 5 }
    assert.strictEqual(priced(decode(recent, rules)).swap(false, 1_000_000n, later).ending, "filled")
  })

  it("needs its config first, and the quote mint once the config is read", () => {
    const { accounts, pool } = dbcWith()
    assert.strictEqual(meteoraDbc.needs(pool, () => undefined, derive).length, 4)
    const vaults = [NO_ADDRESS, NO_ADDRESS]
    assert.deepStrictEqual(meteoraDbc.needs(pool, accounts, derive).slice(1), [USDC, ...vaults, SOL])
  })

  it("leaves the pool as the next swap finds it", () => {
    const made = dbcWith([], [[dbcConfigAt.creatorTradingFeePercent, 50n, 1]])
    const config = made.accounts(meteoraDbc.needs(made.pool, made.accounts, derive)[0] ?? SOL)
    const read = (data: Uint8Array) => {
      const state = readDbc(data, config?.data ?? data)
      if (isFailure(state)) {
        throw new Error(state.detail)
      }
      return state
    }
    const before = read(made.pool.data)
    const fill = fillDbc(before, false, 1_000_000_000n, 0n)
    assert.isNotNull(fill)
    if (fill !== null) {
      const after = existing(dbcAfter(before, false, fill, 1n))
      const data = writeDbc(made.pool.data, after, false, fill)
      assert.deepStrictEqual(read(data), after)
      assert.strictEqual(after.quoteReserve - before.quoteReserve, 990_000_000n)
      // 1 %. A fifth of it goes to the protocol, the rest to partner and creator.
      const view = new DataView(data.buffer)
      const fees = [dbcPoolAt.protocolQuoteFee, dbcPoolAt.partnerQuoteFee, dbcPoolAt.creatorQuoteFee]
      assert.deepStrictEqual(
        fees.map((offset) => view.getBigUint64(offset, true)),
        [2_000_000n, 4_000_000n, 4_000_000n]
      )
    }
  })

  it.prop(
    "pays no more for going up the curve and down again than was put in",
    [Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 2 ** 36 }))],
    ([amount]) => {
      const made = dbcWith([], [[dbcConfigAt.cliffRate, 0n]])
      const config = made.accounts(meteoraDbc.needs(made.pool, made.accounts, derive)[0] ?? SOL)
      const state = readDbc(made.pool.data, config?.data ?? made.pool.data)
      assert.isFalse(isFailure(state))
      if (!isFailure(state)) {
        const bought = fillDbc(state, false, BigInt(amount), 0n)
        const sold =
          bought === null
            ? null
            : fillDbc(existing(dbcAfter(state, false, bought, 0n)), true, bought.amountOut || 1n, 0n)
        assert.isTrue((sold?.amountOut ?? 0n) <= BigInt(amount))
      }
    }
  )
})

describe.skipIf(!hasRecordings)("recorded bonding-curve swaps", () => {
  const sets = recordings("meteora-dbc-")

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
