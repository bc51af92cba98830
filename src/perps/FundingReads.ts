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
  /** Null without rates. */
  readonly kind: FundingPast["kind"] | null
  /** Newest first. May be fewer than the limit while there are more. */
  readonly rates: ReadonlyArray<PastRate>
  /** The next page has rates before this time; null on the last page. */
  readonly nextBeforeMs: number | null
  /** Why rates of the page's time may be missing; null when none is. */
  readonly missing: CoverageReason | null
  /** The page has rates before this time: the requested one, or when they were read. */
  readonly toMs: number
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
/** How many spans may be read or wait for their turn. More are refused. */
const MOST_OPEN = 16
/** The most rates that a span keeps, about twice those of an hourly market. */
const MOST_RATES = 1000
/** Rates this far outside of a span are kept: a page knows by them whether one is missing at its ends. */
const AROUND_MS = 24 * HOUR_MS
/** How long after its end a span may still get rates. */
const LATE_MS = 2 * HOUR_MS
/** How late the newest rate may be before it counts as missing. */
const GRACE_MS = 15 * 60_000

interface Span extends PastRates {
  readonly readAtMs: number
  /** True when nothing will be added. */
  readonly isOver: boolean
}

/** The time between a rate and the rate before; null where it is not known. */
const stepMs = (kind: FundingPast["kind"], { rateHours }: PastRate): number | null =>
  kind === "hourly" ? HOUR_MS : rateHours === null ? null : rateHours * HOUR_MS

/**
 * True when a rate of the page's time is missing, or may be. `known` has the rates of the page and around it. There is a
 * gap where the next older rate is further away than one and a half times the rate's time, and where the time up to the
 * end of the page has room for another rate. A rate of unknown hours does not tell, nor does a page without any.
 */
const lacksRate = (
  kind: FundingPast["kind"],
  known: ReadonlyArray<PastRate>,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number }
): boolean => {
  const inOrder = known.toSorted((a, b) => a.atMs - b.atMs)
  const isMissingNear = (rate: PastRate, place: number): boolean => {
    const step = stepMs(kind, rate)
    if (step === null) {
      return rate.atMs >= fromMs && rate.atMs < toMs
    }
    const [older, newer] = [inOrder[place - 1], inOrder[place + 1]]
    const olderMs = older?.atMs ?? Number.NEGATIVE_INFINITY
    const isBefore = rate.atMs - olderMs > 1.5 * step && rate.atMs - step >= fromMs && olderMs + step < toMs
    const isNewest = newer === undefined || (stepMs(kind, newer) === null && newer.atMs > fromMs)
    return isBefore || (isNewest && rate.atMs + step + GRACE_MS < toMs)
  }
  return fromMs >= toMs || inOrder.length === 0 || inOrder.some(isMissingNear)
}

const unreadable = (why: VenueUnreadable["why"], detail: string) => new VenueUnreadable({ why, detail })

