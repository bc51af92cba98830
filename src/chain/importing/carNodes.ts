/**
 * Nodes of an Old Faithful file. Each is a list whose first value names its kind. The public schema is `ledger.ipldsch` of
 * `rpcpool/yellowstone-faithful`.
 */
import { isCount } from "../decoding/jsonFields.ts"
import { type CborValue, CidLink, MalformedCbor, readCbor } from "./cbor.ts"

export const TRANSACTION = 0
export const ENTRY = 1
export const BLOCK = 2
export const DATA_FRAME = 6

/** Lists of three to six values, as CBOR begins them. */
const [SHORTEST, LONGEST] = [0x83, 0x86]

/** The kind of a node, without decoding it; null for what cannot be a node of Old Faithful. */
export const kindOf = (node: Buffer): number | null => {
  const [list = 0, kind = 255] = node
  return list >= SHORTEST && list <= LONGEST && kind <= DATA_FRAME ? kind : null
}

/** A part of some data. Further parts are nodes of their own. */
export interface DataFrame {
  readonly index: number | null
  /** How many parts the data has; null for one that is whole. */
  readonly total: number | null
  readonly data: Buffer
  readonly next: ReadonlyArray<CidLink>
}

export interface TransactionNode {
  readonly data: DataFrame
  readonly metadata: DataFrame
  /** Position in the block; null in older files. */
  readonly index: number | null
}

export interface EntryNode {
  readonly hash: Buffer
  readonly transactions: ReadonlyArray<CidLink>
}

export interface BlockNode {
  readonly slot: number
  readonly parentSlot: number
  /** Seconds since the Unix epoch; null when the file does not know it. */
  readonly blockTime: number | null
  readonly entries: ReadonlyArray<CidLink>
}

const wrong = (part: string): never => {
  throw new MalformedCbor(`it lacks ${part}`)
}

const listOf = (value: CborValue | undefined, part: string): ReadonlyArray<CborValue> =>
  Array.isArray(value) ? value : wrong(part)

/** The values of a node of this kind. */
const valuesOf = (value: CborValue, kind: number, part: string): ReadonlyArray<CborValue> => {
  const values = listOf(value, part)
  return values[0] === kind ? values : wrong(part)
}

const isLinks = (values: ReadonlyArray<CborValue>): values is ReadonlyArray<CidLink> =>
  values.every((value) => value instanceof CidLink)

const linksOf = (value: CborValue | undefined, part: string): ReadonlyArray<CidLink> => {
  const values = listOf(value, part)
  return isLinks(values) ? values : wrong(part)
}

const bytesOf = (value: CborValue | undefined, part: string): Buffer => (Buffer.isBuffer(value) ? value : wrong(part))

const countOf = (value: CborValue | undefined, part: string): number => (isCount(value) ? value : wrong(part))

const countOrNull = (value: CborValue | undefined): number | null => (isCount(value) ? value : null)

const frameOf = (value: CborValue): DataFrame => {
  const [, , index, total, data, next = null] = valuesOf(value, DATA_FRAME, "a data frame")
  return {
    index: countOrNull(index),
    total: countOrNull(total),
    data: bytesOf(data, "the data of a frame"),
    next: next === null ? [] : linksOf(next, "the links of a frame")
  }
}

export const readFrame = (node: Buffer): DataFrame => frameOf(readCbor(node))

export const readTransaction = (node: Buffer): TransactionNode => {
  const [, data = null, metadata = null, , index] = valuesOf(readCbor(node), TRANSACTION, "a transaction")
  return { data: frameOf(data), metadata: frameOf(metadata), index: countOrNull(index) }
}

export const readEntry = (node: Buffer): EntryNode => {
  const [, , hash, transactions] = valuesOf(readCbor(node), ENTRY, "an entry")
  return {
    hash: bytesOf(hash, "the hash of an entry"),
    transactions: linksOf(transactions, "transactions of an entry")
  }
}

export const readBlock = (node: Buffer): BlockNode => {
  const [, slot, , entries, meta] = valuesOf(readCbor(node), BLOCK, "a block")
  const [parentSlot, seconds] = listOf(meta, "the place of a block")
  const blockTime = countOf(seconds, "the time of a block")
  return {
    slot: countOf(slot, "the slot of a block"),
    parentSlot: countOf(parentSlot, "the parent of a block"),
    blockTime: blockTime === 0 ? null : blockTime,
    entries: linksOf(entries, "entries of a block")
  }
}
