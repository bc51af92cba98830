/** What each wallet of a transaction held before and after, and why it changed. */
import { type Address, type Mint, SOL } from "../../domain/Address.ts"
import type { BalanceCause, BalanceChange, Leg, NetTrade } from "../../api/schemas/Trade.ts"
import type { DecodedTrades } from "./decodeTrades.ts"
import type { Transaction } from "./transaction.ts"

/** The cause of a change of one holding. */
interface Moved {
  readonly owner: Address
  readonly mint: Mint
  readonly cause: BalanceCause
}

/**
 * The causes of balance changes that the instructions show. A transaction has few holdings, so they are searched one by
 * one: that takes less time than making keys of them. `lamports` has the accounts that exchanged lamports.
 */
interface Reasons {
  readonly trades: DecodedTrades
  readonly moved: ReadonlyArray<Moved>
  readonly lamports: ReadonlySet<Address>
}

const isTradedIn = (trades: ReadonlyArray<Leg | NetTrade>, owner: Address, mint: Mint): boolean =>
  trades.some(({ quote, token, wallet }) => wallet === owner && (token.mint === mint || quote.mint === mint))

const isTraded = ({ trades }: Reasons, owner: Address, mint: Mint): boolean =>
  isTradedIn(trades.legs, owner, mint) || isTradedIn(trades.nets, owner, mint)

const reasonsOf = ({ instructions, tokenAccounts }: Transaction, trades: DecodedTrades): Reasons => {
  const moved: Array<Moved> = []
  const lamports = new Set<Address>()
  const note = (account: Address, cause: BalanceCause) => {
    const known = tokenAccounts.get(account)
    if (known !== undefined && known.owner !== null) {
      moved.push({ owner: known.owner, mint: known.mint, cause })
    }
  }
  for (const { transfers } of instructions) {
    for (const transfer of transfers) {
      if (transfer.kind === "transfer") {
        note(transfer.source, "transfer")
        note(transfer.destination, "transfer")
      } else if (transfer.kind === "lamports") {
        lamports.add(transfer.source).add(transfer.destination)
      } else if (transfer.kind === "mint" || transfer.kind === "burn") {
        note(transfer.account, transfer.kind)
      }
    }
  }
  return { trades, moved, lamports }
}

const tokenCause = (reasons: Reasons, owner: Address, mint: Mint): BalanceCause =>
  isTraded(reasons, owner, mint)
    ? "trade"
    : (reasons.moved.findLast((moved) => moved.owner === owner && moved.mint === mint)?.cause ?? "unknown")

const tokenChanges = (transaction: Transaction, reasons: Reasons): ReadonlyArray<BalanceChange> => {
  const sums: Array<BalanceChange> = []
  for (const { owner, mint, decimals, before, after } of transaction.tokenAccounts.values()) {
    if (owner === null || (before === 0n && after === 0n)) {
      continue
    }
    const at = sums.findIndex((sum) => sum.owner === owner && sum.mint === mint)
    const sum = sums[at]
    const total: BalanceChange = {
      owner,
      mint,
      before: before + (sum?.before ?? 0n),
      after: after + (sum?.after ?? 0n),
      delta: after - before + (sum?.delta ?? 0n),
      decimals: sum?.decimals ?? decimals,
      native: false,
      cause: sum?.cause ?? tokenCause(reasons, owner, mint)
    }
    sums[at === -1 ? sums.length : at] = total
  }
  return sums.filter(({ delta }) => delta !== 0n)
}

const nativeCause = (
  { feeLamports, keys }: Transaction,
  reasons: Reasons,
  owner: Address,
  delta: bigint
): BalanceCause => {
  if (owner === keys[0] && delta === -feeLamports) {
    return "fee"
  }
  if (isTraded(reasons, owner, SOL)) {
    return "trade"
  }
  return reasons.lamports.has(owner) ? "transfer" : "unknown"
}

/** Changes of lamports by account. Lamports of token accounts are rent, or wrapped and listed as tokens. */
const nativeChanges = (transaction: Transaction, reasons: Reasons): ReadonlyArray<BalanceChange> => {
  const changes: Array<BalanceChange> = []
  for (const [i, owner] of transaction.keys.entries()) {
    const before = transaction.lamportsBefore[i] ?? null
    const after = transaction.lamportsAfter[i] ?? null
    if (before === null || after === null || before === after || transaction.tokenAccounts.has(owner)) {
      continue
    }
    const delta = after - before
    const cause = nativeCause(transaction, reasons, owner, delta)
    changes.push({ owner, mint: SOL, before, after, delta, decimals: 9, native: true, cause })
  }
  return changes
}

/**
 * Every balance that the transaction changed: tokens by owner and mint, then lamports by account. Balances cover the
 * accounts that the transaction names; a wallet may hold more of a mint elsewhere. The cause is the strongest one
 * found: a trade wins over a transfer, and for lamports the bare network fee wins over both.
 */
export const balanceChangesOf = (transaction: Transaction, trades: DecodedTrades): ReadonlyArray<BalanceChange> => {
  const reasons = reasonsOf(transaction, trades)
  return [...tokenChanges(transaction, reasons), ...nativeChanges(transaction, reasons)]
}
