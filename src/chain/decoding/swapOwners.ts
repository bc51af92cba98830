/** Finds the owners of pool swaps. */
import type { Address } from "../../domain/Address.ts"
import { tokenFlowOf, isSwap } from "./tokenFlows.ts"
import type { Fill } from "./orders.ts"
import type { PoolSwap } from "./poolSwaps.ts"
import { isSigner, type Transaction } from "./transaction.ts"

/** The owner of the account that paid, who may act for another wallet. Null when another pool paid directly. */
const payerOf = (transaction: Transaction, swap: PoolSwap, before: PoolSwap | undefined): Address | null => {
  const { native, paidFrom, at } = swap
  if (native !== null || paidFrom === null) {
    return native?.trader ?? null
  }
  const fromPool = before?.at === at && before.vaults.includes(paidFrom.account)
  return fromPool ? null : (transaction.tokenAccounts.get(paidFrom.account)?.owner ?? paidFrom.authority)
}

const flowIn = (transaction: Transaction, wallet: Address, outer: number) =>
  tokenFlowOf(transaction, { wallet, custody: null, fromOuter: outer, toOuter: outer, lamports: false })

/** The payer, or the only signer whose tokens moved when the payer is a router, whose accounts end as they began. */
const behindRouter = (transaction: Transaction, payer: Address, outer: number): Address => {
  if (isSwap(flowIn(transaction, payer, outer))) {
    return payer
  }
  const signers = transaction.keys.slice(0, transaction.signers)
  const moved = signers.filter((signer) => {
    const flow = flowIn(transaction, signer, outer)
    return Array.from(flow.values()).some((amount) => amount !== 0n)
  })
  return moved[0] !== undefined && moved.length === 1 ? moved[0] : payer
}

/**
 * The owner of each swap, in order: the owner of the filled order, else the owner of the token account that paid, or
 * the wallet that a router swapped for.
 */
export const swapOwnersOf = (
  transaction: Transaction,
  swaps: ReadonlyArray<PoolSwap>,
  fills: ReadonlyArray<Fill>
): ReadonlyArray<Address> => {
  const wallets: Array<Address> = []
  for (const [i, swap] of swaps.entries()) {
    const fill = fills.find(({ from, to }) => from <= swap.at && swap.at <= to)
    const payer = payerOf(transaction, swap, swaps[i - 1]) ?? wallets[i - 1] ?? transaction.keys[0] ?? swap.pool
    const outer = transaction.instructions[swap.at]?.outer ?? 0
    const owner = isSigner(transaction, payer) ? payer : behindRouter(transaction, payer, outer)
    wallets.push(fill?.owner ?? owner)
  }
  return wallets
}
