import { Duration, Effect } from "effect"
import type { Address, Mint } from "../../domain/Address.ts"
import type { Program } from "../../programs/interface/Program.ts"
import type { ChainFeed } from "../../chain/ChainFeed.ts"
import type { ChainUnavailable } from "../../chain/ChainUnavailable.ts"
import { AbsentAddresses } from "./AbsentAddresses.ts"
import type { FoundPool } from "./foundPool.ts"
import type { PoolCache } from "./PoolCache.ts"
import { LeftOutPools } from "./LeftOutPools.ts"
import { NOT_INDEXED, PoolIndex } from "./PoolIndex.ts"

/** An indexed pool without an account is not read again for this long, unless a trade names it. */
const CLOSED_FOR = Duration.minutes(5)

/** The pools that the index lists for a mint. */
export interface ListedPools {
  readonly whole: ReadonlySet<Address>
  readonly pools: ReadonlyArray<FoundPool>
  /** Indexed pools that were left out recently and not read again. */
  readonly leftOut: ReadonlyArray<FoundPool>
}

/** Nothing is listed, so every program is searched. */
export const NOT_LISTED: ListedPools = { whole: new Set(), pools: [], leftOut: [] }

/** Reads the pools of mints with the help of the index. */
export interface IndexedReads {
  /** The pools of a mint. Reads accounts that are not in memory. */
  readonly of: (mint: Mint) => Effect.Effect<ListedPools, ChainUnavailable>
  /** Remembers which of the listed pools were left out. */
  readonly leaveOut: (mint: Mint, listed: ListedPools, leftOut: ReadonlyArray<FoundPool>) => void
}

export const readIndexedPools = Effect.fnUntraced(function* (
  cache: PoolCache,
  feed: Pick<ChainFeed["Service"], "read" | "freshness">,
  programs: ReadonlyArray<Program>,
  nowMs: () => number
): Effect.fn.Return<IndexedReads> {
  const index = yield* PoolIndex
  const served = new Map(programs.map((program) => [program.programId, program]))
  // Pools that have been closed, or that the node does not have yet.
  const closed = new AbsentAddresses(Duration.toMillis(CLOSED_FOR), nowMs)
  const leftOutPools = new LeftOutPools(nowMs)

  const of = Effect.fnUntraced(function* (mint: Mint): Effect.fn.Return<ListedPools, ChainUnavailable> {
    const { pools, whole } = index === null ? NOT_INDEXED : yield* index.poolsOf(mint, feed.freshness().slot)
    const known = cache.foundOf(mint)
    if (known.length === 0) {
      // None of the kept pools, which the left-out ones were compared with, exists any more.
      leftOutPools.delete(mint)
    }
    const inMemory = new Map(known.flatMap((pool) => (pool.account === null ? [] : [[pool.address, pool] as const])))
    const leftOut = leftOutPools.of(mint)
    const unread = pools
      .map(({ address }) => address)
      .filter((address) => !inMemory.has(address) && !closed.has(address) && !leftOut.has(address))
    const read = unread.length === 0 ? null : yield* feed.read(unread)
    unread.filter((address) => (read?.accounts.get(address) ?? null) === null).forEach((address) => closed.add(address))
    const found = pools.flatMap(({ address, programId }): ReadonlyArray<FoundPool> => {
      const pool = inMemory.get(address)
      const program = served.get(programId)
      const account = read?.accounts.get(address) ?? null
      if (pool !== undefined || program === undefined || account === null) {
        return pool === undefined ? [] : [pool]
      }
      return program.isPool(account) ? [{ program, address, account, foundBy: undefined }] : []
    })
    const unchanged = pools.flatMap(({ address }): ReadonlyArray<FoundPool> => {
      const program = inMemory.has(address) ? undefined : leftOut.get(address)
      return program === undefined ? [] : [{ program, address, account: null, foundBy: undefined }]
    })
    return { whole, pools: found, leftOut: unchanged }
  })

  return {
    of,
    leaveOut: (mint, { whole }, leftOut) =>
      leftOutPools.note(
        mint,
        leftOut.filter(({ program }) => whole.has(program.programId))
      )
  }
})
