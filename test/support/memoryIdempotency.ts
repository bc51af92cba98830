/** Idempotency keys held in process, for tests without a database. The contract of the store holds for them too. */
import { Clock, Effect, Layer } from "effect"
import { Idempotency } from "../../src/access/Idempotency.ts"
import {
  type Beginning,
  idempotencyPolicy,
  type KeyedRequest,
  type StoredAnswer
} from "../../src/domain/Idempotency.ts"

interface HeldRequest {
  readonly digest: string
  /** The time from which an unfinished request may be replaced. */
  readonly heldUntilMs: number
  readonly expiresAtMs: number
  answer: StoredAnswer | null
}

/** The outcome of a request whose key the entry holds. */
const heldOutcome = (entry: HeldRequest, digest: string): Beginning => {
  if (entry.digest !== digest) {
    return { _tag: "Reused" }
  }
  return entry.answer === null ? { _tag: "InFlight" } : { _tag: "Replay", answer: entry.answer }
}

const isFree = (entry: HeldRequest, digest: string, nowMs: number): boolean =>
  entry.expiresAtMs <= nowMs || (entry.answer === null && entry.digest === digest && entry.heldUntilMs <= nowMs)

const makeMemoryIdempotency = () => {
  // In order of first use, so that the oldest are found at the front.
  const entries = new Map<string, HeldRequest>()

  const forget = (nowMs: number) => {
    for (const [name, { expiresAtMs }] of entries) {
      if (expiresAtMs > nowMs) {
        return
      }
      entries.delete(name)
    }
  }

  const hold = (name: string, digest: string, nowMs: number): Beginning => {
    const entry: HeldRequest = {
      digest,
      heldUntilMs: nowMs + idempotencyPolicy.leaseMs,
      expiresAtMs: nowMs + idempotencyPolicy.keptMs,
      answer: null
    }
    entries.delete(name)
    entries.set(name, entry)
    return {
      _tag: "Fresh",
      complete: (answer) =>
        Effect.sync(() => {
          entry.answer = answer
        }),
      abandon: Effect.sync(() => {
        if (entries.get(name) === entry) {
          entries.delete(name)
        }
      })
    }
  }

  return {
    begin: Effect.fn("Idempotency.begin")(({ digest, idempotencyKey, keyId }: KeyedRequest) =>
      Effect.map(Clock.currentTimeMillis, (nowMs) => {
        forget(nowMs)
        const name = `${keyId} ${idempotencyKey}`
        const entry = entries.get(name)
        return entry === undefined || isFree(entry, digest, nowMs)
          ? hold(name, digest, nowMs)
          : heldOutcome(entry, digest)
      })
    )
  }
}

/** Requests of this process alone. */
export const layer: Layer.Layer<Idempotency> = Layer.sync(Idempotency, () => Idempotency.of(makeMemoryIdempotency()))
