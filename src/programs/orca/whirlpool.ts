/**
 * Orca Whirlpool. Static fees over fixed tick arrays follow orca-so/whirlpools at a3b7887, the last Apache-2.0 state,
 * and were checked against the deployed program. Adaptive fees and dynamic tick arrays follow the documentation of
 * the later program and were not run against it.
 *
 * A swap names the three tick arrays in its direction, so a quote reaches to the end of the third. An array that does
 * not exist (`null`) holds no liquidity and bounds the swap like any other, because the program accepts it. An array
 * that has not been read ends the known ticks: a swap that would go there is exhausted.
 */
import type { OnChainAccount, ChainClock } from "../../domain/OnChainAccount.ts"
import { perRegime, referenceIn } from "../math/adaptiveFee.ts"
import { type Address } from "../../domain/Address.ts"
import { addU64 } from "../layout/afterSwap.ts"
import { hasDiscriminator, readAddress, readI32, readU128, readU16, writeI32, writeU128 } from "../layout/bytes.ts"
import { addressesAt, namedVaults, poolsWithMintAt, sameFields } from "../layout/poolFields.ts"
import { concentratedAfter } from "../math/concentratedAfter.ts"
import { decodeConcentratedPool } from "../math/concentratedPool.ts"
import { bothDirections, type Directions } from "../math/directions.ts"
import { type SwapPath, type FeeSchedule, staticFee } from "../math/swapPath.ts"
import type { SwapResult } from "../math/swapSteps.ts"
import type { Accounts, DeriveAddress, Pool, Program, Unpriceable } from "../interface/Program.ts"
import { floorDiv, isInTick, type Tick } from "../math/ticks.ts"
import { reservesAt } from "../layout/tokenAccount.ts"
import { accountAt, incomplete, isFailure, malformed, unsupported } from "../layout/unpriceable.ts"
import {
  arraySequence,
  decodeOracle,
  decodeWhirlpool,
  decodeWhirlpoolArray,
  firstArray,
  oracleAddress,
  type OracleState,
  sequenceEdge,
  WHIRLPOOL_DISCRIMINATOR,
  WHIRLPOOL_PROGRAM,
  WHIRLPOOL_SIZE,
  whirlpoolArrayAddresses,
  whirlpoolOffsets,
  whirlpoolSwapCounters,
  type WhirlpoolState
} from "./whirlpoolLayout.ts"
import { whirlpoolAdaptiveFee, whirlpoolRegime } from "./whirlpoolAdaptiveFee.ts"
import { whirlpoolGrid } from "./whirlpoolTicks.ts"

const dex = "orca-whirlpool"

const isWhirlpool = ({ data, owner }: OnChainAccount): boolean =>
  owner === WHIRLPOOL_PROGRAM && data.length === WHIRLPOOL_SIZE && hasDiscriminator(data, WHIRLPOOL_DISCRIMINATOR)

const needs = (pool: OnChainAccount, _accounts: Accounts, derive: DeriveAddress): ReadonlyArray<Address> => {
  const state = isWhirlpool(pool) ? decodeWhirlpool(pool.data) : null
  if (state === null || state.tickSpacing === 0) {
    return []
  }
  const { mintA, mintB, tick, tickSpacing } = state
  const starts = [...arraySequence(tick, tickSpacing, true), ...arraySequence(tick, tickSpacing, false)]
  const oracle = state.feeTierIndex === tickSpacing ? [] : [oracleAddress(derive, pool.address)]
  return [
    mintA,
    mintB,
    readAddress(pool.data, whirlpoolOffsets.vaultA),
    readAddress(pool.data, whirlpoolOffsets.vaultB),
    ...oracle,
    ...Array.from(new Set(starts), whirlpoolArrayAddresses(derive, pool.address))
  ]
}

const namesSame = sameFields([
  ...addressesAt(whirlpoolOffsets.mintA, whirlpoolOffsets.mintB, whirlpoolOffsets.vaultA, whirlpoolOffsets.vaultB),
  [whirlpoolOffsets.tickSpacing, 2],
  [whirlpoolOffsets.feeTierIndex, 2]
])

const firstArrayOf = ({ data }: OnChainAccount, down: boolean): number =>
  firstArray(readI32(data, whirlpoolOffsets.tick), readU16(data, whirlpoolOffsets.tickSpacing), down)

