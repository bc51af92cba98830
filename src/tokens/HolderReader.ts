import { Context } from "effect"
import type { Address, Mint } from "../domain/Address.ts"
import type { TokenProgram } from "../api/schemas/Token.ts"
import type { HolderFigures } from "../api/schemas/TokenHolders.ts"
import { type Coverage, type CoverageReason, type Lifetime, type Scalar, unavailable } from "../domain/Scalar.ts"

export interface HoldersRequest {
  readonly mint: Mint
  readonly tokenProgram: TokenProgram
  /** Owners to list, at most a hundred. */
  readonly limit: number
  readonly nowMs: number
}

/** The holdings of a token whose holders are known. */
export interface KnownHoldings {
  /** Units in all token accounts. */
  readonly total: bigint
  readonly holders: number
  readonly amountOf: (owner: Address) => bigint
  /** The sum held by the `count` largest owners. Pools, curves and burn addresses do not count. */
  readonly largest: (count: number) => bigint
  /** Whether all pools and curves are known, which `largest` leaves out. */
  readonly poolCoverage: Coverage
  readonly life: Lifetime
  readonly slot: number
  /** Why the holdings are incomplete; null when they are complete. */
  readonly lacking: CoverageReason | null
}

export interface HolderReads {
  /**
   * Figures of a token, which is followed from now on. Synchronous: accounts that are not in memory are queued to be
   * read.
   */
  readonly holdersOf: (request: HoldersRequest) => HolderFigures
  /** Holdings of a token that is already followed; null for any other token. */
  readonly knownOf: (mint: Mint, nowMs: number) => KnownHoldings | null
  /** The number of holders; unavailable for a token that is not followed. */
  readonly countOf: (mint: Mint, nowMs: number) => Scalar
  /**
   * Follows a token if there is room without dropping another token. For a followed token this counts as a use, and
   * accounts that could not be read are read again. Returns why the holdings are not known; null when they are known.
   */
  readonly suggest: (mint: Mint, tokenProgram: TokenProgram, nowMs: number) => CoverageReason | null
}

/** The figures while nothing is known, with the reason. */
export const unknownFigures = (
  reason: CoverageReason,
  state: HolderFigures["state"] = "unavailable",
  retryAfterMs: number | null = null
): HolderFigures => ({
  state,
  retryAfterMs,
  slot: null,
  holders: unavailable("count", reason),
  heldAmount: null,
  top10Pct: unavailable("percent", reason),
  top50Pct: unavailable("percent", reason),
  excludedPct: unavailable("percent", reason),
  top: null
})

/** The holders of tokens; unknown unless provided. */
export const HolderReader = Context.Reference<HolderReads>("fathom/tokens/HolderReader", {
  defaultValue: () => ({
    holdersOf: () => unknownFigures("not_captured"),
    knownOf: () => null,
    countOf: () => unavailable("count", "not_captured"),
    suggest: () => "not_captured"
  })
})
