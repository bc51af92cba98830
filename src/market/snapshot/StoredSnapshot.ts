import type { Stream } from "effect"

/** The state of memory at a slot. */
export interface SnapshotState {
  /** The newest slot in it, and the time of its block in milliseconds. */
  readonly slot: number
  readonly timeMs: number
  /** The repairs of the store that it has: it is that of stored trades while there are no more. */
  readonly repairs: number
  /** The version of its encoding and the limits of memory, which a process that reads it has to share. */
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
