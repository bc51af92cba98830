import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { type Address, SOL } from "../../src/domain/Address.ts"
import type { OnChainAccount } from "../../src/domain/OnChainAccount.ts"
import { fixedText } from "../../src/perps/exact.ts"
import { jupiter } from "../../src/perps/jupiter.ts"
import {
  AG_PRICE_FEED_DISCRIMINATOR,
  custodies,
  CUSTODY_DISCRIMINATOR,
  CUSTODY_LENGTH,
  custodyAt,
  DOVES_PROGRAM,
  PERPETUALS_PROGRAM,
  PRICE_FEED_LENGTH,
  priceFeedAt
} from "../../src/programs/jupiter/perpetuals.ts"
import { newAccountData, writeAddress, writeI64, writeU64 } from "../../src/programs/layout/bytes.ts"

/**
 * The bytes of a custody's fields in order, by the program's IDL: src/idl/jupiter-perpetuals-idl.ts of
 * github.com/yiplee/jupiter-perps-anchor-idl-parsing, of 6 October 2025.
 */
const custodyFields: ReadonlyArray<readonly [field: string, bytes: number]> = [
  ["discriminator", 8],
  ["pool", 32],
  ["mint", 32],
  ["tokenAccount", 32],
  ["decimals", 1],
  ["isStable", 1],
  ["oracle.oracleAccount", 32],
  ["oracle.oracleType", 1],
  ["oracle.buffer", 8],
  ["oracle.maxPriceAgeSec", 4],
  ["tradeImpactFeeScalar", 8],
  ["pricing.buffer", 8],
  ["swapSpread", 8],
  ["maxLeverage", 8],
  ["maxGlobalLongSizes", 8],
  ["maxGlobalShortSizes", 8],
  ["allowSwap", 1],
  ["allowAddLiquidity", 1],
  ["allowRemoveLiquidity", 1],
  ["allowIncreasePosition", 1],
  ["allowDecreasePosition", 1],
  ["allowCollateralWithdrawal", 1],
  ["allowLiquidatePosition", 1],
  ["targetRatioBps", 8],
  ["feesReserves", 8],
  ["owned", 8],
  ["locked", 8],
  ["guaranteedUsd", 8],
  ["globalShortSizes", 8],
  ["globalShortAveragePrices", 8],
  ["cumulativeInterestRate", 16],
  ["lastUpdate", 8],
  ["hourlyFundingDbps", 8],
  ["bump", 1],
  ["tokenAccountBump", 1],
  ["increasePositionBps", 8],
  ["decreasePositionBps", 8],
  ["maxPositionSizeUsd", 8],
  ["dovesOracle", 32],
  ["minRateBps", 8],
  ["maxRateBps", 8],
  ["targetRateBps", 8],
  ["targetUtilizationRate", 8],
  ["dovesAgOracle", 32],
  ["openInterest", 480],
  ["impactUpdated", 8],
  ["impactFeeFactor", 8],
  ["impactExponent", 4],
  ["impactThreshold", 8],
  ["impactMaxFeeBps", 8],
  ["borrowLendParameters", 40],
  ["borrowsFundingRateState", 32],
  ["debt", 16],
  ["interestsAccrued", 16],
  ["borrowLimitInTokenAmount", 8],
  ["minInterestFeeBps", 8],
  ["minInterestFeeGracePeriodSeconds", 8]
]

const NOW_MS = Date.UTC(2026, 10, 1)
const DOLLAR = 1_000_000n
const oracle = SOL

type Accounts = ReadonlyMap<Address, OnChainAccount>

const account = (address: Address, owner: Address, data: Uint8Array): readonly [Address, OnChainAccount] => [
  address,
  { address, owner, lamports: 1n, data, slot: 1 }
]

const custodyData = (fields: Partial<Record<keyof typeof custodyAt, bigint>>): Uint8Array => {
  const data = newAccountData(CUSTODY_LENGTH, CUSTODY_DISCRIMINATOR)
  for (const [field, offset] of Object.entries(custodyAt)) {
    const value = new Map(Object.entries(fields)).get(field)
    if (value !== undefined) {
      writeU64(data, offset, value)
    }
  }
  return data
}

const sol = (change: Partial<Record<keyof typeof custodyAt, bigint>> = {}, canIncrease = true): Uint8Array => {
  const data = custodyData({
    increasePositionBps: 6n,
    tradeImpactFeeScalar: 1_000_000n * DOLLAR,
    maxGlobalLongSizes: 1_000_000n * DOLLAR,
    maxGlobalShortSizes: 500_000n * DOLLAR,
    maxPositionSizeUsd: 10_000n * DOLLAR,
    owned: 2_000_000_000_000n,
    locked: 1_000_000_000_000n,
    hourlyFundingDbps: 5n,
    ...change
  })
  data[custodyAt.decimals] = 9
  data[custodyAt.allowIncreasePosition] = canIncrease ? 1 : 0
  writeAddress(data, custodyAt.dovesAgOracle, oracle)
  return data
}

