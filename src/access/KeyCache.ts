import type { ApiKey } from "../domain/ApiKey.ts"

const CAPACITY = 10_000
const UNKNOWN_FOR_MS = 60_000

/** Sets an entry; makes room by dropping the oldest, which it returns. */
const put = <A>(map: Map<string, A>, name: string, value: A): A | undefined => {
  const oldest = map.size >= CAPACITY && !map.has(name) ? map.entries().next().value : undefined
  if (oldest !== undefined) {
    map.delete(oldest[0])
  }
  map.set(name, value)
  return oldest?.[1]
}

/** What the store last said about secrets, by their hash. Holds so many keys, and so many strangers, and forgets the oldest. */
export class KeyCache {
  private readonly keys = new Map<string, ApiKey>()
  private readonly hashes = new Map<string, string>()
  private readonly strangers = new Map<string, number>()
  private changes = 0

  /** To be taken before the store is read, and handed to `remember`. */
  get version(): number {
    return this.changes
  }

  /** The key of the hash; null when the store knows none; undefined when it has to be asked. */
  get(hash: string, nowMs: number): ApiKey | null | undefined {
    const key = this.keys.get(hash)
    if (key !== undefined) {
      return key
    }
    const knownUntilMs = this.strangers.get(hash)
    return knownUntilMs !== undefined && nowMs < knownUntilMs ? null : undefined
  }

  /** Keeps an answer of the store, unless a key has changed since `version`: then nobody knows which came first. */
  remember(hash: string, key: ApiKey | null, version: number, nowMs: number): void {
    if (version !== this.changes) {
      return
    }
    if (key === null) {
      put(this.strangers, hash, nowMs + UNKNOWN_FOR_MS)
      return
    }
    const evicted = put(this.keys, hash, key)
    if (evicted !== undefined) {
      this.hashes.delete(evicted.id)
    }
    this.hashes.set(key.id, hash)
  }

  /** Replaces a key that is held by a newer picture of the same standing. */
  refresh(hash: string, key: ApiKey): void {
    if (this.keys.has(hash)) {
      this.keys.set(hash, key)
    }
  }

  /** Forgets one key, because it has changed. */
  drop(id: string): void {
    this.changes++
    this.keys.delete(this.hashes.get(id) ?? "")
    this.hashes.delete(id)
  }

  /** Forgets everything, because changes may have gone unheard. */
  clear(): void {
    this.changes++
    this.keys.clear()
    this.hashes.clear()
    this.strangers.clear()
  }
}
