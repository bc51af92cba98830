import type { Address } from "../domain/Address.ts"
import type { TapeTrade } from "../market/tape/TapeTrade.ts"
import type { PricedBatch } from "../market/tape/TradeBatch.ts"

/** No batch may ask for more of one wallet. */
const MOST_EACH = 10_000

/** The trades of one wallet, oldest first. */
interface Ring {
  trades: Array<TapeTrade>
  /** Trades before this were dropped; null when none was. */
  droppedBeforeMs: number | null
}

/** What is held of one wallet. */
export interface HeldTrades {
  /** Newest first. */
  readonly trades: ReadonlyArray<TapeTrade>
  /** How many of them are of blocks without a time of their own. */
  readonly undated: number
  /** Trades before this may have been dropped, in milliseconds; null when none was. */
  readonly droppedBeforeMs: number | null
}

/** Whether the block of these transactions has no time: its first trade tells. */
const lacksTime = (transactions: PricedBatch["transactions"]): boolean => {
  for (const { legs, nets } of transactions) {
    const swap = legs[0] ?? nets[0]
    if (swap !== undefined) {
      return swap.blockTime === null
    }
  }
  return false
}

/**
 * The newest trades of every wallet, at most ten thousand each and so many in all. What no longer fits goes by whole
 * wallets, the one that has not traded for longest first.
 */
export class WalletRings {
  readonly most: number
  /** From the wallet that has not traded for longest to the last to trade. */
  private readonly rings = new Map<Address, Ring>()
  private readonly undated = new WeakSet<TapeTrade>()
  private total = 0
  /** Of the forgotten wallets, the newest trade. */
  private forgottenMs: number | null = null

  constructor(most: number) {
    this.most = most
  }

  /** How many trades are held. */
  get size(): number {
    return this.total
  }

  /** Keeps what wallets gave and got in a block. Blocks come in order, each once. */
  add({ trades, transactions }: Pick<PricedBatch, "trades" | "transactions">): void {
    const isUndated = lacksTime(transactions)
    for (const trade of trades) {
      if (trade.role !== "pool") {
        this.keep(trade)
        if (isUndated) {
          this.undated.add(trade)
        }
      }
    }
    this.forget()
  }

  /** Null when nothing is held. */
  of(wallet: Address): HeldTrades | null {
    const ring = this.rings.get(wallet)
    if (ring === undefined) {
      return null
    }
    const trades = ring.trades.slice(-MOST_EACH).toReversed()
    return {
      trades,
      undated: trades.filter((trade) => this.undated.has(trade)).length,
      droppedBeforeMs: ring.droppedBeforeMs
    }
  }

  private keep(trade: TapeTrade): void {
    // Whoever was forgotten and comes back may have traded before.
    const ring = this.rings.get(trade.wallet) ?? { trades: [], droppedBeforeMs: this.forgottenMs }
    this.rings.delete(trade.wallet)
    this.rings.set(trade.wallet, ring)
    ring.trades.push(trade)
    this.total++
    // Twice as many, so that dropping them one by one never costs more than keeping them.
    if (ring.trades.length >= 2 * MOST_EACH) {
      ring.trades = ring.trades.slice(-MOST_EACH)
      ring.droppedBeforeMs = ring.trades[0]?.timeMs ?? null
      this.total -= MOST_EACH
    }
  }

  private forget(): void {
    for (const [wallet, { trades }] of this.rings) {
      if (this.total <= this.most) {
        return
      }
      this.rings.delete(wallet)
      this.total -= trades.length
      this.forgottenMs = trades.at(-1)?.timeMs ?? this.forgottenMs
    }
  }
}
