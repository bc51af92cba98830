/**
 * Turns a transaction as it was sent into the message `TransactionInfo` of `geyser.proto`, which `readWireTransaction`
 * reads. The stored outcome is in that form already.
 */
import { bytesField, varintField } from "../geyser/wire.ts"

const KEY_BYTES = 32
const SIGNATURE_BYTES = 64
/** Numbers of signers and of keys that are only read. */
const HEADER_BYTES = 3
/** The first byte of a message with a version. Older messages begin with a smaller number. */
const VERSION_0 = 0x80

class Malformed extends Error {}

/** A place in a transaction as it was sent. */
class SentReader {
  at = 0
  readonly #bytes: Uint8Array

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  get isAtEnd(): boolean {
    return this.at === this.#bytes.length
  }

  peek(): number {
    return this.#bytes[this.at] ?? 0
  }

  take(count: number): Uint8Array {
    const end = this.at + count
    if (end > this.#bytes.length) {
      throw new Malformed()
    }
    const taken = this.#bytes.subarray(this.at, end)
    this.at = end
    return taken
  }

  byte(): number {
    return this.take(1)[0] ?? 0
  }

  /** A count in one to three bytes, with seven bits in each. */
  count(): number {
    let value = 0
    for (let shift = 0; shift < 21; shift += 7) {
      const byte = this.byte()
      value += (byte & 0x7f) << shift
      if (byte < 0x80) {
        return value
      }
    }
    throw new Malformed()
  }

  counted(): Uint8Array {
    return this.take(this.count())
  }

  many<A>(read: () => A): ReadonlyArray<A> {
    return Array.from({ length: this.count() }, read)
  }
}

const varint = (value: number): ReadonlyArray<number> => {
  const digits: Array<number> = []
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) {
      return [...digits, rest]
    }
    digits.push((rest % 128) + 128)
  }
}

/** A field that holds these bytes. */
const field = (number: number, ...parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  return Buffer.concat([Uint8Array.of(bytesField(number), ...varint(length)), ...parts])
}

const numberField = (number: number, value: number): Uint8Array => Uint8Array.of(varintField(number), ...varint(value))

const readSent = (bytes: Uint8Array): Uint8Array => {
  const sent = new SentReader(bytes)
  const signatures = sent.many(() => field(1, sent.take(SIGNATURE_BYTES)))
  const hasVersion = sent.peek() >= VERSION_0
  if (hasVersion && sent.byte() !== VERSION_0) {
    throw new Malformed()
  }
  sent.take(HEADER_BYTES)
  const keys = sent.many(() => field(2, sent.take(KEY_BYTES)))
  // The recent blockhash.
  sent.take(KEY_BYTES)
  const instructions = sent.many(() => {
    const program = sent.byte()
    return field(4, numberField(1, program), field(2, sent.counted()), field(3, sent.counted()))
  })
  if (hasVersion) {
    // The outcome names the keys of lookup tables.
    sent.many(() => [sent.take(KEY_BYTES), sent.counted(), sent.counted()])
  }
  if (!sent.isAtEnd) {
    throw new Malformed()
  }
  return field(3, ...signatures, field(2, ...keys, ...instructions))
}

/**
 * The message of a transaction and its outcome, the message `TransactionStatusMeta`; without an outcome when it is null.
 * Null when the transaction is not in a known form.
 */
export const transactionInfo = (sent: Uint8Array, outcome: Uint8Array | null): Uint8Array | null => {
  try {
    const transaction = readSent(sent)
    return outcome === null ? transaction : Buffer.concat([transaction, field(4, outcome)])
  } catch (error) {
    if (error instanceof Malformed) {
      return null
    }
    throw error
  }
}
