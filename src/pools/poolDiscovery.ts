/** Searches the pools of a mint on demand and again at an interval, because pools are created. */
import { Clock, Config, Duration, Effect, Exit, Latch, Option, Schedule, Schema, type Scope } from "effect"
import { monotonicMs } from "../domain/loopTime.ts"
import { countSetting, durationSetting } from "../domain/countSetting.ts"
import type { DeriveAddress, Program } from "../programs/Program.ts"
import { type Mint, SOL } from "../domain/Address.ts"
import type { ChainFeed } from "../solana/accounts/ChainFeed.ts"
import { keepRunning } from "../health/keepRunning.ts"
import { SourceMonitor } from "../health/SourceMonitor.ts"
import { SearchRefusals } from "./SearchRefusals.ts"
import { AbsentAddresses } from "./AbsentAddresses.ts"
import { type Load, LoadQueue } from "./LoadQueue.ts"
import { type ListedPools, NOT_LISTED, readIndexedPools } from "./poolIndex/readIndexedPools.ts"
import { mayBeMint } from "./mayBeMint.ts"
import type { PoolCache } from "./PoolCache.ts"
import { type LearnPool, learnPools } from "./learnPools.ts"
import { Requester } from "./Requester.ts"
import { DefaultSearchRate, makeSearchPace } from "./SearchPace.ts"
import type { PoolRefresh } from "./refreshPools.ts"
import { backoff, makeSearch, searchesFor } from "./searchPools.ts"

/** Mints that are loaded at a time, and among them those that are searched again, of which there are many and every minute. */
const UNPACED = { workers: 12, refreshing: 4 }
/** Asked mints that are checked with one read, and such reads in flight. */
const CHECKED_TOGETHER = 100
const CHECKERS = 2
/** Time for which a mint without an account or without a pool is not searched again. */
const ABSENT_FOR = Duration.seconds(60)
/** A pool that cannot be read within this time does not hold up the others of its mint. */
const READ_DEADLINE = Duration.seconds(10)

const IsRate = Schema.makeFilter((value: number) => value > 0 || "must be a number above 0")

/** The same where searches are paced: those of one mint end before the next begin. */
const PACED = { workers: 3, refreshing: 1 }

/** `POOLS_PER_MINT` (512), `WARM_MINTS` (2,000), `POOL_REFRESH` (60 s) and `DISCOVERY_RATE`. */
export const settings = Config.all({
  poolsPerMint: countSetting("POOLS_PER_MINT", 512),
  mints: countSetting("WARM_MINTS", 2000),
  refresh: durationSetting("POOL_REFRESH").pipe(Config.withDefault(Duration.seconds(60))),
  rate: Config.option(Config.schema(Schema.NumberFromString.check(IsRate), "DISCOVERY_RATE"))
})

/** State of a mint that was asked for. */
export type Loading =
  | { readonly _tag: "Loaded" }
  /** It waits or is being loaded, and is probably ready then. */
  | { readonly _tag: "Queued"; readonly readyInMs: number }
  /** Not queued: the requester has too many mints pending. One of them is probably loaded then. */
  | { readonly _tag: "TooMany"; readonly fitsInMs: number }

/** Pool discovery, for the book. */
export interface PoolDiscovery {
  /** Queues the mint on behalf of the `Requester`. */
  readonly warm: (mint: Mint) => Effect.Effect<Loading>
  /** Notes a pool that a trade of a mint names: a loaded mint that lacks it gets it soon. */
  readonly learn: LearnPool
  /** True for a mint that was found to have no account or no pool, and is remembered for a while. */
  readonly isAbsent: (mint: Mint) => boolean
}

const LOADED: Loading = { _tag: "Loaded" }

