import type { QuoteRefusal } from "../domain/quotes/Quote.ts"

/** A refusal in the words of the contract. */
export interface Described {
  readonly code: "no_route" | "state_cold" | "state_stale" | "route_not_supported"
  readonly message: string
  /** Whether asking the same again may be answered. */
  readonly retryable: boolean
  /** Whether the failure is on our side: then it costs the caller nothing. */
  readonly ours: boolean
}

/** What a caller is told when there is no quote. */
export const describeRefusal = (refusal: QuoteRefusal): Described => {
  switch (refusal._tag) {
    case "NoRoute":
      return {
        code: "no_route",
        message: "No pool trades this pair at this size.",
        retryable: true,
        ours: false
      }
    case "StateCold":
      return {
        code: "state_cold",
        message: `The pools of ${refusal.mint} are not loaded yet. They are being loaded now.`,
        retryable: true,
        ours: true
      }
    case "StateStale":
      return {
        code: "state_stale",
        message:
          refusal.silentMs === null
            ? "The chain has not been heard yet."
            : `The chain was last heard ${refusal.silentMs} ms ago, at slot ${refusal.lastSlot}.`,
        retryable: true,
        ours: true
      }
    case "RouteNotSupported":
      return { code: "route_not_supported", message: refusal.detail, retryable: false, ours: true }
  }
}
