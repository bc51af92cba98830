/** What the swaps of a run showed. */

/** Swaps of one program. A routed transaction counts for each of its programs. */
export interface VenueTally {
  exact: number
  wrong: number
  refused: number
}

/** A swap that did not pay what was quoted, as one line. */
export interface WrongSwap {
  readonly dexes: ReadonlyArray<string>
  readonly path: string
  readonly quoted: string
  readonly executed: string
}

/** Counts swaps by program, and refusals by their reason. */
export class HttpTally {
  readonly venues = new Map<string, VenueTally>()
  readonly refusals = new Map<string, number>()
  readonly wrong: Array<WrongSwap> = []
  exact = 0
  routed = 0

  #of(dex: string): VenueTally {
    const tally = this.venues.get(dex) ?? { exact: 0, wrong: 0, refused: 0 }
    this.venues.set(dex, tally)
    return tally
  }

  paidAsQuoted(dexes: ReadonlyArray<string>): void {
    this.exact += 1
    this.routed += dexes.length > 1 ? 1 : 0
    dexes.forEach((dex) => (this.#of(dex).exact += 1))
  }

  differs(swap: WrongSwap): void {
    this.wrong.push(swap)
    swap.dexes.forEach((dex) => (this.#of(dex).wrong += 1))
  }

  refuses(dex: string, reason: string): void {
    this.#of(dex).refused += 1
    this.refusals.set(reason, (this.refusals.get(reason) ?? 0) + 1)
  }

  get refused(): number {
    return [...this.refusals.values()].reduce((sum, count) => sum + count, 0)
  }

  get total(): number {
    return this.exact + this.wrong.length + this.refused
  }
}
