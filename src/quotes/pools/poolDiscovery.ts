/** Searches the pools of a mint on demand, and again at intervals because new pools are created. */
import { Clock, Config, Duration, Effect, Exit, Latch, Option, Schedule, Schema, type Scope } from "effect"
import { monotonicMs } from "../../domain/loopTime.ts"
import { countSetting, durationSetting, NumberText } from "../../domain/countSetting.ts"
import type { DeriveAddress, Program } from "../../programs/interface/Program.ts"
import { type Mint, SOL } from "../../domain/Address.ts"
import type { ChainFeed } from "../../chain/ChainFeed.ts"
import { keepRunning } from "../../operations/keepRunning.ts"
import { SourceMonitor } from "../../operations/SourceMonitor.ts"
import { SearchRefusals } from "./SearchRefusals.ts"
import { AbsentAddresses } from "./AbsentAddresses.ts"
import { type Load, LoadQueue } from "./LoadQueue.ts"
import { makeLoad } from "./loadPools.ts"
import { mayBeMint } from "./mayBeMint.ts"
import type { PoolCache } from "./PoolCache.ts"
import { type LearnPool, learnPools } from "./learnPools.ts"
import { Requester } from "./Requester.ts"
import { DefaultSearchRate, makeSearchPace } from "./SearchPace.ts"
import type { PoolRefresh } from "./refreshPools.ts"
import { makeSearch, searchesFor } from "./searchPools.ts"

/**
 * How many mints are loaded at a time, and how many of them may be mints that are only searched again, which come up
 * in large numbers every minute.
 */
const UNPACED = { workers: 12, refreshing: 4 }
/** How many requested mints one read checks, and how many reads run at a time. */
const CHECKED_TOGETHER = 100
const CHECKERS = 2
/** A mint without an account or a pool is not searched again for this long. */
const ABSENT_FOR = Duration.seconds(60)

const IsRate = Schema.makeFilter((value: number) => value > 0 || "must be a number above 0")

/** Like `UNPACED`, for a limited rate of searches: one mint's searches then end before the next mint's begin. */
const PACED = { workers: 3, refreshing: 1 }

/** `POOLS_PER_MINT` (512), `WARM_MINTS` (2,000), `POOL_REFRESH` (60 s) and `DISCOVERY_RATE`. */
export const settings = Config.all({
  poolsPerMint: countSetting("POOLS_PER_MINT", 512),
  mints: countSetting("WARM_MINTS", 2000),
  refresh: durationSetting("POOL_REFRESH").pipe(Config.withDefault(Duration.seconds(60))),
  rate: Config.option(Config.schema(NumberText.check(IsRate), "DISCOVERY_RATE"))
})

/** State of a requested mint. */
export type Loading =
  | { readonly _tag: "Loaded" }
  /** It waits or is being loaded. `readyInMs` is an estimate. */
  | { readonly _tag: "Queued"; readonly readyInMs: number }
  /** Not queued, because the requester has too many mints pending. `fitsInMs` estimates when one of them is loaded. */
  | { readonly _tag: "TooMany"; readonly fitsInMs: number }

/** What the book needs of discovery. */
export interface PoolDiscovery {
  /** Queues the mint on behalf of the `Requester`. */
  readonly warm: (mint: Mint) => Effect.Effect<Loading>
  /**
   * Reports a pool that a trade of a mint names. If the mint is loaded and lacks the pool, the pool is added soon.
   */
  readonly learn: LearnPool
  /** True while the mint is remembered as having no account or no pool. */
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
  // Mints that the service itself needs stay in memory even without pools.
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
  const load = yield* makeLoad({ cache, feed, programs, search, refusals, poolRefresh, mints, absent, kept, nowMs })

  /**
   * Checks requested mints with one read, instead of searching every program for each. While it is unknown whether a
   * mint exists, it counts as existing.
   */
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
    return load(next).pipe(
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
