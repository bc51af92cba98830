import { type Clock, Effect } from "effect"
import type { QuoteRequest, SpotQuote } from "../api/schemas/Quote.ts"
import { monotonicMs } from "../domain/loopTime.ts"
import type { QuoteEngine } from "./QuoteEngine.ts"

/** For this many milliseconds equal requests share a quote. */
const SHARED_FOR_MS = 5

type Quote = QuoteEngine["Service"]["quote"]

/**
 * The ticks of a request. Each call prices one tick at the clock's time. Returns an `Exit` when an equal tick was priced
 * within SHARED_FOR_MS.
 */
export type TickQuote = (request: QuoteRequest) => (clock: Clock.Clock) => ReturnType<Quote>

const keyOf = ({
  amount,
  directOnly,
  excludeVenues,
  inputMint,
  maxHops,
  outputDecimals,
  outputMint,
  pools,
  slippageBps,
  swapMode,
  venues
}: QuoteRequest): string =>
  [
    inputMint,
    outputMint,
    amount,
    slippageBps,
    outputDecimals,
    maxHops,
    directOnly,
    pools,
    venues,
    excludeVenues,
    swapMode
  ].join(":")

/**
 * Wraps `quote` for the ticks of streams. Equal requests within SHARED_FOR_MS get the same quote object, with one id
 * and one `quotedAtMs`. Refusals are not shared. Keeps only the quotes of the current period.
 */
export const sharedQuotes = (quote: Quote): TickQuote => {
  const quotes = new Map<string, SpotQuote>()
  let endsAt = 0

  return (request) => {
    const key = keyOf(request)
    return (clock) => {
      const now = monotonicMs(clock)
      if (now >= endsAt) {
        quotes.clear()
        endsAt = now + SHARED_FOR_MS
      }
      const shared = quotes.get(key)
      return shared === undefined
        ? Effect.mapEager(quote(request), (priced) => {
            quotes.set(key, priced)
            return priced
          })
        : Effect.succeed(shared)
    }
  }
}
