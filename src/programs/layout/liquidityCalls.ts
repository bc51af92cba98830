/** Where a pool and its vaults are among the accounts of an instruction that moves liquidity. */
import type { LiquidityCall, SwapDecoder } from "../interface/SwapDecoder.ts"
import type { Address } from "../../domain/Address.ts"
import { tagAt, tagOf } from "./anchor.ts"

/** Indexes of the pool and of its vaults. A deposit of one mint names one vault. */
export interface LiquidityLayout {
  readonly pool: number
  readonly vaults: readonly [number] | readonly [number, number]
  /** True for the instruction that creates the pool and pays its first liquidity. */
  readonly opens?: true
  /** True when the instruction also pays the fees that the position has earned. */
  readonly paysFees?: true
}

/** The call at these indexes; null when an account is missing. */
export const liquidityAt = (
  accounts: ReadonlyArray<Address>,
  { opens, paysFees, pool: poolAt, vaults: vaultsAt }: LiquidityLayout
): LiquidityCall | null => {
  const pool = accounts[poolAt]
  const vaults = vaultsAt.flatMap((at) => accounts[at] ?? [])
  return pool === undefined || vaults.length < vaultsAt.length
    ? null
    : { pool, vaults, opens: opens === true, paysFees: paysFees === true }
}

/** Decodes an instruction by its discriminator. All discriminators of a group (16 hex digits) have the same layout. */
export const taggedLiquidity = (
  ...groups: ReadonlyArray<readonly [tags: ReadonlyArray<string>, layout: LiquidityLayout]>
): NonNullable<SwapDecoder["liquidity"]> => {
  const layouts = new Map(groups.flatMap(([tags, layout]) => tags.map((tag) => [tagOf(tag), layout] as const)))
  return (data, accounts) => {
    const layout = layouts.get(tagAt(data, 0))
    return layout === undefined ? null : liquidityAt(accounts, layout)
  }
}
