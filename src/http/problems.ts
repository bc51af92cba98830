/** Problems that several handlers raise. */
import { Effect } from "effect"
import { type ErrorDetail, retryAfter } from "../api/errors/Problem.ts"
import type { TooManyColdMints } from "../api/schemas/Quote.ts"
import { DataUnavailable, InvalidRequest, LimiterUnavailable, RateLimited } from "../api/errors/problems.ts"

/** A 400 for one field. */
export const invalid = (detail: ErrorDetail, message: string): InvalidRequest =>
  new InvalidRequest({ error: { message, details: [detail] } })

/** A 429 for a named limit. `retryAfterMs` is rounded up to seconds, at least one. */
export const limited = (field: string, message: string, retryAfterMs?: number): RateLimited => {
  const problem = new RateLimited({ error: { message, details: [{ in: "header", field, issue: "out_of_range" }] } })
  return retryAfterMs === undefined ? problem : retryAfter(problem, retryAfterMs / 1000)
}

/** A 429 for a key that has too many mints loading. */
export const tooManyColdMints = ({ fitsInMs, mint }: TooManyColdMints): RateLimited =>
  limited(
    "cold mints",
    `The token ${mint} is not loaded, and this key has too many tokens loading already: try again later.`,
    fitsInMs
  )

/** A 503 for a source that cannot answer. */
export const unavailable = (message: string): DataUnavailable => new DataUnavailable({ error: { message } })

/** Logs why a store failed, and fails with a 503. */
export const storeUnavailable =
  (log: string, message: string) =>
  ({ cause }: { readonly cause: unknown }): Effect.Effect<never, DataUnavailable> =>
    Effect.andThen(Effect.logError(log, cause), Effect.fail(unavailable(message)))

/** Logs why the limiter failed, and fails with a 503. */
export const limiterUnavailable = ({ cause }: { readonly cause: unknown }): Effect.Effect<never, LimiterUnavailable> =>
  Effect.andThen(Effect.logError("The limiter is unavailable", cause), Effect.fail(new LimiterUnavailable()))
