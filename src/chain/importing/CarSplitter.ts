import { ImportRefused } from "./importSource.ts"
import { MIB, MOST_BYTES } from "./LineSplitter.ts"

/** Lengths have seven bits in each byte. Four bytes hold more than the longest section. */
const MOST_DIGITS = 4

/** Splits a file into its sections, each behind its length, as CAR files and Protobuf messages in a row have them. Throws `ImportRefused` when a section is too long. */
export class CarSplitter {
  readonly #name: string
  #parts: Array<Buffer> = []
  #held = 0
  /** The fewest bytes that the next section can have. */
  #needed = 1

  /** `name` says in a refusal what is read. */
  constructor(name: string) {
    this.#name = name
  }

  /** The sections that end in these bytes, without their lengths. */
  add(bytes: Buffer): ReadonlyArray<Buffer> {
    this.#parts.push(bytes)
    this.#held += bytes.length
    if (this.#held < this.#needed) {
      return []
    }
    const all = this.#parts.length === 1 ? bytes : Buffer.concat(this.#parts, this.#held)
    const sections: Array<Buffer> = []
    let at = 0
    for (let end = this.#endOf(all, at); end <= all.length; end = this.#endOf(all, at)) {
      sections.push(all.subarray(this.#start, end))
      at = end
    }
    this.#held = all.length - at
    this.#needed = this.#endOf(all, at) - at
    this.#parts = this.#held === 0 ? [] : [all.subarray(at)]
    return sections
  }

  /** True unless the bytes end within a section. */
  get isWhole(): boolean {
    return this.#held === 0
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
