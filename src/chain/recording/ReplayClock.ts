/** The time of a replay: wall time is the recorded time of what arrived last. Deadlines and pauses keep their length. */
import { type Clock, type Duration, Effect } from "effect"

export class ReplayClock implements Clock.Clock {
  readonly #real: Clock.Clock
  #nowMs: number

  constructor(real: Clock.Clock, startMs: number) {
    this.#real = real
    this.#nowMs = startMs
  }

  /** Moves the time on to this moment. Never moves it back. */
  advance(nowMs: number): void {
    this.#nowMs = Math.max(this.#nowMs, nowMs)
  }

  currentTimeMillisUnsafe(): number {
    return this.#nowMs
  }

  readonly currentTimeMillis: Effect.Effect<number> = Effect.sync(() => this.#nowMs)

  currentTimeNanosUnsafe(): bigint {
    return BigInt(this.#nowMs) * 1_000_000n
  }

  readonly currentTimeNanos: Effect.Effect<bigint> = Effect.sync(() => this.currentTimeNanosUnsafe())

  monotonicTimeNanosUnsafe(): bigint {
    return this.#real.monotonicTimeNanosUnsafe()
  }

  readonly monotonicTimeNanos: Effect.Effect<bigint> = Effect.sync(() => this.#real.monotonicTimeNanosUnsafe())

  sleep(duration: Duration.Duration): Effect.Effect<void> {
    return this.#real.sleep(duration)
  }
}
