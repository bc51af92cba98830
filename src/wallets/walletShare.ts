/** Read limits of one wallet within a batch. */
import type { TapeTrade } from "../market/model/TapeTrade.ts"

/** Maximum trades, and bytes of trades, read for one wallet. */
export interface WalletShare {
  readonly events: number
  readonly bytes: number
}

const BATCH_EVENTS = 10_000
const BATCH_BYTES = 4 * 1024 * 1024

/** Numbers and amounts of a trade, eight bytes each. */
const FIXED_BYTES = 9 * 8

/** An equal share of 10,000 events and 4 MiB for each of 1 to 100 wallets, rounded down. */
export const shareOfBatch = (wallets: number): WalletShare => ({
  events: Math.floor(BATCH_EVENTS / wallets),
  bytes: Math.floor(BATCH_BYTES / wallets)
})

/** Size of a trade in bytes: its texts, all ASCII, and its numbers. */
export const bytesOf = ({ dex, launchpad, mint, pool, signature, wallet }: TapeTrade): number =>
  FIXED_BYTES +
  signature.length +
  wallet.length +
  mint.length +
  (pool?.length ?? 0) +
  (dex?.length ?? 0) +
  (launchpad?.length ?? 0)

/** The first trades within the share. `truncated` once the share is used up, even if no more trades follow. */
export const takeShare = (
  trades: ReadonlyArray<TapeTrade>,
  share: WalletShare
): { readonly trades: ReadonlyArray<TapeTrade>; readonly truncated: boolean } => {
  let bytes = 0
  const most = Math.min(trades.length, share.events)
  for (let count = 0; count < most; count++) {
    const trade = trades[count]
    bytes += trade === undefined ? 0 : bytesOf(trade)
    if (bytes > share.bytes) {
      return { trades: trades.slice(0, count), truncated: true }
    }
  }
  return { trades: trades.slice(0, most), truncated: most >= share.events }
}
