/** Balance changes of wallets that no trade of theirs explains. Pure. */
import type { BalanceChange } from "../domain/market/Trade.ts"
import type { DecodedTrades } from "./decode.ts"
import { isMoney } from "./sides.ts"
import type { Transaction } from "./transaction.ts"

/**
 * The changes in mints other than SOL and dollars of which the owner made no net trade. Pools are left out: in a transaction
 * with swaps, an owner that does not sign counts only while its balances all grow or all fall.
 */
export const movesOf = (
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
