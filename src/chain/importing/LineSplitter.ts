import { ImportRefused } from "./importSource.ts"

export const MIB = 1024 * 1024
/**
 * The longest line, and the largest block in JSON. Blocks of the chain have less than 10 MiB. The thread that parses them
 * has memory for the worst case of so many bytes, which is nothing but empty objects: about 20 times the text.
 */
export const MOST_BYTES = 32 * MIB

const NEWLINE = 10
const SPACE = 32

/** A line, often of megabytes. Its text is made when it is asked for: only one of the threads that read a file needs it. */
export class Line {
  readonly #parts: ReadonlyArray<Uint8Array>

  constructor(parts: ReadonlyArray<Uint8Array>) {
    this.#parts = parts
  }

  /** True for a line without a visible character. */
  get isBlank(): boolean {
    return this.#parts.every((part) => part.every((byte) => byte <= SPACE))
  }

  text(): string {
    return Buffer.concat(this.#parts).toString()
  }
}

/** Splits bytes into lines. Throws `ImportRefused` when a line is too long. */
export class LineSplitter {
  readonly #name: string
  #parts: Array<Uint8Array> = []
  #bytes = 0

  /** `name` says in a refusal what is read. */
  constructor(name: string) {
    this.#name = name
  }

  /** The lines that end in these bytes. */
  add(bytes: Uint8Array): ReadonlyArray<Line> {
    const lines: Array<Line> = []
    let start = 0
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
      this.#keep(bytes.subarray(start, end))
      lines.push(this.#take())
      start = end + 1
    }
    this.#keep(bytes.subarray(start))
    return lines
  }

  /** The last line, which no newline ends; blank when there is none. */
  end(): Line {
    return this.#take()
  }

  #keep(bytes: Uint8Array): void {
    this.#bytes += bytes.length
    if (this.#bytes > MOST_BYTES) {
      throw new ImportRefused({ detail: `${this.#name} has a line of more than ${MOST_BYTES / MIB} MiB` })
    }
    this.#parts.push(bytes)
  }

  #take(): Line {
    const line = new Line(this.#parts)
    this.#parts = []
    this.#bytes = 0
    return line
  }
}
