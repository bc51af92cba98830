/** Compares the figures of one wallet with the chain. Pure. */
import type { Book, RawPosition } from "../recompute/book.ts"
import { type HeldUnits, isWhole } from "./chainFigures.ts"
import type { LivePosition, LiveSummary } from "./liveFigures.ts"

/** A figure that differs from the chain's. Null from the service means unknown. */
export interface HoldingDifference {
  readonly wallet: string
  readonly mint: string | null
  readonly field: string
  readonly service: string | null
  readonly chain: string
}

/** A position of `/wallets/{wallet}/positions`, as far as it is checked. */
export interface ReadPosition {
  readonly mint: string
  readonly holding: string | null
}

/** All that is known of one wallet. */
export interface WalletFigures {
  readonly wallet: string
  /** Units by the chain. */
  readonly units: HeldUnits
  /** Positions by the blocks since the wallet is tracked. */
  readonly book: Book
  /** Mints with transfers that the service cannot have seen. */
  readonly unseen: ReadonlySet<string>
  readonly live: ReadonlyMap<string, LivePosition>
  readonly summary: LiveSummary | null
}

/**
 * `strict`: every cost was seen, so that the total has to be known. `partly`: some was not, so that the known share has to
 * be. `idle`: no trade since the wallet is tracked. `unmarked`: a token held has no price, so that no total can be.
 */
export type WalletKind = "idle" | "partly" | "strict" | "unmarked"

/** The comparison of one wallet. */
export interface WalletVerdict {
  readonly kind: WalletKind
  /** Holdings compared. */
  readonly holdings: number
  readonly differences: ReadonlyArray<HoldingDifference>
}

/** Holdings of positions beside the units of the chain. */
const holdingsOf = (
  { units, wallet }: Pick<WalletFigures, "units" | "wallet">,
  field: string,
  positions: Iterable<ReadPosition>
): ReadonlyArray<HoldingDifference> =>
  Array.from(positions, ({ holding, mint }) => {
    const chain = (units.get(mint) ?? 0n).toString()
    return { wallet, mint, field, service: holding, chain }
  })

const different = (holdings: ReadonlyArray<HoldingDifference>): ReadonlyArray<HoldingDifference> =>
  holdings.filter(({ chain, service }) => service !== chain)

/** The positions of `/wallets/{wallet}/positions` whose holding differs. */
export const readDifferences = (
  of: Pick<WalletFigures, "units" | "wallet">,
  read: ReadonlyArray<ReadPosition>
): ReadonlyArray<HoldingDifference> => different(holdingsOf(of, "holding", read))

/** True where the service has seen every cost. */
const isSeenWhole = ({ unseen }: Pick<WalletFigures, "unseen">, mint: string, position: RawPosition): boolean =>
  !unseen.has(mint) && isWhole(position)

const kindOf = ({ book, summary, unseen }: WalletFigures): WalletKind => {
  const positions = Array.from(book)
  if (positions.length === 0) {
    return "idle"
  }
  if (!positions.every(([mint, position]) => isSeenWhole({ unseen }, mint, position))) {
    return "partly"
  }
  return (summary?.known.unmarkedPositions ?? 0) > 0 ? "unmarked" : "strict"
}

/** Sums that have to be known and are null. */
const unknownSums = ({ book, live, summary, unseen, wallet }: WalletFigures, kind: WalletKind) => {
  const missing = (mint: string | null, field: string) => ({ wallet, mint, field, service: null, chain: "known" })
  const positions = Array.from(book).flatMap(([mint, position]) => {
    const shown = live.get(mint)
    if (shown === undefined) {
      return [missing(mint, "live position")]
    }
    const isKnown = isSeenWhole({ unseen }, mint, position)
    const isRealized = !isKnown || shown.realized !== null
    const isMarked = shown.markUsd !== null || shown.holding === "0"
    const isTotal = !isKnown || !isMarked || shown.total !== null
    return [...(isRealized ? [] : [missing(mint, "realized")]), ...(isTotal ? [] : [missing(mint, "total")])]
  })
  if (kind === "idle") {
    return positions
  }
  const isPriced = Array.from(book.values()).some(({ volume }) => volume > 0n)
  const known = summary?.known
  return [
    ...positions,
    ...(kind === "strict" && (summary?.total ?? null) === null ? [missing(null, "total")] : []),
    ...(kind !== "unmarked" && known?.unmarkedPositions === 0 && known.total === null
      ? [missing(null, "known.total")]
      : []),
    ...(isPriced && (known?.volumeShare ?? null) === null ? [missing(null, "known.volumeShare")] : [])
  ]
}

/** Every holding equal to the chain's, strict sums known where every cost was seen, and the known share elsewhere. */
export const verdictOf = (figures: WalletFigures): WalletVerdict => {
  const kind = kindOf(figures)
  const holdings = holdingsOf(figures, "live holding", figures.live.values())
  return { kind, holdings: holdings.length, differences: [...different(holdings), ...unknownSums(figures, kind)] }
}
