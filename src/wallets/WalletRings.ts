import type { Address, Mint } from "../domain/Address.ts"
import type { TapeTrade } from "../market/model/TapeTrade.ts"
import type { PricedBatch } from "../market/model/TradeBatch.ts"

/** Upper bound of the trades of one wallet in a batch. */
const MOST_EACH = 10_000

/** The trades of one wallet, oldest first. */
interface Ring {
  trades: Array<TapeTrade>
  /** Mints that were traded. */
  readonly mints: Set<Mint>
  /** Trades before this time were dropped; null when none were. */
  droppedBeforeMs: number | null
}

/** Trades held of one wallet. */
export interface HeldTrades {
  /** Newest first. */
  readonly trades: ReadonlyArray<TapeTrade>
  /** Count of trades of blocks without a block time. */
  readonly undated: number
  /** Trades before this time may have been dropped, in milliseconds; null when none were. */
  readonly droppedBeforeMs: number | null
}

/** True if the block has no block time, judged by its first swap. */
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
 * The newest trades of every wallet, at most 10,000 each and `most` in all. Beyond that whole wallets are dropped, the
 * least recently active first.
 */
export class WalletRings {
  readonly most: number
  /** Least recently active wallet first. */
  readonly #rings = new Map<Address, Ring>()
  readonly #undated = new WeakSet<TapeTrade>()
  #total = 0
  /** Time of the newest trade of a dropped wallet. */
  #evictedMs: number | null = null

  constructor(most: number) {
    this.most = most
  }

  /** Trades held. */
  get size(): number {
    return this.#total
  }

  /** Adds the wallet trades of a block, and the transfers of mints that the wallet has traded. Blocks come in order, each once. */
  add({ trades, transactions, transfers = [] }: Pick<PricedBatch, "trades" | "transactions" | "transfers">): void {
    const isUndated = lacksTime(transactions)
    for (const trade of trades) {
      if (trade.role !== "pool") {
        this.#keep(trade)
        if (isUndated) {
          this.#undated.add(trade)
        }
      }
    }
    transfers
      .filter(({ mint, wallet }) => this.#rings.get(wallet)?.mints.has(mint) === true)
      .forEach((each) => this.#keep(each))
    this.#evict()
  }

  /** The trades of a wallet; null when none are held. */
  of(wallet: Address): HeldTrades | null {
    const ring = this.#rings.get(wallet)
    if (ring === undefined) {
      return null
    }
    const trades = ring.trades.slice(-MOST_EACH).toReversed()
    return {
      trades,
      undated: trades.filter((trade) => this.#undated.has(trade)).length,
      droppedBeforeMs: ring.droppedBeforeMs
    }
  }

  #keep(trade: TapeTrade): void {
    // A wallet that returns after an eviction may have older trades.
    const ring = this.#rings.get(trade.wallet) ?? { trades: [], mints: new Set(), droppedBeforeMs: this.#evictedMs }
    this.#rings.delete(trade.wallet)
    this.#rings.set(trade.wallet, ring)
    ring.trades.push(trade)
    ring.mints.add(trade.mint)
    this.#total++
    // Trimmed at twice the bound, so that trimming costs O(1) per trade.
    if (ring.trades.length >= 2 * MOST_EACH) {
      ring.trades = ring.trades.slice(-MOST_EACH)
      ring.droppedBeforeMs = ring.trades[0]?.timeMs ?? null
      this.#total -= MOST_EACH
    }
  }

  #evict(): void {
    for (const [wallet, { trades }] of this.#rings) {
      if (this.#total <= this.most) {
        return
      }
      this.#rings.delete(wallet)
      this.#total -= trades.length
      this.#evictedMs = trades.at(-1)?.timeMs ?? this.#evictedMs
    }
  }
}
