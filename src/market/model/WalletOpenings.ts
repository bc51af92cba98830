/** Stored transfers that opened the accounts of wallets. */
import type { WalletRelation } from "../../api/schemas/RelatedWallets.ts"
import type { WalletOpening } from "../../api/schemas/WalletOpening.ts"
import type { Address } from "../../domain/Address.ts"
import type { StoredBatch } from "./StoredBatch.ts"
import { newestFirst, type TradePlace } from "./TradesRequest.ts"

/** An opening and its block. */
export interface OpeningRecord extends WalletOpening {
  readonly slot: number
  readonly timeMs: number
}

/** Selects the newest `limit` wallets that a wallet opened, or that its funder opened, before a place. */
export interface OpeningsRequest {
  readonly wallet: Address
  readonly relation: WalletRelation
  readonly before: TradePlace | null
  readonly limit: number
}

/** The opening of a wallet, and what the store has of openings at all. */
export interface StoredOpening {
  /** The earliest one; null when none is stored. */
  readonly opening: OpeningRecord | null
  /** From this second on every stored block has its openings, and none of them was deleted yet; minus infinity when all have. */
  readonly from: number
  /** Time of the newest stored block, in milliseconds; null when none is stored. */
  readonly toMs: number | null
}

/** The opening of a wallet from a store that has all openings since a second, and deletes them after `keptSeconds`. */
export const storedOpening = (
  opening: OpeningRecord | null,
  toMs: number | null,
  {
    keptSeconds,
    nowMs,
    openingsFrom
  }: { readonly openingsFrom: number; readonly keptSeconds: number; readonly nowMs: number }
): StoredOpening => ({ opening, from: Math.max(openingsFrom, Math.ceil(nowMs / 1000 - keptSeconds)), toMs })

/** Wallets that one wallet opened. */
export interface OpenedWallets {
  /** Newest first. */
  readonly openings: ReadonlyArray<OpeningRecord>
  /** How many wallets it opened, at most one more than `MOST_COUNTED`. */
  readonly count: number
}

/** The opening of a wallet, and what a related wallet opened: nothing while the funder is unknown. */
export interface RelatedOpenings extends StoredOpening {
  readonly opened: OpenedWallets
}

/** The wallet whose openings are asked for; null when it is unknown. */
export const funderOf = (
  { relation, wallet }: Pick<OpeningsRequest, "relation" | "wallet">,
  opening: OpeningRecord | null
): Address | null => (relation === "funded" ? wallet : (opening?.funder ?? null))

/** Wallets that are counted for one funder. More are not told apart. */
export const MOST_COUNTED = 1000

/** The openings of these blocks, newest first. */
export const openingsIn = (batches: ReadonlyArray<StoredBatch>): ReadonlyArray<OpeningRecord> =>
  batches
    .flatMap(({ openings = [], slot, timeMs }) => openings.map((each) => ({ ...each, slot, timeMs })))
    .toSorted(newestFirst)

/** The earliest opening of each wallet. */
export const firstOpenings = (openings: ReadonlyArray<OpeningRecord>): ReadonlyArray<OpeningRecord> =>
  Array.from(new Map(openings.toSorted(newestFirst).map((each) => [each.wallet, each])).values())

/** The requested openings among the first ones of all wallets, newest first. */
export const relatedOpenings = (
  openings: ReadonlyArray<OpeningRecord>,
  request: OpeningsRequest
): Pick<RelatedOpenings, "opened" | "opening"> => {
  const opening = openings.find(({ wallet }) => wallet === request.wallet) ?? null
  const { before, limit } = request
  const funder = funderOf(request, opening)
  const own = openings.filter((each) => each.funder === funder).toSorted(newestFirst)
  const found = own.filter((each) => before === null || newestFirst(before, each) < 0).slice(0, limit)
  return { opening, opened: { openings: found, count: Math.min(own.length, MOST_COUNTED + 1) } }
}
