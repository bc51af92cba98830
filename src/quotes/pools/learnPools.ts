/** Adds pools that trades name but no search has found, because they were created after it. */
import { Clock, Effect, Latch, type Scope } from "effect"
import { monotonicMs } from "../../domain/loopTime.ts"
import type { Address, Mint } from "../../domain/Address.ts"
import type { OnChainAccount } from "../../domain/OnChainAccount.ts"
import { keepRunning } from "../../operations/keepRunning.ts"
import type { Program } from "../../programs/interface/Program.ts"
import type { ChainFeed } from "../../chain/ChainFeed.ts"
import { type FoundPool, wouldFind } from "./foundPool.ts"
import type { PoolCache } from "./PoolCache.ts"

/** Accounts in one read. */
const READ_TOGETHER = 100
/** How many pools may wait to be read. Dropped ones are named again by later trades. */
const MOST_WAITING = 1000
/** How many accounts that are no pool of a mint are remembered. */
const MOST_REFUSED = 50_000
/** The node may be behind the trade's block, so an account without a pool is read again after this time. */
const ABSENT_FOR_MS = 10_000

/** Reports a pool that a trade of a mint names. */
export type LearnPool = (mint: Mint, pool: Address) => void

/**
 * Reads pools that loaded mints lack, and adds those that a search would find. Keeps at most `poolsPerMint` of a
 * mint.
 */
export const learnPools = Effect.fnUntraced(function* (
  cache: PoolCache,
  feed: Pick<ChainFeed["Service"], "read">,
  programs: ReadonlyArray<Program>,
  poolsPerMint: number,
  wake: Effect.Effect<void>
): Effect.fn.Return<LearnPool, never, Scope.Scope> {
  const clock = yield* Clock.Clock
  const nowMs = () => monotonicMs(clock)
  /** Pools to read, each with the mints whose trades named it. */
  const waiting = new Map<Address, Set<Mint>>()
  /** When a pool of a mint may be read again. The key joins mint and pool. */
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
      // The mint left memory during the read. It must not count as refused when it comes back.
      return
    }
    const program = programs.find((each) => account?.owner === each.programId && each.isPool(account))
    if (program === undefined) {
      // An account of one of these programs may still become a pool.
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
    // A later trade will name the pool again.
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
