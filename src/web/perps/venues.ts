/** Venues and their costs for display. */
import type { Answer } from "../data/contract.ts"

/** A comparison as the API gives it. */
export type Comparison = Answer<"GET /api/v1/perps/quote">

/** The costs at one venue. */
export type Entry = Comparison["perVenue"][number]

const names: Readonly<Record<string, string>> = {
  hl: "Hyperliquid",
  velocity: "Velocity",
  dydx: "dYdX",
  paradex: "Paradex",
  lighter: "Lighter",
  aster: "Aster",
  jupiter: "Jupiter"
}

/** The name of a venue. */
export const nameOf = (venue: string): string => names[venue] ?? venue

const reasons: Readonly<Record<string, string>> = {
  stale_book: "Its book is not fresh, or could not be read.",
  no_market: "It does not trade this symbol.",
  thin_book: "Its visible book ends before the size does.",
  timeout: "It did not answer in time.",
  unsupported_size: "It does not take an order of this size."
}

/** Why a venue is left out, in words. */
export const reasonWords = (reason: string | null): string => reasons[reason ?? ""] ?? "It is not usable at present."

/** The parts of a cost in basis points, in the order of their colours. */
export const partsOf = ({ fundingBps, impactBps, ourBps, takerBps }: Entry) =>
  [
    ["Fee", takerBps],
    ["Book", impactBps],
    ["Funding", fundingBps],
    ["This service", ourBps]
  ] as const

/** The length of a cost as a bar: what is paid; funding that is received has none. */
export const paidBps = (entry: Entry): number => partsOf(entry).reduce((sum, [, bps]) => sum + Math.max(0, bps ?? 0), 0)

const BPS = 10_000

/** The average price of the walk, about, from the middle and the impact; null when either is unknown. */
export const fillPrice = ({ impactBps, mid }: Entry, side: "buy" | "sell"): number | null =>
  impactBps === null || mid === null ? null : mid * (1 + ((side === "buy" ? 1 : -1) * impactBps) / BPS)

/** A cost in dollars, about. */
export const costUsd = (bps: number | null, mid: number | null, size: string): number | null =>
  bps === null || mid === null ? null : (bps / BPS) * mid * Number(size)
