/** Admits requests by their key: from the cache while it may be trusted, otherwise from the store. */
import { type Clock, Duration, Effect, Redacted, Result } from "effect"
import { type ApiKey, type KeyStoreUnavailable, UnknownKey } from "../api/schemas/ApiKey.ts"
import { withClock } from "../domain/loopTime.ts"
import type { ChangeChannel } from "../storage/ChangeChannel.ts"
import type { KeyCache } from "./KeyCache.ts"
import * as Format from "./keyFormat.ts"
import type { Peppers } from "./keyPeppers.ts"
import * as Rules from "./keyRules.ts"
import type { LastUsedLog } from "./LastUsedLog.ts"

/** What decides whether a cached key may be trusted. */
export interface Trust {
  readonly cache: KeyCache
  readonly channel: Pick<ChangeChannel["Service"], "isProven" | "sinceProvenMs">
  /** How long a cached key is trusted after the channel was last proven. */
  readonly trustedFor: Duration.Duration
}

/**
 * Returns a function that reads a key from the cache while it may be trusted. An unknown hash is trusted only while the
 * channel is proven.
 */
export const trustedKeys =
  ({ cache, channel, trustedFor }: Trust) =>
  (hash: string, nowMs: number): ApiKey | null | undefined => {
    if (channel.isProven()) {
      return cache.get(hash, nowMs)
    }
    const isTrusted = channel.sinceProvenMs() < Duration.toMillis(trustedFor)
    return isTrusted ? (cache.get(hash, nowMs) ?? undefined) : undefined
  }

export interface AdmissionParts {
  readonly cache: KeyCache
  readonly lastUsed: LastUsedLog
  readonly peppers: Peppers
  readonly cached: ReturnType<typeof trustedKeys>
  /** Reads a key from the store by its hash, or by a hash under an earlier pepper. */
  readonly read: (hash: string, earlier: ReadonlyArray<string>) => Effect.Effect<ApiKey | null, KeyStoreUnavailable>
}

/** Returns a function that admits or refuses a secret, and marks an admitted key as used. */
export const makeAdmission = ({ cache, cached, lastUsed, peppers, read }: AdmissionParts) => {
  const admit = (hash: string, known: ApiKey | null, nowMs: number): ReturnType<typeof Rules.admitted> =>
    Result.map(Rules.admitted(known, nowMs), (key) => {
      const marked = lastUsed.mark(key, nowMs)
      if (marked !== known) {
        cache.refresh(hash, marked)
      }
      return marked
    })

  // Plain functions, because every request passes here.
  return (secret: Redacted.Redacted, clock?: Clock.Clock) =>
    withClock(clock, (clock) => {
      const text = Redacted.value(secret)
      const kept = cache.hashOf(text)
      if (kept === undefined && !Format.isWellFormed(secret)) {
        return Effect.fail(new UnknownKey())
      }
      const nowMs = clock.currentTimeMillisUnsafe()
      const hash = kept ?? peppers.hash(secret)
      const known = cached(hash, nowMs)
      if (kept === undefined) {
        cache.rememberHash(text, hash)
      }
      return known === undefined
        ? Effect.flatMap(read(hash, peppers.earlierHashes(secret)), (found) =>
            Effect.fromResult(admit(hash, found, nowMs))
          )
        : Effect.fromResult(admit(hash, known, nowMs))
    })
}
