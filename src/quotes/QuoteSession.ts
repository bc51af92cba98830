import type { BudgetExceeded, BudgetState } from "../api/schemas/Budget.ts"
import type { SpotQuote } from "../api/schemas/Quote.ts"
import type { Change, CloseReason, Frame, StreamTerms } from "../api/schemas/QuoteStream.ts"

/** The stream ends after this many failed ticks in a row. */
const MOST_ERRORS = 30

/** Why a tick was not priced. */
export interface TickFailure {
  readonly code: string
  readonly message: string
  readonly requestId: string
  readonly retryable: boolean
}

/**
 * Takes a frame. Returns false when the reader is so far behind that there is no room for it. `close` always has room.
 */
export type Sink = (frame: Frame) => boolean

const hasSameRoute = (before: SpotQuote, now: SpotQuote): boolean =>
  before.route.length === now.route.length &&
  before.route.every(({ inputMint, percent, pool }, i) => {
    const hop = now.route[i]
    return hop?.pool === pool && hop.inputMint === inputMint && hop.percent === percent
  })

const changesBetween = (before: SpotQuote | null, now: SpotQuote): ReadonlyArray<Change> => {
  if (before === null) {
    return ["first"]
  }
  const changes: Array<Change> = []
  if (before.outAmount !== now.outAmount) {
    changes.push("outAmount")
  }
  if (before.inAmount !== now.inAmount) {
    changes.push("inAmount")
  }
  if (!hasSameRoute(before, now)) {
    changes.push("route")
  }
  if (before.clamped !== now.clamped) {
    changes.push("clamped")
  }
  return changes
}

/** One quote stream. Numbers the frames, keeps the counts and decides which frame ends the stream. */
export class QuoteSession {
  readonly #terms: StreamTerms
  readonly #streamId: string
  readonly #sink: Sink
  #seq = 0
  #closed = false
  #last: SpotQuote | null = null
  #throttled = false
  #errorsInARow = 0
  #counts = { ticks: 0, emitted: 0, suppressed: 0, errors: 0, throttledTicks: 0, skippedTicks: 0, unitsCharged: 0 }
  #startedAtMs = 0

  constructor(streamId: string, terms: StreamTerms, sink: Sink) {
    this.#streamId = streamId
    this.#terms = terms
    this.#sink = sink
  }

  /** True once the last frame is written. Later events are dropped. */
  get closed(): boolean {
    return this.#closed
  }

  /** Writes the first frame and starts the grid of ticks. `budget` is the state before the first tick. */
  open(budget: Omit<BudgetState, "budget">, nowMs: number): void {
    this.#startedAtMs = nowMs
    const { limit, remaining, resetAtMs } = budget
    this.#emit(
      {
        event: "open",
        data: {
          ...this.#head(nowMs),
          ...this.#terms,
          endsAtMs: nowMs + this.#terms.durationSeconds * 1000,
          costPerTick: 1,
          budget: { limit, remaining, resetAtMs }
        }
      },
      nowMs
    )
  }

  /** Records a tick that was priced and charged. */
  quoted(tick: number, quote: SpotQuote, budgetRemaining: number, nowMs: number): void {
    this.#admitted(1)
    this.#errorsInARow = 0
    const changed = changesBetween(this.#last, quote)
    this.#last = quote
    if (this.#terms.changesOnly && changed.length === 0) {
      this.#counts.suppressed++
      return
    }
    this.#counts.emitted++
    this.#emit(
      {
        event: "quote",
        // Listed, not spread: the frame of every tick is made here.
        data: { streamId: this.#streamId, seq: this.#seq, atMs: nowMs, tick, changed, budgetRemaining, quote }
      },
      nowMs
    )
  }

  /** Records a tick that was not priced. `units` is what it cost nevertheless. */
  failed(tick: number, failure: TickFailure, units: 0 | 1, nowMs: number): void {
    this.#admitted(units)
    this.#counts.errors++
    this.#errorsInARow++
    const { code, message, requestId, retryable } = failure
    this.#emit(
      { event: "error", data: { ...this.#head(nowMs), tick, error: { code, message }, requestId, retryable } },
      nowMs
    )
    if (!retryable || this.#errorsInARow >= MOST_ERRORS) {
      this.close("failed", nowMs)
    }
  }

  /** Records a tick that the budget refused. Only the first one in a row sends a frame. */
  throttled(tick: number, { limit, remaining, fitsAtMs }: BudgetExceeded, nowMs: number): void {
    this.#counts.throttledTicks++
    if (this.#throttled) {
      return
    }
    this.#throttled = true
    const { intervalMs } = this.#terms
    const ticksUntil = Math.max(tick + 1, Math.ceil((fitsAtMs - this.#startedAtMs) / intervalMs))
    this.#emit(
      {
        event: "throttled",
        data: {
          ...this.#head(nowMs),
          tick,
          limit,
          remaining,
          resetAtMs: fitsAtMs,
          retryAfterMs: Math.max(0, fitsAtMs - nowMs),
          nextTickAtMs: this.#startedAtMs + ticksUntil * intervalMs
        }
      },
      nowMs
    )
  }

  /** Counts grid points that passed without a tick. */
  skipped(points: number): void {
    this.#counts.skippedTicks += points
  }

  /** Writes the last frame. Only the first call counts. */
  close(reason: CloseReason, nowMs: number): void {
    if (!this.#closed) {
      this.#write({
        event: "close",
        data: {
          ...this.#head(nowMs),
          reason,
          ...this.#counts,
          lastQuoteAtMs: this.#last?.quotedAtMs ?? null
        }
      })
      this.#closed = true
    }
  }

  #admitted(units: 0 | 1): void {
    this.#counts.ticks++
    this.#counts.unitsCharged += units
    this.#throttled = false
  }

  /** The fields of every frame. */
  #head(nowMs: number) {
    return { streamId: this.#streamId, seq: this.#seq, atMs: nowMs }
  }

  #emit(frame: Frame, nowMs: number): void {
    if (!this.#closed && !this.#write(frame)) {
      this.close("slow_consumer", nowMs)
    }
  }

  #write(frame: Frame): boolean {
    const taken = this.#sink(frame)
    this.#seq += taken ? 1 : 0
    return taken
  }
}
