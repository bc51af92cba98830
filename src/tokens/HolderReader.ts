import { Context, Effect, Schema } from "effect"
import type { Address, Mint } from "../domain/Address.ts"
import type { TokenProgram } from "../api/schemas/Token.ts"
import type { HolderFigures, HolderHour } from "../api/schemas/TokenHolders.ts"
import { type Coverage, type CoverageReason, type Lifetime, type Scalar, unavailable } from "../domain/Scalar.ts"

export interface HoldersRequest {
  readonly mint: Mint
  readonly tokenProgram: TokenProgram
  /** Owners to list, at most a hundred and one. */
  readonly limit: number
  /** The owner after which the list begins, with its amount; null for the largest. */
  readonly after: { readonly owner: Address; readonly amount: bigint } | null
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

/** Selects hourly snapshots in hours of `[fromMs, toMs)`, newest first. Null is no bound. */
export interface HolderHistoryRead {
  readonly mint: Mint
  readonly fromMs: number | null
  readonly toMs: number | null
  readonly limit: number
}

/** The store of snapshots does not answer, or there is none. */
export class HolderHistoryUnavailable extends Schema.TaggedError<HolderHistoryUnavailable>()(
  "HolderHistoryUnavailable",
  { cause: Schema.Defect() }
) {}

export interface HolderReads {
  /** Hourly snapshots of the holders of a token. */
  readonly historyOf: (request: HolderHistoryRead) => Effect.Effect<ReadonlyArray<HolderHour>, HolderHistoryUnavailable>
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
    historyOf: () => Effect.fail(new HolderHistoryUnavailable({ cause: new Error("no snapshots are kept") })),
    holdersOf: () => unknownFigures("not_captured"),
    knownOf: () => null,
    countOf: () => unavailable("count", "not_captured"),
    suggest: () => "not_captured"
  })
})
