/** What one wallet of a batch may take of what the batch may read. */
import type { TapeTrade } from "../market/tape/TapeTrade.ts"

/** The most trades, and the most bytes of them, that may be read of one wallet. */
export interface WalletShare {
  readonly events: number
  readonly bytes: number
}

const BATCH_EVENTS = 10_000
const BATCH_BYTES = 4 * 1024 * 1024

/** Numbers and amounts of a trade, at eight bytes each. */
const FIXED_BYTES = 9 * 8

/** Equal parts, rounded down, of ten thousand events and four mebibytes for 1 to 100 wallets. */
export const shareOfBatch = (wallets: number): WalletShare => ({
  events: Math.floor(BATCH_EVENTS / wallets),
  bytes: Math.floor(BATCH_BYTES / wallets)
})

/** What a trade counts for: its texts, which are all ASCII, and its numbers. */
export const bytesOf = ({ dex, launchpad, mint, pool, signature, wallet }: TapeTrade): number =>
  FIXED_BYTES +
  signature.length +
  wallet.length +
  mint.length +
  (pool?.length ?? 0) +
  (dex?.length ?? 0) +
  (launchpad?.length ?? 0)

/** As many of the trades, from the first on, as the share allows; `truncated` once it is used up, whether more follow or not. */
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
