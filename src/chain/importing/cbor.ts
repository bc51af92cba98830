/**
 * Reads the part of DAG-CBOR that CAR files of Old Faithful use: whole numbers, bytes, text, lists, maps by text, links and
 * null. Bytes are views, so nothing is copied.
 */

/** A link to another node: its CID. */
export class CidLink {
  readonly cid: Buffer

  constructor(cid: Buffer) {
    this.cid = cid
  }
}

export type CborValue =
  | number
  | string
  | null
  | Buffer
  | CidLink
  | ReadonlyArray<CborValue>
  | ReadonlyMap<string, CborValue>

/** The bytes are not a value in this form. */
export class MalformedCbor extends Error {
  override readonly name = "MalformedCbor"
}

/** Kinds of values, as the highest three bits of their first byte name them. */
const UNSIGNED = 0
const NEGATIVE = 1
const BYTES = 2
const TEXT = 3
const LIST = 4
const MAP = 5
const TAG = 6
/** The first byte of null. */
const NULL = 0xf6
/** The tag of a link. Its bytes are a zero and the CID. */
const LINK = 42
/** A smaller number stands in the first byte itself. */
const LEAST_LONG = 24
/** Lists within lists. Nodes have four. */
const DEEPEST = 8

class CborReader {
  at = 0
  readonly #bytes: Buffer

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  value(depth: number): CborValue {
    const first = this.#take(1).readUInt8()
    if (first === NULL) {
      return null
    }
    const count = this.#count(first % 32)
    switch (first >> 5) {
      case UNSIGNED:
        return count
      case NEGATIVE:
        return -1 - count
      case BYTES:
        return this.#take(count)
      case TEXT:
        return this.#take(count).toString()
      case LIST:
        return this.#list(count, depth)
      case MAP:
        return this.#map(count, depth)
      case TAG:
        return this.#link(count, depth)
      default:
        throw new MalformedCbor("it has a value of an unknown kind")
    }
  }

  /** A number after the first byte. Rounded above 2^53: only checksums are so large. */
  #count(short: number): number {
    switch (short) {
      case LEAST_LONG:
        return this.#take(1).readUInt8()
      case LEAST_LONG + 1:
        return this.#take(2).readUInt16BE()
      case LEAST_LONG + 2:
        return this.#take(4).readUInt32BE()
      case LEAST_LONG + 3:
        return Number(this.#take(8).readBigUInt64BE())
      default:
        if (short > LEAST_LONG) {
          throw new MalformedCbor("it has a value without a length")
        }
        return short
    }
  }

  #take(count: number): Buffer {
    const end = this.at + count
    if (end > this.#bytes.length) {
      throw new MalformedCbor("it is cut off")
    }
    const taken = this.#bytes.subarray(this.at, end)
    this.at = end
    return taken
  }

  #within(depth: number): number {
    if (depth === DEEPEST) {
      throw new MalformedCbor("it has too many lists within lists")
    }
    return depth + 1
  }

  #list(count: number, depth: number): ReadonlyArray<CborValue> {
    const values: Array<CborValue> = []
    for (let i = 0; i < count; i++) {
      values.push(this.value(this.#within(depth)))
    }
    return values
  }

  #map(count: number, depth: number): ReadonlyMap<string, CborValue> {
    const values = new Map<string, CborValue>()
    for (let i = 0; i < count; i++) {
      const key = this.value(this.#within(depth))
      if (typeof key !== "string") {
        throw new MalformedCbor("it has a key that is not text")
      }
      values.set(key, this.value(this.#within(depth)))
    }
    return values
  }

  #link(tag: number, depth: number): CidLink {
    const bytes = tag === LINK ? this.value(this.#within(depth)) : null
    if (!Buffer.isBuffer(bytes) || bytes[0] !== 0) {
      throw new MalformedCbor("it has a tag that is not a link")
    }
    return new CidLink(bytes.subarray(1))
  }
}

/** The value that these bytes are. Throws `MalformedCbor` when they are not one value. */
export const readCbor = (bytes: Buffer): CborValue => {
  const reader = new CborReader(bytes)
  const value = reader.value(0)
  if (reader.at !== bytes.length) {
    throw new MalformedCbor("it has bytes after its end")
  }
  return value
}
