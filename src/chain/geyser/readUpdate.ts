/**
 * Reads the updates of a stream from their bytes, only the fields that are used. The numbers of fields come
 * from `geyser.proto`. A transaction stays bytes: its decoder reads them.
 */
import { bytesField, varintField, WireReader } from "./wire.ts"

/** An account after a write. An account without lamports has ceased to exist. */
export interface AccountWrite {
  readonly slot: number
  /** Bytes are views into the message. Copy them to keep them. */
  readonly pubkey: Uint8Array
  readonly lamports: bigint
  readonly owner: Uint8Array
  readonly data: Uint8Array
  /** Orders the writes of one node. */
  readonly writeVersion: number
}

/** A slot at a commitment. */
export interface SlotStatus {
  readonly slot: number
  readonly parent: number | null
  readonly status: number
}

/** A transaction at its position in the block. */
export interface PlacedTransaction {
  readonly slot: number
  readonly index: number
  /** The bytes of its `TransactionInfo`, a view into the message; null for a vote. */
  readonly info: Uint8Array | null
}

/** The head of a slot. `executed` counts its transactions, including votes. */
export interface SlotHead {
  readonly slot: number
  readonly parentSlot: number
  /** Seconds since the Unix epoch; null when it is not known. */
  readonly blockTime: number | null
  readonly executed: number
  /** Empty when the head has none. */
  readonly blockhash: string
}

/** One message of a stream. At most one of the members after `filters` has a value. */
export interface StreamUpdate {
  /** Names of the filters that the message passed. */
  readonly filters: ReadonlyArray<string>
  readonly account: AccountWrite | null
  readonly slot: SlotStatus | null
  readonly transaction: PlacedTransaction | null
  readonly head: SlotHead | null
  readonly isPing: boolean
}

/** An update while it is read. */
type Draft = { -readonly [Key in keyof StreamUpdate]: StreamUpdate[Key] }

const NO_BYTES = new Uint8Array(0)
const wire = new WireReader()

const FILTER = bytesField(1)
const ACCOUNT = bytesField(2)
const SLOT = bytesField(3)
const TRANSACTION = bytesField(4)
const PING = bytesField(6)
const HEAD = bytesField(7)
const TRANSACTION_STATUS = bytesField(10)

/** Reads the fields of the message that ends here. `read` returns false for a field that it does not use. */
const readFields = (end: number, read: (tag: number) => boolean): void => {
  for (let tag = wire.next(end); tag !== 0; tag = wire.next(end)) {
    if (!read(tag)) {
      wire.skip(tag)
    }
  }
}

const readWritten = (write: { -readonly [Key in keyof AccountWrite]: AccountWrite[Key] }, end: number): void => {
  for (let tag = wire.next(end); tag !== 0; tag = wire.next(end)) {
    switch (tag) {
      case bytesField(1):
        write.pubkey = wire.view()
        break
      case varintField(2):
        write.lamports = wire.bigint()
        break
      case bytesField(3):
        write.owner = wire.view()
        break
      case bytesField(6):
        write.data = wire.view()
        break
      case varintField(7):
        write.writeVersion = wire.number()
        break
      default:
        wire.skip(tag)
    }
  }
}

const readAccount = (end: number): AccountWrite => {
  const write = { slot: 0, pubkey: NO_BYTES, lamports: 0n, owner: NO_BYTES, data: NO_BYTES, writeVersion: 0 }
  for (let tag = wire.next(end); tag !== 0; tag = wire.next(end)) {
    if (tag === bytesField(1)) {
      readWritten(write, wire.end())
    } else if (tag === varintField(2)) {
      write.slot = wire.number()
    } else {
      wire.skip(tag)
    }
  }
  return write
}

const readSlot = (end: number): SlotStatus => {
  const status: { slot: number; parent: number | null; status: number } = { slot: 0, parent: null, status: 0 }
  readFields(end, (tag) => {
    switch (tag) {
      case varintField(1):
        status.slot = wire.number()
        return true
      case varintField(2):
        status.parent = wire.number()
        return true
      case varintField(3):
        status.status = wire.number()
        return true
      default:
        return false
    }
  })
  return status
}

