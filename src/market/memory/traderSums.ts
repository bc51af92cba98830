/** The sums of one wallet's trades in one token: their cells, and the values read from them. */
import type { TradeRecord } from "../model/TradeRecord.ts"
import { addWide, readWide } from "../columnar/wide.ts"

export const BUYS = 0
export const SELLS = 1
/** Buys and sells of unknown USD volume. */
export const UNPRICED_BUYS = 2
export const UNPRICED_SELLS = 3
/** Sales of unknown cost in USD, and of unknown result in lamports. */
export const NO_COST = 4
const NO_GAIN = 5
/** The first of the six amounts, two cells each: bought, sold, their volumes, cost, gain. */
export const BOUGHT = 6
const SOLD = 8
export const BOUGHT_USD = 10
export const SOLD_USD = 12
export const COST = 14
const GAIN = 16

export const TRADER_SUMS = 18

const count = (cells: Float64Array, at: number): void => {
  cells[at] = (cells[at] ?? 0) + 1
}

const addBuy = (cells: Float64Array, at: number, record: TradeRecord): void => {
  count(cells, at + BUYS)
  addWide(cells, at + BOUGHT, record.amountHigh, record.amountLow)
  addWide(cells, at + BOUGHT_USD, record.usdHigh, record.usdLow)
  if (!record.usdKnown) {
    count(cells, at + UNPRICED_BUYS)
  }
}

const addSell = (cells: Float64Array, at: number, record: TradeRecord): void => {
  count(cells, at + SELLS)
  addWide(cells, at + SOLD, record.amountHigh, record.amountLow)
  addWide(cells, at + SOLD_USD, record.usdHigh, record.usdLow)
  if (!record.usdKnown) {
    count(cells, at + UNPRICED_SELLS)
  }
  if (record.costKnown) {
    addWide(cells, at + COST, record.costHigh, record.costLow)
  } else {
    count(cells, at + NO_COST)
  }
  if (record.gainKnown) {
    addWide(cells, at + GAIN, record.gainHigh, record.gainLow)
  } else {
    count(cells, at + NO_GAIN)
  }
}

export const addToTrader = (cells: Float64Array, at: number, record: TradeRecord): void => {
  if (record.buy) {
    addBuy(cells, at, record)
  } else {
    addSell(cells, at, record)
  }
}

/** The trading of a wallet in a token. Amounts are exact: units of the token, nano-dollars and lamports. */
export interface TraderTotals {
  readonly buys: number
  readonly sells: number
  readonly bought: bigint
  readonly sold: bigint
  /** The known part. `unpricedBuys` is the number of buys missing from it. */
  readonly boughtUsdNanos: bigint
  readonly soldUsdNanos: bigint
  readonly unpricedBuys: number
  readonly unpricedSells: number
  /**
   * Proceeds less average cost of everything sold; null while the proceeds or cost of a sale are unknown. Zero without
   * a sale.
   */
  readonly realizedUsdNanos: bigint | null
  /** Average cost of everything sold; null while the cost of a sale is unknown. */
  readonly costUsdNanos: bigint | null
  /** Proceeds less average cost in lamports; null while the result of a sale is unknown. */
  readonly realizedLamports: bigint | null
}

export const readTrader = (cells: Float64Array, at: number): TraderTotals => {
  const number = (cell: number) => cells[at + cell] ?? 0
  const wide = (cell: number) => readWide(cells, at + cell)
  const costUsdNanos = number(NO_COST) === 0 ? wide(COST) : null
  const soldUsdNanos = wide(SOLD_USD)
  return {
    buys: number(BUYS),
    sells: number(SELLS),
    bought: wide(BOUGHT),
    sold: wide(SOLD),
    boughtUsdNanos: wide(BOUGHT_USD),
    soldUsdNanos,
    unpricedBuys: number(UNPRICED_BUYS),
    unpricedSells: number(UNPRICED_SELLS),
    realizedUsdNanos: costUsdNanos === null || number(UNPRICED_SELLS) > 0 ? null : soldUsdNanos - costUsdNanos,
    costUsdNanos,
    realizedLamports: number(NO_GAIN) === 0 ? wide(GAIN) : null
  }
}

/** Adds the known USD volume of the sums, bought and sold, to the two cells at `to`. */
export const addVolume = (cells: Float64Array, at: number, to: Float64Array, toAt: number): void => {
  addWide(to, toAt, cells[at + BOUGHT_USD] ?? 0, cells[at + BOUGHT_USD + 1] ?? 0)
  addWide(to, toAt, cells[at + SOLD_USD] ?? 0, cells[at + SOLD_USD + 1] ?? 0)
}
