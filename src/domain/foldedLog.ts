/** A log line for failures that come with every request. */
import { Clock, Effect } from "effect"

const FOLDED_MS = 10_000

/** The message of an error and of its causes, in one line and without a stack. */
const detailOf = (cause: unknown): string =>
  cause instanceof Error
    ? [cause.message, cause.cause === undefined ? "" : detailOf(cause.cause)].filter((text) => text !== "").join(": ")
    : String(cause)

/**
 * Returns a function that logs the first failure at once, in one line. Further ones are counted, and the count is logged with
 * the first failure after ten seconds.
 */
export const foldedLog = (message: string): ((cause: unknown) => Effect.Effect<void>) => {
  let folded = 0
  let loggedAtMs = Number.NEGATIVE_INFINITY
  return (cause) =>
    Clock.clockWith((clock) => {
      const nowMs = Number(clock.monotonicTimeNanosUnsafe()) / 1e6
      if (nowMs - loggedAtMs < FOLDED_MS) {
        folded++
        return Effect.void
      }
      const times = folded + 1
      folded = 0
      loggedAtMs = nowMs
      return Effect.logError(message, { detail: detailOf(cause), ...(times > 1 && { times }) })
    })
}
