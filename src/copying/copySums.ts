/** Sums over the copies of one position by their time, of which the sums of any window are two look-ups apart. */
import type { FilledCopy } from "../domain/wallets/Copying.ts"

/** A filled copy with what it made, in nano-dollars. */
export interface SettledCopy {
  readonly copy: FilledCopy
  /** What a sale brought, less its fee; null for a purchase, and where either is unknown. */
  readonly proceeds: bigint | null
  /** Proceeds less average cost of a sale; null for a purchase, and where either is unknown. */
  readonly realized: bigint | null
}

/** What some copies come to, in nano-dollars; what is unknown of them is counted, not summed. */
export interface CopyTotals {
  readonly fills: number
  readonly fees: bigint
  readonly unknownFees: number
  /** Of the sales whose result is known. */
  readonly realized: bigint
  readonly unknownResults: number
  /** Of the sales whose proceeds are known. */
  readonly proceeds: bigint
  readonly unknownProceeds: number
  readonly wins: number
  readonly losses: number
}

/** What no copies come to. */
export const NO_COPIES: CopyTotals = {
  fills: 0,
  fees: 0n,
  unknownFees: 0,
  realized: 0n,
  unknownResults: 0,
  proceeds: 0n,
  unknownProceeds: 0,
  wins: 0,
  losses: 0
}

const totalsOf = ({ copy, proceeds, realized }: SettledCopy): CopyTotals => {
  const { feeUsdNanos: fee, side } = copy
  const isSale = side === "sell"
  return {
    fills: 1,
    fees: fee ?? 0n,
    unknownFees: fee === null ? 1 : 0,
    realized: realized ?? 0n,
    unknownResults: isSale && realized === null ? 1 : 0,
    proceeds: proceeds ?? 0n,
    unknownProceeds: isSale && proceeds === null ? 1 : 0,
    wins: realized !== null && realized > 0n ? 1 : 0,
    losses: realized !== null && realized < 0n ? 1 : 0
  }
}

/** Both together. */
export const plus = (a: CopyTotals, b: CopyTotals): CopyTotals => ({
  fills: a.fills + b.fills,
  fees: a.fees + b.fees,
  unknownFees: a.unknownFees + b.unknownFees,
  realized: a.realized + b.realized,
  unknownResults: a.unknownResults + b.unknownResults,
  proceeds: a.proceeds + b.proceeds,
  unknownProceeds: a.unknownProceeds + b.unknownProceeds,
  wins: a.wins + b.wins,
  losses: a.losses + b.losses
})

const minus = (a: CopyTotals, b: CopyTotals): CopyTotals => ({
  fills: a.fills - b.fills,
  fees: a.fees - b.fees,
  unknownFees: a.unknownFees - b.unknownFees,
  realized: a.realized - b.realized,
  unknownResults: a.unknownResults - b.unknownResults,
  proceeds: a.proceeds - b.proceeds,
  unknownProceeds: a.unknownProceeds - b.unknownProceeds,
  wins: a.wins - b.wins,
  losses: a.losses - b.losses
})

/** Copies between two places where the sum is kept. */
const STRIDE = 64

/** The copies of one position in the order of their times, the earliest first. */
export class CopySums {
  readonly #copies: Array<SettledCopy> = []
  // What comes before each `STRIDE`th copy.
  readonly #before: Array<CopyTotals> = []
  #all = NO_COPIES

  constructor(copies: Iterable<SettledCopy>) {
    for (const copy of Array.from(copies).toSorted((a, b) => a.copy.atMs - b.copy.atMs)) {
      this.add(copy)
    }
  }

  /** When the last of them was made; null when there are none. */
  get lastAtMs(): number | null {
    return this.#copies.at(-1)?.copy.atMs ?? null
  }

  /** Takes one that is not earlier than any other. */
  add(copy: SettledCopy): void {
    if (this.#copies.length % STRIDE === 0) {
      this.#before.push(this.#all)
    }
    this.#copies.push(copy)
    this.#all = plus(this.#all, totalsOf(copy))
  }

  /** What those come to that were made in this time, both ends included; `fromMs` null when it has no beginning. */
  within(fromMs: number | null, throughMs: number): CopyTotals {
    const end = this.#upTo(this.#countUntil(throughMs + 1))
    return fromMs === null ? end : minus(end, this.#upTo(Math.min(this.#countUntil(fromMs), end.fills)))
  }

  /** How many were made before this time. */
  #countUntil(timeMs: number): number {
    let [low, high] = [0, this.#copies.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      const isBefore = (this.#copies[middle]?.copy.atMs ?? 0) < timeMs
      low = isBefore ? middle + 1 : low
      high = isBefore ? high : middle
    }
    return low
  }

  /** What the first so many come to. */
  #upTo(count: number): CopyTotals {
    if (count === this.#copies.length) {
      return this.#all
    }
    const kept = Math.floor(count / STRIDE)
    return this.#copies
      .slice(kept * STRIDE, count)
      .reduce((sum, copy) => plus(sum, totalsOf(copy)), this.#before[kept] ?? NO_COPIES)
  }
}
