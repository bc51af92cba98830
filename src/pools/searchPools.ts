/** The pools of one mint: those that the index lists, those that the node finds, and those whose address follows from the mint. */
import { Effect, Schedule } from "effect"
import { type Mint, SOL, USDC } from "../domain/Address.ts"
import { noteFailure } from "../health/SourceMonitor.ts"
import type { DeriveAddress, Program } from "../programs/Program.ts"
import type { ChainFeed, ChainUnavailable, ProgramQuery } from "../solana/accounts/ChainFeed.ts"
import type { FoundPool } from "./foundPool.ts"
import type { Load } from "./LoadQueue.ts"
import type { PoolCache, SearchOutcome } from "./PoolCache.ts"
import type { ListedPools } from "./poolIndex/readIndexedPools.ts"
import { lamportPrice, measureOf, rankPools, uniquePools } from "./poolRanking.ts"
import type { SearchPace } from "./SearchPace.ts"
import { isRefusal, type SearchRefusals } from "./SearchRefusals.ts"

/** Searches of one mint in flight at a time: of an asked one, of one that is searched again. */
const SEARCHES = { asked: 4, again: 2 }

/** The pauses before reads of the chain that failed are repeated. */
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

/** The parts that a search depends on. */
export interface SearchParts {
  readonly cache: PoolCache
  readonly feed: Pick<ChainFeed["Service"], "accountsOf" | "clock" | "read">
  readonly programs: ReadonlyArray<Program>
  readonly derive: DeriveAddress
  readonly pace: SearchPace
  readonly refusals: SearchRefusals
  /** Pools that are kept of a mint. */
  readonly poolsPerMint: number
}

/** The pools of a mint that are kept, and the outcome for the others. */
export interface FoundPools extends SearchOutcome {
  readonly pools: ReadonlyArray<FoundPool>
}

/** Returns the search of the pools of a mint, of those programs that the listing does not have as a whole. */
export const makeSearch = ({ cache, derive, feed, pace, poolsPerMint, programs, refusals }: SearchParts) => {
  /** Notes that the provider does not offer the search of a program. */
  const refuse = Effect.fnUntraced(function* (program: Program, mint: Mint, failure: ChainUnavailable) {
    const isFirst = !refusals.some
    if (refusals.refused(program, mint, failure)) {
      yield* noteFailure("pool_search", failure.detail)
      // A node that refuses one program refuses others within the same search: `/freshness` lists them.
      yield* isFirst
        ? Effect.logWarning(`${refusals.advice} /freshness lists the programs.`, { detail: failure.detail })
        : Effect.logDebug("The node refuses the search of another program", { program: program.dex })
    }
  })

  /** Pools that a search finds; null where the provider refuses it. */
  const search = Effect.fnUntraced(function* ({ program, query }: Search, { isAsked, mint }: Load) {
    if (refusals.isRefused(program, mint)) {
      return null
    }
    const found = yield* pace(isAsked).pipe(
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

  /** Reads the balance of one vault of every pool, because a search finds pool accounts alone. */
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
    const { isAsked, mint } = load
    const concurrency = isAsked ? SEARCHES.asked : SEARCHES.again
    const searches = searchesFor(programs, mint).filter(({ program }) => !whole.has(program.programId))
    const found = yield* Effect.forEach(searches, (each) => search(each, load), { concurrency })
    const unsearched = new Set(searches.flatMap(({ program }, index) => (found[index] === null ? [program] : [])))
    programs.forEach((program) => (unsearched.has(program) ? undefined : refusals.searched(program, mint)))
    // A refused search does not find the pools that trades have named, and the index may be a moment behind them.
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
