/** Writes an item as text and reads it back. */
export interface Codec<A> {
  readonly write: (item: A) => string
  /** `timeMs` is the time of the item. */
  readonly read: (text: string, timeMs: number) => A
}

/** Offsets in the 16 bytes before each text: the length of the text in bytes, the parts and the time of the item. */
const HEAD = { bytes: 0, parts: 4, timeMs: 8, length: 16 } as const
/** A buffer has room for a quarter more than it holds, so that a full log moves its items once in many pushes. */
const ROOM = 1.25
const NO_BYTES = Buffer.allocUnsafeSlow(0)

/** A held item that is read when it is needed. */
export interface Packed<A> {
  /** In milliseconds since the Unix epoch. */
  readonly timeMs: number
  readonly read: () => A
}

/**
 * Items in their order, oldest first, as text in one buffer. Kept as objects, a few hundred thousand items would be
 * millions of objects that every full collection marks.
 */
export class PackedLog<A> {
  readonly #codec: Codec<A>
  #bytes = NO_BYTES
  /** Where the oldest item begins, and where the newest ends. */
  #from = 0
  #to = 0
  #length = 0
  #parts = 0

  constructor(codec: Codec<A>) {
    this.#codec = codec
  }

  get length(): number {
    return this.#length
  }

  /** Sum of the parts of all items. */
  get parts(): number {
    return this.#parts
  }

  /** Time of the oldest item; undefined without one. */
  get oldestMs(): number | undefined {
    return this.#length === 0 ? undefined : this.#timeAt(this.#from)
  }

  /** Adds the newest item. `parts` is how much it counts, such as the events of a transaction. */
  push(item: A, timeMs: number, parts = 1): void {
    const text = this.#codec.write(item)
    const length = Buffer.byteLength(text)
    this.#makeRoom(HEAD.length + length)
    this.#bytes.write(text, this.#to + HEAD.length)
    this.#bytes.writeUInt32LE(length, this.#to + HEAD.bytes)
    this.#bytes.writeUInt32LE(parts, this.#to + HEAD.parts)
    this.#bytes.writeDoubleLE(timeMs, this.#to + HEAD.timeMs)
    this.#to += HEAD.length + length
    this.#length++
    this.#parts += parts
  }

  /** Drops the oldest item. */
  shift(): void {
    if (this.#length > 0) {
      this.#length--
      this.#parts -= this.#bytes.readUInt32LE(this.#from + HEAD.parts)
      this.#from = this.#after(this.#from)
    }
  }

  /** The newest items, at most `most`, oldest first. They can be read until the log changes. */
  *newest(most: number = this.#length): Generator<Packed<A>, void> {
    let at = this.#from
    for (let place = 0; place < this.#length; place++) {
      const start = at
      at = this.#after(at)
      if (place >= this.#length - most) {
        const timeMs = this.#timeAt(start)
        yield { timeMs, read: () => this.#codec.read(this.#textAt(start), timeMs) }
      }
    }
  }

  #after(at: number): number {
    return at + HEAD.length + this.#bytes.readUInt32LE(at + HEAD.bytes)
  }

  #timeAt(at: number): number {
    return this.#bytes.readDoubleLE(at + HEAD.timeMs)
  }

  #textAt(at: number): string {
    return this.#bytes.toString("utf8", at + HEAD.length, this.#after(at))
  }

  /** Makes room for more bytes at the end: moves the items to the front, or to a larger buffer. */
  #makeRoom(bytes: number): void {
    if (this.#to + bytes <= this.#bytes.length) {
      return
    }
    const used = this.#to - this.#from
    const room = Math.ceil(ROOM * (used + bytes))
    const target = room <= this.#bytes.length ? this.#bytes : Buffer.allocUnsafeSlow(room)
    this.#bytes.copy(target, 0, this.#from, this.#to)
    this.#bytes = target
    this.#from = 0
    this.#to = used
  }
}
