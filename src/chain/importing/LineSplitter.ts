import { ImportRefused } from "./importSource.ts"

export const MIB = 1024 * 1024
/**
 * The longest line, and the largest block in JSON. Blocks of the chain have less than 10 MiB. The thread that parses them
 * has memory for the worst case of so many bytes, which is nothing but empty objects: about 20 times the text.
 */
export const MOST_BYTES = 32 * MIB

const NEWLINE = 10

/** Splits bytes into lines of text. Throws `ImportRefused` when a line is too long. */
export class LineSplitter {
  readonly #name: string
  #parts: Array<Uint8Array> = []
  #bytes = 0

  /** `name` says in a refusal what is read. */
  constructor(name: string) {
    this.#name = name
  }

  /** The lines that end in these bytes. */
  add(bytes: Uint8Array): ReadonlyArray<string> {
    const lines: Array<string> = []
    let start = 0
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
      this.#keep(bytes.subarray(start, end))
      lines.push(this.#take())
      start = end + 1
    }
    this.#keep(bytes.subarray(start))
    return lines
  }

  /** The last line, which no newline ends; empty when there is none. */
  end(): string {
    return this.#take()
  }

  #keep(bytes: Uint8Array): void {
    this.#bytes += bytes.length
    if (this.#bytes > MOST_BYTES) {
      throw new ImportRefused({ detail: `${this.#name} has a line of more than ${MOST_BYTES / MIB} MiB` })
    }
    this.#parts.push(bytes)
  }

  #take(): string {
    const text = Buffer.concat(this.#parts).toString()
    this.#parts = []
    this.#bytes = 0
    return text
  }
}
