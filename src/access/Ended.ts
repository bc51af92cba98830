/**
 * Remembers outside of PostgreSQL which keys, sessions and sign-in links have ended. When PostgreSQL falls back to an
 * older copy, everything that ended after that copy would be valid again. This memory keeps it refused.
 */
import { Context, Effect } from "effect"

/**
 * `key`: a revoked key, by its id. `session`: an ended session, `link`: a used sign-in link or sign-in; both by the
 * hash of the secret.
 */
export type EndedKind = "key" | "link" | "session"

/** A key, session or link that has ended. */
export interface End {
  readonly kind: EndedKind
  readonly id: string
  /** Milliseconds since the Unix epoch. */
  readonly atMs: number
}

/**
 * What has ended, as every process of a service knows it. PostgreSQL alone decides about everything that is not known
 * here.
 */
export interface Ended {
  /** Records an end. Waits briefly for the store. If the store has not taken the end by then, it is recorded later. */
  readonly note: (end: End) => Effect.Effect<void>
  /**
   * The times of these ends, in the same order. Null when no end is known, or when the store does not answer in time.
   */
  readonly times: (ends: ReadonlyArray<Omit<End, "atMs">>) => Effect.Effect<ReadonlyArray<number | null>>
  /** Records an end. True when it was not recorded before. */
  readonly claim: (end: End) => Effect.Effect<boolean>
}

/** By default nothing is known, and PostgreSQL alone decides. */
export const Ended = Context.Reference<Ended>("fathom/access/Ended", {
  defaultValue: () => ({
    note: () => Effect.void,
    times: (ends) => Effect.succeed(ends.map(() => null)),
    claim: () => Effect.succeed(true)
  })
})
