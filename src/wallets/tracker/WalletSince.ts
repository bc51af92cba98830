import type { Address } from "../../domain/Address.ts"
import type { PnlBody, PnlSummaryBody } from "../../api/schemas/LiveFrame.ts"
import type { TrackerTrade } from "../../api/schemas/Tracker.ts"

/** A tracked wallet and the start of its tracking, in milliseconds since the Unix epoch. */
export interface WalletSince {
  readonly wallet: Address
  readonly sinceMs: number
}

/** The newest trades of some wallets, and the span that they cover. */
export interface RecentTrades {
  /** Newest first. */
  readonly trades: ReadonlyArray<TrackerTrade>
  readonly oldestTs: number | null
  readonly newestTs: number | null
  /** True if older trades of one of the wallets, since its `sinceMs`, were seen and have been dropped. */
  readonly truncated: boolean
}

/** Profit and loss of some wallets at current marks. */
export interface PnlSnapshot {
  /** Positions, most recently traded first. */
  readonly pnl: ReadonlyArray<PnlBody>
  /** One per wallet, in request order. */
  readonly summaries: ReadonlyArray<PnlSummaryBody>
}
