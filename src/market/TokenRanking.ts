import type { Mint } from "../domain/Address.ts"
import { Ranking } from "./Ranking.ts"
import type { Tape } from "./Tape.ts"
import type { WindowName } from "./windows.ts"

/** What tokens are ranked by. */
export type RankName = "gainers" | "losers" | "volume" | "trades" | "traders"

/** One token as it stood when the ranking was taken. */
export interface RankedToken {
  readonly mint: Mint
  readonly trades: number
  readonly traders: number
  /** Trades whose volume is unknown. */
  readonly unpriced: number
  /** Nano-dollars, the nearest number to the exact sum of the known volumes. */
  readonly volume: number
  /** Price in USD in force when the window began, and the last one; null when unknown. */
  readonly startPrice: number | null
  readonly lastPrice: number | null
  /** Percent points from the one to the other; null when either is unknown. */
  readonly changePct: number | null
}

/** How many tokens rose, fell and stayed, of those with a known price at both ends of the window. */
export interface Breadth {
  readonly advancing: number
  readonly declining: number
  readonly unchanged: number
}

const known = (price: number): number | null => (Number.isNaN(price) ? null : price)

const precedes = (a: RankedToken | undefined, b: RankedToken | undefined): number =>
  (a?.mint ?? "") < (b?.mint ?? "") ? -1 : 1

/** The value that a token is ranked by; null leaves it out. */
const valueOf: Readonly<Record<RankName, (token: RankedToken) => number | null>> = {
  gainers: ({ changePct }) => changePct,
  losers: ({ changePct }) => (changePct === null ? null : -changePct),
  volume: ({ volume, unpriced, trades }) => (unpriced === trades ? null : volume),
  trades: ({ trades }) => trades,
  traders: ({ traders }) => traders
}

const takeTokens = (tape: Pick<Tape, "mintOfToken" | "scan">, window: WindowName): ReadonlyArray<RankedToken> => {
  const tokens: Array<RankedToken> = []
  tape.scan(window, (token, { trades, traders, unpriced, volume, startPrice, lastPrice }) => {
    const changePct = (lastPrice / startPrice - 1) * 100
    tokens.push({
      mint: tape.mintOfToken(token),
      trades,
      traders,
      unpriced,
      volume,
      startPrice: known(startPrice),
      lastPrice: known(lastPrice),
      changePct: known(changePct)
    })
  })
  return tokens
}

/**
 * The tokens that traded in one window, as they stand when it is made: a snapshot that pages can be read from while trades
 * go on. It costs the writer nothing; each order is found when it is first asked for, and only as far as it is read.
 */
export class TokenRanking {
  /** Tokens with a known change, by its direction. */
  readonly breadth: Breadth
  private readonly tokens: ReadonlyArray<RankedToken>
  private readonly rankings = new Map<RankName, Ranking>()

  constructor(tape: Pick<Tape, "mintOfToken" | "scan">, window: WindowName) {
    this.tokens = takeTokens(tape, window)
    const count = (sign: number) =>
      this.tokens.reduce((sum, { changePct }) => sum + (changePct !== null && Math.sign(changePct) === sign ? 1 : 0), 0)
    this.breadth = { advancing: count(1), declining: count(-1), unchanged: count(0) }
  }

  /** Tokens that have the value they would be ranked by, and tokens that have not. */
  counts(rank: RankName): { readonly ranked: number; readonly unknown: number } {
    const ranked = this.ranking(rank).size
    return { ranked, unknown: this.tokens.length - ranked }
  }

  /** The token at a place, 0 the first, equals in the order of their mints; undefined past the last. */
  at(rank: RankName, place: number): RankedToken | undefined {
    const at = this.ranking(rank).at(place)
    return at === undefined ? undefined : this.tokens[at]
  }

  private ranking(rank: RankName): Ranking {
    const made = this.rankings.get(rank)
    if (made !== undefined) {
      return made
    }
    const ids = new Uint32Array(this.tokens.length)
    const high = new Float64Array(this.tokens.length)
    const low = new Float64Array(this.tokens.length)
    let size = 0
    for (const [at, token] of this.tokens.entries()) {
      const value = valueOf[rank](token)
      if (value !== null) {
        ids[size] = at
        high[size] = value
        size++
      }
    }
    const ranking = new Ranking({ ids: ids.subarray(0, size), high, low }, (a, b) =>
      precedes(this.tokens[a], this.tokens[b])
    )
    this.rankings.set(rank, ranking)
    return ranking
  }
}
