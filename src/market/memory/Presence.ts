import type { Records } from "../columnar/Records.ts"
import { imageCells, type ImageSteps, type StateImage } from "../columnar/StateImage.ts"
import { bucketSeconds, bucketsOf, firstBucket, windowSeconds, WINDOWS } from "../model/windows.ts"

/**
 * Words that a presence needs in the record of an owner, zeros at first: for each window the next owner and the
 * previous one.
 */
export const PRESENCE = 2 * WINDOWS
/** Marks the end of a list in the words of its first and last owner. The other bits are the list. */
const END = 0x8000_0000
const LIST_MASK = 0x7fff_ffff
const NO_LISTS = new Uint32Array(0)

const isEnd = (word: number): boolean => word >= END

/** The cells that a presence uses in its owners' records. */
export interface PresenceCells {
  readonly records: Records
  /** Offset of the first word. */
  readonly words: number
  /** Offset of the cell with the second of the owner's newest trade. */
  readonly lastSecond: number
}

/** Called when an owner enters a window, or when its newest trade leaves the window. */
export interface PresenceWatcher {
  readonly entered: (window: number, owner: number) => void
  readonly left: (window: number, owner: number) => void
}

/**
 * The windows that hold the newest trade of each owner. In each window an owner waits in the list of the bucket in
 * which it entered. When that bucket leaves, the owner moves to the bucket of its newest trade, or leaves too. When an
 * owner is in every window already, its next trade costs only one check.
 */
export class Presence {
  /** The first and the last owner of each list. */
  readonly #lists = bucketsOf.map((buckets) => new Uint32Array(2 * (buckets + 1)))
  /** The first bucket of each window. */
  readonly #first = new Float64Array(WINDOWS)
  #second = 0
  readonly #cells: PresenceCells
  readonly #watcher: PresenceWatcher

  constructor(cells: PresenceCells, watcher: PresenceWatcher) {
    this.#cells = cells
    this.#watcher = watcher
  }

  /**
   * Moves every window to end with the second `now`. Owners leave the windows that no longer hold their newest trade.
   */
  advance(now: number): void {
    const newest = this.#second
    this.#second = now
    for (let window = 0; window < WINDOWS; window++) {
      const step = bucketSeconds[window] ?? 1
      const from = this.#first[window] ?? 0
      const until = firstBucket(windowSeconds[window] ?? 0, step, now)
      this.#first[window] = until
      const last = Math.min(until, Math.floor(newest / step) + 1)
      for (let bucket = Math.max(from, last - (bucketsOf[window] ?? 0)); bucket < last; bucket++) {
        this.#empty(window, bucket)
      }
    }
  }

  /** Puts an owner into the windows that hold its newest trade. Call it when that trade has changed. */
  see(owner: number): void {
    const second = this.#secondOf(owner)
    for (let window = 0; window < WINDOWS; window++) {
      if (this.isIn(owner, window)) {
        return
      }
      const bucket = Math.floor(second / (bucketSeconds[window] ?? 1))
      if (bucket >= (this.#first[window] ?? 0)) {
        this.#insert(window, owner, bucket)
        this.#watcher.entered(window, owner)
      }
    }
  }

  /** True while an owner is in a window. */
  isIn(owner: number, window: number): boolean {
    return this.#words(owner)[this.#at(owner, window) + 1] !== 0
  }

  /** Removes an owner from every window. */
  remove(owner: number): void {
    for (let window = 0; window < WINDOWS; window++) {
      if (this.isIn(owner, window)) {
        this.#unlink(window, owner)
        this.#watcher.left(window, owner)
      }
    }
  }

  /** An owner of the longest window whose newest trade is in the oldest bucket; 0 when there is none. */
  oldest(): number {
    const window = WINDOWS - 1
    const step = bucketSeconds[window] ?? 1
    for (let bucket = this.#first[window] ?? 0; bucket <= Math.floor(this.#second / step); bucket++) {
      const list = this.#listOf(window, bucket)
      for (
        let owner = this.#lists[window]?.[2 * list] ?? 0;
        owner !== 0;
        owner = this.#lists[window]?.[2 * list] ?? 0
      ) {
        const last = Math.floor(this.#secondOf(owner) / step)
        if (last <= bucket) {
          return owner
        }
        this.#unlink(window, owner)
        this.#insert(window, owner, last)
      }
    }
    return 0
  }

  /** Writes or reads the ends of the lists. The links are in the records of the owners. */
  *image(image: StateImage): ImageSteps {
    this.#second = image.number(this.#second)
    image.cells(this.#first)
    for (const list of this.#lists) {
      yield* imageCells(image, list)
    }
  }

  #empty(window: number, bucket: number): void {
    const lists = this.#lists[window] ?? NO_LISTS
    const list = this.#listOf(window, bucket)
    for (let owner = lists[2 * list] ?? 0; owner !== 0; owner = lists[2 * list] ?? 0) {
      this.#unlink(window, owner)
      const last = Math.floor(this.#secondOf(owner) / (bucketSeconds[window] ?? 1))
      if (last >= (this.#first[window] ?? 0)) {
        this.#insert(window, owner, last)
      } else {
        this.#watcher.left(window, owner)
      }
    }
  }

  #insert(window: number, owner: number, bucket: number): void {
    const lists = this.#lists[window] ?? NO_LISTS
    const list = this.#listOf(window, bucket)
    const last = lists[2 * list + 1] ?? 0
    const words = this.#words(owner)
    const at = this.#at(owner, window)
    words[at] = END | list
    words[at + 1] = last === 0 ? END | list : last
    if (last === 0) {
      lists[2 * list] = owner
    } else {
      this.#words(last)[this.#at(last, window)] = owner
    }
    lists[2 * list + 1] = owner
  }

  #unlink(window: number, owner: number): void {
    const lists = this.#lists[window] ?? NO_LISTS
    const words = this.#words(owner)
    const at = this.#at(owner, window)
    const next = words[at] ?? 0
    const before = words[at + 1] ?? 0
    words[at] = 0
    words[at + 1] = 0
    if (isEnd(next)) {
      lists[2 * (next & LIST_MASK) + 1] = isEnd(before) ? 0 : before
    } else {
      this.#words(next)[this.#at(next, window) + 1] = before
    }
    if (isEnd(before)) {
      lists[2 * (before & LIST_MASK)] = isEnd(next) ? 0 : next
    } else {
      this.#words(before)[this.#at(before, window)] = next
    }
  }

  #listOf(window: number, bucket: number): number {
    return bucket % ((bucketsOf[window] ?? 0) + 1)
  }

  #secondOf(owner: number): number {
    const { lastSecond, records } = this.#cells
    return records.page(owner)[records.at(owner) + lastSecond] ?? 0
  }

  #words(owner: number): Uint32Array {
    return this.#cells.records.words(owner)
  }

  #at(owner: number, window: number): number {
    return this.#cells.records.wordsAt(owner) + this.#cells.words + 2 * window
  }
}
