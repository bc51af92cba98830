import type { Mint } from "../../domain/Address.ts"
import { Ranking } from "../columnar/Ranking.ts"
import { knownPrice, type TokenGlance } from "./TokenWindows.ts"
import type { WindowName } from "../model/windows.ts"

/** The measures that tokens are ranked by. */
export type RankName = "gainers" | "losers" | "volume" | "trades" | "traders"

/** The tokens that a ranking is taken from. */
export interface TokenScan {
  readonly tokens: number
  scan(window: WindowName, visit: (token: number, glance: TokenGlance) => void): void
  mintOfToken(token: number): Mint
}

/** One token at the time of the ranking. */
export interface RankedToken {
  readonly mint: Mint
  readonly trades: number
  readonly traders: number
  /** Trades whose volume is unknown. */
  readonly unpriced: number
  /** The nearest number to the exact sum of the known volumes, in nano-dollars. */
  readonly volume: number
  /** Price in USD from which the change is measured, and the last price; null when unknown. */
  readonly startPrice: number | null
  readonly lastPrice: number | null
  /** Change between the two prices in percent points; null when either is unknown. */
  readonly changePct: number | null
}

/** How many tokens rose, fell and stayed, among the tokens with a known price at both ends of the window. */
export interface Breadth {
  readonly advancing: number
  readonly declining: number
  readonly unchanged: number
}

/** Cells of one token. NaN is unknown. */
const TRADES = 0
const TRADERS = 1
const UNPRICED = 2
const VOLUME = 3
const START_PRICE = 4
const LAST_PRICE = 5
const CHANGE = 6
const CELLS = 7

/** The value by which the token whose cells begin at `at` is ranked. NaN leaves it out. */
const valueAt = (rank: RankName, cells: Float64Array, at: number): number => {
  switch (rank) {
    case "gainers":
      return cells[at + CHANGE] ?? 0
    case "losers":
      return -(cells[at + CHANGE] ?? 0)
    case "volume":
      return cells[at + UNPRICED] === cells[at + TRADES] ? Number.NaN : (cells[at + VOLUME] ?? 0)
    case "trades":
      return cells[at + TRADES] ?? 0
    case "traders":
      return cells[at + TRADERS] ?? 0
  }
}

/**
 * A snapshot of the tokens that traded in one window, from which pages can be read while trades go on. Each order is
 * found when it is first read, and only as far as it is read. The numbers lie in one array, so that tens of thousands
 * of tokens leave nothing for the garbage collector to copy.
 */
export class TokenRanking {
  /** Tokens with a known change, by direction. */
  readonly breadth: Breadth
  readonly #mints: Array<Mint> = []
  readonly #cells: Float64Array
  readonly #rankings = new Map<RankName, Ranking>()

  /** `isYoung` says whether the launch of a token was seen in the window: its change counts from its first price. */
  constructor(state: TokenScan, window: WindowName, isYoung: (mint: Mint) => boolean) {
    const mints = this.#mints
    const cells = new Float64Array(state.tokens * CELLS)
    const breadth = { advancing: 0, declining: 0, unchanged: 0 }
    state.scan(window, (token, { firstPrice, trades, traders, unpriced, volume, startPrice, lastPrice }) => {
      const at = mints.length * CELLS
      const mint = state.mintOfToken(token)
      const isKnownBefore = !Number.isNaN(startPrice)
      const begin = isKnownBefore || Number.isNaN(firstPrice) || !isYoung(mint) ? startPrice : firstPrice
      const change = (lastPrice / begin - 1) * 100
      mints.push(mint)
      cells[at + TRADES] = trades
      cells[at + TRADERS] = traders
      cells[at + UNPRICED] = unpriced
      cells[at + VOLUME] = volume
      cells[at + START_PRICE] = begin
      cells[at + LAST_PRICE] = lastPrice
      cells[at + CHANGE] = change
      if (isKnownBefore && !Number.isNaN(change)) {
        breadth[change > 0 ? "advancing" : change < 0 ? "declining" : "unchanged"]++
      }
    })
    this.#cells = cells
    this.breadth = breadth
  }

  /** The number of tokens with a known value to rank by, and without one. */
  counts(rank: RankName): { readonly ranked: number; readonly unknown: number } {
    const ranked = this.#ranking(rank).size
    return { ranked, unknown: this.#mints.length - ranked }
  }

  /** The token at a place, starting at 0; undefined past the last. Equal tokens are in the order of their mints. */
  at(rank: RankName, place: number): RankedToken | undefined {
    const id = this.#ranking(rank).at(place)
    const mint = id === undefined ? undefined : this.#mints[id]
    if (id === undefined || mint === undefined) {
      return undefined
    }
    const cell = (which: number) => this.#cells[id * CELLS + which] ?? 0
    return {
      mint,
      trades: cell(TRADES),
      traders: cell(TRADERS),
      unpriced: cell(UNPRICED),
      volume: cell(VOLUME),
      startPrice: knownPrice(cell(START_PRICE)),
      lastPrice: knownPrice(cell(LAST_PRICE)),
      changePct: knownPrice(cell(CHANGE))
    }
  }

  #ranking(rank: RankName): Ranking {
    const made = this.#rankings.get(rank)
    if (made !== undefined) {
      return made
    }
    const [cells, mints] = [this.#cells, this.#mints]
    const ids = new Uint32Array(mints.length)
    const high = new Float64Array(mints.length)
    const low = new Float64Array(mints.length)
    let size = 0
    for (let id = 0; id < mints.length; id++) {
      const value = valueAt(rank, cells, id * CELLS)
      if (!Number.isNaN(value)) {
        ids[size] = id
        high[size] = value
        size++
      }
    }
    const precedes = (a: number, b: number) => ((mints[a] ?? "") < (mints[b] ?? "") ? -1 : 1)
    const ranking = new Ranking({ ids: ids.subarray(0, size), high, low }, precedes)
    this.#rankings.set(rank, ranking)
    return ranking
  }
}
