import { imageCells, imageSame, type ImageSteps, type StateImage } from "./StateImage.ts"

// Large, so that the list of pages stays in the L1 cache. The system commits only memory that is written.
const PAGE_BITS = 15
const PAGE = 2 ** PAGE_BITS
const PAGE_MASK = PAGE - 1
const NO_CELLS = new Float64Array(0)
const NO_WORDS = new Uint32Array(0)
/** Unsigned 32-bit words of one cell. */
const WORDS = 2
/** Cells of a cache line. */
const LINE = 8

/**
 * Records of a fixed number of cells, kept in pages: growing never copies, a record never moves, and the garbage
 * collector sees pages instead of millions of objects. Number 0 is never given out: it means "none".
 */
export class Records {
  /** Cells of one record. */
  readonly stride: number
  private readonly pages: Array<Float64Array> = []
  /** The same memory as words. */
  private readonly wordPages: Array<Uint32Array> = []
  /** The records given back, each naming the next in its first word. */
  private firstFree = 0
  private freeCount = 0
  private next = 1

  constructor(stride: number) {
    this.stride = stride
  }

  /** The page that holds the record; its cells begin at `at(id)`. */
  page(id: number): Float64Array {
    return this.pages[id >>> PAGE_BITS] ?? NO_CELLS
  }

  /** The place in its page at which the record begins. */
  at(id: number): number {
    return (id & PAGE_MASK) * this.stride
  }

  /** The same page as words; those of the record begin at `wordsAt(id)`, two for each cell. */
  words(id: number): Uint32Array {
    return this.wordPages[id >>> PAGE_BITS] ?? NO_WORDS
  }

  /** The place in its page of words at which the record begins. */
  wordsAt(id: number): number {
    return (id & PAGE_MASK) * this.stride * WORDS
  }

  /**
   * Reads a cell of every cache line of a record. The reads of several records overlap, where the changes of one wait for each
   * other; use the result, or nothing is read.
   */
  fetch(id: number): number {
    const page = this.page(id)
    const at = this.at(id)
    let sum = page[at + this.stride - 1] ?? 0
    for (let cell = at; cell < at + this.stride; cell += LINE) {
      sum += page[cell] ?? 0
    }
    return sum
  }

  /** A record of zeros, until it is given back. */
  take(): number {
    const id = this.firstFree
    if (id === 0) {
      const fresh = this.next
      this.clear(fresh)
      return fresh
    }
    this.firstFree = this.words(id)[this.wordsAt(id)] ?? 0
    this.freeCount--
    this.clear(id)
    return id
  }

  /** Makes a record of zeros of a number that the caller chose; do not `take` from the same records. */
  clear(id: number): void {
    if (id >= this.next) {
      // Zeros since its page was made: writing them again would only touch memory that is in no cache.
      this.next = id + 1
      this.addPage(id >>> PAGE_BITS)
      return
    }
    this.addPage(id >>> PAGE_BITS)
    const page = this.page(id)
    const at = this.at(id)
    for (let cell = at; cell < at + this.stride; cell++) {
      page[cell] = 0
    }
  }

  /** Ends a record; its number may come back from `take`. */
  give(id: number): void {
    this.words(id)[this.wordsAt(id)] = this.firstFree
    this.firstFree = id
    this.freeCount++
  }

  /** The largest number used so far. */
  get highest(): number {
    return this.next - 1
  }

  /** Records in use. */
  get used(): number {
    return this.next - 1 - this.freeCount
  }

  /** Bytes in use. */
  get usedBytes(): number {
    return this.used * this.stride * Float64Array.BYTES_PER_ELEMENT
  }

  /** Writes every record, or reads them. */
  *image(image: StateImage): ImageSteps {
    imageSame(image, this.stride)
    this.firstFree = image.number(this.firstFree)
    this.freeCount = image.number(this.freeCount)
    this.next = image.number(this.next)
    for (let id = 0; id < this.next; id += PAGE) {
      this.addPage(id >>> PAGE_BITS)
      yield* imageCells(image, this.page(id).subarray(0, Math.min(PAGE, this.next - id) * this.stride))
    }
  }

  private addPage(number: number): void {
    if (this.pages[number] === undefined) {
      const page = new Float64Array(2 ** PAGE_BITS * this.stride)
      this.pages[number] = page
      this.wordPages[number] = new Uint32Array(page.buffer)
    }
  }
}
