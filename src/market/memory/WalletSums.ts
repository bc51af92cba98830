/** Sums of every wallet over the tokens that it traded in a window. */
import type { Address } from "../../domain/Address.ts"
import { addWide, readWide, wideDifference } from "../columnar/wide.ts"
import type { Traders, TraderWindow } from "./Traders.ts"
import { BOUGHT_USD, BUYS, COST, NO_COST, SELLS, SOLD_USD, UNPRICED_BUYS, UNPRICED_SELLS } from "./traderSums.ts"

const CELL = {
  buys: 0,
  sells: 1,
  unpricedBuys: 2,
  unpricedSells: 3,
  tokens: 4,
  /** Tokens with sales, all of known result or not. */
  known: 5,
  unknown: 6,
  wins: 7,
  lastSecond: 8,
  /** Nano-dollars, two cells each: all priced trades, all priced sales, and the sales and costs of known tokens. */
  volume: 9,
  sold: 11,
  knownSold: 13,
  cost: 15
} as const
const CELLS = 17
const FIRST_WALLETS = 1024

/** The trading of one wallet in a window, over all tokens. */
export interface WalletTotals {
  readonly wallet: Address
  readonly buys: number
  readonly sells: number
  /** Trades whose value is unknown. They are in no amount. */
  readonly unpricedBuys: number
  readonly unpricedSells: number
  readonly tokens: number
  /** Tokens of which the wallet sold: the result of every sale is known, or not. */
  readonly knownTokens: number
  readonly unknownTokens: number
  /** Tokens of known result that made a profit. */
  readonly wins: number
  readonly lastSecond: number
  readonly volumeNanos: bigint
  /** Proceeds of all priced sales, and of the tokens of known result. */
  readonly soldNanos: bigint
  readonly knownSoldNanos: bigint
  /** Cost of what was sold of the tokens of known result. */
  readonly costNanos: bigint
}

/** Wallets with their sums, numbered from 0. */
export class WalletSums {
  readonly #wallets: Array<Address> = []
  readonly #places = new Map<number, number>()
  /** Places by address, once a number may have gone to another wallet. */
  #byAddress: Map<Address, number> | null = null
  #cells = new Float64Array(FIRST_WALLETS * CELLS)

  get size(): number {
    return this.#wallets.length
  }

  walletAt(place: number): Address | undefined {
    return this.#wallets[place]
  }

  /**
   * Adds the sums of a wallet in one token. `number` is the number of the wallet while it is held; `isCertain`: no number has
   * gone to another wallet since the first call.
   */
  add(number: number, wallet: () => Address, isCertain: boolean, sums: Float64Array, lastSecond: number): void {
    const known = isCertain ? this.#places.get(number) : this.#placeOf(wallet())
    const place = known ?? this.#begin(number, wallet())
    const cells = this.#cells
    const at = place * CELLS
    const add = (cell: number, value: number) => {
      cells[at + cell] = (cells[at + cell] ?? 0) + value
    }
    add(CELL.buys, sums[BUYS] ?? 0)
    add(CELL.sells, sums[SELLS] ?? 0)
    add(CELL.unpricedBuys, sums[UNPRICED_BUYS] ?? 0)
    add(CELL.unpricedSells, sums[UNPRICED_SELLS] ?? 0)
    add(CELL.tokens, 1)
    cells[at + CELL.lastSecond] = Math.max(cells[at + CELL.lastSecond] ?? 0, lastSecond)
    addWide(cells, at + CELL.volume, sums[BOUGHT_USD] ?? 0, sums[BOUGHT_USD + 1] ?? 0)
    addWide(cells, at + CELL.volume, sums[SOLD_USD] ?? 0, sums[SOLD_USD + 1] ?? 0)
    addWide(cells, at + CELL.sold, sums[SOLD_USD] ?? 0, sums[SOLD_USD + 1] ?? 0)
    if ((sums[SELLS] ?? 0) === 0) {
      return
    }
    if ((sums[NO_COST] ?? 0) + (sums[UNPRICED_SELLS] ?? 0) > 0) {
      return add(CELL.unknown, 1)
    }
    add(CELL.known, 1)
    add(CELL.wins, wideDifference(sums, SOLD_USD, COST) > 0 ? 1 : 0)
    addWide(cells, at + CELL.knownSold, sums[SOLD_USD] ?? 0, sums[SOLD_USD + 1] ?? 0)
    addWide(cells, at + CELL.cost, sums[COST] ?? 0, sums[COST + 1] ?? 0)
  }

  at(place: number): WalletTotals | null {
    const wallet = this.#wallets[place]
    const number = (cell: number) => this.#cells[place * CELLS + cell] ?? 0
    const wide = (cell: number) => readWide(this.#cells, place * CELLS + cell)
    return wallet === undefined
      ? null
      : {
          wallet,
          buys: number(CELL.buys),
          sells: number(CELL.sells),
          unpricedBuys: number(CELL.unpricedBuys),
          unpricedSells: number(CELL.unpricedSells),
          tokens: number(CELL.tokens),
          knownTokens: number(CELL.known),
          unknownTokens: number(CELL.unknown),
          wins: number(CELL.wins),
          lastSecond: number(CELL.lastSecond),
          volumeNanos: wide(CELL.volume),
          soldNanos: wide(CELL.sold),
          knownSoldNanos: wide(CELL.knownSold),
          costNanos: wide(CELL.cost)
        }
  }

  #placeOf(wallet: Address): number | undefined {
    this.#byAddress ??= new Map(this.#wallets.map((each, place) => [each, place]))
    return this.#byAddress.get(wallet)
  }

  #begin(number: number, wallet: Address): number {
    const place = this.#wallets.push(wallet) - 1
    this.#places.set(number, place)
    this.#byAddress?.set(wallet, place)
    if (this.#wallets.length * CELLS > this.#cells.length) {
      const cells = new Float64Array(2 * this.#cells.length)
      cells.set(this.#cells)
      this.#cells = cells
    }
    return place
  }
}

/** Sums up the wallets of a window. Yields now and then: trades may be applied meanwhile, and count where they are still read. */
export function* walletSums(traders: Traders, window: TraderWindow): Generator<void, WalletSums> {
  const all = new WalletSums()
  const { forgotten } = traders
  yield* traders.visit(window, (trader, sums, lastSecond) =>
    all.add(
      traders.walletNumber(trader),
      () => traders.walletOf(trader),
      traders.forgotten === forgotten,
      sums,
      lastSecond
    )
  )
  return all
}
