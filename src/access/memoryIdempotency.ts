/** Idempotency keys held in process: what `Idempotency.layerMemory` is made of. */
import { Clock, Effect } from "effect"
import { type Beginning, idempotencyPolicy, type KeyedRequest, type StoredAnswer } from "../domain/Idempotency.ts"

interface Entry {
  readonly digest: string
  /** When another may take the place of a request that never came to an end. */
  readonly heldUntilMs: number
  readonly expiresAtMs: number
  answer: StoredAnswer | null
}

/** What an entry says to a request like those it stands for. */
const told = (entry: Entry, digest: string): Beginning => {
  if (entry.digest !== digest) {
    return { _tag: "Reused" }
  }
  return entry.answer === null ? { _tag: "InFlight" } : { _tag: "Replay", answer: entry.answer }
}

const isFree = (entry: Entry, digest: string, nowMs: number): boolean =>
  entry.expiresAtMs <= nowMs || (entry.answer === null && entry.digest === digest && entry.heldUntilMs <= nowMs)

/** The method of a store without a disk: it reads the clock first and then acts in one synchronous step. */
export const makeMemoryIdempotency = () => {
  // In order of first use, so that the oldest are found at the front.
  const entries = new Map<string, Entry>()

  const forget = (nowMs: number) => {
    for (const [name, { expiresAtMs }] of entries) {
      if (expiresAtMs > nowMs) {
        return
      }
      entries.delete(name)
    }
  }

  const hold = (name: string, digest: string, nowMs: number): Beginning => {
    const entry: Entry = {
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
        return entry === undefined || isFree(entry, digest, nowMs) ? hold(name, digest, nowMs) : told(entry, digest)
      })
    )
  }
}
