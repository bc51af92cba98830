/** The holders of a token as its live channel shows them. */
import type { LiveHolders } from "../../api/schemas/TokenHolders.ts"
import type { Mint } from "../../domain/Address.ts"
import type { CoverageReason } from "../../domain/Scalar.ts"
import { type KnownHoldings, unknownFigures } from "../../tokens/HolderReader.ts"
import { countScalar, shareScalar, TOP, WIDE_TOP } from "./holderFigures.ts"

/** The figures of a token that is followed. */
export const liveHolders = (mint: Mint, known: KnownHoldings): LiveHolders => ({
  mint,
  state: "followed",
  slot: known.slot,
  holders: countScalar(known),
  heldAmount: known.total,
  top10Pct: shareScalar(known, known.largest(TOP), known.poolCoverage),
  top50Pct: shareScalar(known, known.largest(WIDE_TOP), known.poolCoverage)
})

/** The figures while nothing is known, with the reason. */
export const unknownHolders = (mint: Mint, reason: CoverageReason): LiveHolders => {
  const state = reason === "backfill_running" ? reason : "unavailable"
  const { heldAmount, holders, slot, top10Pct, top50Pct } = unknownFigures(reason, state)
  return { mint, state, slot, holders, heldAmount, top10Pct, top50Pct }
}
