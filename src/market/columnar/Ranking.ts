/** Ids with their exact values. A value has two parts; the high part decides first. */
export interface Ranked {
  readonly ids: Uint32Array
  readonly high: Float64Array
  readonly low: Float64Array
}

/**
 * Sorts ids by value, largest first, but only as far as they are read: building the heap takes O(n), and each further
 * place O(log n). Places that were read never change.
 */
export class Ranking {
  readonly #heap: Uint32Array
  #left: number
  readonly #places: Array<number> = []
  readonly #ranked: Ranked
  readonly #tie: (a: number, b: number) => number

  /** `tie` compares two ids of equal value, like the argument of `sort`. */
  constructor(ranked: Ranked, tie: (a: number, b: number) => number) {
    this.#ranked = ranked
    this.#tie = tie
    this.#left = ranked.ids.length
    this.#heap = new Uint32Array(this.#left)
    for (let at = 0; at < this.#left; at++) {
      this.#heap[at] = at
    }
    for (let at = (this.#left >>> 1) - 1; at >= 0; at--) {
      this.#sink(at)
    }
  }

  get size(): number {
    return this.#ranked.ids.length
  }

  /** Returns the id at a place, starting at 0; undefined past the last. */
  at(place: number): number | undefined {
    while (this.#places.length <= place && this.#left > 0) {
      this.#places.push(this.#ranked.ids[this.#heap[0] ?? 0] ?? 0)
      this.#left--
      this.#heap[0] = this.#heap[this.#left] ?? 0
      this.#sink(0)
    }
    return this.#places[place]
  }

  #sink(from: number): void {
    const moving = this.#heap[from] ?? 0
    let at = from
    for (;;) {
      const left = 2 * at + 1
      if (left >= this.#left) {
        break
      }
      const right = left + 1
      const child = right < this.#left && this.#precedes(this.#heap[right] ?? 0, this.#heap[left] ?? 0) ? right : left
      if (!this.#precedes(this.#heap[child] ?? 0, moving)) {
        break
      }
      this.#heap[at] = this.#heap[child] ?? 0
      at = child
    }
    this.#heap[at] = moving
  }

  #precedes(a: number, b: number): boolean {
    const { high, low, ids } = this.#ranked
    const more = (high[a] ?? 0) - (high[b] ?? 0)
    if (more !== 0) {
      return more > 0
    }
    const fine = (low[a] ?? 0) - (low[b] ?? 0)
    return fine === 0 ? this.#tie(ids[a] ?? 0, ids[b] ?? 0) < 0 : fine > 0
  }
}
