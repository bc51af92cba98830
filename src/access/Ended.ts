/**
 * Ends of keys, sessions and sign-in links that are also known outside of PostgreSQL. After PostgreSQL has fallen back to
 * an older copy, what had ended since that copy would be valid again; here it stays refused.
 */
import { Context, Effect } from "effect"

/** A revoked key by its id; an ended session, and a used link or sign-in, by the hash of its secret. */
export type EndedKind = "key" | "link" | "session"

/** One end. */
export interface End {
  readonly kind: EndedKind
  readonly id: string
  /** Milliseconds since the Unix epoch. */
  readonly atMs: number
}

/** Ends that every process of a service knows. PostgreSQL alone decides about what is not known here. */
export interface Ended {
  /** Notes an end. Waits briefly for the store; what it has not taken by then is noted later. */
  readonly note: (end: End) => Effect.Effect<void>
  /** The times of these ends, in the same order; null where none is known, or where the store does not answer soon. */
  readonly times: (ends: ReadonlyArray<Omit<End, "atMs">>) => Effect.Effect<ReadonlyArray<number | null>>
  /** Notes an end. True unless it had been noted before. */
  readonly claim: (end: End) => Effect.Effect<boolean>
}

/** Without a layer nothing is known, and PostgreSQL alone decides. */
export const Ended = Context.Reference<Ended>("fathom/access/Ended", {
  defaultValue: () => ({
    note: () => Effect.void,
    times: (ends) => Effect.succeed(ends.map(() => null)),
    claim: () => Effect.succeed(true)
  })
})