/** The price moves with every swap, the tick arrays next to it seldom change. */
const keepsNeeds = (before: OnChainAccount, after: OnChainAccount): boolean =>
  before.data.length === WHIRLPOOL_SIZE &&
  namesSame(before, after) &&
  firstArrayOf(before, true) === firstArrayOf(after, true) &&
  firstArrayOf(before, false) === firstArrayOf(after, false)

/** Known ticks in one direction, and the edge behind them if all arrays are known. */
interface Reach {
  readonly ticks: ReadonlyArray<Tick>
  readonly edge: number | null
}

/** Reads one of a pool's arrays by its start. */
type ReadArray = (start: number) => ReadonlyArray<Tick> | Unpriceable

const isList = (read: ReadonlyArray<Tick> | Unpriceable): read is ReadonlyArray<Tick> => Array.isArray(read)

const readArrayOf = (pool: OnChainAccount, spacing: number, accounts: Accounts, derive: DeriveAddress): ReadArray => {
  const addressOf = whirlpoolArrayAddresses(derive, pool.address)
  return (start) => {
    const address = addressOf(start)
    const account = accounts(address)
    if (account === undefined) {
      return incomplete(`tick array ${address} has not been read`)
    }
    return account === null
      ? []
      : (decodeWhirlpoolArray(account, start, spacing) ?? malformed(`tick array ${address} is not one`))
  }
}

const reachOf = ({ tick, tickSpacing }: WhirlpoolState, down: boolean, read: ReadArray): Reach | Unpriceable => {
  const starts = arraySequence(tick, tickSpacing, down)
  const ticks: Array<Tick> = []
  for (const [i, start] of starts.entries()) {
    const found = read(start)
    if (!isList(found)) {
      return i === 0 || found.reason === "malformed" ? found : { ticks, edge: null }
    }
    const ahead = found.filter(({ index }) => (down ? index <= tick : index > tick))
    ticks.push(...(down ? ahead.toReversed() : ahead))
  }
  const last = starts.at(-1)
  return { ticks, edge: last === undefined ? null : sequenceEdge(last, tickSpacing, down) }
}

const swapPathOf = (
  state: WhirlpoolState,
  down: boolean,
  { edge, ticks }: Reach,
  fee: () => FeeSchedule
): SwapPath => ({
  grid: whirlpoolGrid,
  down,
  feeOnInput: true,
  sqrtPrice: state.sqrtPrice,
  tick: state.tick,
  liquidity: state.liquidity,
  ticks,
  edge,
  fee,
  cuts: [{ rate: state.protocolFeeRate, scale: 10_000n }]
})

const readOracle = (pool: OnChainAccount, accounts: Accounts, derive: DeriveAddress): OracleState | Unpriceable => {
  const account = accountAt(accounts, oracleAddress(derive, pool.address), "oracle")
  if (isFailure(account)) {
    return account
  }
  const oracle = decodeOracle(account)
  return oracle === null || oracle.groupSize === 0 ? malformed(`${account.address} is not an oracle`) : oracle
}

/** Swap paths whose fee depends on the time since the last swap. There is one pair per regime. */
const adaptiveSwapPaths = (
  { feeRate, tick }: WhirlpoolState,
  oracle: OracleState,
  swapPaths: (feeOf: (goesDown: boolean) => () => FeeSchedule) => Directions<SwapPath>
): WhirlpoolSwapPaths["at"] => {
  const inRegime = perRegime((regime) => {
    const reference = referenceIn(regime, oracle, floorDiv(tick, oracle.groupSize))
    return swapPaths((goesDown) => whirlpoolAdaptiveFee(feeRate, oracle, reference, tick, goesDown))
  })
  return ({ unixTimestamp }) =>
    unixTimestamp < oracle.tradeEnableAt ? null : inRegime(whirlpoolRegime(oracle, unixTimestamp))
}

/** A pool that is decoded but not priced yet: its swap paths in both directions. */
export interface WhirlpoolSwapPaths {
  readonly state: WhirlpoolState
  /** Null at a clock when the program rejects every swap. */
  readonly at: (clock: ChainClock) => Directions<SwapPath> | null
}

