import type { Kind } from "./catalog.ts"
import { newRaydiumAmmV4Pool } from "./raydiumAmmV4Pools.ts"
import { type CpmmConfig, newRaydiumCpmmPool } from "./raydiumCpmmPools.ts"
import type { PoolSpec, SimPool } from "./SimPool.ts"
import type { World } from "./World.ts"

// The fee tiers that Raydium itself offers most, with its shares for protocol and fund.
const standard: CpmmConfig = { index: 0, trade: 2_500n, protocol: 120_000n, fund: 40_000n, creator: 0n }
const shared: CpmmConfig = { index: 1, trade: 10_000n, protocol: 120_000n, fund: 40_000n, creator: 5_000n }

const builders: Readonly<Record<Kind, (world: World, spec: PoolSpec) => SimPool>> = {
  "raydium-amm-v4": (world, spec) => newRaydiumAmmV4Pool(world, spec),
  "raydium-amm-v4-closed": (world, spec) => newRaydiumAmmV4Pool(world, spec, false),
  "raydium-cpmm": (world, spec) =>
    newRaydiumCpmmPool(world, { ...spec, config: standard, creatorFeeOn: null, open: true }),
  "raydium-cpmm-creator": (world, spec) =>
    newRaydiumCpmmPool(world, { ...spec, config: shared, creatorFeeOn: 2, open: true }),
  "raydium-cpmm-closed": (world, spec) =>
    newRaydiumCpmmPool(world, { ...spec, config: standard, creatorFeeOn: null, open: false })
}

/** A filled pool of this kind. */
export const newPool = (world: World, kind: Kind, spec: PoolSpec): SimPool => builders[kind](world, spec)
