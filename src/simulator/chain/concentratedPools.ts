/**
 * Simulated pools of Raydium CLMM and Orca Whirlpool. A swap runs along a swap path, and the pool takes the state at
 * its end.
 */
import type { Directions } from "../../programs/math/directions.ts"
import type { SwapPath } from "../../programs/math/swapPath.ts"
import { type SwapResult, swapSteps } from "../../programs/math/swapSteps.ts"
import type { OnChainAccount, ChainClock } from "../../domain/OnChainAccount.ts"
import type { Address } from "../../domain/Address.ts"
import { depthAt, type Liquidity, priceAt, provide, type Spread, type TickGrid } from "./liquidity.ts"
import type { Accounts, DeriveAddress, Unpriceable } from "../../programs/interface/Program.ts"
import { isFailure } from "../../programs/layout/unpriceable.ts"
import {
  afterTransferFee,
  exchange,
  inOrder,
  newVaults,
  type Pair,
  type PoolSpec,
  type SimPool,
  vaultDepth
} from "./SimPool.ts"
import type { World } from "./World.ts"

/** What differs between the two programs. */
export interface ConcentratedProgram {
  readonly dex: string
  readonly programId: Address
  /** Swap paths of the pool in its current state. */
  readonly swapPaths: (
    pool: OnChainAccount,
    accounts: Accounts,
    derive: DeriveAddress
  ) => { readonly at: (clock: ChainClock) => Directions<SwapPath> | null } | Unpriceable
  /** The pool's data after a swap. */
  readonly moved: (data: Uint8Array, aToB: boolean, result: SwapResult) => Uint8Array
  readonly call: SimPool["call"]
  readonly stateOf: (data: Uint8Array) => { readonly sqrtPrice: bigint; readonly liquidity: bigint } | null
}

/**
 * Creates the liquidity and fills the vaults of a new pool. The mints are sorted by address, as the programs require.
 */
export const newReserves = (
  world: World,
  spec: PoolSpec & { readonly spreads: ReadonlyArray<Spread> },
  grid: TickGrid,
  owner: Address,
  name: (part: string) => Address
): { readonly liquidity: Liquidity; readonly mints: Pair; readonly vaults: Pair } => {
  const [[mintA, wantedA], [mintB, wantedB]] = inOrder(spec)
  const liquidity = provide(grid, { a: wantedA, b: wantedB }, spec.spreads)
  const sides = { a: [mintA, liquidity.amountA], b: [mintB, liquidity.amountB] } as const
  const vaults = newVaults(world, owner, sides, (side) => name(`vault ${side}`))
  return { liquidity, mints: { a: mintA, b: mintB }, vaults }
}

/** Makes a pool from accounts that exist already. */
export const concentratedPool = (
  world: World,
  program: ConcentratedProgram,
  pool: { readonly address: Address; readonly mints: Pair; readonly vaults: Pair; readonly open: boolean }
): SimPool => {
  const { bank } = world
  const { address, mints, vaults, open } = pool
  const accounts = (wanted: Address) => bank.get(wanted) ?? null
  let seen: OnChainAccount | undefined
  let swapPaths: ReturnType<ConcentratedProgram["swapPaths"]> | undefined
  const swapPathsAt = (clock: ChainClock): Directions<SwapPath> | null => {
    const account = bank.must(address)
    if (account !== seen || swapPaths === undefined) {
      seen = account
      swapPaths = program.swapPaths(account, accounts, world.derive)
    }
    return isFailure(swapPaths) ? null : swapPaths.at(clock)
  }

  const plan: SimPool["plan"] = (aToB, amountIn, clock) => {
    const directions = swapPathsAt(clock)
    if (directions === null) {
      return null
    }
    const received = afterTransferFee(world, aToB ? mints.a : mints.b, amountIn)
    const result = received > 0n ? swapSteps(aToB ? directions.down : directions.up, received) : null
    if (result?.ending !== "filled" || result.amountOut === 0n) {
      return null
    }
    const paid = result.amountOut
    return {
      amountIn,
      amountOut: afterTransferFee(world, aToB ? mints.b : mints.a, paid),
      fee: result.lpFee + result.cuts.reduce((sum, cut) => sum + cut, 0n),
      payments: exchange(aToB, mints, vaults, { in: amountIn, out: paid }),
      writes: [{ address, data: program.moved(bank.must(address).data, aToB, result) }]
    }
  }

  const state = () => program.stateOf(bank.must(address).data) ?? { sqrtPrice: 0n, liquidity: 0n }
  const held = vaultDepth(world, vaults)
  return {
    address,
    dex: program.dex,
    programId: program.programId,
    mintA: mints.a,
    mintB: mints.b,
    open: () => open,
    plan,
    call: program.call,
    price: () => priceAt(state().sqrtPrice),
    depth: () => {
      const { sqrtPrice, liquidity } = state()
      return depthAt(sqrtPrice, liquidity, held())
    }
  }
}
