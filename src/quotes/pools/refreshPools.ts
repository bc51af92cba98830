/** Background work on the pool cache: decodes changed pools, watches the accounts they need, and wakes waiters. */
import { Clock, Deferred, Effect, type Latch, Metric, type Scope } from "effect"
import type { Mint } from "../../domain/Address.ts"
import { ownTurn } from "../../domain/loopTime.ts"
import { keepGoing } from "../../operations/keepRunning.ts"
import type { Follower } from "../../chain/accounts/ChainHub.ts"
import type { PoolCache } from "./PoolCache.ts"

/** How long decoding may run without a pause, in nanoseconds. */
const TURN_NANOS = 1_000_000n

const faultCount = Metric.counter("fathom_pool_decode_faults_total", {
  description: "Pools that turned out malformed when they were decoded: those that are read, and new ones.",
  incremental: true
})

/** What discovery needs of the background work. */
export interface PoolRefresh {
  /** Call it after changing the cache directly. */
  readonly wake: Effect.Effect<void>
  /** Waits until every pool of the mint is priced, or refused for a lasting reason. */
  readonly settled: (mint: Mint) => Effect.Effect<void>
}

const decodeForOneTurn = (cache: PoolCache, time: Clock.Clock): boolean => {
  const startedAt = time.monotonicTimeNanosUnsafe()
  let more = true
  while (more && time.monotonicTimeNanosUnsafe() - startedAt < TURN_NANOS) {
    more = cache.refreshNext()
  }
  return more
}

/** Runs until the scope closes. Every change of the cache must open `changed`. */
export const refreshPools = Effect.fnUntraced(function* (
  cache: PoolCache,
  feed: Pick<Follower, "watch" | "unwatch">,
  changed: Latch.Latch
): Effect.fn.Return<PoolRefresh, never, Scope.Scope> {
  const waiting = new Map<Mint, Deferred.Deferred<void>>()
  const time = yield* Clock.Clock

  const syncWatches = Effect.fnUntraced(function* () {
    const { watch, unwatch } = cache.takeChanges()
    if (watch.length > 0) {
      yield* feed.watch(watch)
    }
    if (unwatch.length > 0) {
      yield* feed.unwatch(unwatch)
    }
    for (const fault of cache.takeFaults()) {
      yield* Metric.update(faultCount, 1)
      yield* Effect.logWarning("Refused a malformed pool", fault)
    }
    for (const [mint, done] of waiting) {
      if (cache.isSettled(mint)) {
        waiting.delete(mint)
        Deferred.doneUnsafe(done, Effect.void)
      }
    }
  })

  const turn = Effect.gen(function* () {
    yield* changed.await
    changed.closeUnsafe()
    while (decodeForOneTurn(cache, time)) {
      yield* ownTurn
    }
    yield* syncWatches()
  })
  yield* turn.pipe(keepGoing("Refreshing the pools"), Effect.forever, Effect.forkScoped({ startImmediately: true }))

  const settled = (mint: Mint) =>
    Effect.suspend(() => {
      const done = waiting.get(mint) ?? Deferred.makeUnsafe<void>()
      waiting.set(mint, done)
      changed.openUnsafe()
      return Deferred.await(done)
    })

  return { wake: Effect.sync(() => void changed.openUnsafe()), settled }
})
