import { Config, Context, Duration, Effect, Latch, Layer, Schedule } from "effect"
import type { Mint } from "../domain/Address.ts"
import { type ChainEvent, ChainFeed } from "../solana/accounts/ChainFeed.ts"
import { ChainHub } from "../solana/accounts/ChainHub.ts"
import { makeDeriveAddress } from "../solana/programAddress.ts"
import type { Commitment } from "../solana/rpc/SolanaRpc.ts"
import { metaplexAddress } from "./metadata.ts"
import { TokenCache, type TokenState } from "./TokenCache.ts"

/** Mint accounts in memory, decoded, each with the slot and the time at which the chain told it. */
export class TokenBook extends Context.Service<
  TokenBook,
  {
    /** What the chain has said of the mint; null while it is not loaded. Read synchronously. */
    readonly read: (mint: Mint) => TokenState | null
    /** How sure the chain was of all of it. */
    readonly commitment: Commitment
    /** Asks that the mint be loaded and followed. Queues and returns; asking again is free. */
    warm(mint: Mint): Effect.Effect<void>
  }
>()("fathom/tokens/TokenBook") {
  /**
   * Settings: `TOKENS_KEPT` (5000) is how many mints are kept at a time, the longest unused going first, and
   * `TOKEN_REFRESH` (6 h) how often the chain is asked for a kept mint that does not change: what it says then is a new
   * observation, which reading what is in memory never is.
   */
  static readonly layer: Layer.Layer<TokenBook, Config.ConfigError, ChainFeed> = Layer.effect(
    TokenBook,
    Effect.gen(function* () {
      const { capacity, refresh } = yield* settings
      const feed = yield* ChainFeed
      const hub = yield* ChainHub
      const derive = makeDeriveAddress()
      const cache = new TokenCache(capacity)
      const unnamed = yield* Latch.make()

      const apply = (event: ChainEvent, heardAtMs: number) =>
        Effect.sync(() => {
          cache.apply(event, observedAt(feed, heardAtMs))
          unnamed.openUnsafe()
        })
      const follower = yield* hub.join(apply)

      // A derivation costs a millisecond, which the writer of the books does not have.
      const lookForNames = Effect.gen(function* () {
        yield* unnamed.await
        unnamed.closeUnsafe()
        for (const mint of cache.takeUnnamed()) {
          const address = metaplexAddress(mint, derive)
          yield* cache.nameAt(mint, address) ? follower.watch([address]) : Effect.void
          yield* Effect.yieldNow
        }
      })
      yield* lookForNames.pipe(
        Effect.catchDefect((defect) => Effect.logError("Looking for the names of tokens failed", defect)),
        Effect.forever,
        Effect.forkScoped({ startImmediately: true })
      )

      const observeAgain = Effect.suspend(() => follower.refresh(cache.mints()))
      yield* observeAgain.pipe(Effect.schedule(Schedule.spaced(refresh)), Effect.forkScoped)

      const warm = (mint: Mint) =>
        Effect.suspend(() =>
          cache.add(mint)
            ? Effect.andThen(
                follower.watch([mint]),
                Effect.suspend(() => follower.unwatch(cache.shrink()))
              )
            : Effect.void
        )

      return TokenBook.of({ read: (mint) => cache.read(mint), commitment: feed.commitment, warm })
    })
  ).pipe(Layer.provide(ChainHub.layer))
}

const settings = Config.all({
  capacity: Config.Int("TOKENS_KEPT").pipe(Config.withDefault(5000)),
  refresh: Config.Duration("TOKEN_REFRESH").pipe(Config.withDefault(Duration.hours(6)))
})

/** A recording is as old as it says it is, whenever it is played; everything else was observed when it was heard. */
const observedAt = (feed: ChainFeed["Service"], heardAtMs: number): number | null => {
  if (feed.freshness().state !== "recorded") {
    return heardAtMs
  }
  const { unixTimestamp } = feed.clock()
  return unixTimestamp > 0 ? unixTimestamp * 1000 : null
}
