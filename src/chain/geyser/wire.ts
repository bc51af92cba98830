/**
 * Reads the wire format of Protocol Buffers in place, without making an object for each message. A reader walks the
 * fields of a message with `next`; each field is then read by its type, or left out with `skip`.
 */

/** The bytes are not a whole message. `detail` says what is wrong, and where. */
export class MalformedMessage extends Error {
  override readonly name = "MalformedMessage"
}

const NO_BYTES = new Uint8Array(0)

/** Kinds of values, as the lowest three bits of a field's tag name them. */
const VARINT = 0
const FIXED_64 = 1
const BYTES = 2
const FIXED_32 = 5

/** The tag of a field whose value is a varint. */
export const varintField = (field: number): number => field * 8 + VARINT

/** The tag of a field whose value has a length: bytes, text, a message, or several numbers. */
export const bytesField = (field: number): number => field * 8 + BYTES

/** A varint has seven bits in each of its bytes. Ten bytes hold 64 bits. */
const MOST_BYTES = 10
/** Seven bytes hold 49 bits, which a double holds exactly. */
export const EXACT_BYTES = 7

/** A place in the bytes of a message. */
export class WireReader {
  bytes: Uint8Array = NO_BYTES
  at = 0
  #view: Buffer = Buffer.alloc(0)

  /** Begins with the first byte of a message. The bytes must not change while they are read. */
  open(bytes: Uint8Array): void {
    this.bytes = bytes
    this.#view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    this.at = 0
  }

  /** True at the end of a value. */
  isAt(end: number): boolean {
    if (this.at > end) {
      throw this.#malformed("a field runs over the end of its message")
    }
    return this.at === end
  }

  /** The tag of the next field of a message that ends here; 0 when there is none. */
  next(end: number): number {
    if (this.isAt(end)) {
      return 0
    }
    const tag = this.number()
    if (tag < 8) {
      throw this.#malformed("no field has the number 0")
    }
    return tag
  }

  /** A varint as a double: exact below 2^53, otherwise rounded. */
  number(): number {
    const { bytes } = this
    let byte = bytes[this.at++]
    if (byte === undefined) {
      throw this.#truncated()
    }
    if (byte < 128) {
      return byte
    }
    let value = byte & 127
    for (let i = 1, weight = 128; i < MOST_BYTES; i++, weight *= 128) {
      byte = bytes[this.at++]
      if (byte === undefined) {
        throw this.#truncated()
      }
      value += (byte & 127) * weight
      if (byte < 128) {
        return value
      }
    }
    throw this.#malformed("a number has more than ten bytes")
  }

  /** A varint of up to 64 bits, exactly. */
  bigint(): bigint {
    const from = this.at
    const rounded = this.number()
    if (this.at - from <= EXACT_BYTES) {
      return rounded === 0 ? 0n : BigInt(rounded)
    }
    let value = 0n
    for (let at = this.at - 1; at >= from; at--) {
      value = (value << 7n) | BigInt((this.bytes[at] ?? 0) & 127)
    }
    return BigInt.asUintN(64, value)
  }

  /** A varint of 64 bits with a sign, as a double. */
  signed(): number {
    return Number(BigInt.asIntN(64, this.bigint()))
  }

  /** The end of a value that has a length. The place is then the first byte of the value. */
  end(): number {
    const length = this.number()
    const end = this.at + length
    if (end > this.bytes.length) {
      throw this.#truncated()
    }
    return end
  }

  /** Skips a value that has a length, and returns its first byte; its end is the new place. */
  pass(): number {
    const end = this.end()
    const from = this.at
    this.at = end
    return from
  }

  /** Bytes as a view into the message. */
  view(): Uint8Array {
    const from = this.pass()
    return this.slice(from, this.at)
  }

  slice(from: number, to: number): Uint8Array {
    const { buffer, byteOffset } = this.bytes
    return new Uint8Array(buffer, byteOffset + from, to - from)
  }

  text(): string {
    const from = this.pass()
    return this.textAt(from, this.at)
  }

  textAt(from: number, to: number): string {
    return this.#view.toString("utf8", from, to)
  }

  /** Skips the value of the field with this tag. */
  skip(tag: number): void {
    switch (tag % 8) {
      case VARINT:
        this.number()
        return
      case BYTES:
        this.pass()
        return
      case FIXED_64:
        return this.#forward(8)
      case FIXED_32:
        return this.#forward(4)
      default:
        throw this.#malformed(`field ${Math.floor(tag / 8)} has a kind of value that is not used`)
    }
  }

  #forward(count: number): void {
    this.at += count
    if (this.at > this.bytes.length) {
      throw this.#truncated()
    }
  }

  #truncated(): MalformedMessage {
    return new MalformedMessage(`the message of ${this.bytes.length} bytes is cut off`)
  }

  #malformed(detail: string): MalformedMessage {
    return new MalformedMessage(`${detail}, at byte ${this.at} of ${this.bytes.length}`)
  }
}
