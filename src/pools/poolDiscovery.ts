/** Searches the pools of a mint on demand and again at an interval, because pools are created. */
import { Config, Duration, Effect, Queue, Schedule, type Scope } from "effect"
import type { DeriveAddress, Program } from "../programs/Program.ts"
import { type Mint, SOL } from "../domain/Address.ts"
import type { ChainFeed, ProgramQuery } from "../solana/accounts/ChainFeed.ts"
import { type FoundPool, wouldFind } from "./foundPool.ts"
import type { PoolCache } from "./PoolCache.ts"
import type { PoolRefresh } from "./refreshPools.ts"

const QUEUE_SIZE = 1024
const WORKERS = 8
/** Searches of one mint in flight at a time. */
const SEARCHES = 4
/** A pool that cannot be read within this time does not hold up the others of its mint. */
const READ_DEADLINE = Duration.seconds(10)

const backoff = Schedule.exponential("250 millis").pipe(Schedule.jittered, Schedule.upTo({ times: 5 }))

/** `POOLS_PER_MINT` (512), `WARM_MINTS` (2,000) and `POOL_REFRESH` (60 s). */
export const settings = Config.all({
  poolsPerMint: Config.Int("POOLS_PER_MINT").pipe(Config.withDefault(512)),
  mints: Config.Int("WARM_MINTS").pipe(Config.withDefault(2000)),
  refresh: Config.Duration("POOL_REFRESH").pipe(Config.withDefault(Duration.seconds(60)))
})

interface Search {
  readonly program: Program
  readonly query: ProgramQuery
}

const searchesFor = (programs: ReadonlyArray<Program>, mint: Mint): ReadonlyArray<Search> =>
  programs.flatMap((program) =>
    program.poolsOf(mint).map((filter) => ({ program, query: { programId: program.programId, ...filter } }))
  )

const derivedFor = (programs: ReadonlyArray<Program>, mint: Mint, derive: DeriveAddress): ReadonlyArray<FoundPool> =>
  programs.flatMap((program) =>
    (program.poolAddressesOf?.(mint, derive) ?? []).map((address) => ({
      program,
      address,
      account: null,
      foundBy: mint
    }))
  )

const rankOf = (pool: FoundPool): string => `${wouldFind(pool, SOL) ? 0 : 1}${pool.address}`

// Pools against SOL come first, because quotes need them most; the rest is for prices.
const firstOf = (found: ReadonlyArray<FoundPool>, limit: number): ReadonlyArray<FoundPool> =>
  Array.from(new Map(found.map((pool) => [rankOf(pool), pool])))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .slice(0, limit)
    .map(([, pool]) => pool)

/** Starts the workers that discover pools and hand them to the cache. */
export const makePoolDiscovery = Effect.fnUntraced(function* (
  cache: PoolCache,
  feed: ChainFeed["Service"],
  programs: ReadonlyArray<Program>,
  derive: DeriveAddress,
  poolRefresh: PoolRefresh
): Effect.fn.Return<{ readonly warm: (mint: Mint) => Effect.Effect<void> }, Config.ConfigError, Scope.Scope> {
  const { poolsPerMint, mints, refresh } = yield* settings
  const queue = yield* Queue.dropping<Mint>(QUEUE_SIZE)
  const queued = new Set<Mint>()

  const search = Effect.fnUntraced(function* ({ program, query }: Search) {
    const { accounts } = yield* feed.accountsOf(query).pipe(Effect.retry(backoff))
    return Array.from(accounts.values()).flatMap((account) =>
      account !== null && program.isPool(account)
        ? [{ program, address: account.address, account, foundBy: undefined }]
        : []
    )
  })

  const load = Effect.fn("PoolBook.load")(function* (mint: Mint) {
    const found = yield* Effect.forEach(searchesFor(programs, mint), search, { concurrency: SEARCHES })
    const derived = derivedFor(programs, mint, derive)
    const pools = firstOf(derived.concat(found.flat()), poolsPerMint)
    cache.setPools(mint, pools)
    const [oldest] = cache.wanted().length > mints ? cache.wanted() : []
    if (oldest !== undefined) {
      cache.forget(oldest)
    }
    yield* poolRefresh.settled(mint).pipe(Effect.timeoutOption(READ_DEADLINE))
    cache.setReady(mint)
    yield* Effect.logDebug("Pools loaded", { mint, pools: pools.length, found: found.flat().length })
  })

  const work = Effect.gen(function* () {
    const mint = yield* Queue.take(queue)
    yield* load(mint).pipe(
      Effect.catchTag("ChainUnavailable", (error) =>
        Effect.logWarning("Pools of a mint could not be read", { mint, reason: error.reason, detail: error.detail })
      ),
      Effect.catchDefect((defect) => Effect.logError("Pool discovery failed", { mint }, defect)),
      Effect.ensuring(Effect.sync(() => queued.delete(mint)))
    )
  })
  yield* work.pipe(Effect.forever, Effect.replicateEffect(WORKERS, { concurrency: WORKERS }), Effect.forkScoped)

  const enqueue = (mint: Mint) =>
    Effect.sync(() => {
      if (!queued.has(mint) && Queue.offerUnsafe(queue, mint)) {
        queued.add(mint)
      }
    })

  const searchAgain = Effect.suspend(() => Effect.forEach(cache.wanted(), enqueue, { discard: true }))
  yield* searchAgain.pipe(Effect.delay(refresh), Effect.repeat(Schedule.forever), Effect.forkScoped)

  return { warm: (mint) => (cache.isReady(mint) ? Effect.void : enqueue(mint)) }
})
