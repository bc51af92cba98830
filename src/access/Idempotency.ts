import { Context, type Effect } from "effect"
import type { Beginning, IdempotencyUnavailable, KeyedRequest } from "../domain/Idempotency.ts"

/** Requests by idempotency key, kept for 24 hours, so that a repeated request has no second effect. */
export class Idempotency extends Context.Service<
  Idempotency,
  {
    /**
     * Claims the key for a request, or returns the state of the request that holds it. When several requests claim a
     * key at the same time, exactly one of them is fresh.
     */
    begin(request: KeyedRequest): Effect.Effect<Beginning, IdempotencyUnavailable>
  }
>()("fathom/access/Idempotency") {}
