import { highOf, lowOf } from "../columnar/wide.ts"
import { lamportsOf, priceSolOf } from "./solWorth.ts"
import { PLACES } from "./tapeTrades.ts"
import type { TapeTrade } from "./TapeTrade.ts"
import { checkAddress, hashAddress } from "./DistinctTraders.ts"

/** Trades of one slot have indexes below this, so slot and index fit into one exact number. */
const MOST_IN_SLOT = 2 ** 22

/** The place of a trade in the order of the chain as one number: slot first, then index. */
export const orderKey = (slot: number, index: number): number => slot * MOST_IN_SLOT + index

/** The place of a trade's transaction in the order of the chain. */
export const transactionOf = (key: number): number => Math.floor(key / PLACES)

/**
 * One trade in plain numbers. The writer fills the same object for every trade, so keep no reference to it. Pairs of
 * `High` and `Low` are integers in the form of `wide.ts`.
 */
export class TradeRecord {
  token = 0
  /** Two independent hashes of the wallet. */
  walletHash = 0
  walletCheck = 0
  trader = 0
  second = 0
  key = 0
  /** `forPool`: the trade counts for prices, volumes and venues. `forWallet`: it counts for the sums of its wallet. */
  forPool = false
  forWallet = false
  buy = false
  /** USD per whole token; NaN when unknown. */
  price = Number.NaN
  /** SOL per whole token; NaN when unknown. */
  priceSol = Number.NaN
  amountHigh = 0
  amountLow = 0
  /** False when the USD volume is unknown; both parts are zero then. */
  usdKnown = false
  usdHigh = 0
  usdLow = 0
  /** False when the lamports are unknown; both parts are zero then. */
  lamportsKnown = false
  lamportsHigh = 0
  lamportsLow = 0
  /**
   * False when the volume in SOL is unknown. For a trade against dollars it is the dollars at the block's SOL price.
   */
  worthKnown = false
  worthHigh = 0
  worthLow = 0
  /** True when the cost of this sale in USD is known. Always false for a buy. */
  costKnown = false
  costHigh = 0
  costLow = 0
  /** True when the result of this sale in lamports is known. The high part carries the sign. */
  gainKnown = false
  gainHigh = 0
  gainLow = 0

  /** Copies a trade. Token, trader, cost and gain are set later. */
  read(trade: TapeTrade): void {
    this.second = Math.floor(trade.timeMs / 1000)
    this.walletHash = hashAddress(trade.wallet)
    this.walletCheck = checkAddress(trade.wallet)
    this.key = orderKey(trade.slot, trade.index)
    this.forPool = trade.role !== "wallet"
    this.forWallet = trade.role !== "pool"
    this.buy = trade.side === "buy"
    this.price = trade.priceUsd ?? Number.NaN
    this.amountHigh = highOf(trade.amount)
    this.amountLow = lowOf(trade.amount, this.amountHigh)
    this.#readMoney(trade.volumeUsdNanos, trade.lamports)
    this.#readWorth(trade)
    this.costKnown = false
    this.costHigh = 0
    this.costLow = 0
    this.gainKnown = false
    this.gainHigh = 0
    this.gainLow = 0
  }

  #readWorth(trade: TapeTrade): void {
    this.priceSol = this.forPool ? priceSolOf(trade) : Number.NaN
    const worth = this.forPool ? lamportsOf(trade) : null
    if (worth !== null && worth === trade.lamports) {
      this.worthKnown = true
      this.worthHigh = this.lamportsHigh
      this.worthLow = this.lamportsLow
      return
    }
    this.worthKnown = worth !== null
    this.worthHigh = worth === null ? 0 : highOf(worth)
    this.worthLow = worth === null ? 0 : lowOf(worth, this.worthHigh)
  }

  #readMoney(usd: bigint | null, lamports: bigint | null): void {
    this.usdKnown = usd !== null
    this.usdHigh = usd === null ? 0 : highOf(usd)
    this.usdLow = usd === null ? 0 : lowOf(usd, this.usdHigh)
    this.lamportsKnown = lamports !== null
    this.lamportsHigh = lamports === null ? 0 : highOf(lamports)
    this.lamportsLow = lamports === null ? 0 : lowOf(lamports, this.lamportsHigh)
  }
}
