/**
 * Recorded transactions made to be of other tokens, pools and wallets: the bytes of their addresses are changed in place, in
 * account keys, in instruction data, in texts and in the events of logs, so that a transaction is decoded as the one it was.
 */
import { toBase58 } from "../../../src/domain/base58.ts"
import { type Address, addressToBytes } from "../../../src/domain/Address.ts"

/** Place within an address of the four bytes that differ from variant to variant: neither end, so that the text keeps its length. */
const VARIED_AT = 20
const PROGRAM_DATA = "Program data: "

/** An address that has variants. Addresses of one group, such as a token and its pools, vary together. */
interface Varied {
  readonly group: number
  readonly bytes: Buffer
  readonly text: string
  /** The four bytes as they were recorded. */
  readonly word: number
  /** Texts by variant, made when they are first needed. */
  readonly texts: Array<string>
}

/** Places of a recorded message, as pairs: an offset, and the number of the address there. */
type Places = ReadonlyArray<number>

/** The event of a program in a log line, which is base64. */
interface LoggedEvent {
  readonly offset: number
  readonly bytes: Buffer
  readonly places: Places
}

/** The places of a message that differ from one replay to the next. */
export interface Changes {
  readonly raw: Places
  readonly texts: Places
  readonly events: ReadonlyArray<LoggedEvent>
  /** Offsets of signatures. */
  readonly signatures: ReadonlyArray<number>
}

const offsetsOf = (message: Buffer, wanted: Buffer | string): ReadonlyArray<number> => {
  const found: Array<number> = []
  for (let at = message.indexOf(wanted, 0, "latin1"); at >= 0; at = message.indexOf(wanted, at + 1, "latin1")) {
    found.push(at)
  }
  return found
}

/** Addresses with variants. */
export class Renaming {
  readonly #varied: Array<Varied> = []
  readonly #numbers = new Map<Address, number>()

  /** Gives an address variants. The addresses of a group share one variant. */
  add(address: Address, group: number): void {
    const bytes = Buffer.from(addressToBytes(address))
    this.#numbers.set(address, this.#varied.length)
    this.#varied.push({ group, bytes, text: address, word: bytes.readUInt32LE(VARIED_AT), texts: [address] })
  }

  /** True for an address that was added. */
  has(address: Address): boolean {
    return this.#numbers.has(address)
  }

  /** The text of an address in a variant. */
  textOf(address: Address, variant: number): string {
    const number = this.#numbers.get(address)
    return number === undefined ? address : this.#text(this.#at(number), variant)
  }

  /** The changes of a message that holds these addresses, log lines and signatures. */
  changesOf(
    message: Buffer,
    {
      addresses,
      logs,
      signatures
    }: {
      readonly addresses: ReadonlyArray<Address>
      readonly logs: ReadonlyArray<string>
      readonly signatures: ReadonlyArray<Uint8Array>
    }
  ): Changes {
    const numbers = addresses.flatMap((address) => this.#numbers.get(address) ?? [])
    const placesIn = (bytes: Buffer, form: "bytes" | "text"): Places =>
      numbers.flatMap((number) => offsetsOf(bytes, this.#at(number)[form]).flatMap((offset) => [offset, number]))
    const lines = new Set(numbers.length === 0 ? [] : logs.filter((line) => line.startsWith(PROGRAM_DATA)))
    const events = Array.from(lines, (line) => line.slice(PROGRAM_DATA.length)).flatMap((text) => {
      const bytes = Buffer.from(text, "base64")
      const places = placesIn(bytes, "bytes")
      return places.length === 0 ? [] : offsetsOf(message, text).map((offset) => ({ offset, bytes, places }))
    })
    return {
      raw: placesIn(message, "bytes"),
      texts: placesIn(message, "text"),
      events,
      signatures: signatures.flatMap((signature) => offsetsOf(message, Buffer.from(signature)))
    }
  }

  /** Changes the message at `start` of the bytes to its form in a slot of a round. */
  apply(bytes: Buffer, start: number, changes: Changes, variantOf: (group: number) => number, round: number): void {
    this.#vary(bytes, start, changes.raw, variantOf)
    for (let i = 0; i < changes.texts.length; i += 2) {
      const varied = this.#at(changes.texts[i + 1] ?? 0)
      bytes.write(this.#text(varied, variantOf(varied.group)), start + (changes.texts[i] ?? 0), "latin1")
    }
    for (const event of changes.events) {
      this.#vary(event.bytes, 0, event.places, variantOf)
      bytes.write(event.bytes.toString("base64"), start + event.offset, "latin1")
    }
    for (const offset of changes.signatures) {
      bytes.writeUInt32LE((bytes.readUInt32LE(start + offset + VARIED_AT) ^ round) >>> 0, start + offset + VARIED_AT)
    }
  }

  #vary(bytes: Buffer, start: number, places: Places, variantOf: (group: number) => number): void {
    for (let i = 0; i < places.length; i += 2) {
      const { group, word } = this.#at(places[i + 1] ?? 0)
      bytes.writeUInt32LE((word ^ variantOf(group)) >>> 0, start + (places[i] ?? 0) + VARIED_AT)
    }
  }

  #text(varied: Varied, variant: number): string {
    const known = varied.texts[variant]
    if (known !== undefined) {
      return known
    }
    const bytes = Buffer.from(varied.bytes)
    bytes.writeUInt32LE((varied.word ^ variant) >>> 0, VARIED_AT)
    const text = toBase58(bytes)
    if (text.length !== varied.text.length) {
      throw new RangeError(`the variants of ${varied.text} differ in length`)
    }
    varied.texts[variant] = text
    return text
  }

  #at(number: number): Varied {
    const varied = this.#varied[number]
    if (varied === undefined) {
      throw new RangeError(`no address has the number ${number}`)
    }
    return varied
  }
}
