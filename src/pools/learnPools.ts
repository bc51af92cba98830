/** Pools that trades name and the search for their mint has not found: those that were created since. */
import { Clock, Effect, Latch, type Scope } from "effect"
import { monotonicMs } from "../domain/loopTime.ts"
import type { Address, Mint } from "../domain/Address.ts"
import type { OnChainAccount } from "../domain/OnChainAccount.ts"
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
/** The node that is read may be behind the block of the trade: an account without a pool is read again after this time. */
const ABSENT_FOR_MS = 10_000

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
  const clock = yield* Clock.Clock
  const nowMs = () => monotonicMs(clock)
  /** The mints whose trades name each pool. */
  const waiting = new Map<Address, Set<Mint>>()
  /** Pools of a mint, by the time until which they are not read again. */
  const refused = new Map<string, number>()
  const named = yield* Latch.make()

  const refuse = (mint: Mint, pool: Address, forMs: number) => {
    if (refused.size >= MOST_REFUSED) {
      refused.clear()
    }
    refused.set(`${mint} ${pool}`, nowMs() + forMs)
  }

  const add = (mint: Mint, address: Address, account: OnChainAccount | null) => {
    if (!cache.isReady(mint)) {
      // It left the memory during the read, and is not refused once it is back.
      return
    }
    const program = programs.find((each) => account?.owner === each.programId && each.isPool(account))
    if (program === undefined) {
      // One of a program may not be a pool yet either.
      const mayBecome = account === null || programs.some(({ programId }) => account.owner === programId)
      return refuse(mint, address, mayBecome ? ABSENT_FOR_MS : Number.POSITIVE_INFINITY)
    }
    const found: FoundPool = { program, address, account, foundBy: undefined }
    if (!wouldFind(found, mint) || !cache.addPool(mint, found, poolsPerMint)) {
      refuse(mint, address, Number.POSITIVE_INFINITY)
    }
  }

  const read = Effect.gen(function* () {
    const pools = new Map(waiting.entries().take(READ_TOGETHER))
    if (pools.size === 0) {
      named.closeUnsafe()
      return yield* named.await
    }
    pools.forEach((_, pool) => waiting.delete(pool))
    const { accounts } = yield* feed.read(Array.from(pools.keys()))
    for (const [address, mints] of pools) {
      mints.forEach((mint) => add(mint, address, accounts.get(address) ?? null))
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

  const mayBeRead = (mint: Mint, pool: Address) =>
    cache.lacks(mint, pool) && (refused.get(`${mint} ${pool}`) ?? 0) <= nowMs()

  return (mint, pool) => {
    const mints = waiting.get(pool)
    if ((mints !== undefined || waiting.size < MOST_WAITING) && mayBeRead(mint, pool)) {
      waiting.set(pool, (mints ?? new Set()).add(mint))
      named.openUnsafe()
    }
  }
})
