/** Simulated pools of Raydium CLMM and Orca Whirlpool: a swap runs through a swap path and the pool takes the state at its end. */
import type { Directions } from "../../programs/math/concentratedPool.ts"
import type { SwapPath } from "../../programs/math/swapPath.ts"
import { type SwapResult, swapSteps } from "../../programs/math/swapSteps.ts"
import type { OnChainAccount, ChainClock } from "../../domain/OnChainAccount.ts"
import type { Address } from "../../domain/Address.ts"
import { depthAt, priceAt } from "./liquidity.ts"
import { afterTransferFee, exchange, type SimPool, type Pair, vaultDepth } from "./SimPool.ts"
import type { World } from "./World.ts"

/** The parts that differ by program. */
export interface ConcentratedProgram {
  readonly dex: string
  readonly programId: Address
  /** Swap paths of the pool in its current state; null when the engine cannot price it. */
  readonly swapPaths: (pool: OnChainAccount) => ((clock: ChainClock) => Directions<SwapPath> | null) | null
  /** The pool's data after a swap. */
  readonly moved: (data: Uint8Array, aToB: boolean, result: SwapResult) => Uint8Array
  readonly call: SimPool["call"]
  readonly stateOf: (data: Uint8Array) => { readonly sqrtPrice: bigint; readonly liquidity: bigint } | null
}

/** A pool whose accounts exist already. */
export const concentratedPool = (
  world: World,
  program: ConcentratedProgram,
  pool: { readonly address: Address; readonly mints: Pair; readonly vaults: Pair; readonly open: boolean }
): SimPool => {
  const { bank } = world
  const { address, mints, vaults, open } = pool
  let seen: OnChainAccount | undefined
  let at: ReturnType<ConcentratedProgram["swapPaths"]> = null
  const current = () => {
    const account = bank.must(address)
    if (account !== seen) {
      seen = account
      at = program.swapPaths(account)
    }
    return at
  }

  const plan: SimPool["plan"] = (aToB, amountIn, clock) => {
    const directions = current()?.(clock) ?? null
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
