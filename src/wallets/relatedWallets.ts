/** Wallets that one wallet opened, as relations with their evidence. Pure. */
import type { OpeningTransfer, RelatedWallet, RelatingFunder, WalletRelation } from "../api/schemas/RelatedWallets.ts"
import type { Address } from "../domain/Address.ts"
import { type Coverage, incomplete, type Status } from "../domain/Scalar.ts"
import {
  MOST_COUNTED,
  type OpeningRecord,
  type OpenedWallets,
  type RelatedOpenings
} from "../market/model/WalletOpenings.ts"
import type { TradePlace } from "../market/model/TradesRequest.ts"

/** Selects a page of related wallets. */
export interface RelatedRequest {
  readonly relation: WalletRelation
  /** Null starts with the newest. */
  readonly before: TradePlace | null
  readonly limit: number
}

/** A page of related wallets, newest first, and how well they are known. */
export interface RelatedFound {
  readonly rows: ReadonlyArray<RelatedWallet>
  readonly next: TradePlace | null
  /** The transfer that opened the wallet itself; null when none is recorded. */
  readonly funding: OpeningTransfer | null
  readonly funder: RelatingFunder | null
  readonly coveredFromMs: number | null
  readonly observedAtMs: number | null
  readonly status: Status
  readonly coverage: Coverage
}

export const openingTransfer = ({
  funder,
  index,
  lamports,
  signature,
  slot,
  timeMs
}: OpeningRecord): OpeningTransfer => ({ funder, lamports, signature, slot, index, timeMs })

/** What is recorded of openings: since when, and up to when. */
export interface OpeningSpan {
  readonly fromMs: number | null
  readonly toMs: number | null
}

interface Found extends OpeningSpan {
  readonly opening: OpeningRecord | null
  /** The wallet whose openings relate wallets; null when it is unknown. */
  readonly funder: Address | null
  /** Two more than the limit of the page: one is the wallet itself, one shows that there is another page. */
  readonly opened: OpenedWallets
}

/** One page. A funder of very many wallets relates nobody. Never complete: what was opened before the record is unknown. */
export const relatedPage = (
  wallet: Address,
  { limit, relation }: RelatedRequest,
  { fromMs, funder, opened: { count, openings }, opening, toMs }: Found
): RelatedFound => {
  const hasMore = count > MOST_COUNTED
  const others = hasMore ? [] : openings.filter((each) => each.wallet !== wallet)
  const page = others.slice(0, limit)
  const last = page.at(-1)
  return {
    rows: page.map((each) => ({ wallet: each.wallet, relation, evidence: openingTransfer(each) })),
    next: others.length > limit && last !== undefined ? { slot: last.slot, index: last.index } : null,
    funding: opening === null ? null : openingTransfer(opening),
    funder: funder === null ? null : { wallet: funder, opened: Math.min(count, MOST_COUNTED), hasMore, isHub: hasMore },
    coveredFromMs: fromMs,
    observedAtMs: toMs,
    status: funder === null || fromMs === null ? "unavailable" : "partial",
    coverage: incomplete("not_captured")
  }
}

/** What is known of openings without a store. */
export const NOTHING_STORED: RelatedOpenings = {
  opening: null,
  from: Number.NEGATIVE_INFINITY,
  toMs: null,
  opened: { openings: [], count: 0 }
}
