import type { ApiKey } from "../api/schemas/ApiKey.ts"

const CAPACITY = 10_000
const UNKNOWN_FOR_MS = 60_000

/** Sets an entry. When the map is full, drops the oldest entry and returns its value. */
const put = <A>(map: Map<string, A>, name: string, value: A): A | undefined => {
  const oldest = map.size >= CAPACITY && !map.has(name) ? map.entries().next().value : undefined
  if (oldest !== undefined) {
    map.delete(oldest[0])
  }
  map.set(name, value)
  return oldest?.[1]
}

/**
 * Cache of keys by the hash of their secret. A negative cache keeps unknown hashes for 60 s. Each holds 10,000 entries
 * and drops the oldest first. The hash of a secret is kept as long as its key is, so that a busy key is hashed once.
 */
export class KeyCache {
  readonly #keys = new Map<string, ApiKey>()
  readonly #hashes = new Map<string, string>()
  readonly #unknownUntilMs = new Map<string, number>()
  readonly #hashesBySecret = new Map<string, string>()
  readonly #secretsByHash = new Map<string, string>()
  #changes = 0

  /** Grows with every change of a key. Read it before you read the store, and pass it to `remember`. */
  get version(): number {
    return this.#changes
  }

  /** Number of cached keys, and of hashes known to belong to no key. */
  get sizes(): { readonly known: number; readonly unknown: number } {
    return { known: this.#keys.size, unknown: this.#unknownUntilMs.size }
  }

  /** The hash of the secret of a cached key. */
  hashOf(secret: string): string | undefined {
    return this.#hashesBySecret.get(secret)
  }

  /** Keeps the hash of a secret until its key leaves the cache. Keeps nothing for a hash without a cached key. */
  rememberHash(secret: string, hash: string): void {
    if (this.#keys.has(hash)) {
      this.#hashesBySecret.set(secret, hash)
      this.#secretsByHash.set(hash, secret)
    }
  }

  /** The key of the hash; null when the store has none, undefined when it is not cached. */
  get(hash: string, nowMs: number): ApiKey | null | undefined {
    const key = this.#keys.get(hash)
    if (key !== undefined) {
      return key
    }
    const knownUntilMs = this.#unknownUntilMs.get(hash)
    return knownUntilMs !== undefined && nowMs < knownUntilMs ? null : undefined
  }

  /**
   * Keeps what the store returned. Keeps nothing when a key has changed since `version`, because the store may have
   * answered before that change.
   */
  remember(hash: string, key: ApiKey | null, version: number, nowMs: number): void {
    if (version !== this.#changes) {
      return
    }
    if (key === null) {
      put(this.#unknownUntilMs, hash, nowMs + UNKNOWN_FOR_MS)
      return
    }
    const evicted = put(this.#keys, hash, key)
    if (evicted !== undefined) {
      this.#forgetHash(evicted.id)
    }
    this.#hashes.set(key.id, hash)
  }

  /** Replaces a cached key with the same key and a newer time of last use. */
  refresh(hash: string, key: ApiKey): void {
    if (this.#keys.has(hash)) {
      this.#keys.set(hash, key)
    }
  }

  /** Removes one key, because it has changed. */
  drop(id: string): void {
    this.#changes++
    this.#keys.delete(this.#hashes.get(id) ?? "")
    this.#forgetHash(id)
  }

  /** Removes everything, because changes may have been missed. */
  clear(): void {
    this.#changes++
    this.#keys.clear()
    this.#hashes.clear()
    this.#unknownUntilMs.clear()
    this.#hashesBySecret.clear()
    this.#secretsByHash.clear()
  }

  #forgetHash(id: string): void {
    const hash = this.#hashes.get(id) ?? ""
    this.#hashesBySecret.delete(this.#secretsByHash.get(hash) ?? "")
    this.#secretsByHash.delete(hash)
    this.#hashes.delete(id)
  }
}
