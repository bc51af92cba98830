import type { ApiKey } from "../api/schemas/ApiKey.ts"
import { used } from "./keyRules.ts"

/** Times of last use that are not stored yet. They are stored later, so that no request waits for a write. */
export class LastUsedLog {
  readonly #waiting = new Map<string, number>()

  /** Marks the key as used now, to the second. */
  mark(key: ApiKey, nowMs: number): ApiKey {
    const before = this.merge(key)
    const after = used(before, nowMs)
    if (after !== before) {
      this.#waiting.set(key.id, nowMs)
    }
    return after
  }

  /** The key with its newest use, stored or not. */
  merge(key: ApiKey): ApiKey {
    const lastUsedAtMs = this.#waiting.get(key.id) ?? null
    return lastUsedAtMs === null || lastUsedAtMs <= (key.lastUsedAtMs ?? -1) ? key : { ...key, lastUsedAtMs }
  }

  /** Ids and times of last use to be written. */
  batch(): ReadonlyArray<readonly [id: string, lastUsedAtMs: number]> {
    return Array.from(this.#waiting)
  }

  /** Removes what has been written, unless the key has been used again. */
  written(batch: ReadonlyArray<readonly [id: string, lastUsedAtMs: number]>): void {
    for (const [id, lastUsedAtMs] of batch) {
      if (this.#waiting.get(id) === lastUsedAtMs) {
        this.#waiting.delete(id)
      }
    }
  }
}
