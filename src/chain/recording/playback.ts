/** A recording as a sequence of what arrived, in the order of arrival. */
import { Effect } from "effect"
import type { Address } from "../../domain/Address.ts"
import type { OnChainAccount } from "../../domain/OnChainAccount.ts"
import type { ChainEvent } from "../ChainFeed.ts"
import { Coverage, readRecordFile, recordFilesOf, type RecordingUnreadable } from "./readRecording.ts"
import type { Entry, Moment, RecordedBlock, RecordedGap } from "./recordEntry.ts"

/** One thing that arrived. `atMs` is the recorded time of arrival, in milliseconds since the Unix epoch. */
export type Played = { readonly atMs: number } & (
  | { readonly _tag: "Event"; readonly event: ChainEvent; readonly moment: Moment }
  /** The state of every followed account, which replaces what is known. */
  | { readonly _tag: "Whole"; readonly event: ChainEvent; readonly moment: Moment }
  | { readonly _tag: "Unwatched"; readonly addresses: ReadonlyArray<Address> }
  /**
   * Where the account feed stood. `stretch` is the number of the covered stretch, from 1; null after a break, until the feed
   * is live again.
   */
  | { readonly _tag: "Moment"; readonly moment: Moment; readonly stretch: number | null }
  | { readonly _tag: "Block"; readonly block: RecordedBlock }
  | { readonly _tag: "Gap"; readonly gap: RecordedGap }
)

/** The slot that something belongs to; null when it belongs to none. */
export const slotOf = (played: Played): number | null => {
  switch (played._tag) {
    case "Event":
    case "Whole":
      return played.event._tag === "Writes" ? played.event.slot : played.event.snapshot.slot
    case "Moment":
      return played.moment.slot
    case "Block":
      return played.block.slot
    default:
      return null
  }
}

/** What one entry says, without its end. */
const playedOf = (entry: Entry): ReadonlyArray<Played> => {
  switch (entry._tag) {
    case "Header":
      return []
    case "Block":
      return [{ _tag: "Block", block: entry.block, atMs: entry.block.heardAtMs }]
    case "Gap":
      return [{ _tag: "Gap", gap: entry.gap, atMs: entry.gap.heardAtMs }]
    case "Accounts":
      return entry.events.map(({ event, moment }) => ({
        _tag: entry.isWhole ? "Whole" : "Event",
        event,
        moment,
        atMs: moment.heardAtMs
      }))
  }
}

/** What was written together, in the order of arrival. */
function* inOrder(frame: ReadonlyArray<Entry>, coverage: Coverage): Generator<Played> {
  yield* frame.flatMap(playedOf).toSorted((a, b) => a.atMs - b.atMs)
  for (const entry of frame) {
    if (entry._tag === "Accounts") {
      const atMs = entry.end?.heardAtMs ?? 0
      if (entry.unwatched.length > 0) {
        yield { _tag: "Unwatched", addresses: entry.unwatched, atMs }
      }
      if (entry.end !== null) {
        coverage.reach(entry.end, entry)
        const stretch = coverage.isOpen ? coverage.stretches.length : null
        yield { _tag: "Moment", moment: entry.end, stretch, atMs }
      }
    }
  }
}

/** Entries that were written together: accounts, then blocks and gaps. */
function* frames(entries: Iterable<Entry>): Generator<ReadonlyArray<Entry>> {
  let frame: Array<Entry> = []
  for (const entry of entries) {
    if (entry._tag === "Accounts" && frame.length > 0) {
      yield frame
      frame = []
    }
    frame.push(entry)
  }
  if (frame.length > 0) {
    yield frame
  }
}

/** A file of a recording, ready to be played. */
export interface PlayedFile {
  /** Slot of the state at its beginning. */
  readonly slot: number
  /** Reads the file. Null when nothing of it is whole. */
  readonly read: Effect.Effect<Iterable<Played> | null, RecordingUnreadable>
}

/** The files of a folder that hold its newest chain, oldest first. */
export const playedFiles = Effect.fnUntraced(function* (folder: string) {
  const listed = yield* recordFilesOf(folder)
  const last = listed.at(-1)
  const newest = last === undefined ? null : yield* readRecordFile(folder, last)
  const coverage = new Coverage()
  return listed.map((file): PlayedFile => ({
    slot: file.slot,
    read: Effect.map(readRecordFile(folder, file), (read) => {
      if (read === null || (newest !== null && read.header.genesis !== newest.header.genesis)) {
        return null
      }
      coverage.begin(read.header)
      return Iterator.from(frames(read.entries)).flatMap((frame) => inOrder(frame, coverage))
    })
  }))
})

/** The accounts that a recording knows at a place in it. */
export class PlayedAccounts {
  readonly all = new Map<Address, OnChainAccount | null>()

  /** Applies what arrived. Blocks change nothing. */
  apply(played: Played): void {
    if (played._tag === "Whole") {
      this.all.clear()
    }
    if (played._tag === "Whole" || played._tag === "Event") {
      const { event } = played
      const { accounts } = event._tag === "Writes" ? event : event.snapshot
      accounts.forEach((account, address) => this.all.set(address, account))
    }
    if (played._tag === "Unwatched") {
      played.addresses.forEach((address) => this.all.delete(address))
    }
  }
}
