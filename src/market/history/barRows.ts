/** Converts rows of candles into cells with the layout of `bar.ts`. */
import { Schema } from "effect"
import type { Mint } from "../../domain/Address.ts"
import {
  BAR,
  beginBar,
  BUY_VOLUME,
  BUYS,
  CLOSE,
  COUNT,
  HIGH,
  LOW,
  moneyAt,
  OPEN,
  REVISION,
  TRADERS,
  VOLUME
} from "../model/bar.ts"
import { writeWide } from "../columnar/wide.ts"

const price = Schema.NullOr(Schema.Number)
const units = Schema.NullOr(Schema.BigIntFromString)

/** A candle as the database returns it. */
export const BarRow = Schema.Struct({
  at: Schema.Date,
  open: price,
  high: price,
  low: price,
  close: price,
  volumeUsdNanos: units,
  openSol: price,
  highSol: price,
  lowSol: price,
  closeSol: price,
  volumeLamports: units,
  trades: Schema.Number,
  buys: Schema.NullOr(Schema.Number),
  buyUsdNanos: units,
  buyLamports: units,
  traders: Schema.NullOr(Schema.Number),
  revision: Schema.Number
})

/** A trade of a candle as the database returns it. */
export const PrintRow = Schema.Struct({ price, volume: Schema.BigIntFromString })

/** A changed candle as the database returns it. Its mint was validated before it was written. */
export const RevisedRow = Schema.Struct({
  mint: Schema.String.pipe(Schema.refine((text): text is Mint => text.length > 0)),
  width: Schema.Number,
  at: Schema.Date,
  revision: Schema.Number
})

/** The columns of one denomination. */
interface MoneyRow {
  readonly prices: ReadonlyArray<number | null>
  readonly volume: bigint | null
  readonly bought: bigint | null
}

const fillWide = (cells: Float64Array, at: number, value: bigint | null): void => {
  if (value === null) {
    cells[at] = Number.NaN
  } else {
    writeWide(cells, at, value)
  }
}

const fillMoney = (cells: Float64Array, at: number, { bought, prices, volume }: MoneyRow): void => {
  const [open, high, low, close] = prices
  fillWide(cells, at + VOLUME, volume)
  fillWide(cells, at + BUY_VOLUME, bought)
  if (typeof open === "number") {
    cells[at + OPEN] = open
    cells[at + HIGH] = high ?? open
    cells[at + LOW] = low ?? open
    cells[at + CLOSE] = close ?? open
  }
}

const fill = (cells: Float64Array, at: number, row: typeof BarRow.Type): void => {
  beginBar(cells, at, row.at.getTime() / 1000)
  cells[at + COUNT] = row.trades
  cells[at + BUYS] = row.buys ?? Number.NaN
  cells[at + TRADERS] = row.traders ?? Number.NaN
  cells[at + REVISION] = row.revision
  fillMoney(cells, at + moneyAt.usd, {
    prices: [row.open, row.high, row.low, row.close],
    volume: row.volumeUsdNanos,
    bought: row.buyUsdNanos
  })
  fillMoney(cells, at + moneyAt.sol, {
    prices: [row.openSol, row.highSol, row.lowSol, row.closeSol],
    volume: row.volumeLamports,
    bought: row.buyLamports
  })
}

/** The cells of rows, in the order of the rows. */
export const cellsOf = (rows: ReadonlyArray<typeof BarRow.Type>): Float64Array => {
  const cells = new Float64Array(rows.length * BAR)
  rows.forEach((row, place) => fill(cells, place * BAR, row))
  return cells
}
