/** The swaps that price tokens. */
import type { Mint } from "../../domain/Address.ts"

/** The most swaps of a token that price it; the newest count. */
export const MOST_MONEY_SWAPS = 16

/** A swap of a token for SOL or a dollar. */
export interface MoneySwap {
  /** Position in the order of the chain. */
  readonly order: number
  readonly timeMs: number
  readonly units: bigint
  /** Lamports or micro-dollars. */
  readonly money: bigint
  readonly isSol: boolean
}

/** Tokens in one page. */
const PAGE_TOKENS = 256

/** Room for the swaps of some tokens, `MOST_MONEY_SWAPS` each. */
interface SwapPage {
  readonly orders: Float64Array
  readonly timesMs: Float64Array
  readonly units: BigUint64Array
  readonly money: BigUint64Array
  readonly isSol: Uint8Array
  /** How many swaps of each token there are. */
  readonly counts: Uint8Array
}

const newPage = (): SwapPage => {
  const room = PAGE_TOKENS * MOST_MONEY_SWAPS
  return {
    orders: new Float64Array(room),
    timesMs: new Float64Array(room),
    units: new BigUint64Array(room),
    money: new BigUint64Array(room),
    isSol: new Uint8Array(room),
    counts: new Uint8Array(PAGE_TOKENS)
  }
}

/** Moves the swaps of a page that begin at `from` and end before `to`. */
const moveSwaps = (page: SwapPage, from: number, to: number, target: number): void => {
  for (const values of [page.isSol, page.money, page.orders, page.timesMs, page.units]) {
    values.copyWithin(target, from, to)
  }
}

/**
 * The newest swaps of each token, in the order of the chain. Kept in typed arrays outside the heap and overwritten in place: a
 * busy chain has thousands of swaps a second, and each lives for minutes.
 */
export class SwapLog {
  readonly #numbers = new Map<Mint, number>()
  readonly #pages: Array<SwapPage> = []
  readonly #free: Array<number> = []

  get tokens(): Iterable<Mint> {
    return this.#numbers.keys()
  }

  /** The swaps of a token from the oldest to the newest. */
  of(mint: Mint): ReadonlyArray<MoneySwap> {
    const number = this.#numbers.get(mint)
    if (number === undefined) {
      return []
    }
    const { from, page, to } = this.#range(number)
    return Array.from({ length: to - from }, (_, n): MoneySwap => {
      const at = from + n
      const [units = 0n, money = 0n] = [page.units[at], page.money[at]]
      const [order = 0, timeMs = 0] = [page.orders[at], page.timesMs[at]]
      return { order, timeMs, units, money, isSol: page.isSol[at] === 1 }
    })
  }

  /** The time of the newest swap of a token; undefined without one. */
  newestMs(mint: Mint): number | undefined {
    const number = this.#numbers.get(mint)
    if (number === undefined) {
      return undefined
    }
    const { page, to } = this.#range(number)
    return page.timesMs[to - 1]
  }

  /** Adds a swap that is not there yet. Drops the oldest swap when the token is full. */
  add(mint: Mint, swap: MoneySwap): void {
    const { from, page, row, to } = this.#range(this.#numberOf(mint))
    let at = to
    while (at > from && (page.orders[at - 1] ?? 0) > swap.order) {
      at--
    }
    if (at > from && page.orders[at - 1] === swap.order) {
      return
    }
    if (to - from < MOST_MONEY_SWAPS) {
      moveSwaps(page, at, to, at + 1)
      page.counts[row] = to - from + 1
    } else if (at === from) {
      return
    } else {
      at--
      moveSwaps(page, from + 1, at + 1, from)
    }
    page.orders[at] = swap.order
    page.timesMs[at] = swap.timeMs
    page.units[at] = swap.units
    page.money[at] = swap.money
    page.isSol[at] = swap.isSol ? 1 : 0
  }

  delete(mint: Mint): void {
    const number = this.#numbers.get(mint)
    if (number !== undefined) {
      this.#numbers.delete(mint)
      this.#free.push(number)
    }
  }

  #range(number: number) {
    const page = this.#pages[Math.floor(number / PAGE_TOKENS)]
    if (page === undefined) {
      throw new Error(`token ${number} has no page`)
    }
    const row = number % PAGE_TOKENS
    const from = row * MOST_MONEY_SWAPS
    return { page, row, from, to: from + (page.counts[row] ?? 0) }
  }

  #numberOf(mint: Mint): number {
    const known = this.#numbers.get(mint)
    if (known !== undefined) {
      return known
    }
    const number = this.#free.pop() ?? this.#numbers.size
    const page = Math.floor(number / PAGE_TOKENS)
    const { counts } = (this.#pages[page] ??= newPage())
    counts[number % PAGE_TOKENS] = 0
    this.#numbers.set(mint, number)
    return number
  }
}
