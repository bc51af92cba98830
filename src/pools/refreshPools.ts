/** The background work on the shelf: decode what changed, follow what decoding asks for, tell who waits. */
import { Clock, Deferred, Effect, type Latch, Metric, type Scope } from "effect"
import type { Mint } from "../domain/Address.ts"
import type { Follower } from "../solana/accounts/ChainHub.ts"
import type { PoolCache } from "./PoolCache.ts"

/** Decoding never holds up requests for longer than this at a time. */
const TURN_NANOS = 1_000_000n

const faultCount = Metric.counter("pool_decode_faults", {
  description: "Pools that turned out malformed.",
  incremental: true
})

/** What tending offers to discovery. */
export interface PoolRefresh {
  /** Says that the shelf was changed by hand. */
  readonly wake: Effect.Effect<void>
  /** Waits until every pool of the mint has been read as far as it can be. */
  readonly settled: (mint: Mint) => Effect.Effect<void>
}

const decodeForOneTurn = (shelf: PoolCache, time: Clock.Clock): boolean => {
  const startedAt = time.monotonicTimeNanosUnsafe()
  let more = true
  while (more && time.monotonicTimeNanosUnsafe() - startedAt < TURN_NANOS) {
    more = shelf.refreshNext()
  }
  return more
}

/** Runs until the scope ends; `changed` is opened by whoever changes the shelf. */
export const refreshPools = Effect.fnUntraced(function* (
  shelf: PoolCache,
  feed: Pick<Follower, "watch" | "unwatch">,
  changed: Latch.Latch
): Effect.fn.Return<PoolRefresh, never, Scope.Scope> {
  const waiting = new Map<Mint, Deferred.Deferred<void>>()
  const time = yield* Clock.Clock

  const follow = Effect.fnUntraced(function* () {
    const { watch, unwatch } = shelf.takeChanges()
    if (watch.length > 0) {
      yield* feed.watch(watch)
    }
    if (unwatch.length > 0) {
      yield* feed.unwatch(unwatch)
    }
    for (const fault of shelf.takeFaults()) {
      yield* Metric.update(faultCount, 1)
      yield* Effect.logWarning("Refused a malformed pool", fault)
    }
    for (const [mint, done] of waiting) {
      if (shelf.isSettled(mint)) {
        waiting.delete(mint)
        Deferred.doneUnsafe(done, Effect.void)
      }
    }
  })

  const turn = Effect.gen(function* () {
    yield* changed.await
    changed.closeUnsafe()
    while (decodeForOneTurn(shelf, time)) {
      yield* Effect.yieldNow
    }
    yield* follow()
  })
  yield* turn.pipe(
    Effect.catchDefect((defect) => Effect.logError("Tending the pools failed", defect)),
    Effect.forever,
    Effect.forkScoped({ startImmediately: true })
  )

  const settled = (mint: Mint) =>
    Effect.suspend(() => {
      const done = waiting.get(mint) ?? Deferred.makeUnsafe<void>()
      waiting.set(mint, done)
      changed.openUnsafe()
      return Deferred.await(done)
    })

  return { wake: Effect.sync(() => void changed.openUnsafe()), settled }
})
