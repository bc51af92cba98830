/** The accounts that hold the fees of the pump programs: one schedule and the settings of each program. */
import { GLOBAL_DISCRIMINATOR, globalAt, globalOf } from "../../programs/pump/curveFees.ts"
import {
  FEE_CONFIG_DISCRIMINATOR,
  FEE_PROGRAM,
  feeConfigAt as at,
  feeConfigOf,
  FEES_LENGTH,
  PUMP_PROGRAM,
  TIER_LENGTH
} from "../../programs/pump/fees.ts"
import { globalConfigOf, PUMP_SWAP_CONFIG_DISCRIMINATOR, pumpSwap } from "../../programs/pump/pumpSwap.ts"
import { newAccountData, writeU128, writeU32, writeU64 } from "../../programs/layout/bytes.ts"
import type { World } from "../chain/World.ts"

/** Basis points for liquidity providers, protocol and creator. */
type Rates = readonly [number, number, number]

interface Schedule {
  readonly flat: Rates
  /** Each tier starts at a market cap in SOL. */
  readonly tiers: ReadonlyArray<readonly [number, Rates]>
}

// Shaped like mainnet's schedule of September 2026: the bigger a coin, the smaller its creator's share.
const swapSchedule: Schedule = {
  flat: [25, 5, 0],
  tiers: [
    [0, [2, 93, 30]],
    [420, [20, 5, 95]],
    [1_470, [20, 5, 90]],
    [2_460, [20, 5, 85]],
    [3_440, [20, 5, 80]],
    [4_420, [20, 5, 75]],
    [9_820, [20, 5, 70]],
    [14_740, [20, 5, 65]],
    [98_240, [20, 5, 5]]
  ]
}
const curveSchedule: Schedule = { flat: [0, 95, 30], tiers: [[0, [0, 95, 30]]] }

const writeRates = (data: Uint8Array, offset: number, rates: Rates): void =>
  rates.forEach((bps, index) => writeU64(data, offset + 8 * index, BigInt(bps)))

const feeConfigData = ({ flat, tiers }: Schedule): Uint8Array => {
  const data = newAccountData(at.tiers + tiers.length * TIER_LENGTH + 4 + FEES_LENGTH, FEE_CONFIG_DISCRIMINATOR)
  data[at.bump] = 255
  writeRates(data, at.flat, flat)
  writeU32(data, at.tierCount, tiers.length)
  tiers.forEach(([sol, rates], index) => {
    const offset = at.tiers + index * TIER_LENGTH
    writeU128(data, offset, BigInt(sol) * 1_000_000_000n)
    writeRates(data, offset + 16, rates)
  })
  return data
}

/** Creates the accounts unless they exist. Pools of both programs need them. */
export const ensurePumpFees = (world: World): void => {
  const swapFees = feeConfigOf(pumpSwap.programId, world.derive)
  if (world.bank.get(swapFees) !== undefined) {
    return
  }
  world.newAccount(swapFees, FEE_PROGRAM, feeConfigData(swapSchedule))
  world.newAccount(feeConfigOf(PUMP_PROGRAM, world.derive), FEE_PROGRAM, feeConfigData(curveSchedule))
  const config = newAccountData(1_024, PUMP_SWAP_CONFIG_DISCRIMINATOR)
  world.newAccount(globalConfigOf(world.derive), pumpSwap.programId, config)
  const global = newAccountData(1_100, GLOBAL_DISCRIMINATOR)
  global[globalAt.initialized] = 1
  writeU64(global, globalAt.feeBps, 95n)
  writeU64(global, globalAt.creatorFeeBps, 30n)
  world.newAccount(globalOf(world.derive), PUMP_PROGRAM, global)
}
