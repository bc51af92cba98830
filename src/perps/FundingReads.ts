/** Reads the past funding of a venue page by page, from spans that all callers share. */
import { Cache, Clock, Duration, Effect, Exit, Fiber, Result, type Scope, Semaphore } from "effect"
import { CircuitBreaker } from "effect/persistence"
import type { CoverageReason } from "../domain/Scalar.ts"
import { makeBreaker } from "../operations/protection.ts"
import { HOUR_MS } from "./pastRates.ts"
import type { ReadRules } from "./SharedReads.ts"
import { venueName } from "./symbols.ts"
import {
  type FundingPast,
  type PastRate,
  type PastRates,
  type Venue,
  type VenueFault,
  VenueUnreadable
} from "./Venue.ts"

/** A page of past funding. */
export interface FundingRequest {
  readonly symbol: string
  readonly fromMs: number
  /** The page has rates before this time, which is not in the future. */
  readonly beforeMs: number
  readonly limit: number
}

export interface FundingPage {
  readonly kind: FundingPast["kind"]
  /** Newest first. May be fewer than the limit while there are more. */
  readonly rates: ReadonlyArray<PastRate>
  /** The next page has rates before this time; null on the last page. */
  readonly nextBeforeMs: number | null
  /** Why rates of the page's time may be missing; null when none is. */
  readonly missing: CoverageReason | null
  /** When the newest of the rates were read. */
  readonly readAtMs: number | null
}

export interface FundingReads {
  readonly page: (request: FundingRequest) => Effect.Effect<FundingPage, VenueFault>
}

const CAPACITY = 64
const CONCURRENCY = 2
/** The most spans of a page. A page of an old market without rates ends there, too. */
const MOST_SPANS = 2
/** How long after its end a span may still get rates. */
const LATE_MS = 2 * HOUR_MS

interface Span extends PastRates {
  readonly readAtMs: number
  /** True when nothing will be added. */
  readonly isOver: boolean
}

/** True when the next older rate is further away than one and a half times its time. */
const isGap = (kind: FundingPast["kind"], newer: PastRate, older: PastRate | undefined): boolean => {
  const hours = kind === "hourly" ? 1 : newer.rateHours
  return older !== undefined && hours !== null && newer.atMs - older.atMs > 1.5 * hours * HOUR_MS
}

const unreadable = (why: VenueUnreadable["why"], detail: string) => new VenueUnreadable({ why, detail })

/** Reads the past funding of this venue. A span is read once for all who ask at the same time, and kept once it is over. */
export const makeFundingReads = Effect.fnUntraced(function* (
  venue: Venue,
  past: FundingPast,
  rules: ReadRules
): Effect.fn.Return<FundingReads, never, Scope.Scope> {
  const scope = yield* Effect.scope
  const permits = yield* Semaphore.make(CONCURRENCY)
  // Of its own, so that books stay readable while past funding is not.
  const guarded = yield* makeBreaker<VenueFault>({
    name: `perps ${venue.key} funding`,
    failures: rules.failures,
    openDuration: rules.rest,
    outcomeOf: (fault) =>
      fault._tag === "VenueUnreadable" && fault.why !== "malformed" && fault.why !== "paced"
        ? CircuitBreaker.failure()
        : CircuitBreaker.success,
    rejection: () => unreadable("resting", "failed repeatedly")
  })

  const lookup = Effect.fnUntraced(function* (key: string) {
    const [startText = "", symbol = ""] = key.split(" ")
    const startMs = Number(startText)
    const endMs = startMs + past.spanMs
    const readAtMs = yield* Clock.currentTimeMillis
    const read = past.read(venueName(venue.key, symbol).name, startMs, Math.min(endMs, readAtMs))
    const rates = yield* read.pipe(
      Effect.timeoutOrElse({ duration: rules.patience, orElse: () => unreadable("late", "no answer at all") }),
      permits.withPermit,
      guarded
    )
    const span: Span = { ...rates, readAtMs, isOver: rates.isWhole && endMs + LATE_MS <= readAtMs }
    return span
  })

  const spans = yield* Cache.makeWith(lookup, {
    capacity: CAPACITY,
    timeToLive: (exit) => (Exit.isFailure(exit) ? 0 : exit.value.isOver ? "1 day" : "1 minute")
  })

  const spanAt = (symbol: string, startMs: number) =>
    // In a fiber of its own, because the lookup ends with its last waiter.
    Cache.get(spans, `${startMs} ${symbol}`).pipe(
      Effect.forkIn(scope),
      Effect.flatMap(Fiber.join),
      Effect.timeoutOrElse({
        duration: Duration.max(rules.patience, rules.deadline),
        orElse: () => unreadable("late", "no answer in time")
      })
    )

  const page = Effect.fnUntraced(function* ({ beforeMs, fromMs, limit, symbol }: FundingRequest) {
    const found = new Map<number, PastRate>()
    let missing: CoverageReason | null = null
    let readAtMs: number | null = null
    let startMs = Math.floor((beforeMs - 1) / past.spanMs) * past.spanMs
    for (let count = 0; count < MOST_SPANS && startMs + past.spanMs > fromMs && found.size <= limit; count++) {
      const read = yield* Effect.result(spanAt(symbol, startMs))
      if (Result.isFailure(read)) {
        // What has been read is a page, and the next page begins with the span that failed.
        if (count === 0) {
          return yield* Effect.fail(read.failure)
        }
        break
      }
      const { success: span } = read
      const inPage = ({ atMs }: PastRate) => atMs >= Math.max(startMs, fromMs) && atMs < beforeMs
      for (const rate of span.rates.filter((rate) => inPage(rate) && rate.atMs < startMs + past.spanMs)) {
        found.set(rate.atMs, rate)
      }
      const isKept = span.keptFromMs === undefined || Math.max(startMs, fromMs) >= span.keptFromMs
      missing ??= span.isWhole ? (isKept ? null : "resolution_retention") : "source_gap"
      readAtMs ??= span.readAtMs
      startMs -= past.spanMs
    }
    const all = [...found.values()].toSorted((a, b) => b.atMs - a.atMs)
    const rates = all.slice(0, limit)
    const last = rates.at(-1)
    const readFromMs = startMs + past.spanMs
    const isGappy = rates.some((rate, place) => isGap(past.kind, rate, all[place + 1]))
    return {
      kind: past.kind,
      rates,
      nextBeforeMs: all.length > limit && last !== undefined ? last.atMs : readFromMs > fromMs ? readFromMs : null,
      missing: missing ?? (isGappy ? ("source_gap" as const) : null),
      readAtMs
    }
  })

  return { page }
})
