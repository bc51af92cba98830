import { Clock, Config, Context, Duration, Effect, Latch, Layer, Schedule } from "effect"
import { monotonicMs } from "../domain/loopTime.ts"
import { countSetting, durationSetting } from "../domain/countSetting.ts"
import type { Mint } from "../domain/Address.ts"
import { keepGoing, keepRunning } from "../operations/keepRunning.ts"
import { type ChainEvent, ChainFeed } from "../chain/ChainFeed.ts"
import { ChainHub } from "../chain/accounts/ChainHub.ts"
import { makeDeriveAddress } from "../chain/programAddress.ts"
import type { Commitment } from "../chain/Commitment.ts"
import { metaplexAddress, type TokenMetadata } from "./metadata.ts"
import { TokenCache, type TokenState } from "./TokenCache.ts"

/** Decoded mint accounts in memory, each with slot and time of its observation. */
export class TokenBook extends Context.Service<
  TokenBook,
  {
    /** State of the mint; null while it is not loaded. Synchronous. */
    readonly read: (mint: Mint) => TokenState | null
    /** Every mint in memory with its metadata, if it has any. Does not count as a use. */
    readonly named: () => Iterable<readonly [Mint, TokenMetadata | null]>
    /** Commitment of all observations. */
    readonly commitment: Commitment
    /** Queues the mint for loading and following, and returns. Idempotent. */
    warm(mint: Mint): Effect.Effect<void>
  }
>()("fathom/tokens/TokenBook") {
  /**
   * `TOKENS_KEPT` (5000) bounds the mints in memory; the least recently used mint is evicted first. Unchanged mints are
   * read from the chain again every `TOKEN_REFRESH` (6 h). Only that read makes a new observation.
   */
  static readonly layer: Layer.Layer<TokenBook, Config.ConfigError, ChainFeed> = Layer.effect(
    TokenBook,
    Effect.gen(function* () {
      const { capacity, refresh } = yield* settings
      const feed = yield* ChainFeed
      const hub = yield* ChainHub
      const derive = makeDeriveAddress()
      const clock = yield* Clock.Clock
      const cache = new TokenCache(capacity, Duration.toMillis(ABSENT_FOR), () => monotonicMs(clock))
      const unnamed = yield* Latch.make()

      const apply = (event: ChainEvent, heardAtMs: number) =>
        Effect.sync(() => {
          cache.apply(event, observedAt(feed, heardAtMs))
          unnamed.openUnsafe()
        })
      const follower = yield* hub.join(apply)

      // In a fiber of its own, because deriving an address takes a millisecond. It also drops mints that do not exist.
      const watchMetadata = Effect.gen(function* () {
        yield* unnamed.await
        unnamed.closeUnsafe()
        yield* follower.unwatch(cache.takeDropped())
        for (const mint of cache.takeUnnamed()) {
          const address = metaplexAddress(mint, derive)
          yield* cache.nameAt(mint, address) ? follower.watch([address]) : Effect.void
          yield* Effect.yieldNow
        }
      })
      yield* watchMetadata.pipe(
        keepGoing("Watching the metadata of tokens"),
        Effect.forever,
        Effect.forkScoped({ startImmediately: true })
      )

      const refreshAll = Effect.suspend(() => follower.refresh(cache.mints()))
      yield* refreshAll.pipe(
        Effect.schedule(Schedule.spaced(refresh)),
        keepRunning("Refreshing tokens"),
        Effect.forkScoped
      )

      const warm = (mint: Mint) =>
        Effect.suspend(() =>
          cache.add(mint)
            ? Effect.andThen(
                follower.watch([mint]),
                Effect.suspend(() => follower.unwatch(cache.shrink()))
              )
            : Effect.void
        )

      return TokenBook.of({
        read: (mint) => cache.read(mint),
        named: () => cache.named(),
        commitment: feed.commitment,
        warm
      })
    })
  ).pipe(Layer.provide(ChainHub.layer))
}

/** `TOKENS_KEPT` (5,000) and `TOKEN_REFRESH` (6 h). */
export const settings = Config.all({
  capacity: countSetting("TOKENS_KEPT", 5000),
  refresh: durationSetting("TOKEN_REFRESH").pipe(Config.withDefault(Duration.hours(6)))
})

/** A mint without an account is not read again within this time. */
const ABSENT_FOR = Duration.seconds(10)

/** Time of an observation: the chain's clock for a recording, else the time of arrival. */
const observedAt = (feed: ChainFeed["Service"], heardAtMs: number): number | null => {
  if (feed.freshness().state !== "recorded") {
    return heardAtMs
  }
  const { unixTimestamp } = feed.clock()
  return unixTimestamp > 0 ? unixTimestamp * 1000 : null
}
