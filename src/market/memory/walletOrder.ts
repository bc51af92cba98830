/** The order of the trades of one transaction, as their wallets made them. */
import { PLACES } from "../model/tapeTrades.ts"
import type { TapeTrade } from "../model/TapeTrade.ts"

/** The number of a net trade within its transaction, by the place of its row. */
const netOf = ({ index }: TapeTrade): number => (index % PLACES) % (PLACES / 4)

const isTogether = (a: TapeTrade | undefined, b: TapeTrade | undefined): boolean =>
  a !== undefined &&
  b !== undefined &&
  a.slot === b.slot &&
  Math.floor(a.index / PLACES) === Math.floor(b.index / PLACES)

/** Net trades are numbered in one row; the numbers that no row of role `wallet` has are those of role `both`. */
const ordered = (trades: ReadonlyArray<TapeTrade>): ReadonlyArray<TapeTrade> => {
  const nets = trades.filter(({ role }) => role === "wallet").toSorted((a, b) => netOf(a) - netOf(b))
  const numbers = new Set(nets.map(netOf))
  const found: Array<TapeTrade> = []
  let [given, next] = [0, 0]
  const giveBelow = (number: number): void => {
    for (let net = nets[given]; net !== undefined && netOf(net) < number; net = nets[given]) {
      found.push(net)
      given++
    }
  }
  for (const trade of trades) {
    if (trade.role === "both") {
      while (numbers.has(next)) {
        next++
      }
      giveBelow(next)
      next++
    }
    if (trade.role !== "wallet") {
      found.push(trade)
    }
  }
  giveBelow(PLACES)
  return found
}

/**
 * Puts the net trades of each transaction in the order in which they were made. By its place, the net trade of a route
 * comes after every pool swap, also after a later swap that is a net trade itself: a sale would come before the purchase of
 * its units. Pool swaps keep their order.
 */
export const inWalletOrder = (trades: ReadonlyArray<TapeTrade>): ReadonlyArray<TapeTrade> => {
  let moved: Array<TapeTrade> | null = null
  let at = 0
  while (at < trades.length) {
    const from = at
    let [nets, wholes] = [0, 0]
    do {
      nets += trades[at]?.role === "wallet" ? 1 : 0
      wholes += trades[at]?.role === "both" ? 1 : 0
      at++
    } while (isTogether(trades[from], trades[at]))
    // The two sides of one swap of two tokens need no order.
    if (nets > 2 || (nets > 0 && wholes > 0)) {
      moved ??= Array.from(trades)
      moved.splice(from, at - from, ...ordered(trades.slice(from, at)))
    }
  }
  return moved ?? trades
}