const usdc = (): Uint8Array => {
  const data = custodyData({ owned: 100_000n * DOLLAR, locked: 20_000n * DOLLAR, hourlyFundingDbps: 10n })
  data[custodyAt.decimals] = 6
  return data
}

const feed = (): Uint8Array => {
  const data = newAccountData(PRICE_FEED_LENGTH, AG_PRICE_FEED_DISCRIMINATOR)
  writeU64(data, priceFeedAt.price, 16_012_345_678n)
  data[priceFeedAt.expo] = 256 - 8
  writeI64(data, priceFeedAt.timestamp, BigInt(NOW_MS / 1000 - 2))
  return data
}

const pool = (custody = sol()): Accounts =>
  new Map([
    account(custodies.SOL, PERPETUALS_PROGRAM, custody),
    account(custodies.USDC, PERPETUALS_PROGRAM, usdc()),
    account(oracle, DOVES_PROGRAM, feed())
  ])

const venueOf = (accounts: Accounts) =>
  jupiter((addresses) => Effect.succeed(new Map(addresses.map((address) => [address, accounts.get(address) ?? null]))))

const without = (address: Address): Accounts => new Map(Array.from(pool()).filter(([one]) => one !== address))

describe("the adapter of jupiter", () => {
  it("reads a custody by the layout of the IDL", () => {
    let offset = 0
    const offsets = new Map(
      custodyFields.map(([field, bytes]) => {
        offset += bytes
        return [field, offset - bytes]
      })
    )
    for (const [field, at] of Object.entries(custodyAt)) {
      assert.strictEqual(offsets.get(field), at, field)
    }
    assert.strictEqual(offset, CUSTODY_LENGTH)
  })

  it.effect("reads price, openable sizes, fees and borrow rates from the accounts, to the last digit", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(NOW_MS)
      const market = yield* venueOf(pool()).read("SOL")
      assert.deepStrictEqual(
        market.asks.map(({ price, size }) => [fixedText(price), fixedText(size)]),
        [["160.12345678", "1000"]]
      )
      // 80,000 free dollars at that price.
      assert.match(fixedText(market.bids[0]?.size ?? 0n), /^499\.61449/u)
      assert.match(fixedText(market.lots.most ?? 0n), /^62\.4518118/u)
      assert.strictEqual(market.asOfMs, NOW_MS - 2000)
      assert.deepStrictEqual(market.fees, { taker: 6_000_000n, maker: 6_000_000n })
      // Half of 5 in 100,000 for longs, a fifth of 10 in 100,000 for shorts.
      assert.deepStrictEqual([market.funding.rate.numerator, market.funding.shortRate?.numerator], [25_000n, 20_000n])
      assert.deepInclude(market.openFee, { baseBps: 6n, scalar: 1_000_000n * DOLLAR, nowSecond: NOW_MS / 1000 })
    })
  )

  it.effect("has no market for other symbols, nor while positions cannot be increased", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* Effect.flip(venueOf(pool()).read("DOGE")))._tag, "NoMarket")
      assert.strictEqual((yield* Effect.flip(venueOf(pool(sol({}, false))).read("SOL")))._tag, "NoMarket")
    })
  )

  const refusals: ReadonlyArray<readonly [string, Accounts, number]> = [
    ["a custody that does not exist", without(custodies.SOL), 1],
    ["a dollar custody that does not exist", without(custodies.USDC), 1],
    ["a price feed that does not exist", without(oracle), 0],
    ["an account of another program", new Map([...pool(), account(custodies.SOL, DOVES_PROGRAM, sol())]), 1],
    ["a custody that is too short", pool(sol().subarray(0, 1000)), 1],
    [
      "a fee that needs a broken exponent",
      pool(sol({ impactFeeFactor: 1n, impactThreshold: 1n, impactExponent: 1n })),
      1
    ],
    [
      "a price of nothing",
      new Map([
        ...pool(),
        account(oracle, DOVES_PROGRAM, newAccountData(PRICE_FEED_LENGTH, AG_PRICE_FEED_DISCRIMINATOR))
      ]),
      0
    ]
  ]
  for (const [name, accounts, unreadable] of refusals) {
    it.effect(`rejects ${name}`, () =>
      Effect.gen(function* () {
        const venue = venueOf(accounts)
        const fault = yield* Effect.flip(venue.read("SOL"))
        assert.strictEqual(fault._tag === "VenueUnreadable" && fault.why, "malformed")
        assert.strictEqual(venue.unreadable(), unreadable)
      })
    )
  }
})
