import { ImportRefused } from "./importSource.ts"
import { MIB, MOST_BYTES } from "./LineSplitter.ts"

/** Lengths have seven bits in each byte. Four bytes hold more than the longest section. */
const MOST_DIGITS = 4

/** Splits a file into its sections, each behind its length, as CAR files and Protobuf messages in a row have them. Throws `ImportRefused` when a section is too long. */
export class CarSplitter {
  readonly #name: string
  readonly #isReused: boolean
  #space = Buffer.alloc(0)
  #from = 0
  #to = 0
  /** The fewest bytes that the next section can have. */
  #needed = 1

  /**
   * `name` says in a refusal what is read. With `isReused` the sections lie in memory that is used again: read them before you
   * add more bytes. Otherwise each block takes new memory, and V8 marks its whole heap for every 64 MiB of it.
   */
  constructor(name: string, { isReused = false } = {}) {
    this.#name = name
    this.#isReused = isReused
  }

  /** The sections that end in these bytes, without their lengths. The bytes are copied. */
  add(bytes: Buffer): ReadonlyArray<Buffer> {
    this.#makeRoom(bytes.length)
    this.#to += bytes.copy(this.#space, this.#to)
    if (this.#to - this.#from < this.#needed) {
      return []
    }
    const all = this.#space.subarray(0, this.#to)
    const sections: Array<Buffer> = []
    let at = this.#from
    for (let end = this.#endOf(all, at); end <= all.length; end = this.#endOf(all, at)) {
      sections.push(all.subarray(this.#start, end))
      at = end
    }
    this.#needed = this.#endOf(all, at) - at
    this.#from = at
    return sections
  }

  /**
   * Makes room for `length` more bytes. Bytes that belong to no whole section yet move to the beginning, into new memory unless
   * memory is reused.
   */
  #makeRoom(length: number): void {
    const held = this.#space.subarray(this.#from, this.#to)
    const isFull = held.length + length > this.#space.length
    if (isFull || (this.#from > 0 && (!this.#isReused || this.#to + length > this.#space.length))) {
      const space = isFull || !this.#isReused ? Buffer.allocUnsafe(this.#needed + length) : this.#space
      held.copy(space)
      this.#space = space
      this.#from = 0
      this.#to = held.length
    }
  }

  /** True unless the bytes end within a section. */
  get isWhole(): boolean {
    return this.#to === this.#from
  }

  /** Where the section begins whose end was found last. */
  #start = 0

  /** The end of the section at a place. It is after the last byte when the section or its length is not whole. */
  #endOf(bytes: Buffer, at: number): number {
    let length = 0
    for (let i = 0; i < MOST_DIGITS; i++) {
      const digit = bytes[at + i]
      if (digit === undefined) {
        return bytes.length + 1
      }
      length += (digit & 0x7f) * 2 ** (7 * i)
      if (digit < 0x80 && length <= MOST_BYTES) {
        this.#start = at + i + 1
        return this.#start + length
      }
    }
    throw new ImportRefused({
      detail: `${this.#name} is not in the form of its name, is damaged, or has a part of more than ${MOST_BYTES / MIB} MiB`
    })
  }
}
