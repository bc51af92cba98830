/** What a wallet's accounts gained and lost in some top-level instructions. */
import { type Address, type Mint, SOL } from "../../domain/Address.ts"
import { mintOf, type Transaction } from "./transaction.ts"
import { transferFeeOf } from "./transferFees.ts"

/** Net units by mint: positive for gains. */
export type TokenFlow = ReadonlyMap<Mint, bigint>

/** The wallet and the instructions whose transfers are summed. */
export interface FlowQuery {
  readonly wallet: Address
  /** Another account that holds tokens of the wallet: the account of an order. */
  readonly custody: Address | null
  /** First and last top-level instruction. */
  readonly fromOuter: number
  readonly toOuter: number
  /** True to count received lamports. An order's owner does not sign, so they can only be proceeds. */
  readonly lamports: boolean
  /** True to count tokens that were minted to the wallet or burned from it, for a stake pool inside a route. */
  readonly supply?: boolean
}

/** Net units by mint that the wallet's token accounts received. Transfer fees are subtracted from what arrived. */
export const tokenFlowOf = (transaction: Transaction, query: FlowQuery): Map<Mint, bigint> => {
  const { tokenAccounts, instructions } = transaction
  const flow = new Map<Mint, bigint>()
  const add = (mint: Mint, amount: bigint) => flow.set(mint, (flow.get(mint) ?? 0n) + amount)
  const isOwn = (owner: Address | null | undefined) =>
    owner === query.wallet || (query.custody !== null && owner === query.custody)
  for (const { outer, transfers } of instructions) {
    if (outer < query.fromOuter || outer > query.toOuter) {
      continue
    }
    for (const transfer of transfers) {
      if (
        transfer.kind === "lamports" &&
        query.lamports &&
        !transfer.created &&
        transfer.destination === query.wallet
      ) {
        add(SOL, transfer.amount)
      }
      if (
        query.supply === true &&
        (transfer.kind === "mint" || transfer.kind === "burn") &&
        isOwn(tokenAccounts.get(transfer.account)?.owner)
      ) {
        add(transfer.mint, transfer.kind === "mint" ? transfer.amount : -transfer.amount)
      }
      if (transfer.kind !== "transfer") {
        continue
      }
      const source = tokenAccounts.get(transfer.source)
      const destination = tokenAccounts.get(transfer.destination)
      const mint = mintOf(transaction, transfer)
      if (mint === undefined) {
        continue
      }
      if (isOwn(source?.owner)) {
        add(mint, -transfer.amount)
      }
      if (destination !== undefined && isOwn(destination.owner)) {
        add(mint, transfer.amount - transferFeeOf(transaction, transfer))
      }
    }
  }
  return flow
}

/** True when one mint went out and another came in. */
export const isSwap = (flow: TokenFlow): boolean => {
  const amounts = Array.from(flow.values())
  return amounts.some((amount) => amount > 0n) && amounts.some((amount) => amount < 0n)
}
