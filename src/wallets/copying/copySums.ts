/** Prefix sums over the copies of one position by time; the sums of a window take two binary searches. */
import type { FilledCopy } from "../../api/schemas/Copying.ts"

/** A filled copy with its result, in nano-dollars. */
export interface SettledCopy {
  readonly copy: FilledCopy
  /** Value of a purchase with its fee; null for a sale, and where either is unknown. */
  readonly cost: bigint | null
  /** Value of a sale less its fee; null for a purchase, and where either is unknown. */
  readonly proceeds: bigint | null
  /** Proceeds less average cost of a sale; null for a purchase, and where either is unknown. */
  readonly realized: bigint | null
}

/** Totals of copies, in nano-dollars. Unknown amounts are counted, not summed. */
export interface CopyTotals {
  readonly fills: number
  readonly fees: bigint
  readonly unknownFees: number
  /** Cost of the purchases with a known cost. */
  readonly cost: bigint
  readonly unknownCosts: number
  /** Profit of the sales with a known result. */
  readonly realized: bigint
  readonly unknownResults: number
  /** Proceeds of the sales with known proceeds. */
  readonly proceeds: bigint
  readonly unknownProceeds: number
  readonly wins: number
  readonly losses: number
}

/** Totals of no copies. */
export const NO_COPIES: CopyTotals = {
  fills: 0,
  fees: 0n,
  unknownFees: 0,
  cost: 0n,
  unknownCosts: 0,
  realized: 0n,
  unknownResults: 0,
  proceeds: 0n,
  unknownProceeds: 0,
  wins: 0,
  losses: 0
}

const totalsOf = ({ copy, cost, proceeds, realized }: SettledCopy): CopyTotals => {
  const { feeUsdNanos: fee, side } = copy
  const isSale = side === "sell"
  return {
    fills: 1,
    fees: fee ?? 0n,
    unknownFees: fee === null ? 1 : 0,
    cost: cost ?? 0n,
    unknownCosts: !isSale && cost === null ? 1 : 0,
    realized: realized ?? 0n,
    unknownResults: isSale && realized === null ? 1 : 0,
    proceeds: proceeds ?? 0n,
    unknownProceeds: isSale && proceeds === null ? 1 : 0,
    wins: realized !== null && realized > 0n ? 1 : 0,
    losses: realized !== null && realized < 0n ? 1 : 0
  }
}

const combined = (sign: 1 | -1) => {
  const factor = BigInt(sign)
  return (a: CopyTotals, b: CopyTotals): CopyTotals => ({
    fills: a.fills + sign * b.fills,
    fees: a.fees + factor * b.fees,
    unknownFees: a.unknownFees + sign * b.unknownFees,
    cost: a.cost + factor * b.cost,
    unknownCosts: a.unknownCosts + sign * b.unknownCosts,
    realized: a.realized + factor * b.realized,
    unknownResults: a.unknownResults + sign * b.unknownResults,
    proceeds: a.proceeds + factor * b.proceeds,
    unknownProceeds: a.unknownProceeds + sign * b.unknownProceeds,
    wins: a.wins + sign * b.wins,
    losses: a.losses + sign * b.losses
  })
}

/** The sum of both. */
export const plus = combined(1)

const minus = combined(-1)

/** Copies between two stored prefix sums. */
const STRIDE = 64

/** The copies of one position, earliest first, with prefix sums. */
export class CopySums {
  readonly #copies: Array<SettledCopy> = []
  // Sum before each `STRIDE`th copy.
  readonly #before: Array<CopyTotals> = []
  #all = NO_COPIES

  constructor(copies: Iterable<SettledCopy>) {
    for (const copy of Array.from(copies).toSorted((a, b) => a.copy.atMs - b.copy.atMs)) {
      this.add(copy)
    }
  }

  /** Time of the last copy; null without copies. */
  get lastAtMs(): number | null {
    return this.#copies.at(-1)?.copy.atMs ?? null
  }

  /** Appends a copy that is not earlier than any other. */
  add(copy: SettledCopy): void {
    if (this.#copies.length % STRIDE === 0) {
      this.#before.push(this.#all)
    }
    this.#copies.push(copy)
    this.#all = plus(this.#all, totalsOf(copy))
  }

  /** Totals of the copies in this time, both ends included. A null `fromMs` means no lower bound. O(log n). */
  within(fromMs: number | null, throughMs: number): CopyTotals {
    const end = this.#upTo(this.#countUntil(throughMs + 1))
    return fromMs === null ? end : minus(end, this.#upTo(Math.min(this.#countUntil(fromMs), end.fills)))
  }

  /** Count of copies before this time. */
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

  /** Totals of the first `count` copies. */
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
