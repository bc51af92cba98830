/** Venues and their costs for display. */
import type { Answer } from "../data/contract.ts"

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

export const nameOf = (venue: string): string => names[venue] ?? venue

const reasons: Readonly<Record<string, string>> = {
  stale_book: "Its order book is too old.",
  no_market: "It does not trade this symbol.",
  thin_book: "Its visible order book is too small for this size.",
  timeout: "It did not answer in time.",
  unsupported_size: "It does not take an order of this size.",
  unreadable: "Its answer could not be read.",
  unavailable: "It cannot be asked right now."
}

/** Why a venue is left out, in words. */
export const reasonWords = (reason: string | null): string => reasons[reason ?? ""] ?? "It cannot be used right now."

/** The parts of a cost in basis points, in the order of their colours. */
export const partsOf = ({ fundingBps, impactBps, ourBps, takerBps }: Entry) =>
  [
    ["Fee", takerBps],
    ["Impact", impactBps],
    ["Funding", fundingBps],
    ["This service", ourBps]
  ] as const

/** The length of a cost bar in basis points: the sum of what is paid. Funding received counts as nothing. */
export const paidBps = (entry: Entry): number => partsOf(entry).reduce((sum, [, bps]) => sum + Math.max(0, bps ?? 0), 0)

const BPS = 10_000

/** The average fill price, estimated from mid price and impact; null when either is unknown. */
export const fillPrice = ({ impactBps, mid }: Entry, side: "buy" | "sell"): number | null =>
  impactBps === null || mid === null ? null : mid * (1 + ((side === "buy" ? 1 : -1) * impactBps) / BPS)

/** An estimate of a cost in dollars. */
export const costUsd = (bps: number | null, mid: number | null, size: string): number | null =>
  bps === null || mid === null ? null : (bps / BPS) * mid * Number(size)
