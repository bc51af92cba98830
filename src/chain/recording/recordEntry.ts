/**
 * The entries of a recording's files. An entry is a length, a checksum, and its content. A reader takes whole entries
 * only, so a file that was cut off anywhere reads as if its last entry had never been written.
 */
import { Result, Schema } from "effect"
import { crc32 } from "node:zlib"
import { Address, addressFromBytes } from "../../domain/Address.ts"
import type { ChainEvent } from "../ChainFeed.ts"
import { decodeMessage, encodeMessage } from "../bus/accountMessage.ts"
import { GapReason } from "../blocks/BlockFeed.ts"

/** Number of the format, in the header of each file. A reader refuses other numbers. */
export const FORMAT = 1

/** The first entry of a file. */
const Header = Schema.Struct({
  format: Schema.Int,
  /** Hash of the chain's first block; null when the node does not name it. */
  genesis: Schema.NullOr(Schema.String),
  /** Number of the process that wrote the file. Accounts are followed without a hole between files of one run. */
  run: Schema.String,
  /** Number of the file within its run. A number is missing where entries between two files were lost. */
  part: Schema.Int
})
export type Header = typeof Header.Type

/** The chain's clock and the state of the account feed, at the time of the local clock that it was heard. */
const Moment = Schema.Struct({
  slot: Schema.Int,
  /** When it arrived, in milliseconds since the Unix epoch. */
  heardAtMs: Schema.Int,
  state: Schema.Literals(["live", "polling", "reloading", "loading", "down", "recorded"]),
  epoch: Schema.Int,
  unixTimestamp: Schema.Int
})
export type Moment = typeof Moment.Type

/** Account writes as they arrived, and where the feed stood afterwards. */
const Accounts = Schema.Struct({
  /** True for the first state of a file: every followed account. It replaces what is known. */
  isWhole: Schema.Boolean,
  events: Schema.Array(
    Schema.Struct({ ...Moment.fields, tag: Schema.Literals(["Snapshot", "Writes"]), count: Schema.Int })
  ),
  /** Accounts that are no longer followed, after the events. */
  unwatched: Schema.Array(Address),
  /** The state of the feed when the entry was written; null in the first state of a file. */
  end: Schema.NullOr(Moment)
})

const Block = Schema.Struct({
  slot: Schema.Int,
  parentSlot: Schema.Int,
  blockTimeMs: Schema.NullOr(Schema.Int),
  blockTimeEstimated: Schema.Boolean,
  heardAtMs: Schema.Int
})

const Gap = Schema.Struct({ from: Schema.Int, to: Schema.Int, reason: GapReason, heardAtMs: Schema.Int })
export type RecordedGap = typeof Gap.Type

/** A block as the node answered `getBlock`. */
export interface RecordedBlock {
  readonly slot: number
  readonly parentSlot: number
  /** Corrected time in milliseconds since the Unix epoch; null when nothing is known of it. */
  readonly blockTimeMs: number | null
  readonly blockTimeEstimated: boolean
  readonly heardAtMs: number
  /** The JSON of the answer, compressed with zstd. */
  readonly json: Uint8Array
}

/** An event of the account feed, with the moment it arrived. */
export interface RecordedEvent {
  readonly moment: Moment
  readonly event: ChainEvent
}

export type Entry =
  | { readonly _tag: "Header"; readonly header: Header }
  | {
      readonly _tag: "Accounts"
      readonly isWhole: boolean
      readonly events: ReadonlyArray<RecordedEvent>
      readonly unwatched: ReadonlyArray<Address>
      readonly end: Moment | null
    }
  | { readonly _tag: "Block"; readonly block: RecordedBlock }
  | { readonly _tag: "Gap"; readonly gap: RecordedGap }

const KINDS = ["Header", "Accounts", "Block", "Gap"] as const

/** Length and checksum before the content; kind and length of the JSON at its beginning. */
const FRAME = 8
const PREFIX = 5

const jsonOf = {
  Header: Schema.fromJsonString(Header),
  Accounts: Schema.fromJsonString(Accounts),
  Block: Schema.fromJsonString(Block),
  Gap: Schema.fromJsonString(Gap)
}
const readHeader = Schema.decodeUnknownResult(jsonOf.Header)
const readAccounts = Schema.decodeUnknownResult(jsonOf.Accounts)
const readBlock = Schema.decodeUnknownResult(jsonOf.Block)
const readGap = Schema.decodeUnknownResult(jsonOf.Gap)

const framed = (kind: (typeof KINDS)[number], json: object, bytes: Uint8Array = new Uint8Array()): Buffer => {
  const text = Buffer.from(JSON.stringify(json))
  const entry = Buffer.allocUnsafe(FRAME + PREFIX + text.length + bytes.length)
  entry.writeUInt8(KINDS.indexOf(kind), FRAME)
  entry.writeUInt32LE(text.length, FRAME + 1)
  entry.set(text, FRAME + PREFIX)
  entry.set(bytes, FRAME + PREFIX + text.length)
  entry.writeUInt32LE(entry.length - FRAME, 0)
  entry.writeUInt32LE(crc32(entry.subarray(FRAME)), 4)
  return entry
}