/** What was read of a span, and the rates around it. Some venues send more. */
const boundedTo = ({ unread, ...read }: PastRates, startMs: number, endMs: number): PastRates => {
  const rates = read.rates.filter(({ atMs }) => atMs >= startMs - AROUND_MS && atMs < endMs + AROUND_MS)
  const isCut = rates.length > MOST_RATES
  return {
    ...read,
    rates: isCut ? rates.toSorted((a, b) => b.atMs - a.atMs).slice(0, MOST_RATES) : rates,
    isWhole: read.isWhole && !isCut,
    ...(unread !== undefined && unread.beforeMs > startMs && { unread })
  }
}

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

  const readSpan = Effect.fnUntraced(function* (key: string) {
    const [startText = "", symbol = ""] = key.split(" ")
    const startMs = Number(startText)
    const endMs = startMs + past.spanMs
    const readAtMs = yield* Clock.currentTimeMillis
    const { name } = venueName(venue.key, symbol)
    const read = past.read(name, startMs, Math.min(endMs, readAtMs), Duration.times(rules.patience, 0.8))
    const rates = yield* read.pipe(
      Effect.timeoutOrElse({ duration: rules.patience, orElse: () => unreadable("late", "no answer at all") }),
      Effect.map((all) => boundedTo(all, startMs, endMs))
    )
    const keptAtMs = rates.readAtMs ?? readAtMs
    const span: Span = { ...rates, readAtMs: keptAtMs, isOver: rates.isWhole && endMs + LATE_MS <= keptAtMs }
    return span
  })

  /** How many callers wait for a span. */
  const callers = new Map<string, number>()
  const addCallers = (key: string, count: number) =>
    Effect.sync(() => {
      const left = (callers.get(key) ?? 0) + count
      return left === 0 ? callers.delete(key) : callers.set(key, left)
    })

  let open = 0
  const enter = Effect.suspend(() => {
    if (open >= MOST_OPEN) {
      return Effect.fail(unreadable("paced", "too many reads of past funding wait"))
    }
    open++
    return Effect.void
  })
  const leave = Effect.sync(() => {
    open--
  })

  /** Reads a span while the circuit is closed. What ended a span early counts for the circuit, and the rest is used. */
  const turn = (key: string) =>
    Effect.suspend(() => {
      let partial: Span | null = null
      const whole = Effect.flatMap(readSpan(key), (span) => {
        if (span.unread === undefined) {
          return Effect.succeed(span)
        }
        partial = span
        return Effect.fail(span.unread.fault)
      })
      return Effect.catch(guarded(whole), (fault) => (partial === null ? Effect.fail(fault) : Effect.succeed(partial)))
    })

  /** Reads a span in its turn, unless all who asked for it have left. The circuit decides when the turn has come. */
  const lookup = (key: string) =>
    Effect.acquireUseRelease(
      enter,
      () =>
        Effect.suspend(() =>
          callers.has(key) ? turn(key) : Effect.fail(unreadable("late", "nobody waits any more"))
        ).pipe(permits.withPermit),
      () => leave
    )

  const spans = yield* Cache.makeWith(lookup, {
    capacity: CAPACITY,
    timeToLive: (exit) =>
      Exit.isFailure(exit) || exit.value.unread !== undefined ? 0 : exit.value.isOver ? "1 day" : "1 minute"
  })

  const sharedSpan = (key: string) =>
    // In a fiber of its own, because the lookup ends with its last waiter.
    Cache.get(spans, key).pipe(
      Effect.forkIn(scope),
      Effect.flatMap(Fiber.join),
      Effect.timeoutOrElse({
        duration: Duration.max(rules.patience, rules.deadline),
        orElse: () => unreadable("late", "no answer in time")
      })
    )

  /** The span from this time. Fails when nothing of it before `beforeMs` was read. */
  const spanAt = Effect.fnUntraced(function* (symbol: string, startMs: number, beforeMs: number) {
    const key = `${startMs} ${symbol}`
    const span = yield* Effect.acquireUseRelease(
      addCallers(key, 1),
      () => sharedSpan(key),
      () => addCallers(key, -1)
    )
    return span.unread !== undefined && span.unread.beforeMs >= Math.min(beforeMs, startMs + past.spanMs)
      ? yield* span.unread.fault
      : span
  })

  const page = Effect.fnUntraced(function* ({ beforeMs, fromMs, limit, symbol }: FundingRequest) {
    /** All that was read, with the rates around the page. */
    const found = new Map<number, PastRate>()
    const reads: Array<{ readonly startMs: number; readonly span: Span }> = []
    let missing: CoverageReason | null = null
    let toMs = beforeMs
    const ratesFrom = (firstMs: number) =>
      [...found.values()]
        .filter(({ atMs }) => atMs >= Math.max(firstMs, fromMs) && atMs < toMs)
        .toSorted((a, b) => b.atMs - a.atMs)
    let startMs = Math.floor((beforeMs - 1) / past.spanMs) * past.spanMs
    for (
      let count = 0;
      count < MOST_SPANS && startMs + past.spanMs > fromMs && ratesFrom(startMs + past.spanMs).length <= limit;
      count++
    ) {
      const read = yield* Effect.result(spanAt(symbol, startMs, beforeMs))
      if (Result.isFailure(read)) {
        // What has been read is a page, and the next page begins with the span that failed.
        if (count === 0) {
          return yield* Effect.fail(read.failure)
        }
        break
      }
      const { success: span } = read
      for (const rate of span.rates) {
        found.set(rate.atMs, rate)
      }
      if (count === 0) {
        // Nothing is known of the time since a span that was kept.
        toMs = Math.max(fromMs, Math.min(beforeMs, span.readAtMs))
      }
      const isKept = span.keptFromMs === undefined || Math.max(startMs, fromMs) >= span.keptFromMs
      missing ??= span.isWhole ? (isKept ? null : "resolution_retention") : "source_gap"
      reads.push({ startMs, span })
      startMs = (span.unread?.beforeMs ?? startMs) - past.spanMs
      if (span.unread !== undefined) {
        break
      }
    }
    const readFromMs = startMs + past.spanMs
    const all = ratesFrom(readFromMs)
    const rates = all.slice(0, limit)
    const [newest] = rates
    const last = rates.at(-1)
    const nextBeforeMs = all.length > limit && last !== undefined ? last.atMs : readFromMs > fromMs ? readFromMs : null
    const listedFromMs = Math.max(0, ...reads.map(({ span }) => span.listedFromMs ?? 0))
    const pageMs = { fromMs: Math.max(fromMs, nextBeforeMs ?? fromMs, listedFromMs), toMs }
    const isGappy = listedFromMs < toMs && lacksRate(past.kind, [...found.values()], pageMs)
    const newestRead = reads.find(({ startMs }) => newest !== undefined && newest.atMs >= startMs) ?? reads[0]
    return {
      kind: newest === undefined ? null : past.kind,
      rates,
      nextBeforeMs,
      missing: missing ?? (isGappy ? ("source_gap" as const) : null),
      toMs,
      readAtMs: newestRead?.span.readAtMs ?? null
    }
  })

  return { page }
})
