/** Net flows of a wallet's accounts within some top-level instructions. */
import { TOKEN_2022_PROGRAM } from "../programs/math/tokenAccount.ts"
import { type Address, type Mint, SOL } from "../domain/Address.ts"
import type { TokenAccount } from "./tokenAccounts.ts"
import type { Transaction } from "./transaction.ts"

/** Net units by mint: positive for what was received. */
export type Flow = ReadonlyMap<Mint, bigint>

/** The wallet and the instructions whose transfers are summed. */
export interface FlowQuery {
  readonly wallet: Address
  /** Another account whose tokens are the wallet's: an order's. */
  readonly custody: Address | null
  /** First and last top-level instruction. */
  readonly fromOuter: number
  readonly toOuter: number
  /** True to count lamports that the wallet receives: an order's owner signs nothing, so they can only be proceeds. */
  readonly lamports: boolean
}

/**
 * Transfer fees withheld from everything that an account received in the whole transaction: they are in the
 * account, but not in its balance.
 */
const withheld = ({ instructions }: Transaction, { address, before, after }: TokenAccount): bigint => {
  let expected = before
  for (const { transfers } of instructions) {
    for (const transfer of transfers) {
      if (transfer.kind === "transfer") {
        expected += transfer.destination === address ? transfer.amount : 0n
        expected -= transfer.source === address ? transfer.amount : 0n
      } else if (transfer.kind !== "lamports" && transfer.kind !== "open" && transfer.account === address) {
        expected += transfer.kind === "mint" ? transfer.amount : -transfer.amount
      }
    }
  }
  return expected > after ? expected - after : 0n
}

/** Net units by mint that the wallet's token accounts received. Transfer fees are taken off what arrived. */
export const flowOf = (transaction: Transaction, query: FlowQuery): Map<Mint, bigint> => {
  const { tokenAccounts, instructions } = transaction
  const flow = new Map<Mint, bigint>()
  const add = (mint: Mint, amount: bigint) => flow.set(mint, (flow.get(mint) ?? 0n) + amount)
  const mine = (owner: Address | null | undefined) =>
    owner === query.wallet || (query.custody !== null && owner === query.custody)
  const charged = new Set<Address>()
  for (const { outer, transfers } of instructions) {
    for (const transfer of outer < query.fromOuter || outer > query.toOuter ? [] : transfers) {
      if (
        transfer.kind === "lamports" &&
        query.lamports &&
        !transfer.created &&
        transfer.destination === query.wallet
      ) {
        add(SOL, transfer.amount)
      }
      if (transfer.kind !== "transfer") {
        continue
      }
      const source = tokenAccounts.get(transfer.source)
      const destination = tokenAccounts.get(transfer.destination)
      const mint = transfer.mint ?? source?.mint ?? destination?.mint
      if (mint === undefined) {
        continue
      }
      if (mine(source?.owner)) {
        add(mint, -transfer.amount)
      }
      if (destination !== undefined && mine(destination.owner)) {
        add(mint, transfer.amount)
        if (destination.program === TOKEN_2022_PROGRAM && !charged.has(destination.address)) {
          charged.add(destination.address)
          add(mint, -withheld(transaction, destination))
        }
      }
    }
  }
  return flow
}

/** True when one mint went out and another came in. */
export const isSwap = (flow: Flow): boolean => {
  const amounts = Array.from(flow.values())
  return amounts.some((amount) => amount > 0n) && amounts.some((amount) => amount < 0n)
}
