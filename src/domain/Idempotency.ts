import { type Effect, Schema } from "effect"

/** How long a key is kept, and how long a request may run before it counts as abandoned. */
export const idempotencyPolicy = { keptMs: 86_400_000, leaseMs: 30_000 } as const

/** The name that a caller gives a request. Sending the request again under the same name has no second effect. */
export const IdempotencyKey = Schema.String.check(
  Schema.isPattern(/^[\w-]{8,128}$/u, { expected: "8 to 128 characters of A-Z, a-z, 0-9, _ and -" })
).annotate({
  description:
    "Names this request for 24 hours. Sent again under the same name, it gets the same answer and has no second effect."
})

/** A reply as it was sent. The body is JSON text. */
export interface StoredAnswer {
  readonly status: number
  readonly body: string
}

/** A request that may have been sent before. */
export interface KeyedRequest {
  /** Keys of different API keys are independent of each other. */
  readonly keyId: string
  readonly idempotencyKey: string
  /** Equal requests have equal digests, different requests have different ones. */
  readonly digest: string
}

/** What is known of an idempotency key when a request arrives. */
export type Beginning =
  /**
   * No request has used this key yet. Carry the request out, then call `complete` or `abandon`. Without either, the
   * key is free again after the lease.
   */
  | {
      readonly _tag: "Fresh"
      /** Keeps the reply, unless the lease ran out and another request has taken the key. */
      complete(answer: StoredAnswer): Effect.Effect<void, IdempotencyUnavailable>
      /** Forgets the request, so that the caller can try it again. */
      readonly abandon: Effect.Effect<void, IdempotencyUnavailable>
    }
  | { readonly _tag: "Replay"; readonly answer: StoredAnswer }
  /** The same request is still running. */
  | { readonly _tag: "InFlight" }
  /** The key was used for a different request. */
  | { readonly _tag: "Reused" }

/** The store did not answer in time, or failed. */
export class IdempotencyUnavailable extends Schema.TaggedError<IdempotencyUnavailable>()("IdempotencyUnavailable", {
  cause: Schema.Defect()
}) {
  override get message(): string {
    return "the store of idempotency keys does not answer"
  }
}
