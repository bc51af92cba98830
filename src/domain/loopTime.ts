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

/** A fiber or queue that waits for a turn. */
interface Waiter {
  /** Null once the fiber is interrupted. */
  run: (() => void) | null
}

/**
 * Waiters, oldest first. An array, not a `Set`: when a set grows or shrinks, its old table points to the new one. One table in
 * the old space then keeps all later tables and their waiters alive until a full collection.
 */
const queue: { waiters: Array<Waiter>; next: number; isArmed: boolean } = { waiters: [], next: 0, isArmed: false }

const arm = (): void => {
  if (!queue.isArmed && queue.next < queue.waiters.length) {
    queue.isArmed = true
    setImmediate(runWaiting)
  }
}

const wait = (waiter: Waiter): void => {
  queue.waiters.push(waiter)
  arm()
}

/** True while nothing waits for a turn. */
export const isQuiet = (): boolean => queue.next >= queue.waiters.length

/** A turn is over once fibers and queues have run for this long together. */
const SHARED_MS = 1

/**
 * Runs the fibers and queues that wait, until a millisecond has passed. The others run after the loop has read its
 * sockets, and so do those that wait again.
 */
const runWaiting = (): void => {
  queue.isArmed = false
  const endMs = performance.now() + SHARED_MS
  const end = queue.waiters.length
  try {
    while (queue.next < end) {
      const run = queue.waiters[queue.next]?.run
      queue.next += 1
      run?.()
      if (performance.now() >= endMs) {
        break
      }
    }
  } finally {
    queue.waiters = queue.waiters.slice(queue.next)
    queue.next = 0
    arm()
  }
}

/**
 * Waits for a turn of the event loop. Fibers continue in the order they came, and share a turn only as long as they take less
 * than a millisecond together. Fibers that merely yield would all continue in the same turn, and together delay the
 * requests that arrive meanwhile.
 */
export const ownTurn: Effect.Effect<void> = Effect.callback<void>((resume) => {
  const waiter: Waiter = { run: () => resume(Effect.void) }
  wait(waiter)
  return Effect.sync(() => {
    waiter.run = null
  })
})

/** Long work waits for its next turn after this time, so that two fibers or queues share a turn. */
const WORK_MS = 0.5
/** The clock is read once for so many items. */
const CLOCK_EVERY = 4

/**
 * Long work in turns of about half a millisecond by the fiber's clock. The first turn begins now. What passes while the fiber
 * waits for something else counts too.
 */
export const makeTurns = Clock.clockWith((clock) =>
  Effect.sync(() => {
    let endMs = monotonicMs(clock) + WORK_MS
    const isOver = () => monotonicMs(clock) >= endMs
    const next = Effect.map(ownTurn, () => {
      endMs = monotonicMs(clock) + WORK_MS
    })
    return {
      /** Waits for the next turn if this one is over. */
      pause: Effect.suspend(() => (isOver() ? next : Effect.void)),

      /** Visits the items in order. The turn may end after each fourth item. */
      visit: Effect.fnUntraced(function* <A>(items: Iterable<A>, visit: (item: A) => void) {
        let visited = 0
        for (const item of items) {
          if (visited > 0 && visited % CLOCK_EVERY === 0 && isOver()) {
            yield* next
          }
          visit(item)
          visited += 1
        }
      })
    }
  })
)

/** Visits the items in order, in turns of about half a millisecond. */
export const visitInTurns = <A>(items: Iterable<A>, visit: (item: A) => void): Effect.Effect<void> =>
  Effect.flatMap(makeTurns, (turns) => turns.visit(items, visit))

/** Runs the steps in turns of about half a millisecond. */
export const stepsInTurns = (steps: Iterable<void>): Effect.Effect<void> => visitInTurns(steps, () => undefined)

/** The part of the waiting items that a queue takes at least when it is its turn, unless it is made without a least part. */
const QUEUE_PART = 8
/** Taken items are dropped from memory so many at a time. */
const TAKEN_AT_ONCE = 1024
/** Beyond this many waiting items, each further one has the oldest taken at once. */
const MOST_QUEUED = 10_000

/**
 * Takes items in their order, in one turn of the event loop about half a millisecond of them, and at least an eighth of those
 * that wait. It shares the turns with the fibers that wait for one. So a burst that a socket delivers at once does not delay
 * the other sockets, and on a busy loop items wait for some turns only. With 10,000 waiting items, the socket has to wait too.
 * Without a least part, a turn takes at least one item, and on a busy loop items may wait for many turns.
 */
export class TurnQueue<A> {
  readonly #take: (item: A) => void
  readonly #waiter: Waiter = { run: () => this.#turn() }
  #isWaiting = false
  readonly #part: number
  #items: Array<A> = []
  #next = 0

  /** Without a least part, something else must bound what waits. */
  constructor(take: (item: A) => void, { hasLeastPart = true }: { readonly hasLeastPart?: boolean } = {}) {
    this.#take = take
    this.#part = hasLeastPart ? QUEUE_PART : Number.POSITIVE_INFINITY
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
    if (!this.#isWaiting && this.#next < this.#items.length) {
      this.#isWaiting = true
      wait(this.#waiter)
    }
  }

  #turn(): void {
    this.#isWaiting = false
    const endMs = performance.now() + WORK_MS
    const least = (this.#items.length - this.#next) / this.#part
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
