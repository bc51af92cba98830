/**
 * Blocks in Protobuf, one after the other: messages `SubscribeUpdateBlock` of the public Geyser interface, each behind its
 * length as a varint. So a stream of blocks can be kept in a file as it came. Transactions are decoded from these bytes, so
 * this is the form that is read with the least work.
 */
import { Result } from "effect"
import { BlockRows, decodeTransaction } from "../decoding/decodeBlock.ts"
import type { TradeBlock } from "../decoding/TradeBlock.ts"
import { readWireTransaction } from "../decoding/wireTransaction.ts"
import { bytesField, MalformedMessage, varintField, WireReader } from "../geyser/wire.ts"
import { CarSplitter } from "./CarSplitter.ts"
import { ImportRefused, type SourceBlock } from "./importSource.ts"

const SLOT = varintField(1)
const BLOCKHASH = bytesField(2)
const BLOCK_TIME = bytesField(4)
const TRANSACTION = bytesField(6)
const PARENT_SLOT = varintField(7)
const PARENT_BLOCKHASH = bytesField(8)
const EXECUTED = varintField(9)

const IS_VOTE = varintField(2)
const INDEX = varintField(5)

const refuse = (detail: string): never => {
  throw new ImportRefused({ detail })
}

const wire = new WireReader()

/** What a message states of its block. */
interface ProtoBlock {
  readonly slot: number
  readonly parentSlot: number
  /** Seconds since the Unix epoch; null when it is not known. */
  readonly blockTime: number | null
  readonly blockhash: string | null
  readonly parentBlockhash: string | null
  /** How many transactions the block has, votes included; null when the message does not say. */
  readonly executed: number | null
  /** The bytes of each `TransactionInfo`. */
  readonly transactions: ReadonlyArray<Uint8Array>
}

const readTime = (end: number): number => {
  let timestamp = 0
  for (let tag = wire.next(end); tag !== 0; tag = wire.next(end)) {
    if (tag === varintField(1)) {
      timestamp = wire.signed()
    } else {
      wire.skip(tag)
    }
  }
  return timestamp
}

const readBlock = (message: Uint8Array): ProtoBlock => {
  wire.open(message)
  const transactions: Array<Uint8Array> = []
  const block: { -readonly [Key in keyof ProtoBlock]: ProtoBlock[Key] } = {
    slot: 0,
    parentSlot: 0,
    blockTime: null,
    blockhash: null,
    parentBlockhash: null,
    executed: null,
    transactions
  }
  for (let tag = wire.next(message.length); tag !== 0; tag = wire.next(message.length)) {
    switch (tag) {
      case SLOT:
        block.slot = wire.number()
        break
      case BLOCKHASH:
        block.blockhash = wire.text()
        break
      case BLOCK_TIME:
        block.blockTime = readTime(wire.end())
        break
      case TRANSACTION:
        transactions.push(wire.view())
        break
      case PARENT_SLOT:
        block.parentSlot = wire.number()
        break
      case PARENT_BLOCKHASH:
        block.parentBlockhash = wire.text()
        break
      case EXECUTED:
        block.executed = wire.number()
        break
      default:
        wire.skip(tag)
    }
  }
  return block
}

/** A transaction of a block, at its position. */
interface Placed {
  readonly index: number
  readonly isVote: boolean
  readonly info: Uint8Array
}

const placed = (info: Uint8Array): Placed => {
  wire.open(info)
  let [index, isVote] = [0, false]
  for (let tag = wire.next(info.length); tag !== 0; tag = wire.next(info.length)) {
    if (tag === IS_VOTE) {
      isVote = wire.number() !== 0
    } else if (tag === INDEX) {
      index = wire.number()
    } else {
      wire.skip(tag)
    }
  }
  return { index, isVote, info }
}

/** Votes trade nothing. */
const decodeInfos = (place: Omit<ProtoBlock, "transactions">, infos: ReadonlyArray<Placed>): TradeBlock => {
  const { blockTime, slot } = place
  const rows = new BlockRows()
  for (const { index, info, isVote } of infos.toSorted((a, b) => a.index - b.index)) {
    if (!isVote) {
      const read = readWireTransaction(info, { slot, blockTime, indexInBlock: index })
      rows.add(Result.isFailure(read) ? null : decodeTransaction(read.success, index))
    }
  }
  return rows.block(place)
}

/** Refuses a place whose bytes are malformed. */
const orRefuse = <A>(place: string, read: () => A): A => {
  try {
    return read()
  } catch (error) {
    throw error instanceof MalformedMessage
      ? new ImportRefused({ detail: `${place} cannot be read: ${error.message}` })
      : error
  }
}

/**
 * Takes the bytes of a file. Returns this thread's blocks that end in these bytes. Decode them before you add more bytes. `name`
 * is the file's name.
 */
export const makeProtoBlocks = (name: string, isOwn: () => boolean) => {
  const splitter = new CarSplitter(name, { isReused: true })
  let before = -1
  let seen = 0
  let added = 0
  const blockOf = (message: Buffer): SourceBlock => {
    const place = `block ${seen} of ${name}`
    const { transactions, ...head } = orRefuse(place, () => readBlock(message))
    const { blockhash, executed, parentBlockhash, slot } = head
    if (slot <= before) {
      refuse(`${place}: slot ${slot} comes after slot ${before}; blocks have to be in order`)
    }
    if (slot === 0) {
      refuse(`${place} has no slot: it is not the message of a block alone`)
    }
    if (executed !== null && transactions.length !== executed) {
      refuse(`${place} has ${transactions.length} transactions, but its slot ${slot} has executed ${executed}`)
    }
    before = slot
    const mine = added
    const decode = () => {
      if (mine !== added) {
        throw new Error(`${place} is decoded too late: later bytes use its memory`)
      }
      const infos = orRefuse(`${place}, of slot ${slot},`, () => transactions.map(placed))
      if (new Set(infos.map(({ index }) => index)).size < infos.length) {
        refuse(`${place}, of slot ${slot}, has two transactions at one index`)
      }
      return orRefuse(`${place}, of slot ${slot},`, () => decodeInfos(head, infos))
    }
    return { slot, answer: { blockhash, previousBlockhash: parentBlockhash }, decode }
  }
  return {
    add: (bytes: Buffer): ReadonlyArray<SourceBlock> => {
      added += 1
      return splitter.add(bytes).flatMap((message) => {
        seen += 1
        return isOwn() ? [blockOf(message)] : []
      })
    },
    end: (): void => {
      if (!splitter.isWhole || seen === 0) {
        refuse(`${name} is cut off, or has no blocks`)
      }
    }
  }
}