const writesOf = (event: ChainEvent) => (event._tag === "Writes" ? event : event.snapshot)

/** The bytes of an entry. */
export const encodeEntry = (entry: Entry): Buffer => {
  switch (entry._tag) {
    case "Header":
      return framed("Header", entry.header)
    case "Block": {
      const { json, ...block } = entry.block
      return framed("Block", block, json)
    }
    case "Gap":
      return framed("Gap", entry.gap)
    case "Accounts": {
      const { end, events, isWhole, unwatched } = entry
      const writes = events.flatMap(({ event }) =>
        Array.from(writesOf(event).accounts, ([address, account]) => {
          // The slot of a read is later than the account's last write.
          const slot = account?.slot ?? writesOf(event).slot
          return [address, { slot, account }] as const
        })
      )
      const json = {
        isWhole,
        events: events.map(({ event, moment }) => ({
          ...moment,
          slot: writesOf(event).slot,
          tag: event._tag,
          count: writesOf(event).accounts.size
        })),
        unwatched,
        end
      }
      const message = { session: 0, slot: 0, leases: new Map(), unfollowed: [], writes }
      return framed("Accounts", json, encodeMessage(message))
    }
  }
}

const addressOfKey = (key: string): Address => addressFromBytes(Buffer.from(key, "latin1"))

/** Puts the writes of an entry back into its events. */
const eventsOf = (rows: (typeof Accounts.Type)["events"], bytes: Uint8Array): ReadonlyArray<RecordedEvent> | null => {
  const { writes } = decodeMessage(bytes, addressOfKey)
  let at = 0
  const events = rows.map(({ count, tag, ...moment }): RecordedEvent => {
    const accounts = new Map(writes.slice(at, at + count).map(([address, { account }]) => [address, account]))
    at += count
    const { slot } = moment
    return {
      moment,
      event: tag === "Writes" ? { _tag: "Writes", slot, accounts } : { _tag: "Snapshot", snapshot: { slot, accounts } }
    }
  })
  return at === writes.length ? events : null
}

/** Decodes the content of an entry; null when it is not one. */
const decodeContent = (content: Buffer): Entry | null => {
  const kind = KINDS[content.readUInt8(0)]
  const start = PREFIX + content.readUInt32LE(1)
  const text = content.toString("utf8", PREFIX, start)
  const bytes = content.subarray(start)
  switch (kind) {
    case "Header":
      return Result.getOrNull(Result.map(readHeader(text), (header) => ({ _tag: "Header" as const, header })))
    case "Block":
      return Result.getOrNull(
        Result.map(readBlock(text), (block) => ({ _tag: "Block" as const, block: { ...block, json: bytes } }))
      )
    case "Gap":
      return Result.getOrNull(Result.map(readGap(text), (gap) => ({ _tag: "Gap" as const, gap })))
    case "Accounts": {
      const read = readAccounts(text)
      const events = Result.isSuccess(read) ? eventsOf(read.success.events, bytes) : null
      return Result.isSuccess(read) && events !== null ? { _tag: "Accounts", ...read.success, events } : null
    }
    default:
      return null
  }
}

/** The content of each whole entry at the beginning of a file, and where it ends. */
function* wholeContents(file: Buffer): Generator<readonly [content: Buffer, end: number]> {
  for (let at = 0; at + FRAME + PREFIX <= file.length;) {
    const end = at + FRAME + file.readUInt32LE(at)
    const content = file.subarray(at + FRAME, end)
    if (end > file.length || content.length < PREFIX || crc32(content) !== file.readUInt32LE(at + 4)) {
      return
    }
    yield [content, end]
    at = end
  }
}

/** The newest moment of a file with a live feed; null without one. Decodes no more than the entries after it. */
export const newestMoment = (file: Buffer): Moment | null => {
  for (const [content] of Array.from(wholeContents(file)).toReversed()) {
    const entry = decodeContent(content)
    if (entry?._tag === "Accounts" && entry.end !== null && entry.end.state === "live") {
      return entry.end
    }
  }
  return null
}

/** How many bytes at the beginning of a file are whole entries. */
export const wholeLength = (file: Buffer): number => {
  let length = 0
  for (const [, end] of wholeContents(file)) {
    length = end
  }
  return length
}

/** The entries of a file, up to the first that is cut off or damaged. */
export function* readEntries(file: Buffer): Generator<Entry> {
  for (const [content] of wholeContents(file)) {
    const entry = decodeContent(content)
    if (entry === null) {
      return
    }
    yield entry
  }
}
