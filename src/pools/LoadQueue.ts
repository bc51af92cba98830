import type { Mint } from "../domain/Address.ts"
import { type RequesterId, Turns } from "./Turns.ts"

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
/** The first guess of the time of a check. */
const FIRST_CHECK_MS = 100
/** Share of the newest load or check in the mean time of one. */
const NEWEST_SHARE = 0.2

/**
 * Mints to load. Asked mints come before those that are searched again, and the requesters take turns, so that the number of
 * mints that one of them asks for does not delay the others. Mints that a key asks for are checked first, many at a time: those
 * that do not exist cost no load.
 */
export class LoadQueue {
  readonly #workers: number
  readonly #refreshing: number
  /** Asked mints of keys that may not exist. */
  readonly #unchecked = new Turns<Mint>()
  readonly #asked = new Turns<Mint>()
  readonly #again = new Set<Mint>()
  /** Requesters of the asked mints that wait, are being checked or loaded. */
  readonly #pending = new Map<Mint, RequesterId>()
  readonly #counts = new Map<RequesterId, number>()
  /** Mints being searched again. */
  readonly #searched = new Set<Mint>()
  #paceMs: number
  #checkMs = FIRST_CHECK_MS

  constructor(options: {
    readonly workers: number
    /** Workers that may search loaded mints again at a time. */
    readonly refreshing: number
    /** The first guess of the time of a load, before one has been measured. */
    readonly firstPaceMs?: number | undefined
  }) {
    this.#workers = options.workers
    this.#refreshing = options.refreshing
    this.#paceMs = options.firstPaceMs ?? FIRST_PACE_MS
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
    const turns = requester === null ? this.#asked : this.#unchecked
    turns.add(requester, mint)
    return true
  }

  /** Queues a loaded mint to be searched again once no asked mint waits. */
  searchAgain(mint: Mint): void {
    if (!this.#pending.has(mint) && !this.#searched.has(mint)) {
      this.#again.add(mint)
    }
  }

  /** The next mints to check, at most so many. Every check ends with `checked`. */
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

  /** Ends a check that took this long: the mints that exist wait to be loaded, the others are dropped. */
  checked(mints: ReadonlyArray<Mint>, exists: (mint: Mint) => boolean, tookMs: number): void {
    for (const mint of mints) {
      if (exists(mint)) {
        this.#asked.add(this.#pending.get(mint) ?? null, mint)
      } else {
        this.#end(mint)
      }
    }
    this.#checkMs += NEWEST_SHARE * (tookMs - this.#checkMs)
  }

  /** The next mint to load; undefined when there is none for another worker. Every load ends with `done`. */
  take(): Load | undefined {
    const asked = this.#asked.shift()
    if (asked !== undefined) {
      return { mint: asked, isAsked: true }
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
    this.#end(mint)
    this.#paceMs += NEWEST_SHARE * (tookMs - this.#paceMs)
  }

  /** Milliseconds until a pending mint is probably loaded, by the mean time of a load and the turns before it. */
  readyInMs(mint: Mint): number {
    const requester = this.#pending.get(mint) ?? null
    const unchecked = this.#unchecked.placeOf(requester, mint) + 1
    return unchecked > 0
      ? this.#afterTurns(requester, this.#asked.sizeOf(requester) + unchecked, this.#checkMs)
      : this.#afterTurns(requester, this.#asked.placeOf(requester, mint) + 1)
  }

  /** Milliseconds until the requester may probably ask for another mint: until the first of its pending ones is loaded or dropped. */
  fitsInMs(requester: RequesterId): number {
    if (this.#unchecked.sizeOf(requester) > 0) {
      return Math.ceil(this.#checkMs)
    }
    const isLoading = this.#asked.sizeOf(requester) < (this.#counts.get(requester) ?? 0)
    return this.#afterTurns(requester, isLoading ? 0 : 1)
  }

  /** Milliseconds until the mint at this place of its requester is loaded; place 0 is being loaded now. */
  #afterTurns(requester: RequesterId, place: number, delayMs = 0): number {
    const before = place + this.#asked.before(requester, place) + this.#unchecked.before(requester, place)
    return Math.ceil(delayMs + this.#paceMs * (1 + before / this.#workers))
  }

  /** The mint is no longer pending. */
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
