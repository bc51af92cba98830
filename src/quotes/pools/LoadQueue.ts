import type { Mint } from "../../domain/Address.ts"
import { type RequesterId, Turns } from "./Turns.ts"

/** A mint to load. */
export interface Load {
  readonly mint: Mint
  /** False for a loaded mint whose pools are only searched again. */
  readonly isRequested: boolean
}

/** How many requested mints of one requester may wait or load. The service itself has no limit. */
const MOST_PENDING = 32
/** Expected time of a load before one has been measured. */
const FIRST_PACE_MS = 500
/** Expected time of a check before one has been measured. */
const FIRST_CHECK_MS = 100
/** Weight of the newest measurement in the mean duration of a load or check. */
const NEWEST_SHARE = 0.2

/**
 * Mints to load. Requested mints come before mints that are searched again. Requesters take turns, so that one
 * requester with many mints does not delay the others. Mints requested by a key are checked first, many at a time: a
 * mint that does not exist then costs no load.
 */
export class LoadQueue {
  readonly #workers: number
  readonly #refreshing: number
  /** Mints requested by keys. They may not exist. */
  readonly #unchecked = new Turns<Mint>()
  readonly #requested = new Turns<Mint>()
  readonly #again = new Set<Mint>()
  /** The requester of each requested mint that is waiting, being checked or being loaded. */
  readonly #pending = new Map<Mint, RequesterId>()
  readonly #counts = new Map<RequesterId, number>()
  /** Mints being searched again. */
  readonly #searched = new Set<Mint>()
  #paceMs: number
  #checkMs = FIRST_CHECK_MS

  constructor(options: {
    readonly workers: number
    /** How many workers may search loaded mints again at the same time. */
    readonly refreshing: number
    /** Expected time of a load before one has been measured. */
    readonly firstPaceMs?: number | undefined
  }) {
    this.#workers = options.workers
    this.#refreshing = options.refreshing
    this.#paceMs = options.firstPaceMs ?? FIRST_PACE_MS
  }

  /**
   * Queues a requested mint. Returns false when the requester has too many pending already. Requesting a mint twice
   * changes nothing.
   */
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
    const turns = requester === null ? this.#requested : this.#unchecked
    turns.add(requester, mint)
    return true
  }

  /** Queues a loaded mint for another search. It happens when no requested mint waits. */
  searchAgain(mint: Mint): void {
    if (!this.#pending.has(mint) && !this.#searched.has(mint)) {
      this.#again.add(mint)
    }
  }

  /** The next mints to check, at most `most`. Every check must end with `checked`. */
  takeUnchecked(most: number): ReadonlyArray<Mint> {
    const mints: Array<Mint> = []
    for (let next = this.#unchecked.shift(); next !== undefined; next = this.#unchecked.shift()) {
      mints.push(next)
      if (mints.length === most) {
        break
      }
    }
    return mints
  }

  /** Ends a check that took `tookMs`. Mints that exist then wait to be loaded; others are dropped. */
  checked(mints: ReadonlyArray<Mint>, exists: (mint: Mint) => boolean, tookMs: number): void {
    for (const mint of mints) {
      if (exists(mint)) {
        this.#requested.add(this.#pending.get(mint) ?? null, mint)
      } else {
        this.#end(mint)
      }
    }
    this.#checkMs += NEWEST_SHARE * (tookMs - this.#checkMs)
  }

  /** The next mint to load; undefined when nothing is left for another worker. Every load must end with `done`. */
  take(): Load | undefined {
    const requested = this.#requested.shift()
    if (requested !== undefined) {
      return { mint: requested, isRequested: true }
    }
    for (const mint of this.#searched.size < this.#refreshing ? this.#again : []) {
      this.#again.delete(mint)
      this.#searched.add(mint)
      return { mint, isRequested: false }
    }
    return undefined
  }

  /** Ends a load that took `tookMs`. */
  done({ isRequested, mint }: Load, tookMs: number): void {
    if (!isRequested) {
      this.#searched.delete(mint)
      return
    }
    this.#end(mint)
    this.#paceMs += NEWEST_SHARE * (tookMs - this.#paceMs)
  }

  /**
   * Expected milliseconds until a pending mint is loaded, from the mean duration of a load and the turns before it.
   */
  readyInMs(mint: Mint): number {
    const requester = this.#pending.get(mint) ?? null
    const unchecked = this.#unchecked.placeOf(requester, mint) + 1
    return unchecked > 0
      ? this.#afterTurns(requester, this.#requested.sizeOf(requester) + unchecked, this.#checkMs)
      : this.#afterTurns(requester, this.#requested.placeOf(requester, mint) + 1)
  }

  /**
   * Expected milliseconds until the requester may request another mint: until one of its pending mints is loaded or
   * dropped.
   */
  fitsInMs(requester: RequesterId): number {
    if (this.#unchecked.sizeOf(requester) > 0) {
      return Math.ceil(this.#checkMs)
    }
    const isLoading = this.#requested.sizeOf(requester) < (this.#counts.get(requester) ?? 0)
    return this.#afterTurns(requester, isLoading ? 0 : 1)
  }

  /** Milliseconds until the mint at this place among its requester's mints is loaded. Place 0 is being loaded now. */
  #afterTurns(requester: RequesterId, place: number, delayMs = 0): number {
    const before = place + this.#requested.before(requester, place) + this.#unchecked.before(requester, place)
    return Math.ceil(delayMs + this.#paceMs * (1 + before / this.#workers))
  }

  /** Removes a mint from the pending ones. */
  #end(mint: Mint): void {
    const requester = this.#pending.get(mint) ?? null
    this.#pending.delete(mint)
    const left = (this.#counts.get(requester) ?? 1) - 1
    if (left > 0) {
      this.#counts.set(requester, left)
    } else {
      this.#counts.delete(requester)
    }
  }
}
