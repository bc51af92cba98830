/**
 * Remembers the distinct wallets of young bars, so that each wallet counts once in its second and once in its minute.
 */
import { PairSet } from "../columnar/PairSet.ts"
import { imageEntries, type ImageSteps, type StateImage } from "../columnar/StateImage.ts"
import type { TradeRecord } from "../model/TradeRecord.ts"
import { floorTo } from "../model/resolutions.ts"

/** Wallets of a bucket are remembered for this many seconds after its end. */
const REMEMBERED = 120

/**
 * The wallets of each series of bars, in the buckets of one width that ended less than two minutes before the newest
 * trade.
 */
export class BarTraders {
  readonly #width: number
  readonly #buckets = new Map<number, PairSet>()
  readonly #spare: Array<PairSet> = []
  #newest = Number.NEGATIVE_INFINITY
  #newestWallets = new PairSet()

  /** The width of a bucket in seconds. */
  constructor(width: number) {
    this.#width = width
  }

  /**
   * Returns one when the wallet of a trade is new to its bucket, zero when it is not, and NaN when the bucket is too
   * old to know. `series` must not be 0.
   */
  note(series: number, { second, walletCheck, walletHash }: TradeRecord): number {
    const start = floorTo(second, this.#width)
    if (start > this.#newest) {
      this.#begin(start)
    }
    if (start !== this.#newest && this.#isForgotten(start)) {
      return Number.NaN
    }
    const wallets = start === this.#newest ? this.#newestWallets : this.#walletsOf(start)
    return wallets.add(series, walletHash, walletCheck) ? 1 : 0
  }

  /** Writes or reads the wallets of every bucket. Reading starts without buckets. */
  *image(image: StateImage): ImageSteps {
    this.#newest = image.number(this.#newest)
    yield* imageEntries(image, this.#buckets, 1, (start, wallets) => [
      image.number(start ?? 0),
      wallets ?? new PairSet()
    ])
    for (const wallets of this.#buckets.values()) {
      yield* wallets.image(image)
    }
    this.#newestWallets = this.#buckets.get(this.#newest) ?? this.#newestWallets
  }

  #begin(start: number): void {
    this.#newest = start
    for (const [each, wallets] of this.#buckets) {
      if (this.#isForgotten(each)) {
        this.#buckets.delete(each)
        wallets.clear()
        this.#spare.push(wallets)
      }
    }
    this.#newestWallets = this.#walletsOf(start)
  }

  #isForgotten(start: number): boolean {
    return start + this.#width + REMEMBERED <= this.#newest
  }

  #walletsOf(start: number): PairSet {
    const wallets = this.#buckets.get(start) ?? this.#spare.pop() ?? new PairSet()
    this.#buckets.set(start, wallets)
    return wallets
  }
}
