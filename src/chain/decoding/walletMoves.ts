/** Balance changes of wallets that none of their trades explains. Pure. */
import type { BalanceChange } from "../../api/schemas/Trade.ts"
import type { DecodedTrades } from "./decodeTrades.ts"
import { isMoney } from "../../domain/stables.ts"
import type { Transaction } from "./transaction.ts"

/**
 * The changes in a mint that the owner did not trade, without SOL and dollars. Pools are left out: in a transaction
 * with swaps, an owner that does not sign only counts if all its balances grow or all fall.
 */
export const walletMovesOf = (
  { keys, signers }: Pick<Transaction, "keys" | "signers">,
  { legs, nets }: Pick<DecodedTrades, "legs" | "nets">,
  changes: ReadonlyArray<BalanceChange>
): ReadonlyArray<BalanceChange> => {
  const tokens = changes.filter(({ native }) => !native)
  const isTraded = ({ mint, owner }: BalanceChange) =>
    nets.some(({ quote, token, wallet }) => wallet === owner && (token.mint === mint || quote.mint === mint))
  const isPool = ({ owner }: BalanceChange) =>
    legs.some(({ pool }) => pool === owner) ||
    (tokens.some((other) => other.owner === owner && other.delta > 0n) &&
      tokens.some((other) => other.owner === owner && other.delta < 0n))
  const signing = new Set(keys.slice(0, signers))
  return tokens.filter(
    (change) =>
      !isMoney(change.mint) && !isTraded(change) && (legs.length === 0 || signing.has(change.owner) || !isPool(change))
  )
}
