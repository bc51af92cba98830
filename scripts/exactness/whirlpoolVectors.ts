/** Vectors of the Whirlpool program's own tests: liquidity, tick and fee in, amounts or an exception out. */
import type { Pool, Swap, Unpriceable } from "../../src/programs/interface/Program.ts"
import { whirlpool } from "../../src/programs/orca/whirlpool.ts"
import {
  FIXED_ARRAY_DISCRIMINATOR,
  FIXED_ARRAY_SIZE,
  fixedArrayOffsets,
  TICKS_IN_ARRAY,
  WHIRLPOOL_DISCRIMINATOR,
  WHIRLPOOL_PROGRAM,
  WHIRLPOOL_SIZE,
  whirlpoolArrayAddress,
  whirlpoolOffsets
} from "../../src/programs/orca/whirlpoolLayout.ts"
import { whirlpoolSqrtPriceAt } from "../../src/programs/orca/whirlpoolTicks.ts"
import type { OnChainAccount } from "../../src/domain/OnChainAccount.ts"
import { Address, addressToBytes } from "../../src/domain/Address.ts"
import { bigintOf, type Entry, type Fixture, textOf } from "../../src/quotes/execution/poolFixture.ts"
import { discriminator, makeAccount } from "../../src/quotes/execution/makeAccount.ts"
import type { CaseFormat } from "../../src/quotes/execution/caseFormat.ts"
import { derive, lookup } from "../../src/quotes/execution/decodeFixture.ts"

const POOL = Address.make("Poo1111111111111111111111111111111111111111")
const MINT_A = Address.make("MintA11111111111111111111111111111111111111")
const MINT_B = Address.make("MintB11111111111111111111111111111111111111")

/** Arrays on either side of the tick: two that a swap may cross, and one more for a shifted start. */
const REACH = 3

const poolOf = (entry: Entry, tick: number): OnChainAccount => {
  const spacing = bigintOf(entry, "tickSpacing") ?? 0n
  return makeAccount(POOL, WHIRLPOOL_PROGRAM, WHIRLPOOL_SIZE, [
    [0, discriminator(WHIRLPOOL_DISCRIMINATOR)],
    [whirlpoolOffsets.tickSpacing, spacing, 2],
    // Equal to the spacing, so the pool has no adaptive fee.
    [whirlpoolOffsets.feeTierIndex, spacing, 2],
    [whirlpoolOffsets.feeRate, bigintOf(entry, "feeRate") ?? 0n, 2],
    [whirlpoolOffsets.protocolFeeRate, bigintOf(entry, "protocolFeeRate") ?? 0n, 2],
    [whirlpoolOffsets.liquidity, bigintOf(entry, "liquidity") ?? 0n, 16],
    [whirlpoolOffsets.sqrtPrice, whirlpoolSqrtPriceAt(tick), 16],
    [whirlpoolOffsets.tick, BigInt(tick), 4],
    [whirlpoolOffsets.mintA, addressToBytes(MINT_A)],
    [whirlpoolOffsets.mintB, addressToBytes(MINT_B)]
  ])
}

const arrays = new Map<number, OnChainAccount>()

/** A tick array without initialized ticks. */
const unusedArray = (start: number): OnChainAccount => {
  const known = arrays.get(start)
  if (known !== undefined) {
    return known
  }
  const address = whirlpoolArrayAddress(derive, POOL, start)
  const made = makeAccount(address, WHIRLPOOL_PROGRAM, FIXED_ARRAY_SIZE, [
    [0, discriminator(FIXED_ARRAY_DISCRIMINATOR)],
    [fixedArrayOffsets.start, BigInt(start), 4],
    [fixedArrayOffsets.pool, addressToBytes(POOL)]
  ])
  arrays.set(start, made)
  return made
}

const decode = (_fixture: Fixture, entry: Entry): Pool | Unpriceable => {
  const tick = Number(bigintOf(entry, "currTickIndex") ?? 0n)
  const pool = poolOf(entry, tick)
  const ticksInArray = TICKS_IN_ARRAY * Number(bigintOf(entry, "tickSpacing") ?? 1n)
  const around = Array.from({ length: 2 * REACH + 1 }, (_, i) =>
    unusedArray((Math.floor(tick / ticksInArray) + i - REACH) * ticksInArray)
  )
  const given = new Map(around.map((account) => [account.address, account]))
  return whirlpool.decode(pool, lookup(given, new Set([MINT_A, MINT_B])), derive)
}

const trade = (entry: Entry): Entry => {
  const amount = entry["tradeAmount"]
  const sides = entry["amountIsInput"] === true ? { amountIn: amount } : { kind: "exactOut", amountOut: amount }
  return { ...sides, aToB: entry["aToB"] }
}

const expectationOf = (entry: Entry): Entry => {
  const expectation = entry["expectation"]
  return typeof expectation === "object" && expectation !== null ? { ...expectation } : {}
}

/** The amounts that the program's test expects. An exception counts as a refusal. */
const agrees = (entry: Entry, swap: Swap): boolean => {
  const expectation = expectationOf(entry)
  if (textOf(expectation, "exception") !== "") {
    return swap.ending === "refused"
  }
  const a = bigintOf(expectation, "amountA")
  const b = bigintOf(expectation, "amountB")
  const [amountIn, amountOut] = entry["aToB"] === true ? [a, b] : [b, a]
  return swap.ending !== "refused" && swap.amountIn === amountIn && swap.amountOut === amountOut
}

export const whirlpoolVectors: CaseFormat = {
  describes: (entry) => "currTickIndex" in entry && "tradeAmount" in entry,
  decode,
  trade,
  agrees
}
