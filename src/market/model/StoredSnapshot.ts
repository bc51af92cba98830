import type { Stream } from "effect"

/** The state of memory at a slot. */
export interface SnapshotState {
  /** The newest slot in the state and the time of its block, in milliseconds. */
  readonly slot: number
  readonly timeMs: number
  /**
   * The number of repairs that the state contains. It matches the stored trades while the store counts no more repairs.
   */
  readonly repairs: number
  /** The version of the encoding and the limits of memory. A process must have the same ones to read the state. */
  readonly layout: string
}

/** A stored snapshot. Its parts are numbered from 0. */
export interface StoredSnapshot extends SnapshotState {
  readonly id: string
  readonly parts: number
  /** Bytes before and after compression. */
  readonly size: number
  readonly bytes: number
}

/** A snapshot on its way into the store. */
export interface SnapshotContent {
  readonly state: SnapshotState
  /** Bytes before compression. */
  readonly size: number
  /** Compressed. */
  readonly parts: Stream.Stream<Uint8Array>
}
