import type { QuoteRefusal } from "../api/schemas/Quote.ts"

/** A refusal as callers see it. */
export interface Described {
  readonly code: "no_route" | "rate_limited" | "state_cold" | "data_unavailable" | "state_stale" | "route_not_supported"
  readonly message: string
  /** True when the same request may succeed later. */
  readonly retryable: boolean
  /** True when the service is at fault. The request is then free. */
  readonly isOurFault: boolean
}

/**
 * Milliseconds to wait before retrying a pair whose pools could not be searched. By then a trade may have named a
 * pool.
 */
export const NOT_SEARCHED_RETRY_MS = 300_000

/** Code and message of a refused quote. */
export const describeRefusal = (refusal: QuoteRefusal): Described => {
  switch (refusal._tag) {
    case "NoRoute":
      return {
        code: "no_route",
        message:
          refusal.paysNothing === true
            ? "The amount is too small: every pool of this pair would pay nothing for it."
            : "No pool trades this pair at this size.",
        retryable: true,
        isOurFault: false
      }
    case "StateCold":
      return {
        code: "state_cold",
        message: `The pools of ${refusal.mint} are not loaded yet. They are being loaded now.`,
        retryable: true,
        isOurFault: true
      }
    case "TooManyColdMints":
      return {
        code: "rate_limited",
        message: `The pools of ${refusal.mint} are not loaded, and this key has too many mints being loaded already.`,
        retryable: true,
        isOurFault: true
      }
    case "PoolsNotSearched":
      return {
        code: "data_unavailable",
        message: `No pool in memory trades this pair at this size, and not all pools of ${refusal.mint} could be searched.`,
        retryable: true,
        isOurFault: true
      }
    case "StateStale":
      return {
        code: "state_stale",
        message:
          refusal.silentMs === null
            ? "The chain has not been heard yet."
            : `The chain was last heard ${refusal.silentMs} ms ago, at slot ${refusal.lastSlot}.`,
        retryable: true,
        isOurFault: true
      }
    case "NotExecuted": {
      const { detail, dex, pool, retryInMs } = refusal
      return {
        code: retryInMs === null ? "route_not_supported" : "data_unavailable",
        message: `Pool ${pool} (${dex}) is priced by executing its program, which gave no price: ${detail}.`,
        retryable: retryInMs !== null,
        isOurFault: true
      }
    }
    case "RouteNotSupported":
      return { code: "route_not_supported", message: refusal.detail, retryable: false, isOurFault: true }
  }
}
