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

/** A clock that `forward` sets ahead, its wall time and its monotonic time alike. Deadlines and tasks keep their time. */
export const movable = Effect.map(Clock.Clock, (clock) => {
  let aheadMs = 0
  const wallMs = () => clock.currentTimeMillisUnsafe() + aheadMs
  const ahead = (nanos: bigint) => nanos + BigInt(aheadMs) * 1_000_000n
  const moved: Clock.Clock & { readonly forward: (duration: Duration.Duration) => void } = {
    forward: (duration) => {
      aheadMs += Duration.toMillis(duration)
    },
    currentTimeMillisUnsafe: wallMs,
    currentTimeMillis: Effect.sync(wallMs),
    currentTimeNanosUnsafe: () => ahead(clock.currentTimeNanosUnsafe()),
    currentTimeNanos: Effect.sync(() => ahead(clock.currentTimeNanosUnsafe())),
    monotonicTimeNanosUnsafe: () => ahead(clock.monotonicTimeNanosUnsafe()),
    monotonicTimeNanos: Effect.sync(() => ahead(clock.monotonicTimeNanosUnsafe())),
    sleep: (duration) => clock.sleep(duration)
  }
  return moved
})

/** A clock whose wall time `back` sets back, while its monotonic time, deadlines and tasks go on. */
export const settable = Effect.map(Clock.Clock, (clock) => {
  let behindMs = 0
  const wallMs = () => clock.currentTimeMillisUnsafe() - behindMs
  const set: Clock.Clock & { readonly back: (duration: Duration.Duration) => void } = {
    ...clock,
    back: (duration) => {
      behindMs += Duration.toMillis(duration)
    },
    currentTimeMillisUnsafe: wallMs,
    currentTimeMillis: Effect.sync(wallMs)
  }
  return set
})
