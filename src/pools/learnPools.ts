/** Pools that trades name and the search for their mint has not found: those that were created since. */
import { Effect, Latch, type Scope } from "effect"
import type { Address, Mint } from "../domain/Address.ts"
import { keepRunning } from "../health/keepRunning.ts"
import type { Program } from "../programs/Program.ts"
import type { ChainFeed } from "../solana/accounts/ChainFeed.ts"
import { type FoundPool, wouldFind } from "./foundPool.ts"
import type { PoolCache } from "./PoolCache.ts"

/** Accounts that are read with one call. */
const READ_TOGETHER = 100
/** Pools that wait to be read; the trades of further ones name them again. */
const MOST_WAITING = 1000
/** Accounts that are known to be no pool of a mint. */
const MOST_REFUSED = 50_000

/** Notes a pool that a trade of a mint names. */
export type LearnPool = (mint: Mint, pool: Address) => void

/** Reads pools that loaded mints lack, and adds those that the search would find. At most `poolsPerMint` are kept for a mint. */
export const learnPools = Effect.fnUntraced(function* (
  cache: PoolCache,
  feed: Pick<ChainFeed["Service"], "read">,
  programs: ReadonlyArray<Program>,
  poolsPerMint: number,
  wake: Effect.Effect<void>
): Effect.fn.Return<LearnPool, never, Scope.Scope> {
  const waiting = new Map<Address, Mint>()
  const refused = new Set<string>()
  const named = yield* Latch.make()

  const refuse = (mint: Mint, pool: Address) => {
    if (refused.size >= MOST_REFUSED) {
      refused.clear()
    }
    refused.add(`${mint} ${pool}`)
  }

  const read = Effect.gen(function* () {
    const pools = new Map(waiting.entries().take(READ_TOGETHER))
    if (pools.size === 0) {
      named.closeUnsafe()
      return yield* named.await
    }
    pools.forEach((_, pool) => waiting.delete(pool))
    const { accounts } = yield* feed.read(Array.from(pools.keys()))
    for (const [address, mint] of pools) {
      const account = accounts.get(address) ?? null
      const program = programs.find((each) => account?.owner === each.programId && each.isPool(account))
      const found: FoundPool | null = program === undefined ? null : { program, address, account, foundBy: undefined }
      if (found === null || !wouldFind(found, mint) || !cache.addPool(mint, found, poolsPerMint)) {
        refuse(mint, address)
      }
    }
    return yield* wake
  })
  yield* read.pipe(
    // A later trade names the pool again.
    Effect.catchTag("ChainUnavailable", () => Effect.void),
    Effect.forever,
    keepRunning("Reading pools that trades name"),
    Effect.forkScoped
  )

  return (mint, pool) => {
    if (waiting.size < MOST_WAITING && cache.lacks(mint, pool) && !refused.has(`${mint} ${pool}`)) {
      waiting.set(pool, mint)
      named.openUnsafe()
    }
  }
})
