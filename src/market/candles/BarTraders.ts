/** The distinct wallets of young bars, so that each counts once in its second and once in its minute. */
import type { Address } from "../../domain/Address.ts"
import { floorTo } from "./resolutions.ts"

/** Seconds for which the wallets of a bucket are remembered after its end. */
const REMEMBERED = 120

type Wallets = Map<number, Set<Address>>

/** Wallets by token, of the buckets of one width that ended less than two minutes before the newest trade. */
export class BarTraders {
  private readonly width: number
  private readonly buckets = new Map<number, Wallets>()
  private newest = Number.NEGATIVE_INFINITY

  /** The width of a bucket in seconds. */
  constructor(width: number) {
    this.width = width
  }

  /** One when the wallet is new to its bucket, zero when it is not, NaN when the bucket is too old to know. */
  note(token: number, second: number, wallet: Address): number {
    const start = floorTo(second, this.width)
    if (start > this.newest) {
      this.newest = start
      this.prune()
    }
    if (this.isForgotten(start)) {
      return Number.NaN
    }
    const wallets = this.walletsOf(start, token)
    const before = wallets.size
    return wallets.add(wallet).size - before
  }

  /** Forgets a token. */
  clear(token: number): void {
    for (const tokens of this.buckets.values()) {
      tokens.delete(token)
    }
  }

  private isForgotten(start: number): boolean {
    return start + this.width + REMEMBERED <= this.newest
  }

  private walletsOf(start: number, token: number): Set<Address> {
    const bucket: Wallets = this.buckets.get(start) ?? new Map<number, Set<Address>>()
    const wallets = bucket.get(token) ?? new Set<Address>()
    bucket.set(token, wallets)
    this.buckets.set(start, bucket)
    return wallets
  }

  private prune(): void {
    for (const start of this.buckets.keys()) {
      if (this.isForgotten(start)) {
        this.buckets.delete(start)
      }
    }
  }
}
