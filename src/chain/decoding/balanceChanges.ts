/** What each wallet of a transaction held before and after, and why it changed. */
import { type Address, type Mint, SOL } from "../../domain/Address.ts"
import type { BalanceCause, BalanceChange } from "../../api/schemas/Trade.ts"
import type { DecodedTrades } from "./decodeTrades.ts"
import type { Transaction } from "./transaction.ts"

type Holding = `${Address} ${Mint}`

const holding = (owner: Address, mint: Mint): Holding => `${owner} ${mint}`

/** The causes of balance changes that the instructions show. `lamports` has the accounts that exchanged lamports. */
interface Reasons {
  readonly traded: ReadonlySet<Holding>
  readonly moved: ReadonlyMap<Holding, BalanceCause>
  readonly lamports: ReadonlySet<Address>
}

const tradedHoldings = ({ legs, nets }: DecodedTrades): ReadonlySet<Holding> =>
  new Set(
    [...legs, ...nets].flatMap(({ wallet, token, quote }) => [holding(wallet, token.mint), holding(wallet, quote.mint)])
  )

const reasonsOf = ({ instructions, tokenAccounts }: Transaction, trades: DecodedTrades): Reasons => {
  const moved = new Map<Holding, BalanceCause>()
  const lamports = new Set<Address>()
  const note = (account: Address, cause: BalanceCause) => {
    const known = tokenAccounts.get(account)
    if (known !== undefined && known.owner !== null) {
      moved.set(holding(known.owner, known.mint), cause)
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
  return { traded: tradedHoldings(trades), moved, lamports }
}

const tokenChanges = (transaction: Transaction, { traded, moved }: Reasons): ReadonlyArray<BalanceChange> => {
  const sums = new Map<Holding, BalanceChange>()
  for (const { owner, mint, decimals, before, after } of transaction.tokenAccounts.values()) {
    if (owner === null || (before === 0n && after === 0n)) {
      continue
    }
    const key = holding(owner, mint)
    const sum = sums.get(key)
    sums.set(key, {
      owner,
      mint,
      before: before + (sum?.before ?? 0n),
      after: after + (sum?.after ?? 0n),
      delta: after - before + (sum?.delta ?? 0n),
      decimals: sum?.decimals ?? decimals,
      native: false,
      cause: traded.has(key) ? "trade" : (moved.get(key) ?? "unknown")
    })
  }
  return Array.from(sums.values()).filter(({ delta }) => delta !== 0n)
}

const nativeCause = (
  { feeLamports, keys }: Transaction,
  { traded, lamports }: Reasons,
  owner: Address,
  delta: bigint
): BalanceCause => {
  if (owner === keys[0] && delta === -feeLamports) {
    return "fee"
  }
  if (traded.has(holding(owner, SOL))) {
    return "trade"
  }
  return lamports.has(owner) ? "transfer" : "unknown"
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
