/** Positions for tests, from a few trades of one mint. */
import { Schema } from "effect"
import type { TapeTrade } from "../../src/market/model/TapeTrade.ts"
import { applyTrade, emptyPosition, type Position } from "../../src/wallets/ledger.ts"
import { MINT, tradeOf } from "./trades.ts"

export const after = (...trades: ReadonlyArray<Partial<TapeTrade>>): Position =>
  trades.reduce<Position>((position, trade) => applyTrade(position, tradeOf(trade)), emptyPosition(MINT))

/** A price in dollars as micro-dollars per smallest unit of a token with six decimals: the same number. */
export const mark = (dollars: bigint) => ({ numerator: dollars, denominator: 1n })

const Units = Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: 1n, maximum: 10n ** 18n }))
const Nanos = Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: 0n, maximum: 10n ** 17n }))
export const Order = Schema.Struct({ isBuy: Schema.Boolean, amount: Units, nanos: Nanos })
export const Orders = Schema.Array(Order).check(Schema.isMaxLength(12))
export const Mark = Schema.Struct({ numerator: Nanos, denominator: Units })

/** The orders as trades that never sell more than is held. */
export const covered = (orders: ReadonlyArray<typeof Order.Type>): ReadonlyArray<TapeTrade> => {
  let held = 0n
  return orders.map(({ amount, isBuy, nanos }, slot) => {
    const side = isBuy || held === 0n ? "buy" : "sell"
    const size = side === "buy" ? amount : (amount % held) + 1n
    held += side === "buy" ? size : -size
    return tradeOf({ slot, side, amount: size, volumeUsdNanos: nanos })
  })
}

export const applied = (trades: ReadonlyArray<TapeTrade>): Position => trades.reduce(applyTrade, emptyPosition(MINT))
