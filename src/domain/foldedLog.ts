/** Words of an error for the log, and a log line for failures that come with every request. */
import { Clock, Effect } from "effect"

const FOLDED_MS = 10_000

const ownWords = (error: Error): string => {
  if (error.message !== "") {
    return error.message
  }
  // A refused connection to several addresses has no message of its own.
  return "code" in error && typeof error.code === "string" ? error.code : error.name
}

/** The message of an error and of its causes, the outermost first, in one line and without a stack. */
export const errorDetail = (cause: unknown): string => {
  if (!(cause instanceof Error)) {
    return String(cause)
  }
  const own = ownWords(cause)
  const rest = cause.cause === undefined ? "" : errorDetail(cause.cause)
  return rest === "" || own.includes(rest) ? own : `${own}: ${rest}`
}

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
      return Effect.logError(message, { detail: errorDetail(cause), ...(times > 1 && { times }) })
    })
}
