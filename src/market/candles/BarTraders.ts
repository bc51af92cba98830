/** The distinct wallets of young bars, so that each counts once in its second and once in its minute. */
import type { Address } from "../../domain/Address.ts"
import { floorTo } from "./resolutions.ts"

/** Seconds for which the wallets of a bucket are remembered after its end. */
const REMEMBERED = 120

/** The wallets of each token: one as it is, several in a set, because most buckets have one. */
type Wallets = Map<number, Address | Set<Address>>

/** Adds a wallet to those of a token; one when it is new, else zero. */
const addWallet = (wallets: Wallets, token: number, wallet: Address): number => {
  const known = wallets.get(token)
  if (known === undefined) {
    wallets.set(token, wallet)
    return 1
  }
  if (typeof known === "string") {
    if (known === wallet) {
      return 0
    }
    wallets.set(token, new Set([known, wallet]))
    return 1
  }
  const before = known.size
  return known.add(wallet).size - before
}

/** Wallets by token, of the buckets of one width that ended less than two minutes before the newest trade. */
export class BarTraders {
  private readonly width: number
  private readonly buckets = new Map<number, Wallets>()
  private newest = Number.NEGATIVE_INFINITY
  private newestWallets: Wallets = new Map()

  /** The width of a bucket in seconds. */
  constructor(width: number) {
    this.width = width
  }

  /** One when the wallet is new to its bucket, zero when it is not, NaN when the bucket is too old to know. */
  note(token: number, second: number, wallet: Address): number {
    const start = floorTo(second, this.width)
    if (start > this.newest) {
      this.begin(start)
    }
    if (start === this.newest) {
      return addWallet(this.newestWallets, token, wallet)
    }
    return this.isForgotten(start) ? Number.NaN : addWallet(this.walletsOf(start), token, wallet)
  }

  /** Forgets a token. */
  clear(token: number): void {
    for (const tokens of this.buckets.values()) {
      tokens.delete(token)
    }
  }

  private begin(start: number): void {
    this.newest = start
    for (const each of this.buckets.keys()) {
      if (this.isForgotten(each)) {
        this.buckets.delete(each)
      }
    }
    this.newestWallets = this.walletsOf(start)
  }

  private isForgotten(start: number): boolean {
    return start + this.width + REMEMBERED <= this.newest
  }

  private walletsOf(start: number): Wallets {
    const wallets: Wallets = this.buckets.get(start) ?? new Map<number, Address | Set<Address>>()
    this.buckets.set(start, wallets)
    return wallets
  }
}