/** Decodes the pool's swap paths. `swapSteps` runs a swap along one and computes the state after it. */
export const whirlpoolSwapPaths = (
  pool: OnChainAccount,
  accounts: Accounts,
  derive: DeriveAddress
): WhirlpoolSwapPaths | Unpriceable => {
  const state = isWhirlpool(pool) ? decodeWhirlpool(pool.data) : null
  if (state === null || state.tickSpacing === 0) {
    return malformed("not a Whirlpool account")
  }
  if (!isInTick(whirlpoolGrid.sqrtPriceAt, state.tick, state.sqrtPrice)) {
    return malformed(`price ${state.sqrtPrice} is not in tick ${state.tick}`)
  }
  const read = readArrayOf(pool, state.tickSpacing, accounts, derive)
  const ahead = bothDirections((down) => reachOf(state, down, read))
  if (isFailure(ahead)) {
    return ahead
  }
  const swapPaths = (feeOf: (goesDown: boolean) => () => FeeSchedule): Directions<SwapPath> => ({
    down: swapPathOf(state, true, ahead.down, feeOf(true)),
    up: swapPathOf(state, false, ahead.up, feeOf(false))
  })
  if (state.feeTierIndex === state.tickSpacing) {
    const constant = swapPaths(() => staticFee(state.feeRate))
    return { state, at: () => constant }
  }
  const oracle = readOracle(pool, accounts, derive)
  return isFailure(oracle) ? oracle : { state, at: adaptiveSwapPaths(state, oracle, swapPaths) }
}

const decode = (pool: OnChainAccount, accounts: Accounts, derive: DeriveAddress): Pool | Unpriceable => {
  const swapPaths = whirlpoolSwapPaths(pool, accounts, derive)
  if (isFailure(swapPaths)) {
    return swapPaths
  }
  const { at, state } = swapPaths
  const { a, b } = whirlpoolSwapCounters
  return decodeConcentratedPool(accounts, {
    address: pool.address,
    dex,
    mintA: state.mintA,
    mintB: state.mintB,
    slot: pool.slot,
    ...reservesAt(
      accounts,
      pool.data,
      { mint: state.mintA, vault: whirlpoolOffsets.vaultA, owed: [a.protocolFee] },
      { mint: state.mintB, vault: whirlpoolOffsets.vaultB, owed: [b.protocolFee] }
    ),
    // The program accepts a swap with zero output.
    refusesZeroOutput: false,
    paths: at
  })
}

/** The pool account after a swap. The counters of ticks that were crossed change no price, and stay as they were. */
export const whirlpoolAfter = (before: Uint8Array, aToB: boolean, result: SwapResult): Uint8Array => {
  const at = aToB ? whirlpoolSwapCounters.a : whirlpoolSwapCounters.b
  const data = before.slice()
  writeU128(data, whirlpoolOffsets.sqrtPrice, result.sqrtPrice)
  writeI32(data, whirlpoolOffsets.tick, result.tick)
  writeU128(data, whirlpoolOffsets.liquidity, result.liquidity)
  addU64(data, at.protocolFee, result.cuts[0] ?? 0n)
  writeU128(data, at.feeGrowth, BigInt.asUintN(128, readU128(data, at.feeGrowth) + result.feeGrowth))
  return data
}

const after: NonNullable<Program["after"]> = (pool, accounts, derive, swap, clock) => {
  const swapPaths = whirlpoolSwapPaths(pool, accounts, derive)
  if (isFailure(swapPaths)) {
    return swapPaths
  }
  const { at, state } = swapPaths
  if (state.feeTierIndex !== state.tickSpacing) {
    return unsupported("its state after a swap with an adaptive fee")
  }
  const vaults = [
    readAddress(pool.data, whirlpoolOffsets.vaultA),
    readAddress(pool.data, whirlpoolOffsets.vaultB)
  ] as const
  return concentratedAfter(
    pool,
    accounts,
    { mints: [state.mintA, state.mintB], vaults, paths: at(clock), moved: whirlpoolAfter },
    swap,
    clock.epoch
  )
}

/** Orca's concentrated-liquidity pools. */
export const whirlpool: Program = {
  dex,
  programId: WHIRLPOOL_PROGRAM,
  poolsOf: poolsWithMintAt(WHIRLPOOL_SIZE, whirlpoolOffsets.mintA, whirlpoolOffsets.mintB),
  vaultsOf: namedVaults(
    { mint: whirlpoolOffsets.mintA, vault: whirlpoolOffsets.vaultA },
    { mint: whirlpoolOffsets.mintB, vault: whirlpoolOffsets.vaultB }
  ),
  isPool: isWhirlpool,
  needs,
  keepsNeeds,
  decode,
  after
}
