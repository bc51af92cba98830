/** The accounts that tell the pump programs what to charge: one fee schedule for each, and each one's own settings. */
import { feeConfigOf, PUMP_PROGRAM } from "../../programs/pump/fees.ts"
import { pumpSwap } from "../../programs/pump/pumpSwap.ts"
import { newAccountData, writeU128, writeU32, writeU64 } from "../../programs/math/writeBytes.ts"
import { Address } from "../../domain/Address.ts"
import type { World } from "../chain/World.ts"

export const FEE_PROGRAM = Address.make("pfeeUxB6jkeY1Hxd7CsFCAjcbHA9rWtchMGdZ6VojVZ")
const utf8 = new TextEncoder()

/** Basis points: liquidity providers, protocol, creator. */
type Rates = readonly [number, number, number]

interface Schedule {
  readonly flat: Rates
  /** Market cap in SOL from which the rates hold. */
  readonly tiers: ReadonlyArray<readonly [number, Rates]>
}

// The shape of the mainnet schedule of September 2026: the bigger a coin, the smaller its creator's share.
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
  const data = newAccountData(69 + tiers.length * 40 + 4 + 24, "8f3492bbdb7b4c9b")
  data[8] = 255
  writeRates(data, 41, flat)
  writeU32(data, 65, tiers.length)
  tiers.forEach(([sol, rates], index) => {
    const offset = 69 + index * 40
    writeU128(data, offset, BigInt(sol) * 1_000_000_000n)
    writeRates(data, offset + 16, rates)
  })
  return data
}

/** Creates them once; pools of either program need them. */
export const ensurePumpFees = (world: World): void => {
  const swapFees = feeConfigOf(pumpSwap.programId, world.derive)
  if (world.bank.get(swapFees) !== undefined) {
    return
  }
  world.newAccount(swapFees, FEE_PROGRAM, feeConfigData(swapSchedule))
  world.newAccount(feeConfigOf(PUMP_PROGRAM, world.derive), FEE_PROGRAM, feeConfigData(curveSchedule))
  const globalConfig = world.derive(pumpSwap.programId, [utf8.encode("global_config")])
  world.newAccount(globalConfig, pumpSwap.programId, newAccountData(1_024, "95089ccaa0fcb0d9"))
  const global = newAccountData(1_100, "a7e8e8b1c86c727f")
  global[8] = 1
  writeU64(global, 105, 95n)
  writeU64(global, 154, 30n)
  world.newAccount(world.derive(PUMP_PROGRAM, [utf8.encode("global")]), PUMP_PROGRAM, global)
}
