/** The state of a concentrated-liquidity pool after a swap along its path. */
import type { OnChainAccount } from "../../domain/OnChainAccount.ts"
import type { Address, Mint } from "../../domain/Address.ts"
import { poolAfter } from "../layout/afterSwap.ts"
import { readPairFees } from "../layout/tokenAccount.ts"
import { isFailure, unsupported } from "../layout/unpriceable.ts"
import type { Accounts, TakenSwap, Unpriceable } from "../interface/Program.ts"
import type { Directions } from "./directions.ts"
import type { SwapPath } from "./swapPath.ts"
import { type SwapResult, swapSteps } from "./swapSteps.ts"
import { afterTransfer } from "./transferFee.ts"

/** What differs between the programs. */
export interface MovedPool {
  readonly mints: readonly [Mint, Mint]
  readonly vaults: readonly [Address, Address]
  /** Null while the program rejects every swap. */
  readonly paths: Directions<SwapPath> | null
  /** The pool's data after a swap. */
  readonly moved: (data: Uint8Array, aToB: boolean, result: SwapResult) => Uint8Array
}

/** Runs the swap again, step by step. A swap that fills limit orders is not known: its orders live in other accounts. */
export const concentratedAfter = (
  pool: OnChainAccount,
  accounts: Accounts,
  { moved, mints, paths, vaults }: MovedPool,
  { aToB, amountIn }: TakenSwap,
  epoch: number
): ReadonlyArray<OnChainAccount> | Unpriceable => {
  const fees = readPairFees(accounts, mints)
  if (isFailure(fees)) {
    return fees
  }
  const received = afterTransfer(aToB ? fees.a : fees.b, amountIn, epoch)
  const path = aToB ? paths?.down : paths?.up
  const result = path === undefined || received <= 0n ? null : swapSteps(path, received)
  if (result?.ending !== "filled" || result.ordersTaken.size > 0) {
    return unsupported("its state after a swap through limit orders or beyond its known ticks")
  }
  const changes = aToB ? [received, -result.amountOut] : [-result.amountOut, received]
  return poolAfter(
    pool,
    moved(pool.data, aToB, result),
    accounts,
    vaults.map((vault, side) => [vault, changes[side] ?? 0n])
  )
}
