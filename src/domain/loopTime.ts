/** Time limits that allow for a busy event loop, fair turns on the loop, and the monotonic clock. */
import { Clock, Duration, Effect, Exit } from "effect"

/** The monotonic clock in milliseconds. Changing the system date does not affect it. */
export const monotonicMs = (clock: Clock.Clock): number => Number(clock.monotonicTimeNanosUnsafe()) / 1e6

/**
 * Decides with the given clock at once, so that a decision in memory is an `Exit`; without one, with the fiber's clock. A
 * decision that throws is a defect in both cases.
 */
export const withClock = <A, E, R>(
  clock: Clock.Clock | undefined,
  decide: (clock: Clock.Clock) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> => {
  if (clock === undefined) {
    return Clock.clockWith(decide)
  }
  try {
    return decide(clock)
  } catch (defect) {
    return Exit.die(defect)
  }
}

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
    setImmediate(runWaiting)
  }
}

/** A turn is over once fibers have run for this long together. */
const SHARED_MS = 1

/**
 * Runs the fibers that wait, until a millisecond has passed. The others run after the loop has read its sockets, and so
 * do those that wait again.
 */
const runWaiting = (): void => {
  turns.isArmed = false
  const endMs = performance.now() + SHARED_MS
  for (const next of Array.from(waiting)) {
    waiting.delete(next)
    next()
    if (performance.now() >= endMs) {
      break
    }
  }
  arm()
}

/**
 * Waits for a turn of the event loop. Fibers continue in the order they came, and share a turn only as long as they take less
 * than a millisecond together. Fibers that merely yield would all continue in the same turn, and together delay the
 * requests that arrive meanwhile.
 */
export const ownTurn: Effect.Effect<void> = Effect.callback<void>((resume) => {
  const start = () => resume(Effect.void)
  waiting.add(start)
  arm()
  return Effect.sync(() => waiting.delete(start))
})

/** A turn of a queue is over after this time, and once this part of the waiting items is taken. */
const QUEUE_TURN_MS = 1
const QUEUE_PART = 8
/** Taken items are dropped from memory so many at a time. */
const TAKEN_AT_ONCE = 1024
/** Beyond this many waiting items, each further one has the oldest taken at once. */
const MOST_QUEUED = 10_000

/**
 * Takes items in their order, in one turn of the event loop about a millisecond of them, and at least an eighth of those that
 * wait. So a burst that a socket delivers at once does not delay the other sockets, and on a busy loop items wait for some
 * turns only. With 10,000 waiting items, the socket has to wait too.
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
    const least = (this.#items.length - this.#next) / QUEUE_PART
    try {
      for (let taken = 0; this.#next < this.#items.length; taken++) {
        if (taken >= least && taken > 0 && performance.now() >= endMs) {
          break
        }
        this.#takeNext()
      }
    } finally {
      this.#arm()
    }
  }

  #takeNext(): void {
    const item = this.#items[this.#next]
    this.#next++
    if (this.#next >= this.#items.length || this.#next >= TAKEN_AT_ONCE) {
      this.#items = this.#items.slice(this.#next)
      this.#next = 0
    }
    if (item !== undefined) {
      this.#take(item)
    }
  }
}
