import { Duration, Effect } from "effect"
import type { Address, Mint } from "../../domain/Address.ts"
import type { Program } from "../../programs/Program.ts"
import type { ChainFeed, ChainUnavailable } from "../../solana/accounts/ChainFeed.ts"
import { AbsentMints } from "../AbsentMints.ts"
import type { FoundPool } from "../foundPool.ts"
import type { PoolCache } from "../PoolCache.ts"
import { NOT_INDEXED, PoolIndex } from "./PoolIndex.ts"

/** Time for which a pool of the index that has no account is not read again. A trade that names it has it read at once. */
const CLOSED_FOR = Duration.minutes(5)

/** The pools of a mint in programs that the index has as a whole. */
export interface ListedPools {
  readonly whole: ReadonlySet<Address>
  readonly pools: ReadonlyArray<FoundPool>
}

/** None is listed: every program is searched. */
export const NOT_LISTED: ListedPools = { whole: new Set(), pools: [] }

/** Returns the read of the pools of a mint by the index, with the accounts of those that are not in memory. */
export const readIndexedPools = Effect.fnUntraced(function* (
  cache: PoolCache,
  feed: Pick<ChainFeed["Service"], "read" | "freshness">,
  programs: ReadonlyArray<Program>,
  nowMs: () => number
) {
  const index = yield* PoolIndex
  const served = new Map(programs.map((program) => [program.programId, program]))
  // Those that were closed since, or that the node does not have yet.
  const closed = new AbsentMints(Duration.toMillis(CLOSED_FOR), nowMs)

  return Effect.fnUntraced(function* (mint: Mint): Effect.fn.Return<ListedPools, ChainUnavailable> {
    const { pools, whole } = index === null ? NOT_INDEXED : yield* index.poolsOf(mint, feed.freshness().slot)
    const inMemory = new Map(
      cache.foundOf(mint).flatMap((pool) => (pool.account === null ? [] : [[pool.address, pool] as const]))
    )
    const unread = pools
      .map(({ address }) => address)
      .filter((address) => !inMemory.has(address) && !closed.has(address))
    const read = unread.length === 0 ? null : yield* feed.read(unread)
    unread.filter((address) => (read?.accounts.get(address) ?? null) === null).forEach((address) => closed.add(address))
    const found = pools.flatMap(({ address, programId }): ReadonlyArray<FoundPool> => {
      const known = inMemory.get(address)
      const program = served.get(programId)
      const account = read?.accounts.get(address) ?? null
      if (known !== undefined || program === undefined || account === null) {
        return known === undefined ? [] : [known]
      }
      return program.isPool(account) ? [{ program, address, account, foundBy: undefined }] : []
    })
    return { whole, pools: found }
  })
})
