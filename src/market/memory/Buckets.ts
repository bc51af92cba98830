import { Records } from "../columnar/Records.ts"
import type { ImageSteps, StateImage } from "../columnar/StateImage.ts"

/** Words of a record: the next newer record of its queue, and the bucket it holds, counted from the epoch. */
const NEWER = 0
export const BUCKET = 1
/** The first word that is free for sums. */
export const BUCKET_WORDS = 2

/**
 * Words of a queue: its oldest record, its newest record, and the bucket of the newest; zeros at first. They lie in a
 * record of the owner.
 */
export const QUEUE = 4
const NEWEST = 1
const NEWEST_BUCKET = 2

/** Adds the sums of the record `from` to the record `to`. Returns false and adds nothing when they do not fit. */
export type Merge = (records: Records, to: number, from: number) => boolean

/**
 * Sums of time buckets in queues, oldest first. Only buckets with a trade have a record, so memory follows activity. A
 * bucket has several records when its sums do not fit into one.
 */
export class Buckets {
  readonly records: Records
  readonly #merge: Merge

  constructor(cells: number, merge: Merge) {
    this.records = new Records(cells)
    this.#merge = merge
  }

  bucketOf(id: number): number {
    return this.records.words(id)[this.records.wordsAt(id) + BUCKET] ?? 0
  }

  /** Sets the bucket of a record. The record must be in no queue. */
  setBucket(id: number, bucket: number): void {
    this.records.words(id)[this.records.wordsAt(id) + BUCKET] = bucket
  }

  /** The next newer record of the queue; 0 after the newest. */
  newer(id: number): number {
    return this.records.words(id)[this.records.wordsAt(id) + NEWER] ?? 0
  }

  /**
   * Inserts a record into a queue by its bucket. Returns true when its sums were added to an existing record of that
   * bucket: the given record is then free. Only a late record has to walk through the queue.
   */
  put(ends: Uint32Array, at: number, id: number): boolean {
    const bucket = this.bucketOf(id)
    const newest = ends[at + NEWEST] ?? 0
    if (newest === 0) {
      ends[at] = id
    } else if ((ends[at + NEWEST_BUCKET] ?? 0) > bucket) {
      return this.#putLate(ends, at, id, bucket)
    } else if (ends[at + NEWEST_BUCKET] === bucket && this.#merge(this.records, newest, id)) {
      return true
    } else {
      this.#link(newest, id)
    }
    this.#link(id, 0)
    ends[at + NEWEST] = id
    ends[at + NEWEST_BUCKET] = bucket
    return false
  }

  /** Removes the oldest record from its queue and returns it. */
  shift(ends: Uint32Array, at: number): number {
    const id = ends[at] ?? 0
    const next = this.newer(id)
    ends[at] = next
    if (next === 0) {
      ends[at + NEWEST] = 0
    }
    return id
  }

  fetchNewest(ends: Uint32Array, at: number): number {
    const newest = ends[at + NEWEST] ?? 0
    return newest === 0 ? 0 : this.records.fetch(newest)
  }

  /** Gives back every record of a queue. */
  clear(ends: Uint32Array, at: number): void {
    while (ends[at] !== 0) {
      this.records.give(this.shift(ends, at))
    }
  }

  /** Writes or reads every bucket. The queues are in the records of their owners. */
  image(image: StateImage): ImageSteps {
    return this.records.image(image)
  }

  /** Inserts a record that is older than the newest one. */
  #putLate(ends: Uint32Array, at: number, id: number, bucket: number): boolean {
    let before = 0
    let after = ends[at] ?? 0
    while (after !== 0 && this.bucketOf(after) <= bucket) {
      before = after
      after = this.newer(after)
    }
    if (before !== 0 && this.bucketOf(before) === bucket && this.#merge(this.records, before, id)) {
      return true
    }
    this.#link(id, after)
    if (before === 0) {
      ends[at] = id
    } else {
      this.#link(before, id)
    }
    return false
  }

  #link(id: number, next: number): void {
    this.records.words(id)[this.records.wordsAt(id) + NEWER] = next
  }
}