/** Starts the workers that discover pools and hand them to the cache. */
export const makePoolDiscovery = Effect.fnUntraced(function* (
  cache: PoolCache,
  feed: ChainFeed["Service"],
  programs: ReadonlyArray<Program>,
  derive: DeriveAddress,
  poolRefresh: PoolRefresh
): Effect.fn.Return<PoolDiscovery, Config.ConfigError, Scope.Scope> {
  const { mints, poolsPerMint, rate, refresh } = yield* settings
  const perSecond = Option.getOrElse(rate, yield* Effect.map(DefaultSearchRate, (byDefault) => () => byDefault))
  const pace = yield* makeSearchPace(perSecond)
  const clock = yield* Clock.Clock
  const nowMs = () => monotonicMs(clock)
  const { refreshing, workers } = perSecond === null ? UNPACED : PACED
  const searches = searchesFor(programs, SOL).length
  const queue = new LoadQueue({
    workers,
    refreshing,
    firstPaceMs: perSecond === null ? undefined : (searches / perSecond) * 1000
  })
  const absent = new AbsentAddresses(Duration.toMillis(ABSENT_FOR), nowMs)
  const indexed = yield* readIndexedPools(cache, feed, programs, nowMs)
  // Mints that the service itself needs stay in memory without pools too.
  const kept = new Set<Mint>()
  const queued = yield* Latch.make()
  const unchecked = yield* Latch.make()

  const monitor = yield* SourceMonitor
  const refusals = new SearchRefusals({
    node: () => {
      const { node, readNode = node } = feed.freshness()
      return readNode
    },
    nowMs: () => clock.currentTimeMillisUnsafe(),
    monotonicMs: nowMs
  })
  yield* monitor.report("pool_search", () => refusals.state())
  const search = makeSearch({ cache, feed, programs, derive, pace, refusals, poolsPerMint })

  const forget = (mint: Mint) => {
    cache.forget(mint)
    refusals.forget(mint)
    kept.delete(mint)
    return poolRefresh.wake
  }

  /** Searches the pools of a mint beside those that are listed, and reads them. Returns the programs that were not searched. */
  const look = Effect.fnUntraced(function* (load: Load, listed: ListedPools) {
    const { mint } = load
    const { pools, ...outcome } = yield* search(load, listed)
    cache.setPools(mint, pools, outcome)
    indexed.leaveOut(mint, listed, outcome.leftOut)
    yield* poolRefresh.settled(mint).pipe(Effect.timeoutOption(READ_DEADLINE))
    return outcome.unsearched
  })

  const discover = Effect.fn("PoolBook.load")(function* (load: Load) {
    const { mint } = load
    const listed = yield* indexed.of(mint).pipe(Effect.retry(backoff))
    const unsearched = yield* look(load, listed).pipe(
      // The index is behind the chain: a mint that is newer than it has no pool there.
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

  /** Checks asked mints with one read, instead of a search of every program for each. While it is unknown, a mint exists. */
  const check = Effect.gen(function* () {
    const mints = queue.takeUnchecked(CHECKED_TOGETHER)
    if (mints.length === 0) {
      unchecked.closeUnsafe()
      return yield* unchecked.await
    }
    const startedAtMs = nowMs()
    const read = yield* Effect.exit(feed.read(mints))
    const exists = (mint: Mint) => kept.has(mint) || Exit.isFailure(read) || mayBeMint(read.value.accounts.get(mint))
    queue.checked(mints, exists, nowMs() - startedAtMs)
    mints.filter((mint) => !exists(mint)).forEach((mint) => absent.add(mint))
    queued.openUnsafe()
  })
  yield* check.pipe(
    Effect.forever,
    keepRunning("Checking tokens"),
    Effect.replicateEffect(CHECKERS, { concurrency: CHECKERS }),
    Effect.forkScoped
  )

  const finish = (next: Load, startedAtMs: number) =>
    Effect.sync(() => {
      queue.done(next, nowMs() - startedAtMs)
      queued.openUnsafe()
    })

  const work = Effect.suspend(() => {
    const next = queue.take()
    if (next === undefined) {
      queued.closeUnsafe()
      return queued.await
    }
    const { mint } = next
    return discover(next).pipe(
      Effect.catchTag("ChainUnavailable", (error) => {
        if (!cache.isReady(mint)) {
          kept.delete(mint)
          refusals.forget(mint)
        }
        return Effect.logWarning("Pools of a mint could not be read", {
          mint,
          reason: error.reason,
          detail: error.detail
        })
      }),
      Effect.catchDefect((defect) => Effect.logError("Pool discovery failed", { mint }, defect)),
      Effect.ensuring(finish(next, nowMs()))
    )
  })
  yield* work.pipe(
    Effect.forever,
    keepRunning("Loading pools"),
    Effect.replicateEffect(workers, { concurrency: workers }),
    Effect.forkScoped
  )

  const searchAgain = Effect.sync(() => {
    cache.wanted().forEach((mint) => queue.searchAgain(mint))
    queued.openUnsafe()
  })
  yield* searchAgain.pipe(
    Effect.delay(refresh),
    Effect.repeat(Schedule.forever),
    keepRunning("Searching pools again"),
    Effect.forkScoped
  )

  const warm = (mint: Mint): Effect.Effect<Loading> =>
    Effect.withFiber((fiber): Effect.Effect<Loading> => {
      const requester = fiber.getRef(Requester)
      if (requester === null) {
        kept.add(mint)
        absent.delete(mint)
      }
      if (cache.isReady(mint) || absent.has(mint)) {
        return Effect.succeed(LOADED)
      }
      if (!queue.ask(mint, requester)) {
        return Effect.succeed({ _tag: "TooMany", fitsInMs: queue.fitsInMs(requester) })
      }
      unchecked.openUnsafe()
      queued.openUnsafe()
      return Effect.succeed({ _tag: "Queued", readyInMs: queue.readyInMs(mint) })
    })

  const learn = yield* learnPools(cache, feed, programs, poolsPerMint, poolRefresh.wake)
  return { warm, learn, isAbsent: (mint) => absent.has(mint) }
})
