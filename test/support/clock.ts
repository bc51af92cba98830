import { Clock, Duration, Effect } from "effect"

/** Runs at that moment of the wall clock. Deadlines and tasks of what runs keep their time. */
export const at = (nowMs: number) =>
  Effect.provideServiceEffect(
    Clock.Clock,
    Effect.map(Clock.Clock, (clock): Clock.Clock => ({
      currentTimeMillisUnsafe: () => nowMs,
      currentTimeMillis: Effect.succeed(nowMs),
      currentTimeNanosUnsafe: () => BigInt(nowMs) * 1_000_000n,
      currentTimeNanos: Effect.succeed(BigInt(nowMs) * 1_000_000n),
      monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
      monotonicTimeNanos: clock.monotonicTimeNanos,
      sleep: (duration) => clock.sleep(duration)
    }))
  )

const later = (nanos: bigint, ms: number) => nanos + BigInt(ms) * 1_000_000n

/**
 * A clock for tests. `forward` moves the wall time and the monotonic time ahead; `shift` moves only the wall time, as a
 * clock correction does. Deadlines and tasks keep their time.
 */
export const movable = Effect.map(Clock.Clock, (clock) => {
  const by = { wallMs: 0, monotonicMs: 0 }
  const wallMs = () => clock.currentTimeMillisUnsafe() + by.wallMs
  const wallNanos = () => later(clock.currentTimeNanosUnsafe(), by.wallMs)
  const monotonicNanos = () => later(clock.monotonicTimeNanosUnsafe(), by.monotonicMs)
  const shift = (ms: number) => {
    by.wallMs += ms
  }
  const moved: Clock.Clock & {
    readonly forward: (duration: Duration.Duration) => void
    readonly shift: (ms: number) => void
  } = {
    // The test clock has further methods.
    ...clock,
    shift,
    forward: (duration) => {
      shift(Duration.toMillis(duration))
      by.monotonicMs += Duration.toMillis(duration)
    },
    currentTimeMillisUnsafe: wallMs,
    currentTimeMillis: Effect.sync(wallMs),
    currentTimeNanosUnsafe: wallNanos,
    currentTimeNanos: Effect.sync(wallNanos),
    monotonicTimeNanosUnsafe: monotonicNanos,
    monotonicTimeNanos: Effect.sync(monotonicNanos),
    sleep: (duration) => clock.sleep(duration)
  }
  return moved
})
