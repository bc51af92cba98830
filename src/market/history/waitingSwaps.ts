/** Finds the swaps that price the next block among trades that wait on disk, from the newest block backwards. */
import type { Mint } from "../../domain/Address.ts"
import { newestFirst, newestSolSwaps } from "../model/TradesRequest.ts"
import { isSolSwap } from "../model/SolPrice.ts"
import type { TapeTrade } from "../model/TapeTrade.ts"
import { isMoneySwap } from "../model/TokenPrices.ts"

type Trades = ReadonlyArray<TapeTrade>

/** A search backwards. `take` gets ever older trades, and returns true while it needs still older ones. */
export interface SwapSearch {
  readonly take: (trades: Trades) => boolean
  /** The swaps, in the order of the chain. */
  readonly found: () => Trades
}

/** See `TradeHistory.solSwaps`. */
export const searchSolSwaps = (slot: number, most: number): SwapSearch => {
  let found: Trades = []
  return {
    take: (trades) => {
      found = newestSolSwaps([...trades.filter(isSolSwap), ...found], slot, most)
      return found.length < most
    },
    found: () => found
  }
}

/** See `TradeHistory.moneySwaps`. */
export const searchMoneySwaps = (slot: number, spanMs: number, most: number): SwapSearch => {
  const byMint = new Map<Mint, Array<TapeTrade>>()
  let fromMs: number | null = null
  return {
    take: (trades) => {
      const until = trades.filter((trade) => trade.slot <= slot).toSorted(newestFirst)
      const [newest] = until
      if (newest === undefined) {
        return true
      }
      const first = (fromMs ??= newest.timeMs - spanMs)
      const recent = until.filter(({ timeMs }) => timeMs >= first)
      for (const swap of recent.filter(isMoneySwap)) {
        const known = byMint.get(swap.mint) ?? []
        if (known.length < most) {
          known.push(swap)
          byMint.set(swap.mint, known)
        }
      }
      return recent.length > 0
    },
    found: () => Array.from(byMint.values()).flat().toSorted(newestFirst).toReversed()
  }
}
