import type { StoredBatch } from "./StoredBatch.ts"
import { isRequested, newestFirst, type TradesRequest } from "./TradesRequest.ts"
import type { TapeTrade } from "./TapeTrade.ts"

/** The most trades kept: some ten seconds of a busy chain, which is longer than the store lags behind. */
export const MOST_RECENT = 20_000

/** The trades of the newest blocks, as they were applied. */
export class RecentTrades {
  readonly #most: number
  #blocks: Array<Pick<StoredBatch, "slot" | "trades">> = []
  #trades = 0
  #from = Number.POSITIVE_INFINITY
  #dropped = false

  constructor(most = MOST_RECENT) {
    this.#most = most
  }

  /** Adds a block. The oldest blocks leave while there are too many trades. */
  add({ slot, trades }: Pick<StoredBatch, "slot" | "trades">): void {
    this.#from = Number.isFinite(this.#from) ? this.#from : slot
    if (trades.length === 0) {
      return
    }
    this.#blocks.push({ slot, trades })
    this.#trades += trades.length
    let gone = 0
    while (this.#trades > this.#most) {
      const block = this.#blocks[gone++]
      if (block === undefined) {
        break
      }
      this.#trades -= block.trades.length
      this.#from = Math.max(this.#from, block.slot + 1)
      this.#dropped = true
    }
    this.#blocks = gone === 0 ? this.#blocks : this.#blocks.slice(gone)
  }

  /** From this slot on, the trades of every block that was added are held; infinite before the first block. */
  get fromSlot(): number {
    return this.#from
  }

  /** True once trades were dropped to make room for newer ones. */
  get hasDropped(): boolean {
    return this.#dropped
  }

  /** The newest trades that pass a test, newest first, among blocks up to a slot. */
  newest(passes: (trade: TapeTrade) => boolean, toSlot: number, limit: number): ReadonlyArray<TapeTrade> {
    const found: Array<TapeTrade> = []
    for (const { slot, trades } of this.#blocks.toReversed()) {
      if (slot <= toSlot) {
        found.push(...trades.filter(passes).toSorted(newestFirst))
      }
      if (found.length >= limit) {
        break
      }
    }
    return found.slice(0, limit)
  }

  /** The newest swaps of a request among the held trades, newest first. */
  find(request: TradesRequest): ReadonlyArray<TapeTrade> {
    return this.#blocks
      .flatMap(({ trades }) => trades.filter((trade) => isRequested(trade, request)))
      .toSorted(newestFirst)
      .slice(0, request.limit)
  }
}
