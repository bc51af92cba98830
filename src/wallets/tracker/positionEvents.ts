/** Changes of the positions of tracked wallets in one transaction. */
import type { Address, Mint } from "../../domain/Address.ts"
import type { BalanceChange } from "../../api/schemas/Trade.ts"
import type { TapeTrade } from "../../market/model/TapeTrade.ts"
import { isMoney } from "../../domain/stables.ts"
import type { BlockTransaction } from "../../chain/decoding/TradeBlock.ts"
import type { OwnerEvents, PositionEvent, WalletEvent } from "../ownerLinks.ts"

/** Trades and balance changes of one transaction that concern tracked wallets. */
export interface TransactionUpdate {
  readonly trades: Array<TapeTrade>
  /** Null when the batch lacks the transaction's balances. */
  transaction: BlockTransaction | null
}

/**
 * The events of a transaction, by wallet and mint: first the events with trades, in their order, then changes without a
 * trade. Quote money has no position.
 */
export const positionEventsOf = (
  { trades, transaction }: TransactionUpdate,
  timeMs: number,
  isTracked: (wallet: Address) => boolean
): OwnerEvents => {
  const changes = new Map<string, BalanceChange>()
  for (const change of transaction?.changes ?? []) {
    if (!change.native && !isMoney(change.mint) && isTracked(change.owner)) {
      changes.set(`${change.owner} ${change.mint}`, change)
    }
  }
  const events: Array<WalletEvent<PositionEvent>> = []
  const traded = Map.groupBy(
    trades.filter(({ mint }) => !isMoney(mint)),
    ({ mint, wallet }) => `${wallet} ${mint}`
  )
  const eventOf = (mint: Mint, change: BalanceChange | undefined, of: ReadonlyArray<TapeTrade>): PositionEvent => ({
    mint,
    timeMs,
    decimals: change?.decimals ?? of[0]?.decimals ?? null,
    trades: of,
    balance: change ?? of[0]?.held ?? (transaction === null ? null : "unchanged")
  })
  for (const [key, of] of traded) {
    const [first] = of
    if (first !== undefined) {
      events.push({ wallet: first.wallet, event: eventOf(first.mint, changes.get(key), of) })
    }
  }
  for (const [key, change] of changes) {
    if (!traded.has(key)) {
      events.push({ wallet: change.owner, event: eventOf(change.mint, change, []) })
    }
  }
  return events
}
