/** Finds the pools of one mint: in the index, by searching the node, or at addresses derived from the mint. */
import { Effect, Schedule } from "effect"
import { type Mint, SOL, USDC } from "../../domain/Address.ts"
import { noteFailure } from "../../operations/SourceMonitor.ts"
import type { DeriveAddress, Program } from "../../programs/interface/Program.ts"
import type { ChainFeed, ProgramQuery } from "../../chain/ChainFeed.ts"
import type { ChainUnavailable } from "../../chain/ChainUnavailable.ts"
import type { FoundPool } from "./foundPool.ts"
import type { Load } from "./LoadQueue.ts"
import type { PoolCache, SearchOutcome } from "./PoolCache.ts"
import type { ListedPools } from "./readIndexedPools.ts"
import { lamportPrice, measureOf, rankPools, uniquePools } from "./poolRanking.ts"
import type { SearchPace } from "./SearchPace.ts"
import { isRefusal, type SearchRefusals } from "./SearchRefusals.ts"

/** How many searches for one mint run at a time: for a requested mint, and for one that is searched again. */
const SEARCHES = { asked: 4, again: 2 }

/** Pauses between attempts to read the chain. */
export const backoff = Schedule.exponential("250 millis").pipe(Schedule.jittered, Schedule.upTo({ times: 5 }))

interface Search {
  readonly program: Program
  readonly query: ProgramQuery
}

/** The searches that find the pools of a mint. */
export const searchesFor = (programs: ReadonlyArray<Program>, mint: Mint): ReadonlyArray<Search> =>
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

export interface SearchParts {
  readonly cache: PoolCache
  readonly feed: Pick<ChainFeed["Service"], "accountsOf" | "clock" | "read">
  readonly programs: ReadonlyArray<Program>
  readonly derive: DeriveAddress
  readonly pace: SearchPace
  readonly refusals: SearchRefusals
  /** How many pools of a mint are kept. */
  readonly poolsPerMint: number
}

/** The kept pools of a mint, and what happened to the others. */
export interface FoundPools extends SearchOutcome {
  readonly pools: ReadonlyArray<FoundPool>
}

/** Makes the search for a mint's pools. Programs that the index lists completely are not searched. */
export const makeSearch = ({ cache, derive, feed, pace, poolsPerMint, programs, refusals }: SearchParts) => {
  /** Records that the provider refuses to search a program. */
  const refuse = Effect.fnUntraced(function* (program: Program, mint: Mint, failure: ChainUnavailable) {
    const isFirst = !refusals.some
    if (refusals.refused(program, mint, failure)) {
      yield* noteFailure("pool_search", failure.detail)
      // A node that refuses one program usually refuses others in the same search. Only the first is logged;
      // `/freshness` lists them all.
      yield* isFirst
        ? Effect.logWarning(`${refusals.advice} /freshness lists the programs.`, { detail: failure.detail })
        : Effect.logDebug("The node refuses the search of another program", { program: program.dex })
    }
  })

  /** Pools that one search finds; null when the provider refuses the search. */
  const search = Effect.fnUntraced(function* ({ program, query }: Search, { isRequested, mint }: Load) {
    if (refusals.isRefused(program, mint)) {
      return null
    }
    const found = yield* pace(isRequested).pipe(
      Effect.andThen(feed.accountsOf(query)),
      Effect.tap(() => Effect.sync(() => refusals.answered(program))),
      Effect.retry({ schedule: backoff, while: (failure) => !isRefusal(failure) }),
      Effect.catchIf(isRefusal, (failure) => Effect.as(refuse(program, mint, failure), null))
    )
    return found === null
      ? null
      : Array.from(found.accounts.values()).flatMap((account) =>
          account !== null && program.isPool(account)
            ? [{ program, address: account.address, account, foundBy: undefined }]
            : []
        )
  })

  /**
   * Ranks pools by the balance of one vault each. Reads the balances first, because a search returns only the pool
   * accounts.
   */
  const rankByReserves = Effect.fnUntraced(function* (mint: Mint, found: ReadonlyArray<FoundPool>) {
    const measures = found.map((pool) => ({ pool, measure: measureOf(pool, mint) }))
    const vaults = measures.flatMap(({ measure }) => (measure === null ? [] : [measure.vault]))
    const { accounts } = yield* feed.read(vaults).pipe(Effect.retry(backoff))
    const lamportUsd = lamportPrice(cache.pairOf(SOL, USDC).pools, feed.clock())
    return rankPools(measures, (address) => accounts.get(address), lamportUsd)
  })

  return Effect.fnUntraced(function* (
    load: Load,
    { leftOut, pools: listed, whole }: ListedPools
  ): Effect.fn.Return<FoundPools, ChainUnavailable> {
    const { isRequested, mint } = load
    const concurrency = isRequested ? SEARCHES.asked : SEARCHES.again
    const searches = searchesFor(programs, mint).filter(({ program }) => !whole.has(program.programId))
    const found = yield* Effect.forEach(searches, (each) => search(each, load), { concurrency })
    const unsearched = new Set(searches.flatMap(({ program }, index) => (found[index] === null ? [program] : [])))
    programs.forEach((program) => (unsearched.has(program) ? undefined : refusals.searched(program, mint)))
    // A refused search does not find pools that trades have named, and the index may be slightly behind the trades.
    const learned = cache.foundOf(mint).filter(({ program }) => unsearched.has(program) || whole.has(program.programId))
    const all = uniquePools(
      derivedFor(programs, mint, derive).concat(
        listed,
        found.flatMap((pools) => pools ?? []),
        learned
      )
    )
    const ranked = all.length > poolsPerMint ? yield* rankByReserves(mint, all) : all
    return { pools: ranked.slice(0, poolsPerMint), leftOut: ranked.slice(poolsPerMint).concat(leftOut), unsearched }
  })
}
