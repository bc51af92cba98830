/** Reads a JSON-RPC answer with a long list while it arrives. */

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const COMMA = 0x2c

/** The white space of JSON alone. */
const SPACES = /^[ \t\r\n]*$/u

/** `{"result":{"value":[…` opens the list at the third level. */
const LIST_DEPTH = 3

/** Bytes in which the name of the list and its opening are looked for. */
const OPENING_BYTES = 64

const utf8 = new TextDecoder("utf-8", { fatal: true })

const joined = (parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  const [only] = parts
  return only !== undefined && parts.length === 1 ? only : Buffer.concat(parts)
}

/** Bytes that are kept from one chunk to the next. */
class Kept {
  readonly #mostBytes: number
  #parts: Array<Uint8Array> = []
  #size = 0

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes
  }

  add(bytes: Uint8Array): void {
    if (bytes.length > 0) {
      this.#size += bytes.length
      this.#parts.push(bytes)
    }
    if (this.#size > this.#mostBytes) {
      throw new RangeError("an element or the rest is too long")
    }
  }

  /** The last bytes, with letters beyond ASCII as any others. */
  end(bytes: number): string {
    let size = 0
    const first = this.#parts.findLastIndex((part) => (size += part.length) >= bytes)
    return Buffer.from(joined(this.#parts.slice(Math.max(0, first))).subarray(-bytes)).toString("latin1")
  }

  take(): string {
    const text = utf8.decode(joined(this.#parts))
    this.#parts = []
    this.#size = 0
    return text
  }
}

export interface ListElementsOptions {
  /** The property of the result that holds the list. Only letters. */
  readonly property: string
  /** The most bytes of one element, and of the text around the list. */
  readonly mostBytes: number
  /** Takes the JSON text of an element. */
  readonly visit: (element: string) => void
}

/**
 * Splits the bytes of an answer like `{"result":{"context":…,"value":[…]}}` into the elements of its list, each as JSON
 * text, and the rest, whose list is empty. The order of the properties does not matter. Throws when an element or the
 * rest is too long, the bytes are not UTF-8, or the list comes twice.
 */
export class ListElements {
  readonly #visit: (element: string) => void
  readonly #opening: RegExp
  readonly #rest: Kept
  readonly #element: Kept
  #depth = 0
  #inText = false
  #isEscaped = false
  #inList = false
  #hasList = false
  #hasElement = false

  constructor({ mostBytes, property, visit }: ListElementsOptions) {
    this.#visit = visit
    this.#opening = new RegExp(`(?<!\\\\)"${property}"\\s*:\\s*\\[$`, "u")
    this.#rest = new Kept(mostBytes)
    this.#element = new Kept(mostBytes)
  }

  /** Adds the next bytes. They must not be changed afterwards. */
  add(bytes: Uint8Array): void {
    let from = 0
    const flush = (to: number): void => {
      const kept = this.#inList ? this.#element : this.#rest
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
          this.#depth++
          break
        case OPEN_LIST:
          this.#depth++
          if (this.#depth === LIST_DEPTH) {
            flush(at + 1)
            this.#openList()
          }
          break
        case CLOSE_OBJECT:
          this.#depth--
          break
        case CLOSE_LIST:
          if (this.#inList && this.#depth === LIST_DEPTH) {
            flush(at)
            this.#endList()
            this.#inList = false
          }
          this.#depth--
          break
        case COMMA:
          if (this.#inList && this.#depth === LIST_DEPTH) {
            flush(at)
            this.#endElement()
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

  #openList(): void {
    this.#inList = this.#opening.test(this.#rest.end(OPENING_BYTES))
    if (this.#inList && this.#hasList) {
      throw new RangeError("the list comes twice")
    }
    this.#hasList ||= this.#inList
  }

  #endElement(): void {
    this.#hasElement = true
    this.#visit(this.#element.take())
  }

  #endList(): void {
    const element = this.#element.take()
    // An empty list has no elements, but may have spaces.
    if (this.#hasElement || !SPACES.test(element)) {
      this.#visit(element)
    }
  }

  /** The index of the quote that ends the text, or of the last byte. */
  #pastText(bytes: Uint8Array, from: number): number {
    let isEscaped = this.#isEscaped
    for (let at = from; at < bytes.length; at++) {
      const byte = bytes[at]
      if (isEscaped) {
        isEscaped = false
      } else if (byte === QUOTE) {
        this.#isEscaped = false
        this.#inText = false
        return at
      } else {
        isEscaped = byte === BACKSLASH
      }
    }
    this.#isEscaped = isEscaped
    return bytes.length - 1
  }
}
