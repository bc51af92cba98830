/**
 * Loads the pools of one mint: looks them up in the index, searches and reads them, and decides whether the mint
 * stays in memory.
 */
import { Duration, Effect } from "effect"
import type { Mint } from "../../domain/Address.ts"
import type { ChainFeed } from "../../chain/ChainFeed.ts"
import type { ChainUnavailable } from "../../chain/ChainUnavailable.ts"
import type { Program } from "../../programs/interface/Program.ts"
import type { AbsentAddresses } from "./AbsentAddresses.ts"
import type { Load } from "./LoadQueue.ts"
import type { PoolCache } from "./PoolCache.ts"
import { type ListedPools, NOT_LISTED, readIndexedPools } from "./readIndexedPools.ts"
import type { PoolRefresh } from "./refreshPools.ts"
import type { SearchRefusals } from "./SearchRefusals.ts"
import { backoff, type makeSearch } from "./searchPools.ts"

/** A pool that takes longer to read does not hold up the mint's other pools. */
const READ_DEADLINE = Duration.seconds(10)

interface LoadParts {
  readonly cache: PoolCache
  readonly feed: Pick<ChainFeed["Service"], "read" | "freshness">
  readonly programs: ReadonlyArray<Program>
  readonly search: ReturnType<typeof makeSearch>
  readonly refusals: SearchRefusals
  readonly poolRefresh: PoolRefresh
  /** How many mints stay in memory. */
  readonly mints: number
  /** Mints that have no account or no pool. */
  readonly absent: AbsentAddresses
  /** Mints that the service itself needs. They stay in memory even without pools. */
  readonly kept: Set<Mint>
  readonly nowMs: () => number
}

/** Returns the load of one mint. */
export const makeLoad = Effect.fnUntraced(function* ({
  absent,
  cache,
  feed,
  kept,
  mints,
  nowMs,
  poolRefresh,
  programs,
  refusals,
  search
}: LoadParts): Effect.fn.Return<(load: Load) => Effect.Effect<void, ChainUnavailable>> {
  const indexed = yield* readIndexedPools(cache, feed, programs, nowMs)

  const forget = (mint: Mint) => {
    cache.forget(mint)
    refusals.forget(mint)
    kept.delete(mint)
    return poolRefresh.wake
  }

  /**
   * Searches for the mint's pools that are not listed, and reads all of them. Returns the programs that were not
   * searched.
   */
  const look = Effect.fnUntraced(function* (load: Load, listed: ListedPools) {
    const { mint } = load
    const { pools, ...outcome } = yield* search(load, listed)
    cache.setPools(mint, pools, outcome)
    indexed.leaveOut(mint, listed, outcome.leftOut)
    yield* poolRefresh.settled(mint).pipe(Effect.timeoutOption(READ_DEADLINE))
    return outcome.unsearched
  })

  return Effect.fn("PoolBook.load")(function* (load: Load) {
    const { mint } = load
    const listed = yield* indexed.of(mint).pipe(Effect.retry(backoff))
    const unsearched = yield* look(load, listed).pipe(
      // The index is behind the chain: a mint newer than the index has no pools in it.
      Effect.flatMap((those) =>
        cache.isEmpty(mint) && listed.whole.size > 0 ? look(load, NOT_LISTED) : Effect.succeed(those)
      )
    )
    if (cache.isEmpty(mint) && !kept.has(mint) && unsearched.size === 0) {
      absent.add(mint)
      return yield* forget(mint)
    }
    cache.setReady(mint)
    const evicted = cache.evictable(mints)
    yield* evicted === undefined ? Effect.void : forget(evicted)
    yield* Effect.logDebug("Pools loaded", { mint, pools: cache.foundOf(mint).length, leftOut: cache.leftOut(mint) })
  })
})
