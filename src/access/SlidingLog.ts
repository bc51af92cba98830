const FIRST_CAPACITY = 8

/**
 * An exact log of the charges of the last `windowMs`, each with its time. No window of that length holds more than was
 * admitted, wherever it starts. Times are milliseconds of a clock that never steps back.
 */
export class SlidingLog {
  /** Takes effect at the next `expire`. A longer window does not bring expired charges back. */
  windowMs: number
  /** Units in the window, as of the last `expire`. */
  spent = 0
  // A ring of charges, ordered by time and number alike. A refunded charge keeps its place with cost 0 until it expires
  // or the ring is packed.
  #times = new Float64Array(FIRST_CAPACITY)
  #seqs = new Float64Array(FIRST_CAPACITY)
  #costs = new Uint32Array(FIRST_CAPACITY)
  #head = 0
  #count = 0

  constructor(windowMs: number) {
    this.windowMs = windowMs
  }

  /** Drops what has left the window. Call it before anything else with the same `now`. */
  expire(now: number): void {
    while (this.#count > 0 && now - (this.#times[this.#head] ?? 0) >= this.windowMs) {
      this.spent -= this.#costs[this.#head] ?? 0
      this.#head = (this.#head + 1) % this.#times.length
      this.#count--
    }
  }

  /** Records a charge of at least one unit. `seq` must be greater than every earlier one. */
  append(now: number, cost: number, seq: number): void {
    if (this.#count === this.#times.length) {
      this.#pack()
    }
    const at = this.#slot(this.#count)
    this.#times[at] = now
    this.#seqs[at] = seq
    this.#costs[at] = cost
    this.#count++
    this.spent += cost
  }

  /** Removes the units of one charge, wherever it stands. An unknown, expired or repeated number changes nothing. */
  remove(seq: number): void {
    let low = 0
    let high = this.#count
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#seqs[this.#slot(middle)] ?? 0) < seq) {
        low = middle + 1
      } else {
        high = middle
      }
    }
    const at = this.#slot(low)
    if (low < this.#count && this.#seqs[at] === seq) {
      this.spent -= this.#costs[at] ?? 0
      this.#costs[at] = 0
    }
  }

  /** Milliseconds until that many units have left the window; 0 when none have to. The log must hold them. */
  freesIn(units: number, now: number): number {
    let missing = units
    for (let i = 0; i < this.#count && missing > 0; i++) {
      const at = this.#slot(i)
      missing -= this.#costs[at] ?? 0
      if (missing <= 0) {
        return (this.#times[at] ?? 0) + this.windowMs - now
      }
    }
    return 0
  }

  #slot(index: number): number {
    return (this.#head + index) % this.#times.length
  }

  /** Makes room: removes refunded charges, and doubles the ring when that frees less than half of it. */
  #pack(): void {
    const live = Array.from({ length: this.#count }, (_, i) => this.#slot(i)).filter((at) => (this.#costs[at] ?? 0) > 0)
    const capacity = live.length * 2 > this.#times.length ? this.#times.length * 2 : this.#times.length
    const [costs, seqs, times] = [this.#costs, this.#seqs, this.#times]
    this.#times = new Float64Array(capacity)
    this.#seqs = new Float64Array(capacity)
    this.#costs = new Uint32Array(capacity)
    for (const [i, at] of live.entries()) {
      this.#times[i] = times[at] ?? 0
      this.#seqs[i] = seqs[at] ?? 0
      this.#costs[i] = costs[at] ?? 0
    }
    this.#head = 0
    this.#count = live.length
  }
}
