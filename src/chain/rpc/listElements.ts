/** Reads a JSON-RPC answer with a long list while it arrives. */

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const COMMA = 0x2c

/** `{"result":{"value":[…` opens the list at the third level. */
const LIST_DEPTH = 3
/** The most bytes that one element may have, and the text around the list. */
const MOST_BYTES = 65_536

/** Bytes that are kept from one chunk to the next. */
class Kept {
  #parts: Array<Uint8Array> = []
  #size = 0

  add(bytes: Uint8Array): void {
    if (bytes.length > 0) {
      this.#size += bytes.length
      this.#parts.push(bytes)
    }
    if (this.#size > MOST_BYTES) {
      throw new RangeError("an element or the rest is too long")
    }
  }

  take(): string {
    const [only] = this.#parts
    const whole = only !== undefined && this.#parts.length === 1 ? only : Buffer.concat(this.#parts)
    this.#parts = []
    this.#size = 0
    return Buffer.from(whole.buffer, whole.byteOffset, whole.byteLength).toString("utf8")
  }
}

/**
 * Splits the bytes of an answer `{"result":{"context":…,"value":[…]}}` into the elements of its list, each as JSON
 * text, and the rest, whose list is empty. Elements are objects; the order of the properties does not matter. Throws a
 * RangeError when an element or the rest is longer than 64 KiB.
 */
export class ListElements {
  readonly #visit: (element: string) => void
  readonly #rest = new Kept()
  readonly #element = new Kept()
  #depth = 0
  #inText = false
  #isEscaped = false
  #inList = false
  #inElement = false

  constructor(visit: (element: string) => void) {
    this.#visit = visit
  }

  /** Adds the next bytes. They must not be changed afterwards. */
  add(bytes: Uint8Array): void {
    let from = 0
    const flush = (to: number): void => {
      const kept = this.#inElement ? this.#element : this.#rest
      kept.add(bytes.subarray(from, to))
      from = to
    }
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at]
      if (this.#inText) {
        at = this.#pastText(bytes, at)
        continue
      }
      switch (byte) {
        case QUOTE:
          this.#inText = true
          break
        case OPEN_OBJECT:
          if (this.#inList && this.#depth === LIST_DEPTH) {
            flush(at)
            this.#inElement = true
          }
          this.#depth++
          break
        case OPEN_LIST:
          this.#depth++
          this.#inList ||= this.#depth === LIST_DEPTH
          break
        case CLOSE_OBJECT:
          this.#depth--
          if (this.#inElement && this.#depth === LIST_DEPTH) {
            flush(at + 1)
            this.#inElement = false
            this.#visit(this.#element.take())
          }
          break
        case CLOSE_LIST:
          this.#inList &&= this.#depth !== LIST_DEPTH
          this.#depth--
          break
        case COMMA:
          if (this.#inList && this.#depth === LIST_DEPTH) {
            flush(at)
            from = at + 1
          }
          break
        default:
      }
    }
    flush(bytes.length)
  }

  /** The answer without the elements, as JSON text. Call it once, at the end. */
  rest(): string {
    return this.#rest.take()
  }

  /** The index of the quote that ends the text, or of the last byte. */
  #pastText(bytes: Uint8Array, from: number): number {
    for (let at = from; at < bytes.length; at++) {
      if (this.#isEscaped) {
        this.#isEscaped = false
      } else if (bytes[at] === BACKSLASH) {
        this.#isEscaped = true
      } else if (bytes[at] === QUOTE) {
        this.#inText = false
        return at
      }
    }
    return bytes.length - 1
  }
}
