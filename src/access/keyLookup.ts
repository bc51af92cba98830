/** Look-ups of keys that are not cached, in batches: many requests with many secrets cost the database few queries. */
import { Clock, Deferred, Duration, Effect, Exit, Latch, type Scope, Semaphore } from "effect"
import type { ApiKey, KeyStoreUnavailable } from "../api/schemas/ApiKey.ts"
import { keepRunning } from "../operations/keepRunning.ts"
import type { KeyCache } from "./KeyCache.ts"

/** Pause between the starts of two queries. It limits them to 50 a second. */
const QUERY_EVERY = Duration.millis(20)
/** Hashes of one query. */
const BATCH_SIZE = 1000
/** Queries in flight. A query that hangs does not hold up the others. */
const IN_FLIGHT = 4

interface Pending {
  /** Other hashes of the same secret. The key may be stored under one of them. */
  readonly earlier: ReadonlyArray<string>
  readonly done: Deferred.Deferred<ApiKey | null, KeyStoreUnavailable>
}

/** How a look-up reads the cache and the database. */
export interface KeySource {
  readonly cache: Pick<KeyCache, "remember" | "version">
  /** The cached key; undefined when it is not cached or the cache cannot be trusted. */
  readonly cached: (hash: string, nowMs: number) => ApiKey | null | undefined
  /**
   * Finds keys by their hashes in one query. `earlier` maps each other hash of a secret to its first hash. Ends within
   * the deadline of a request.
   */
  readonly byHashes: (
    hashes: ReadonlyArray<string>,
    earlier: ReadonlyMap<string, string>
  ) => Effect.Effect<ReadonlyMap<string, ApiKey>, KeyStoreUnavailable>
}

/**
 * Returns the look-up of a hash. Its result is null when there is no such key. Requests for the same hash share a
 * query. A request joins only queries that have not started, so the result is never older than the request.
 */
export const makeKeyLookup = Effect.fnUntraced(function* ({
  byHashes,
  cache,
  cached
}: KeySource): Effect.fn.Return<
  (hash: string, earlier?: ReadonlyArray<string>) => Effect.Effect<ApiKey | null, KeyStoreUnavailable>,
  never,
  Scope.Scope
> {
  const waiting = new Map<string, Pending>()
  const requested = yield* Latch.make()
  const slots = yield* Semaphore.make(IN_FLIGHT)

  /** Takes the oldest requests. Requests that an earlier query has answered are completed from the cache. */
  const takeBatch = (nowMs: number): ReadonlyMap<string, Pending> => {
    const batch = new Map<string, Pending>()
    for (const [hash, pending] of waiting) {
      if (batch.size === BATCH_SIZE) {
        break
      }
      waiting.delete(hash)
      const key = cached(hash, nowMs)
      if (key === undefined) {
        batch.set(hash, pending)
      } else {
        Deferred.doneUnsafe(pending.done, Exit.succeed(key))
      }
    }
    return batch
  }

  const query = Effect.fnUntraced(function* (batch: ReadonlyMap<string, Pending>) {
    const version = cache.version
    const earlier = new Map(
      Array.from(batch).flatMap(([hash, pending]) => pending.earlier.map((other) => [other, hash] as const))
    )
    const found = yield* Effect.exit(byHashes(Array.from(batch.keys()), earlier))
    const nowMs = yield* Clock.currentTimeMillis
    for (const [hash, pending] of batch) {
      const key = Exit.map(found, (keys) => keys.get(hash) ?? null)
      if (Exit.isSuccess(key)) {
        cache.remember(hash, key.value, version, nowMs)
      }
      Deferred.doneUnsafe(pending.done, key)
    }
  })

  const turn = Effect.gen(function* () {
    yield* requested.await
    yield* slots.take(1)
    const batch = yield* Effect.map(Clock.currentTimeMillis, takeBatch).pipe(Effect.onError(() => slots.release(1)))
    if (waiting.size === 0) {
      requested.closeUnsafe()
    }
    if (batch.size === 0) {
      return yield* slots.release(1)
    }
    yield* query(batch).pipe(Effect.ensuring(slots.release(1)), Effect.forkScoped)
    yield* Effect.sleep(QUERY_EVERY)
  })
  yield* turn.pipe(Effect.forever, keepRunning("Looking up keys"), Effect.forkScoped)

  return (hash, earlier = []) =>
    Effect.suspend(() => {
      const pending: Pending = waiting.get(hash) ?? { earlier, done: Deferred.makeUnsafe() }
      waiting.set(hash, pending)
      requested.openUnsafe()
      return Deferred.await(pending.done)
    })
})
