/** Writes data structures as bytes and reads them back. Both directions make the same calls in the same order. */

/** The most bytes that one step moves. */
export const PIECE_BYTES = 2 ** 18

/** The bytes of every part except the last. */
export const PART_BYTES = 2 ** 22

/** The steps of an image. Other work may run between two steps. */
export type ImageSteps = Generator<void, void, void>

type Cells = Float64Array | Uint32Array | Uint8Array

/**
 * Writes bytes, or reads them. The bytes are in the order of the processor, which is little-endian wherever the service
 * runs.
 */
export interface StateImage {
  /** True when bytes are read into the structures. */
  readonly isRead: boolean
  /** Writes a number, or returns the number that was written. */
  number(value: number): number
  text(value: string): string
  /** Writes the elements, or replaces them with the elements that were written. */
  cells(view: Cells): void
}

/** The image belongs to other structures or is damaged. */
export class ImageMismatch extends Error {
  override readonly name = "ImageMismatch"
}

/** The image is larger than its bound. */
export class ImageTooLarge extends Error {
  readonly _tag = "ImageTooLarge"
  override readonly name = "ImageTooLarge"
}

const bytesOf = (view: Cells): Uint8Array => new Uint8Array(view.buffer, view.byteOffset, view.byteLength)

/** Texts up to this many bytes need no memory of their own. */
const MOST_LETTERS = 256
/** Most UTF-8 bytes per unit of a JavaScript text. */
const BYTES_OF_A_UNIT = 3

/** Writes an image into parts. */
export class ImageWriter implements StateImage {
  readonly isRead = false
  readonly parts: Array<Uint8Array> = []
  /** The number of bytes written. */
  size = 0
  readonly #most: number
  #part = new Uint8Array(0)
  #filled = 0
  readonly #scratch = new Float64Array(1)
  readonly #scratchBytes = bytesOf(this.#scratch)
  readonly #letters = new Uint8Array(MOST_LETTERS)
  readonly #encoder = new TextEncoder()

  /** Throws `ImageTooLarge` above `most` bytes. */
  constructor(most = Number.POSITIVE_INFINITY) {
    this.#most = most
  }

  number(value: number): number {
    this.#scratch[0] = value
    this.#put(this.#scratchBytes)
    return value
  }

  text(value: string): string {
    const bytes =
      value.length * BYTES_OF_A_UNIT > MOST_LETTERS
        ? this.#encoder.encode(value)
        : this.#letters.subarray(0, this.#encoder.encodeInto(value, this.#letters).written)
    this.number(bytes.length)
    this.#put(bytes)
    return value
  }

  cells(view: Cells): void {
    this.#put(bytesOf(view))
  }

  #put(bytes: Uint8Array): void {
    this.size += bytes.length
    if (this.size > this.#most) {
      throw new ImageTooLarge(`more than ${this.#most} bytes`)
    }
    if (this.#filled + bytes.length <= this.#part.length) {
      this.#part.set(bytes, this.#filled)
      this.#filled += bytes.length
      return
    }
    for (let from = 0; from < bytes.length;) {
      if (this.#filled === this.#part.length) {
        this.#part = new Uint8Array(PART_BYTES)
        this.parts.push(this.#part)
        this.#filled = 0
      }
      const moved = Math.min(bytes.length - from, this.#part.length - this.#filled)
      this.#part.set(bytes.subarray(from, from + moved), this.#filled)
      this.#filled += moved
      from += moved
    }
  }

  /** Ends the image. The last part is cut to the bytes it holds. */
  end(): void {
    this.parts.push(...this.parts.splice(-1).map((part) => part.subarray(0, this.#filled)))
  }
}

/** Reads an image from parts, which are added as they come. */
export class ImageReader implements StateImage {
  readonly isRead = true
  /** The number of bytes that were added but not read. */
  available = 0
  readonly #parts: Array<Uint8Array> = []
  #at = 0
  readonly #scratch = new Float64Array(1)
  readonly #decoder = new TextDecoder()

  add(part: Uint8Array): void {
    this.#parts.push(part)
    this.available += part.length
  }

  number(_value: number): number {
    this.cells(this.#scratch)
    return this.#scratch[0] ?? 0
  }

  text(_value: string): string {
    const length = this.number(0)
    if (length > this.available) {
      throw new ImageMismatch("a text is longer than the image")
    }
    const bytes = new Uint8Array(length)
    this.cells(bytes)
    return this.#decoder.decode(bytes)
  }

  cells(view: Cells): void {
    const bytes = bytesOf(view)
    if (bytes.length > this.available) {
      throw new ImageMismatch("the image is too short")
    }
    this.available -= bytes.length
    for (let to = 0; to < bytes.length;) {
      const part = this.#parts[0] ?? bytes
      const moved = Math.min(bytes.length - to, part.length - this.#at)
      bytes.set(part.subarray(this.#at, this.#at + moved), to)
      to += moved
      this.#at += moved
      if (this.#at === part.length) {
        this.#parts.shift()
        this.#at = 0
      }
    }
  }
}

/** Checks a value that writer and reader must share. Throws when it differs. */
export const imageSame = (image: StateImage, value: number): void => {
  const written = image.number(value)
  if (written !== value) {
    throw new ImageMismatch(`${written} instead of ${value}`)
  }
}

/** Writes or reads the elements of an array of any length. */
export function* imageCells(image: StateImage, view: Cells): ImageSteps {
  const most = PIECE_BYTES / view.BYTES_PER_ELEMENT
  for (let from = 0; from < view.length; from += most) {
    image.cells(view.subarray(from, from + most))
    yield
  }
}

/** Elements of a list in one step. */
const LISTED = 8192

/** Writes or reads a list of whole numbers below 2^32. */
export function* imageList(image: StateImage, list: Array<number>): ImageSteps {
  const length = image.number(list.length)
  if (image.isRead) {
    list.length = 0
  }
  for (let from = 0; from < length; from += LISTED) {
    const words = image.isRead
      ? new Uint32Array(Math.min(LISTED, length - from))
      : new Uint32Array(list.slice(from, from + LISTED))
    image.cells(words)
    if (image.isRead) {
      list.push(...words)
    }
    yield
  }
}

/**
 * Writes or reads the entries of a map in their order. The map must not change meanwhile. `entry` writes or reads one key
 * and value; both are undefined while an image is read.
 */
export function* imageEntries<K, V>(
  image: StateImage,
  map: Map<K, V>,
  /** The number of entries in one step. */
  many: number,
  entry: (key: K | undefined, value: V | undefined) => readonly [K, V]
): ImageSteps {
  const size = image.number(map.size)
  // A copy of a large map would take longer than a step.
  const written = image.isRead ? null : map.entries()
  for (let place = 0; place < size; place++) {
    const next = written?.next().value
    const [key, value] = entry(next?.[0], next?.[1])
    if (image.isRead) {
      map.set(key, value)
    }
    if (place % many === many - 1) {
      yield
    }
  }
  yield
}
