import type { Mint } from "../domain/Address.ts"

/** Source of a demand for a mint: the id of a key, or null for the service itself. */
export type RequesterId = string | null

/** A mint to load. */
export interface Load {
  readonly mint: Mint
  /** False when the mint is loaded and its pools are only searched again. */
  readonly isAsked: boolean
}

/** Loads of asked mints in progress and waiting that one requester may have. The service itself may have any number. */
const MOST_PENDING = 32
/** The first guess of the time of a load, before one has been measured. */
const FIRST_PACE_MS = 500
/** Share of the newest load in the mean time of a load. */
const NEWEST_SHARE = 0.2

/**
 * Mints to load. Asked mints come before those that are searched again, and the requesters take turns, so that the number of
 * mints that one of them asks for does not delay the others.
 */
export class LoadQueue {
  readonly #workers: number
  readonly #refreshing: number
  // The requester whose turn it is comes first.
  readonly #asked = new Map<RequesterId, Set<Mint>>()
  readonly #again = new Set<Mint>()
  /** Requesters of the asked mints that wait or are being loaded. */
  readonly #pending = new Map<Mint, RequesterId>()
  readonly #counts = new Map<RequesterId, number>()
  /** Mints being searched again. */
  readonly #searched = new Set<Mint>()
  #paceMs = FIRST_PACE_MS

  constructor(options: {
    readonly workers: number
    /** Workers that may search loaded mints again at a time. */
    readonly refreshing: number
  }) {
    this.#workers = options.workers
    this.#refreshing = options.refreshing
  }

  /** Queues an asked mint; false when the requester has too many pending already. Asking again changes nothing. */
  ask(mint: Mint, requester: RequesterId): boolean {
    if (this.#pending.has(mint)) {
      return true
    }
    const count = this.#counts.get(requester) ?? 0
    if (requester !== null && count >= MOST_PENDING) {
      return false
    }
    this.#again.delete(mint)
    this.#pending.set(mint, requester)
    this.#counts.set(requester, count + 1)
    const own = this.#asked.get(requester) ?? new Set()
    this.#asked.set(requester, own.add(mint))
    return true
  }

  /** Queues a loaded mint to be searched again once no asked mint waits. */
  searchAgain(mint: Mint): void {
    if (!this.#pending.has(mint) && !this.#searched.has(mint)) {
      this.#again.add(mint)
    }
  }

  /** The next mint to load; undefined when there is none for another worker. Every load ends with `done`. */
  take(): Load | undefined {
    for (const [requester, own] of this.#asked) {
      this.#asked.delete(requester)
      for (const mint of own) {
        own.delete(mint)
        if (own.size > 0) {
          this.#asked.set(requester, own)
        }
        return { mint, isAsked: true }
      }
    }
    for (const mint of this.#searched.size < this.#refreshing ? this.#again : []) {
      this.#again.delete(mint)
      this.#searched.add(mint)
      return { mint, isAsked: false }
    }
    return undefined
  }

  /** Ends a load that took this long. */
  done({ isAsked, mint }: Load, tookMs: number): void {
    if (!isAsked) {
      this.#searched.delete(mint)
      return
    }
    const requester = this.#pending.get(mint) ?? null
    this.#pending.delete(mint)
    const left = (this.#counts.get(requester) ?? 1) - 1
    if (left > 0) {
      this.#counts.set(requester, left)
    } else {
      this.#counts.delete(requester)
    }
    this.#paceMs += NEWEST_SHARE * (tookMs - this.#paceMs)
  }

  /** Milliseconds until a pending mint is probably loaded, by the mean time of a load and the turns before it. */
  readyInMs(mint: Mint): number {
    const requester = this.#pending.get(mint) ?? null
    const own = this.#asked.get(requester)
    const place = own === undefined ? -1 : Array.from(own).indexOf(mint)
    return this.#afterTurns(requester, place + 1)
  }

  /** Milliseconds until the requester may probably ask for another mint: until the first of its pending ones is loaded. */
  fitsInMs(requester: RequesterId): number {
    const isLoading = (this.#asked.get(requester)?.size ?? 0) < (this.#counts.get(requester) ?? 0)
    return this.#afterTurns(requester, isLoading ? 0 : 1)
  }

  /** Milliseconds until the mint at this place of its requester is loaded; place 0 is being loaded now. */
  #afterTurns(requester: RequesterId, place: number): number {
    let before = place
    for (const [other, { size }] of this.#asked) {
      before += other === requester ? 0 : Math.min(size, place)
    }
    return Math.ceil(this.#paceMs * (1 + before / this.#workers))
  }
}
