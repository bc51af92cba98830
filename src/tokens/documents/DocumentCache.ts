import type { DocumentReason, MetadataDocument } from "../../api/schemas/TokenMetadata.ts"
import { type RequesterId, Turns } from "../../quotes/pools/Turns.ts"
import type { DocumentState } from "./DocumentReader.ts"

/** Most documents that one requester may have waiting. */
const MOST_WAITING = 64

/** Times of a cache, in milliseconds. */
export interface DocumentTimes {
  /** How long a document stays valid. */
  readonly keptMs: number
  /** How long the first failure is remembered. The time doubles with each failure, up to `keptMs`. */
  readonly failedMs: number
}

interface CacheEntry {
  phase: "idle" | "queued" | "reading"
  /** The requester that queued the document last. */
  requester: RequesterId
  document: MetadataDocument | null
  reason: DocumentReason | null
  failures: number
  fetchedAtMs: number | null
  expiresAtMs: number | null
}

/** Result of one read. */
export type DocumentRead =
  | { readonly _tag: "Read"; readonly document: MetadataDocument }
  | { readonly _tag: "Failed"; readonly reason: DocumentReason }

const WAITING: DocumentState = {
  state: "waiting",
  reason: "waiting",
  document: null,
  fetchedAtMs: null,
  expiresAtMs: null
}

/** LRU cache of documents by URI, with their failures and the queue of documents to read. Requesters take turns in the queue. */
export class DocumentCache {
  readonly #capacity: number
  readonly #times: DocumentTimes
  // Least recently used first.
  readonly #entries = new Map<string, CacheEntry>()
  readonly #queue = new Turns<string>()

  constructor(capacity: number, times: DocumentTimes) {
    this.#capacity = Math.max(1, capacity)
    this.#times = times
  }

  /** Documents in memory, read or not. */
  get size(): number {
    return this.#entries.size
  }

  /**
   * State of the document. A missing or expired document is queued, unless the requester has 64 waiting; then a later
   * use queues it. Counts as a use.
   */
  use(uri: string, requester: RequesterId, nowMs: number): DocumentState {
    const isFull = this.#queue.sizeOf(requester) >= MOST_WAITING
    const known = this.#entries.get(uri)
    if (known === undefined && isFull) {
      return WAITING
    }
    const entry = known ?? {
      phase: "idle",
      requester,
      document: null,
      reason: "waiting",
      failures: 0,
      fetchedAtMs: null,
      expiresAtMs: null
    }
    this.#entries.delete(uri)
    this.#entries.set(uri, entry)
    if (!isFull && entry.phase === "idle" && (entry.expiresAtMs === null || nowMs >= entry.expiresAtMs)) {
      entry.phase = "queued"
      entry.requester = requester
      this.#queue.add(requester, uri)
    }
    this.#shrink()
    const { document, expiresAtMs, fetchedAtMs, reason } = entry
    const state = document !== null ? "read" : reason === "waiting" ? "waiting" : "failed"
    return { state, reason, document, fetchedAtMs, expiresAtMs }
  }

  /** The content in memory; null where there is none. */
  peek(uri: string): MetadataDocument | null {
    return this.#entries.get(uri)?.document ?? null
  }

  /** The next document to read; null when none is queued. */
  begin(): string | null {
    for (let uri = this.#queue.shift(); uri !== undefined; uri = this.#queue.shift()) {
      const entry = this.#entries.get(uri)
      if (entry !== undefined) {
        entry.phase = "reading"
        return uri
      }
    }
    return null
  }

  /** Ends a read. Content that was read earlier outlives a failure. */
  finish(uri: string, read: DocumentRead, nowMs: number): void {
    const entry = this.#entries.get(uri)
    if (entry === undefined) {
      return
    }
    entry.phase = "idle"
    if (read._tag === "Read") {
      entry.document = read.document
      entry.reason = null
      entry.failures = 0
      entry.fetchedAtMs = nowMs
      entry.expiresAtMs = nowMs + this.#times.keptMs
    } else {
      entry.reason = read.reason
      // After thirty doublings, any first wait is longer than the longest wait.
      const waitMs = this.#times.failedMs * 2 ** Math.min(entry.failures, 30)
      entry.failures += 1
      entry.expiresAtMs = nowMs + Math.min(waitMs, this.#times.keptMs)
    }
  }

  #shrink(): void {
    for (const [uri, { requester }] of this.#entries) {
      if (this.#entries.size <= this.#capacity) {
        return
      }
      this.#entries.delete(uri)
      this.#queue.delete(requester, uri)
    }
  }
}
