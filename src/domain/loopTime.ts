/** Time limits that allow for a busy event loop, fair turns on the loop, and the monotonic clock. */
import { Clock, Duration, Effect } from "effect"

/** The monotonic clock in milliseconds. Changing the system date does not affect it. */
export const monotonicMs = (clock: Clock.Clock): number => Number(clock.monotonicTimeNanosUnsafe()) / 1e6

/** Decides with the given clock at once, so that a decision in memory is an `Exit`; without one, with the fiber's clock. */
export const withClock = <A, E, R>(
  clock: Clock.Clock | undefined,
  decide: (clock: Clock.Clock) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> => (clock === undefined ? Clock.clockWith(decide) : decide(clock))

const TURN_MS = 50
const LEAST_TURNS = 4
const MOST_TURNS = 8

/**
 * Sleeps for `limit` in four to eight timers, one after the other. A busy loop delays each of them and reads its
 * sockets in between. An answer that arrived in time is therefore seen before the sleep ends.
 */
export const sleepInTurns = (limit: Duration.Input): Effect.Effect<void> => {
  const ms = Duration.toMillis(limit)
  const turns = Math.min(MOST_TURNS, Math.max(LEAST_TURNS, Math.ceil(ms / TURN_MS)))
  return Effect.asVoid(Effect.replicateEffect(Effect.sleep(Duration.millis(ms / turns)), turns, { discard: true }))
}

/**
 * Returns the effect's result, or the result of `late` when the effect takes longer than `limit` (see
 * `sleepInTurns`).
 */
export const withinTurns =
  <B, E2, R2>(limit: Duration.Input, late: Effect.Effect<B, E2, R2>) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A | B, E | E2, R | R2> =>
    Effect.raceFirst(effect, Effect.andThen(sleepInTurns(limit), late))

const waiting = new Set<() => void>()
const turns = { isArmed: false }

const arm = (): void => {
  if (!turns.isArmed && waiting.size > 0) {
    turns.isArmed = true
    setImmediate(runFirst)
  }
}

/** Runs the first waiting fiber. The next one runs after the loop has read its sockets. */
const runFirst = (): void => {
  turns.isArmed = false
  const [first] = waiting
  if (first !== undefined) {
    waiting.delete(first)
    first()
  }
  arm()
}

/**
 * Waits for a turn of the event loop that no other fiber waiting here shares. Fibers continue in the order they came,
 * one per turn. Fibers that merely yield would all continue in the same turn, and together delay the requests that
 * arrive meanwhile.
 */
export const ownTurn: Effect.Effect<void> = Effect.callback<void>((resume) => {
  const start = () => resume(Effect.void)
  waiting.add(start)
  arm()
  return Effect.sync(() => waiting.delete(start))
})

/** A turn of a queue is over after this time. */
const QUEUE_TURN_MS = 1
/** Beyond this many waiting items, each further one has the oldest taken at once. */
const MOST_QUEUED = 10_000

/**
 * Takes items in their order, about a millisecond of them in one turn of the event loop. So a burst that a socket delivers at
 * once does not delay the other sockets. A loop that is too slow is slowed down further instead of filling the memory.
 */
export class TurnQueue<A> {
  readonly #take: (item: A) => void
  #items: Array<A> = []
  #next = 0
  #isArmed = false

  constructor(take: (item: A) => void) {
    this.#take = take
  }

  push(item: A): void {
    this.#items.push(item)
    if (this.#items.length - this.#next > MOST_QUEUED) {
      this.#takeNext()
    }
    this.#arm()
  }

  /** Takes all that wait. */
  flush(): void {
    while (this.#next < this.#items.length) {
      this.#takeNext()
    }
  }

  /** Drops all that wait. */
  clear(): void {
    this.#items = []
    this.#next = 0
  }

  #arm(): void {
    if (!this.#isArmed && this.#next < this.#items.length) {
      this.#isArmed = true
      setImmediate(() => this.#turn())
    }
  }

  #turn(): void {
    this.#isArmed = false
    const endMs = performance.now() + QUEUE_TURN_MS
    try {
      do {
        this.#takeNext()
      } while (performance.now() < endMs && this.#next < this.#items.length)
    } finally {
      this.#arm()
    }
  }

  #takeNext(): void {
    const item = this.#items[this.#next]
    this.#next++
    if (this.#next >= this.#items.length || this.#next > MOST_QUEUED) {
      this.#items = this.#items.slice(this.#next)
      this.#next = 0
    }
    if (item !== undefined) {
      this.#take(item)
    }
  }
}
