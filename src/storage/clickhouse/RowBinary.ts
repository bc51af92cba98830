/** ClickHouse's RowBinary format: the values of a row one after the other, integers in little-endian order. */

const FIRST_CAPACITY = 65_536
/** Lengths below this fit one byte. */
const CONTINUES = 0x80

const utf8 = { encoder: new TextEncoder(), decoder: new TextDecoder() }

/** Writes rows. Every method appends one value and is named for its column type. */
export class RowWriter {
  #bytes = new Uint8Array(FIRST_CAPACITY)
  #view = new DataView(this.#bytes.buffer)
  #at = 0

  /** The bytes written so far. */
  get written(): Uint8Array {
    return this.#bytes.subarray(0, this.#at)
  }

  #reserve(size: number): number {
    const at = this.#at
    this.#at += size
    if (this.#at > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(this.#at, 2 * this.#bytes.length))
      grown.set(this.#bytes)
      this.#bytes = grown
      this.#view = new DataView(grown.buffer)
    }
    return at
  }

  uint8(value: number): void {
    const at = this.#reserve(1)
    this.#view.setUint8(at, value)
  }

  uint32(value: number): void {
    const at = this.#reserve(4)
    this.#view.setUint32(at, value, true)
  }

  uint64(value: bigint): void {
    const at = this.#reserve(8)
    this.#view.setBigUint64(at, value, true)
  }

  int64(value: bigint): void {
    const at = this.#reserve(8)
    this.#view.setBigInt64(at, value, true)
  }

  float64(value: number): void {
    const at = this.#reserve(8)
    this.#view.setFloat64(at, value, true)
  }

  /** Writes a String from bytes, which need not be text. */
  bytes(value: Uint8Array): void {
    let length = value.length
    while (length >= CONTINUES) {
      this.uint8((length % CONTINUES) + CONTINUES)
      length = Math.floor(length / CONTINUES)
    }
    this.uint8(length)
    const at = this.#reserve(value.length)
    this.#bytes.set(value, at)
  }

  text(value: string): void {
    this.bytes(utf8.encoder.encode(value))
  }

  /** Writes a Nullable. `write` writes the value, if there is one. */
  nullable<A>(value: A | null | undefined, write: (value: A) => void): void {
    if (value === null || value === undefined) {
      this.uint8(1)
    } else {
      this.uint8(0)
      write(value)
    }
  }
}

/**
 * Reads rows. Every method reads one value and is named for its column type. Throws `RangeError` when the bytes end
 * early.
 */
export class RowReader {
  readonly #bytes: Uint8Array
  readonly #view: DataView
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  /** Position of the next value. */
  get at(): number {
    return this.#at
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length
  }

  #take(size: number): number {
    const at = this.#at
    if (at + size > this.#bytes.length) {
      throw new RangeError("a row ends early")
    }
    this.#at += size
    return at
  }

  uint8(): number {
    return this.#view.getUint8(this.#take(1))
  }

  uint32(): number {
    return this.#view.getUint32(this.#take(4), true)
  }

  uint64(): bigint {
    return this.#view.getBigUint64(this.#take(8), true)
  }

  int64(): bigint {
    return this.#view.getBigInt64(this.#take(8), true)
  }

  uint128(): bigint {
    const low = this.uint64()
    return (this.uint64() << 64n) | low
  }

  float64(): number {
    return this.#view.getFloat64(this.#take(8), true)
  }

  bytes(): Uint8Array {
    let [length, unit] = [0, 1]
    let next = this.uint8()
    while (next >= CONTINUES) {
      length += (next - CONTINUES) * unit
      unit *= CONTINUES
      next = this.uint8()
    }
    length += next * unit
    const at = this.#take(length)
    return this.#bytes.subarray(at, at + length)
  }

  text(): string {
    return utf8.decoder.decode(this.bytes())
  }

  nullable<A>(read: () => A): A | null {
    return this.uint8() === 1 ? null : read()
  }
}

/** Reads all rows in these bytes. */
export const readRows = <A>(bytes: Uint8Array, read: (row: RowReader) => A): ReadonlyArray<A> => {
  const reader = new RowReader(bytes)
  const rows: Array<A> = []
  while (!reader.isAtEnd) {
    rows.push(read(reader))
  }
  return rows
}

/** Reads the complete rows at the beginning, and returns them with the remaining bytes. */
export const readWhole = <A>(
  bytes: Uint8Array,
  read: (row: RowReader) => A
): { readonly rows: ReadonlyArray<A>; readonly rest: Uint8Array } => {
  const reader = new RowReader(bytes)
  const rows: Array<A> = []
  let end = 0
  try {
    while (!reader.isAtEnd) {
      rows.push(read(reader))
      end = reader.at
    }
  } catch (cause) {
    if (!(cause instanceof RangeError)) {
      throw cause
    }
  }
  return { rows, rest: bytes.subarray(end) }
}
