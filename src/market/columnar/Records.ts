import { imageCells, imageSame, type ImageSteps, type StateImage } from "./StateImage.ts"

// Large, so that the list of pages stays in the L1 cache. The system commits only memory that is written.
const PAGE_BITS = 15
const PAGE = 2 ** PAGE_BITS
const PAGE_MASK = PAGE - 1
const NO_CELLS = new Float64Array(0)
const NO_WORDS = new Uint32Array(0)
/** A cell has two unsigned 32-bit words. */
const WORDS = 2
/** A cache line has eight cells. */
const LINE = 8

/**
 * Records of a fixed number of cells, kept in pages. Growing never copies, a record never moves, and the garbage
 * collector sees pages instead of millions of objects. Number 0 is never given out: it means "none".
 */
export class Records {
  /** The number of cells in one record. */
  readonly stride: number
  readonly #pages: Array<Float64Array> = []
  /** The same memory as words. */
  readonly #wordPages: Array<Uint32Array> = []
  /** The first free record. Each free record names the next in its first word. */
  #firstFree = 0
  #freeCount = 0
  #next = 1

  constructor(stride: number) {
    this.stride = stride
  }

  /** The page that holds a record. The record's cells begin at `at(id)`. */
  page(id: number): Float64Array {
    return this.#pages[id >>> PAGE_BITS] ?? NO_CELLS
  }

  /** Where a record begins in its page. */
  at(id: number): number {
    return (id & PAGE_MASK) * this.stride
  }

  /** The same page as words. The record's words begin at `wordsAt(id)`, two for each cell. */
  words(id: number): Uint32Array {
    return this.#wordPages[id >>> PAGE_BITS] ?? NO_WORDS
  }

  /** Where a record begins in its page of words. */
  wordsAt(id: number): number {
    return (id & PAGE_MASK) * this.stride * WORDS
  }

  /**
   * Loads a record into the processor's cache by reading one cell of every cache line. Such reads of several records
   * overlap, while changes of several records would wait for each other. Use the returned sum, or the compiler drops
   * the reads.
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

  /** Calls `fetch` for the first `count` numbers of a list, except for number 0. */
  fetchGroup(count: number, ids: Uint32Array): number {
    let sum = 0
    for (let place = 0; place < count; place++) {
      const id = ids[place] ?? 0
      sum += id === 0 ? 0 : this.fetch(id)
    }
    return sum
  }

  /** Returns the number of a record filled with zeros. The record is in use until `give`. */
  take(): number {
    const id = this.#firstFree
    if (id === 0) {
      const fresh = this.#next
      this.clear(fresh)
      return fresh
    }
    this.#firstFree = this.words(id)[this.wordsAt(id)] ?? 0
    this.#freeCount--
    this.clear(id)
    return id
  }

  /** Fills a record with zeros. For owners that choose the numbers themselves; they must not call `take`. */
  clear(id: number): void {
    if (id >= this.#next) {
      // The page is still all zeros here. Writing them again would only touch memory that is in no cache.
      this.#next = id + 1
      this.#addPage(id >>> PAGE_BITS)
      return
    }
    this.#addPage(id >>> PAGE_BITS)
    const page = this.page(id)
    const at = this.at(id)
    for (let cell = at; cell < at + this.stride; cell++) {
      page[cell] = 0
    }
  }

  /** Gives a record back. `take` may return its number again. */
  give(id: number): void {
    this.words(id)[this.wordsAt(id)] = this.#firstFree
    this.#firstFree = id
    this.#freeCount++
  }

  /** The largest number used so far. */
  get highest(): number {
    return this.#next - 1
  }

  /** The number of records in use. */
  get used(): number {
    return this.#next - 1 - this.#freeCount
  }

  get usedBytes(): number {
    return this.used * this.stride * Float64Array.BYTES_PER_ELEMENT
  }

  /** Writes every record, or reads them. */
  *image(image: StateImage): ImageSteps {
    imageSame(image, this.stride)
    this.#firstFree = image.number(this.#firstFree)
    this.#freeCount = image.number(this.#freeCount)
    this.#next = image.number(this.#next)
    for (let id = 0; id < this.#next; id += PAGE) {
      this.#addPage(id >>> PAGE_BITS)
      yield* imageCells(image, this.page(id).subarray(0, Math.min(PAGE, this.#next - id) * this.stride))
    }
  }

  #addPage(number: number): void {
    if (this.#pages[number] === undefined) {
      const page = new Float64Array(2 ** PAGE_BITS * this.stride)
      this.#pages[number] = page
      this.#wordPages[number] = new Uint32Array(page.buffer)
    }
  }
}
