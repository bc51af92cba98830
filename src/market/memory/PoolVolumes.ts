import { type Address, type Mint, SOL } from "../../domain/Address.ts"
import { imageEntries, type ImageSteps, type StateImage } from "../columnar/StateImage.ts"
import type { TapeTrade } from "../model/TapeTrade.ts"
import type { TradeRecord } from "../model/TradeRecord.ts"
import { wideValue } from "../columnar/wide.ts"
import { bucketSeconds, firstBucket, windowSeconds } from "../model/windows.ts"

/** The swaps of one pool in the 24 h window. */
export interface PoolVolume {
  readonly trades: number
  /** Exact sum of the known volumes, in nano-dollars. */
  readonly volumeUsdNanos: bigint
  /** Swaps of unknown volume. When there are any, the volume is a lower bound. */
  readonly unpriced: number
}

const DAY = windowSeconds[3] ?? 0
const STEP = bucketSeconds[3] ?? 1
const FORMER = DAY / STEP

/** The sums of ten minutes of one pool. High and low parts are added separately, and both stay exact below 2^53. */
interface Bucket {
  readonly bucket: number
  high: number
  low: number
  trades: number
  unpriced: number
}

/** What the swaps of a pool say about it. */
export interface SwappedPool {
  /** The token under which its first swap was recorded. */
  readonly mint: Mint
  /** The other side of that swap; null for a dollar, because swaps do not say which. */
  readonly quoteMint: Mint | null
  readonly dex: string | null
}

interface Pool extends SwappedPool {
  /** Oldest first. */
  buckets: Array<Bucket>
  lastSecond: number
}

const NO_BUCKET: Bucket = { bucket: 0, high: 0, low: 0, trades: 0, unpriced: 0 }
/** Pools in one step of an image. */
const POOLS_AT_ONCE = 8

const NONE: PoolVolume = { trades: 0, volumeUsdNanos: 0n, unpriced: 0 }

/**
 * The 24 h volume of each pool, from the same buckets of ten minutes as the windows of tokens. Bounded: the pool whose
 * newest bucket began longest ago is forgotten first.
 */
export class PoolVolumes {
  readonly #most: number
  /** In the order in which their newest bucket began. */
  readonly #pools = new Map<Address, Pool>()
  #lost = Number.NEGATIVE_INFINITY

  /** Room for `most` pools. */
  constructor(most: number) {
    this.#most = most
  }

  /** Adds a swap of a pool, of any age that the window holds. */
  add(address: Address, record: TradeRecord, trade: Pick<TapeTrade, "dex" | "lamports" | "mint" | "otherToken">): void {
    const bucket = Math.floor(record.second / STEP)
    const pool = this.#pools.get(address)
    const newest = pool?.buckets.at(-1)
    const held = newest?.bucket === bucket ? newest : this.#begin(address, pool, bucket, trade)
    held.trades++
    if (record.usdKnown) {
      held.high += record.usdHigh
      held.low += record.usdLow
    } else {
      held.unpriced++
    }
    const known = pool ?? this.#pools.get(address)
    if (known !== undefined && record.second > known.lastSecond) {
      known.lastSecond = record.second
    }
  }

  /** The volume of a pool in the window that ends with the second `now`. */
  read(address: Address, now: number): PoolVolume {
    const first = firstBucket(DAY, STEP, now)
    const held = this.#pools.get(address)?.buckets.filter(({ bucket }) => bucket >= first) ?? []
    return held.reduce<PoolVolume>(
      (sum, { high, low, trades, unpriced }) => ({
        trades: sum.trades + trades,
        volumeUsdNanos: sum.volumeUsdNanos + wideValue(high, 0) + BigInt(low),
        unpriced: sum.unpriced + unpriced
      }),
      NONE
    )
  }

  /** Pools with a swap in the window that ends with the second `now`, the one that was swapped first in its bucket first. */
  *traded(now: number): Iterable<readonly [Address, SwappedPool]> {
    const first = firstBucket(DAY, STEP, now)
    for (const [address, pool] of this.#pools) {
      if ((pool.buckets.at(-1)?.bucket ?? 0) >= first) {
        yield [address, pool]
      }
    }
  }

  /** The volume in dollars as the nearest number; NaN when no swap has a known volume. */
  glance(address: Address, now: number): number {
    const first = firstBucket(DAY, STEP, now)
    let [high, low, trades, unpriced] = [0, 0, 0, 0]
    for (const bucket of this.#pools.get(address)?.buckets ?? []) {
      if (bucket.bucket >= first) {
        high += bucket.high
        low += bucket.low
        trades += bucket.trades
        unpriced += bucket.unpriced
      }
    }
    return unpriced > 0 && unpriced === trades ? Number.NaN : Number(wideValue(high, 0) + BigInt(low)) / 1e9
  }

  /** The second after the newest swap of any forgotten pool. From then on volumes are complete. */
  get heldFrom(): number {
    return this.#lost + 1
  }

  /** Writes every pool, or reads the pools. */
  *image(image: StateImage): ImageSteps {
    this.#lost = image.number(this.#lost)
    yield* imageEntries(image, this.#pools, POOLS_AT_ONCE, (address, pool) => {
      const key = image.text(address ?? "") as Address
      const lastSecond = image.number(pool?.lastSecond ?? 0)
      const buckets = Array.from({ length: image.number(pool?.buckets.length ?? 0) }, (_, place): Bucket => {
        const { bucket, high, low, trades, unpriced } = pool?.buckets[place] ?? NO_BUCKET
        return {
          bucket: image.number(bucket),
          high: image.number(high),
          low: image.number(low),
          trades: image.number(trades),
          unpriced: image.number(unpriced)
        }
      })
      const mint = image.text(pool?.mint ?? "") as Mint
      const quoteMint = image.text(pool?.quoteMint ?? "") as Mint | ""
      const dex = image.text(pool?.dex ?? "")
      return [key, { buckets, lastSecond, mint, quoteMint: quoteMint || null, dex: dex || null }]
    })
  }

  #begin(
    address: Address,
    known: Pool | undefined,
    bucket: number,
    { dex, lamports, mint, otherToken }: Pick<TapeTrade, "dex" | "lamports" | "mint" | "otherToken">
  ): Bucket {
    const added: Bucket = { bucket, high: 0, low: 0, trades: 0, unpriced: 0 }
    if (known === undefined) {
      const quoteMint = lamports === null ? (otherToken?.mint ?? null) : SOL
      this.#pools.set(address, { buckets: [added], lastSecond: Number.NEGATIVE_INFINITY, mint, quoteMint, dex })
      this.#makeRoom()
      return added
    }
    const place = known.buckets.findLastIndex((each) => each.bucket <= bucket)
    const found = known.buckets[place]
    if (found?.bucket === bucket) {
      return found
    }
    known.buckets.splice(place + 1, 0, added)
    if (place + 1 === known.buckets.length - 1) {
      const oldest = bucket - FORMER
      known.buckets = known.buckets.filter((each) => each.bucket > oldest)
      this.#pools.delete(address)
      this.#pools.set(address, known)
    }
    return added
  }

  #makeRoom(): void {
    const [oldest] = this.#pools
    if (this.#pools.size > this.#most && oldest !== undefined) {
      this.#lost = Math.max(this.#lost, oldest[1].lastSecond)
      this.#pools.delete(oldest[0])
    }
  }
}
