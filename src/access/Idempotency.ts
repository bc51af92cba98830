import { Context, type Effect, Layer } from "effect"
import type { Beginning, IdempotencyUnavailable, KeyedRequest } from "../domain/Idempotency.ts"
import { makeMemoryIdempotency } from "./memoryIdempotency.ts"

/** Remembers requests by the key their sender gave them, for 24 hours, so that sending one again does nothing again. */
export class Idempotency extends Context.Service<
  Idempotency,
  {
    /** Takes the place of a request, or says who has it. Of several at once exactly one is fresh. */
    begin(request: KeyedRequest): Effect.Effect<Beginning, IdempotencyUnavailable>
  }
>()("fathom/access/Idempotency") {
  /** Requests of this process alone, for tests and for those who embed us. */
  static readonly layerMemory: Layer.Layer<Idempotency> = Layer.sync(Idempotency, () =>
    Idempotency.of(makeMemoryIdempotency())
  )
}
