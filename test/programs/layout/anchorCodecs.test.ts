import { assert, describe, it } from "@effect/vitest"
import { type Address, addressFromBytes } from "../../../src/domain/Address.ts"
import type { Launch } from "../../../src/api/schemas/Launch.ts"
import type { StatedLaunch } from "../../../src/programs/interface/Launchpad.ts"
import { inAccountOrder } from "../../../src/programs/layout/hops.ts"
import { encodeEventCall, eventInCall } from "../../../src/programs/layout/anchorEvents.ts"
import { dammV2SwapEvent, meteoraDammV2Swaps } from "../../../src/programs/meteora/dammV2Instructions.ts"
import { dlmmSwap2Accounts, encodeDlmmSwap, meteoraDlmmSwaps } from "../../../src/programs/meteora/dlmmInstructions.ts"
import {
  dbcInitializeEvent,
  dbcMigrationAccounts,
  encodeDbcMigration,
  meteoraDbcLaunches
} from "../../../src/programs/meteora/dbcLaunches.ts"
import {
  encodePumpCreateEvent,
  pumpCurveLaunches,
  pumpMigrationEvent
} from "../../../src/programs/pump/curveLaunches.ts"

const key = (n: number): Address => addressFromBytes(new Uint8Array(32).fill(n))
const [mint, pool, user] = [key(1), key(2), key(3)]

const eventOf = (encoded: Uint8Array) => {
  const event = eventInCall(encodeEventCall(encoded))
  assert.isNotNull(event)
  return event
}

describe("launches of Pump.fun", () => {
  it("read back from the event of a new coin", () => {
    const encoded = encodePumpCreateEvent({
      texts: ["A coin", "COIN", "https://example.invalid/ü.json"],
      mint,
      curve: pool,
      creator: user,
      timestamp: 1_754_982_384,
      virtualTokens: 1n,
      virtualQuote: 2n,
      realTokens: 3n,
      supply: 4n
    })
    const launch: Launch = { event: "created", launchpad: "pump-fun", mint, pool, creator: user }
    assert.deepStrictEqual(pumpCurveLaunches.event(eventOf(encoded)), launch)
  })

  it("read back from the event of a migration", () => {
    const encoded = pumpMigrationEvent.encode({
      user,
      mint,
      mintAmount: 1n,
      solAmount: 2n,
      poolMigrationFee: 3n,
      bondingCurve: key(4),
      timestamp: 1_754_982_384,
      pool
    })
    const launch: Launch = { event: "migrated", launchpad: "pump-fun", mint, pool }
    assert.deepStrictEqual(pumpCurveLaunches.event(eventOf(encoded)), launch)
  })
})

describe("launches of Meteora's bonding curve", () => {
  it("read back from the event of a new pool", () => {
    const encoded = dbcInitializeEvent.encode({
      pool,
      config: key(5),
      creator: user,
      baseMint: mint,
      poolType: 0,
      activationPoint: 7
    })
    const config = key(5)
    const launch: StatedLaunch = { event: "created", launchpad: "meteora-dbc", mint, pool, creator: user, config }
    assert.deepStrictEqual(meteoraDbcLaunches.event(eventOf(encoded)), launch)
  })

  it("read back from the instruction of a migration", () => {
    const accounts = dbcMigrationAccounts.map((name) => (name === "baseMint" ? mint : name === "pool" ? pool : user))
    const launch: Launch = { event: "migrated", launchpad: "meteora-dbc", mint, pool }
    assert.deepStrictEqual(meteoraDbcLaunches.instruction?.(encodeDbcMigration(), accounts), launch)
  })
})

describe("swaps of Meteora", () => {
  it("read back from the instruction of a DLMM swap", () => {
    const names = Object.fromEntries(dlmmSwap2Accounts.map((name, at) => [name, key(at + 10)]))
    const accounts = dlmmSwap2Accounts.map((name) => names[name] ?? user)
    const [lbPair = user, , reserveX = user, reserveY = user] = accounts
    assert.deepStrictEqual(meteoraDlmmSwaps.hops(encodeDlmmSwap(true, 10n, 9n), accounts), [
      { pool: lbPair, vaults: [reserveX, reserveY] }
    ])
  })

  it("read back from the event of a DAMM v2 swap, with the amounts that the pool received and paid", () => {
    const encoded = dammV2SwapEvent.encode({
      pool,
      tradeDirection: 0,
      collectFeeMode: 1,
      hasReferral: false,
      amount0: 100n,
      amount1: 90n,
      swapMode: 0,
      includedFeeInputAmount: 99n,
      excludedFeeInputAmount: 98n,
      amountLeft: 0n,
      outputAmount: 95n,
      nextSqrtPrice: 1n << 100n,
      claimingFee: 1n,
      protocolFee: 1n,
      compoundingFee: 0n,
      referralFee: 0n,
      includedTransferFeeAmountIn: 100n,
      includedTransferFeeAmountOut: 95n,
      excludedTransferFeeAmountOut: 94n,
      currentTimestamp: 1_754_982_384,
      reserveAAmount: 5n,
      reserveBAmount: 6n
    })
    const { tag, body } = eventOf(encoded)
    const report = { amountIn: 99n, amountOut: 95n, traderLamports: null }
    assert.deepStrictEqual(meteoraDammV2Swaps.selfCall?.(tag, body), report)
    assert.isNull(meteoraDammV2Swaps.selfCall?.(tag, body.subarray(0, 83)))
  })
})

describe("inAccountOrder", () => {
  it("lists accounts in the instruction's order, whatever order they are given in", () => {
    assert.deepStrictEqual(inAccountOrder(["first", "second"], { second: 2, first: 1 }), [1, 2])
  })
})
