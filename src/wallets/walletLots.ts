/** Pages of the lots of one wallet. Pure. */
import type { LotSums, WalletLot } from "../api/schemas/WalletLots.ts"
import type { Mint } from "../domain/Address.ts"
import type { AccountedEvents } from "./accountedEvents.ts"
import { minus } from "./ledger.ts"
import { type Lot, lotBook, type LotMethod, type LotOrigin, type SoldLot } from "./lotSales.ts"
import { sumOf, usdText, usdTextOrNull } from "./pnl.ts"

/** The place of a row among the lots of a wallet. It stays when other lots come and go. */
export type LotRowPlace =
  | { readonly state: "sold"; readonly slot: number; readonly index: number; readonly part: number }
  | {
      readonly state: "open"
      readonly mint: Mint
      readonly slot: number
      readonly index: number
      readonly origin: LotOrigin
    }

/** Selects lots of a wallet. Null does not filter. */
export interface LotsRequest {
  readonly method: LotMethod
  readonly state: "sold" | "open"
  readonly mint: Mint | null
  /** Times of the sales in `[fromMs, toMs)`. */
  readonly fromMs: number | null
  readonly toMs: number | null
  /** Null starts with the first row. A place of the other state counts as none. */
  readonly after: LotRowPlace | null
  readonly limit: number
}

/** A page of lots, and the sums over all pages. */
export interface LotsPage {
  readonly rows: ReadonlyArray<WalletLot>
  /** The place after which the next page begins; null at the end. */
  readonly next: LotRowPlace | null
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

const placeOf = ({ lot, mint, sold }: Row): LotRowPlace =>
  sold === null
    ? { state: "open", mint, slot: lot.place.slot, index: lot.place.index, origin: lot.origin }
    : { state: "sold", slot: sold.sold.slot, index: sold.sold.index, part: sold.part }

const byText = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1)

/** Compares places: the latest sale first, and open lots by mint, the oldest first. */
const inOrder = (a: LotRowPlace, b: LotRowPlace): number => {
  if (a.state === "sold" && b.state === "sold") {
    return b.slot - a.slot || b.index - a.index || a.part - b.part
  }
  return a.state === "open" && b.state === "open"
    ? byText(a.mint, b.mint) || a.slot - b.slot || a.index - b.index || byText(a.origin, b.origin)
    : 0
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

/** One page of lots, the latest sale first; open lots by mint, the oldest first. A mint whose accounts are unread has no known cost. */
export const lotsPage = (
  { events, isUnread, units }: Pick<AccountedEvents, "events" | "isUnread" | "units">,
  { after, fromMs, limit, method, mint: wanted, state, toMs }: LotsRequest
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
  const sorted = rows
    .filter(
      ({ sold }) =>
        sold === null || ((fromMs === null || sold.sold.timeMs >= fromMs) && (toMs === null || sold.sold.timeMs < toMs))
    )
    .map((row) => ({ row, place: placeOf(row) }))
    .toSorted((a, b) => inOrder(a.place, b.place))
  const rest = after?.state === state ? sorted.filter(({ place }) => inOrder(after, place) < 0) : sorted
  const page = rest.slice(0, limit)
  const found = sorted.map(({ row }) => row)
  const gains = found.map(gainOf)
  const isOpen = state === "open"
  const knownGains = gains.filter((gain) => gain !== null)
  return {
    rows: page.map(({ row }) => bodyOf(row)),
    next: rest.length > limit ? (page.at(-1)?.place ?? null) : null,
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