interface Position {
  slot: number
  index: number
  info: Uint8Array | null
}

/** Keeps the bytes of the transaction, unless it is a vote: a server that ignores the filter sends votes too. */
const placeTransaction = (position: Position, end: number): void => {
  const from = wire.at
  let isVote = false
  for (let tag = wire.next(end); tag !== 0; tag = wire.next(end)) {
    if (tag === varintField(2)) {
      isVote = wire.number() !== 0
    } else if (tag === varintField(5)) {
      position.index = wire.number()
    } else {
      wire.skip(tag)
    }
  }
  position.info = isVote ? null : wire.slice(from, end)
}

/** Null for an update without a transaction. */
const readTransaction = (end: number): PlacedTransaction | null => {
  const position: Position = { slot: 0, index: 0, info: null }
  let isPresent = false
  for (let tag = wire.next(end); tag !== 0; tag = wire.next(end)) {
    if (tag === bytesField(1)) {
      isPresent = true
      placeTransaction(position, wire.end())
    } else if (tag === varintField(2)) {
      position.slot = wire.number()
    } else {
      wire.skip(tag)
    }
  }
  return isPresent ? position : null
}

/** Statuses are requested for votes alone. */
const readStatus = (end: number): PlacedTransaction => {
  const position: Position = { slot: 0, index: 0, info: null }
  for (let tag = wire.next(end); tag !== 0; tag = wire.next(end)) {
    if (tag === varintField(1)) {
      position.slot = wire.number()
    } else if (tag === varintField(4)) {
      position.index = wire.number()
    } else {
      wire.skip(tag)
    }
  }
  return position
}

const readTime = (end: number): number => {
  let timestamp = 0
  readFields(end, (tag) => {
    const isTimestamp = tag === varintField(1)
    timestamp = isTimestamp ? wire.signed() : timestamp
    return isTimestamp
  })
  return timestamp
}

const readHead = (end: number): SlotHead => {
  const head: { slot: number; parentSlot: number; blockTime: number | null; executed: number; blockhash: string } = {
    slot: 0,
    parentSlot: 0,
    blockTime: null,
    executed: 0,
    blockhash: ""
  }
  readFields(end, (tag) => {
    switch (tag) {
      case varintField(1):
        head.slot = wire.number()
        return true
      case bytesField(2):
        head.blockhash = wire.text()
        return true
      case bytesField(4):
        head.blockTime = readTime(wire.end())
        return true
      case varintField(6):
        head.parentSlot = wire.number()
        return true
      case varintField(8):
        head.executed = wire.number()
        return true
      default:
        return false
    }
  })
  return head
}

/** Reads the member that the tag names. Returns false for other fields. */
const readMember = (update: Draft, tag: number): boolean => {
  switch (tag) {
    case FILTER:
      update.filters = [...update.filters, wire.text()]
      return true
    case ACCOUNT:
      update.account = readAccount(wire.end())
      return true
    case SLOT:
      update.slot = readSlot(wire.end())
      return true
    case TRANSACTION:
      update.transaction = readTransaction(wire.end())
      return true
    case TRANSACTION_STATUS:
      update.transaction = readStatus(wire.end())
      return true
    case HEAD:
      update.head = readHead(wire.end())
      return true
    case PING:
      wire.pass()
      update.isPing = true
      return true
    default:
      return false
  }
}

/** Reads one message of a stream. Throws a `MalformedMessage` when the bytes are not a whole message. */
export const readUpdate = (bytes: Uint8Array): StreamUpdate => {
  wire.open(bytes)
  const update: Draft = { filters: [], account: null, slot: null, transaction: null, head: null, isPing: false }
  readFields(bytes.length, (tag) => readMember(update, tag))
  return update
}
