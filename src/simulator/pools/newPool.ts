import type { Address } from "../../domain/Address.ts"
import { inventWallet } from "../chain/addresses.ts"
import type { Spread } from "../chain/liquidity.ts"
import { newMeteoraDammV2Pool } from "./meteoraDammV2Pools.ts"
import { newMeteoraDlmmPool } from "./meteoraDlmmPools.ts"
import { newPumpSwapPool } from "./pumpSwapPools.ts"
import { newRaydiumAmmV4Pool } from "./raydiumAmmV4Pools.ts"
import { type ClmmTier, newRaydiumClmmPool } from "./raydiumClmmPools.ts"
import { type CpmmConfig, newRaydiumCpmmPool } from "./raydiumCpmmPools.ts"
import type { PoolSpec, SimPool } from "../chain/SimPool.ts"
import { newWhirlpool } from "./whirlpoolPools.ts"
import type { World } from "../chain/World.ts"

// The most common fee tiers of the programs, with the shares of protocol and fund.
export const standardCpmm: CpmmConfig = { index: 0, trade: 2_500n, protocol: 120_000n, fund: 40_000n, creator: 0n }
const cpmmShared: CpmmConfig = { index: 1, trade: 10_000n, protocol: 120_000n, fund: 40_000n, creator: 5_000n }
const clmm: ClmmTier = { index: 1, tickSpacing: 60, trade: 2_500, protocol: 120_000, fund: 40_000 }
const clmmTight: ClmmTier = { index: 4, tickSpacing: 1, trade: 100, protocol: 120_000, fund: 40_000 }

/** Ticks are hundredths of a percent; 18,000 ticks are a factor of six. */
const wide: ReadonlyArray<Spread> = [
  { share: 0.35, halfWidth: 22_000 },
  { share: 0.4, halfWidth: 6_000 },
  { share: 0.25, halfWidth: 1_500 }
]
const tight: ReadonlyArray<Spread> = [
  { share: 0.3, halfWidth: 12_000 },
  { share: 0.4, halfWidth: 1_200 },
  { share: 0.3, halfWidth: 250 }
]

/** The wallet that adds and removes liquidity in the pools of kind `raydium-cpmm-provided`. */
export const providerOf = (seed: string): Address => inventWallet(seed, "liquidity provider")

type Builder = (world: World, spec: PoolSpec) => SimPool

type Mode<Options> = Omit<Options, keyof PoolSpec>

const cpmmPool =
  (mode: Omit<Mode<Parameters<typeof newRaydiumCpmmPool>[1]>, "depositors">): Builder =>
  (world, spec) =>
    newRaydiumCpmmPool(world, { ...spec, ...mode, depositors: null })

const whirlpool =
  (mode: Omit<Mode<Parameters<typeof newWhirlpool>[1]>, "protocolFeeRate">): Builder =>
  (world, spec) =>
    newWhirlpool(world, { ...spec, ...mode, protocolFeeRate: 1_300 })

const dammV2 =
  (mode: Omit<Mode<Parameters<typeof newMeteoraDammV2Pool>[1]>, "depositors">): Builder =>
  (world, spec) =>
    newMeteoraDammV2Pool(world, { ...spec, ...mode, depositors: null })

const builders = {
  "raydium-amm-v4": newRaydiumAmmV4Pool,
  "raydium-amm-v4-closed": (world, spec) => newRaydiumAmmV4Pool(world, spec, false),
  "raydium-cpmm": cpmmPool({ config: standardCpmm, creatorFeeOn: null, state: "open" }),
  "raydium-cpmm-provided": (world, spec) =>
    newRaydiumCpmmPool(world, {
      ...spec,
      config: standardCpmm,
      creatorFeeOn: null,
      state: "open",
      depositors: null,
      provider: providerOf(world.seed)
    }),
  "raydium-cpmm-creator": cpmmPool({ config: cpmmShared, creatorFeeOn: 2, state: "open" }),
  "raydium-cpmm-closed": cpmmPool({ config: standardCpmm, creatorFeeOn: null, state: "closed" }),
  "raydium-cpmm-newer": cpmmPool({ config: standardCpmm, creatorFeeOn: null, state: "newer" }),
  "raydium-clmm": (world, spec) => newRaydiumClmmPool(world, { ...spec, tier: clmm, spreads: wide }),
  "raydium-clmm-tight": (world, spec) => newRaydiumClmmPool(world, { ...spec, tier: clmmTight, spreads: tight }),
  whirlpool: whirlpool({ tickSpacing: 64, feeRate: 3_000, spreads: wide, arrays: "fixed" }),
  "whirlpool-tight": whirlpool({ tickSpacing: 4, feeRate: 400, spreads: tight, arrays: "dynamic" }),
  pumpswap: (world, spec) =>
    newPumpSwapPool(world, {
      ...spec,
      canonical: true,
      creator: inventWallet(world.seed, `creator ${spec.label}`),
      depositors: null
    }),
  "pumpswap-flat": (world, spec) =>
    newPumpSwapPool(world, { ...spec, canonical: false, creator: null, depositors: null }),
  "meteora-dlmm": (world, spec) => newMeteoraDlmmPool(world, { ...spec, binStep: 80, baseFactor: 3_000, reach: 100 }),
  "meteora-dlmm-tight": (world, spec) =>
    newMeteoraDlmmPool(world, { ...spec, binStep: 10, baseFactor: 4_000, reach: 120 }),
  "meteora-damm-v2": dammV2({ rate: 2_500_000n, collectFeeMode: 0, dynamicFee: true }),
  "meteora-damm-v2-quote": dammV2({ rate: 10_000_000n, collectFeeMode: 1, dynamicFee: false })
} satisfies Readonly<Record<string, Builder>>

/** A program in one of its modes. */
export type Kind = keyof typeof builders

/** Creates a pool of this kind and fills it. */
export const newPool = (world: World, kind: Kind, spec: PoolSpec): SimPool => builders[kind](world, spec)
