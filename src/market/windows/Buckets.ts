import { Records } from "../columnar/Records.ts"

/** Words of a record: the next newer one of its queue, and the bucket that it holds, counted from the epoch. */
const NEWER = 0
export const BUCKET = 1
/** The first word after those two. */
export const BUCKET_WORDS = 2

/** Words of the ends of a queue: its oldest record and its newest, zeros at first. They lie in a record of the owner. */
export const QUEUE = 2

/** Adds the sums of the record `from` to those of `to`. False, with nothing added, when they do not fit. */
export type Merge = (records: Records, to: number, from: number) => boolean

/**
 * Sums of buckets of time in queues, oldest first. Only buckets with a trade have a record, so that memory follows activity.
 * A bucket has several records where its sums do not fit one.
 */
export class Buckets {
  readonly records: Records
  private readonly merge: Merge

  constructor(cells: number, merge: Merge) {
    this.records = new Records(cells)
    this.merge = merge
  }

  /** The bucket of a record. */
  bucketOf(id: number): number {
    return this.records.words(id)[this.records.wordsAt(id) + BUCKET] ?? 0
  }

  /** Gives a record another bucket. It must be in no queue. */
  setBucket(id: number, bucket: number): void {
    this.records.words(id)[this.records.wordsAt(id) + BUCKET] = bucket
  }

  /** The next newer record of the queue; 0 after the newest. */
  newer(id: number): number {
    return this.records.words(id)[this.records.wordsAt(id) + NEWER] ?? 0
  }

  /**
   * Puts a record where its bucket belongs. True when its sums were added to the record of that bucket: the one given is then
   * free. Costs a walk through older records only where newer ones are there.
   */
  put(ends: Uint32Array, at: number, id: number): boolean {
    const bucket = this.bucketOf(id)
    const newest = ends[at + 1] ?? 0
    const before = newest !== 0 && this.bucketOf(newest) > bucket ? this.lastUpTo(ends[at] ?? 0, bucket) : newest
    if (before !== 0 && this.bucketOf(before) === bucket && this.merge(this.records, before, id)) {
      return true
    }
    const after = before === 0 ? (ends[at] ?? 0) : this.newer(before)
    this.link(id, after)
    if (before === 0) {
      ends[at] = id
    } else {
      this.link(before, id)
    }
    if (after === 0) {
      ends[at + 1] = id
    }
    return false
  }

  /** Takes the oldest record out of its queue. */
  shift(ends: Uint32Array, at: number): number {
    const id = ends[at] ?? 0
    const next = this.newer(id)
    ends[at] = next
    if (next === 0) {
      ends[at + 1] = 0
    }
    return id
  }

  /** Gives back every record of a queue. */
  clear(ends: Uint32Array, at: number): void {
    while (ends[at] !== 0) {
      this.records.give(this.shift(ends, at))
    }
  }

  /** The last record of a queue whose bucket is not later than this one; 0 when all are. */
  private lastUpTo(oldest: number, bucket: number): number {
    let last = 0
    for (let id = oldest; id !== 0 && this.bucketOf(id) <= bucket; id = this.newer(id)) {
      last = id
    }
    return last
  }

  private link(id: number, next: number): void {
    this.records.words(id)[this.records.wordsAt(id) + NEWER] = next
  }
}
