/** Pages of the lots of one wallet. Pure. */
import type { LotSums, WalletLot } from "../api/schemas/WalletLots.ts"
import type { Mint } from "../domain/Address.ts"
import type { AccountedEvents } from "./accountedEvents.ts"
import { minus } from "./ledger.ts"
import { type Lot, lotBook, type LotMethod, type SoldLot } from "./lotSales.ts"
import { sumOf, usdText, usdTextOrNull } from "./pnl.ts"

/** Selects lots of a wallet. Null does not filter. */
export interface LotsRequest {
  readonly method: LotMethod
  readonly state: "sold" | "open"
  readonly mint: Mint | null
  /** Times of the sales in `[fromMs, toMs)`. */
  readonly fromMs: number | null
  readonly toMs: number | null
  /** How many rows the pages up to here had. */
  readonly offset: number
  readonly limit: number
}

/** A page of lots, and the sums over all pages. */
export interface LotsPage {
  readonly rows: ReadonlyArray<WalletLot>
  /** Where the next page begins; null at the end. */
  readonly next: number | null
  readonly sums: typeof LotSums.Type
}

interface Row {
  readonly mint: Mint
  readonly decimals: number | null
  readonly lot: Lot
  readonly sold: SoldLot | null
}

const gainOf = ({ lot, sold }: Row): bigint | null => minus(sold?.proceedsNanos ?? null, lot.costNanos)

const bodyOf = (row: Row): WalletLot => {
  const { decimals, lot, mint, sold } = row
  return {
    mint,
    decimals,
    origin: lot.origin,
    units: lot.units,
    acquiredAtMs: lot.acquired?.timeMs ?? null,
    acquiredSignature: lot.acquired?.signature ?? null,
    costUsd: usdTextOrNull(lot.costNanos),
    soldAtMs: sold?.sold.timeMs ?? null,
    soldSignature: sold?.sold.signature ?? null,
    proceedsUsd: usdTextOrNull(sold?.proceedsNanos ?? null),
    gainUsd: usdTextOrNull(gainOf(row))
  }
}

/** The sums of a wallet of which nothing is known. */
export const UNKNOWN_SUMS: LotsPage["sums"] = {
  rows: 0,
  unknown: 0,
  costUsd: null,
  proceedsUsd: null,
  gainUsd: null,
  knownGainUsd: null
}

/** One page of lots, the latest sale first; open lots by mint. A mint whose accounts are unread has no known cost. */
export const lotsPage = (
  { events, isUnread, units }: Pick<AccountedEvents, "events" | "isUnread" | "units">,
  { fromMs, limit, method, mint: wanted, offset, state, toMs }: LotsRequest
): LotsPage => {
  const rows: Array<Row> = []
  let [isBroken, isHeldKnown] = [false, true]
  for (const [mint, own] of Map.groupBy(events, (event) => event.mint)) {
    if (wanted !== null && mint !== wanted) {
      continue
    }
    const book = lotBook(own, method, isUnread(mint) ? null : (units?.get(mint) ?? null))
    const decimals = own.findLast((event) => event.decimals !== null)?.decimals ?? null
    const known = <L extends Lot>(lot: L): L => (isUnread(mint) ? { ...lot, costNanos: null } : lot)
    isBroken ||= book.isBroken
    isHeldKnown &&= book.isHeldKnown && !isUnread(mint)
    rows.push(
      ...(state === "sold"
        ? book.sold.map((sold) => ({ mint, decimals, lot: known(sold), sold }))
        : book.open.map((lot) => ({ mint, decimals, lot: known(lot), sold: null })))
    )
  }
  const found = rows
    .filter(
      ({ sold }) =>
        sold === null || ((fromMs === null || sold.sold.timeMs >= fromMs) && (toMs === null || sold.sold.timeMs < toMs))
    )
    .toSorted(
      (a, b) =>
        (b.sold?.sold.timeMs ?? 0) - (a.sold?.sold.timeMs ?? 0) || (a.mint < b.mint ? -1 : Number(a.mint > b.mint))
    )
  const gains = found.map(gainOf)
  const isOpen = state === "open"
  const knownGains = gains.filter((gain) => gain !== null)
  return {
    rows: found.slice(offset, offset + limit).map(bodyOf),
    next: offset + limit < found.length ? offset + limit : null,
    sums: {
      rows: found.length,
      unknown: found.filter((row, place) => (isOpen ? row.lot.costNanos : gains[place]) === null).length,
      costUsd: isOpen && !isHeldKnown ? null : usdTextOrNull(sumOf(found.map(({ lot }) => lot.costNanos))),
      proceedsUsd: isOpen ? null : usdTextOrNull(sumOf(found.map(({ sold }) => sold?.proceedsNanos ?? null))),
      gainUsd: isOpen || isBroken ? null : usdTextOrNull(sumOf(gains)),
      knownGainUsd:
        isOpen || (knownGains.length === 0 && gains.length > 0) ? null : usdText(knownGains.reduce((a, b) => a + b, 0n))
    }
  }
}
