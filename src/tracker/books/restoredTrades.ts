/** Trades of tracked wallets from before this process, or from before it knew that they are tracked. */
import { Effect } from "effect"
import type { Address } from "../../domain/Address.ts"
import type { TapeTrade } from "../../market/tape/TapeTrade.ts"
import type { TradeTape } from "../../market/tape/TradeTape.ts"
import { byChainOrder } from "../../wallets/ledger.ts"
import { TRADES_PER_WALLET } from "./WalletLedger.ts"
import type { WalletSince } from "../WalletSince.ts"

/** Trades and transfers restored of one wallet. */
export const MOST_RESTORED = 10_000

/** Trades and transfers of a wallet, oldest first. */
export interface StoredTrades {
  readonly trades: ReadonlyArray<TapeTrade>
  /** True when older ones since the beginning of its tracking may exist. */
  readonly isClipped: boolean
}

/** Reads of the tape that a restore needs. */
export type RestoreSource = Pick<TradeTape["Service"], "firstRead" | "gaps" | "stored" | "unstored">

const idOf = ({ index, slot }: TapeTrade): string => `${slot} ${index}`

/**
 * The trades and transfers of a wallet since a time that come before a slot: the newest 10,000 of the store, and those of
 * blocks that wait to be stored. Without a store there are none.
 */
export const storedTradesOf = Effect.fnUntraced(function* (
  tape: RestoreSource,
  { sinceMs, wallet }: WalletSince,
  slot: number
) {
  const store = tape.stored()
  if (store === null) {
    return { trades: [], isClipped: false } satisfies StoredTrades
  }
  // Before the read, so that a block that is stored meanwhile is in either.
  const waiting = tape
    .unstored()
    .flatMap(({ trades, transfers = [] }) => [...trades, ...transfers])
    .filter((trade) => trade.wallet === wallet && trade.role !== "pool")
  const newest = yield* store.ofWallet(wallet, TRADES_PER_WALLET)
  const isEnough = newest.length < TRADES_PER_WALLET || (newest.at(-1)?.timeMs ?? 0) < sinceMs
  const stored = isEnough ? newest : yield* store.ofWallet(wallet, MOST_RESTORED)
  const known = new Set(stored.map(idOf))
  const found: StoredTrades = {
    trades: [...stored, ...waiting.filter((trade) => !known.has(idOf(trade)))]
      .filter((trade) => trade.slot < slot && trade.timeMs >= sinceMs)
      .toSorted(byChainOrder),
    isClipped: stored.length >= MOST_RESTORED && (stored.at(-1)?.timeMs ?? 0) >= sinceMs
  }
  return found
})

/** The time before which blocks may be missing from what is stored, in milliseconds; zero without a store. */
export const storedGapMs = (tape: RestoreSource): number => {
  const begins = tape.firstRead()
  return tape.stored() === null || !Number.isFinite(begins)
    ? 0
    : tape.gaps().reduce((gapMs, { toSecond }) => Math.max(gapMs, toSecond * 1000), begins * 1000)
}

/** The tracked wallets, read synchronously. */
export interface WatchedSeconds {
  readonly wallets: () => Iterable<Address>
  readonly sincesOf: (wallet: Address) => ReadonlySet<number>
  readonly revision: () => number
}

/**
 * The wallets whose ledgers hold everything since they are tracked. A wallet that is tracked from a later second than that
 * of the newest block needs no restore.
 */
export class RestoredWallets {
  readonly #watched: WatchedSeconds
  /** The second from which on the ledger of a wallet is whole. */
  readonly #wholeSince = new Map<Address, number>()
  /** The revision of the list that was looked through; null before the first. */
  #revision: number | null = null
  #waiting: ReadonlyArray<WalletSince> = []
  #newestMs: number | null = null

  constructor(watched: WatchedSeconds) {
    this.#watched = watched
  }

  /** True when the wallet is tracked and its ledger whole. */
  has(wallet: Address): boolean {
    const sinceMs = this.#sinceOf(wallet)
    return (
      Number.isFinite(sinceMs) &&
      ((this.#wholeSince.get(wallet) ?? Infinity) <= sinceMs || sinceMs > (this.#newestMs ?? Infinity))
    )
  }

  /** The wallets to restore before the next block. */
  waiting(): ReadonlyArray<WalletSince> {
    const revision = this.#watched.revision()
    if (revision !== this.#revision) {
      this.#revision = revision
      this.#lookThrough()
    }
    return (this.#waiting = this.#waiting.filter(({ wallet }) => !this.has(wallet)))
  }

  /** The ledger of the wallet is whole since then. */
  restored({ sinceMs, wallet }: WalletSince): void {
    this.#wholeSince.set(wallet, sinceMs)
  }

  /** A block of this time was applied. */
  applied(timeMs: number): void {
    this.#newestMs = Math.max(this.#newestMs ?? 0, timeMs)
  }

  /** Another chain follows: its trades are restored anew. */
  startAnew(): void {
    this.#wholeSince.clear()
    this.#revision = null
    this.#newestMs = null
  }

  #sinceOf(wallet: Address): number {
    return Math.min(...this.#watched.sincesOf(wallet))
  }

  /** Forgets wallets that are no longer tracked, and lists those to restore. */
  #lookThrough(): void {
    for (const wallet of this.#wholeSince.keys()) {
      if (this.#watched.sincesOf(wallet).size === 0) {
        this.#wholeSince.delete(wallet)
      }
    }
    const waiting: Array<WalletSince> = []
    for (const wallet of this.#watched.wallets()) {
      const sinceMs = this.#sinceOf(wallet)
      if (sinceMs > (this.#newestMs ?? Infinity)) {
        this.#wholeSince.set(wallet, Math.min(sinceMs, this.#wholeSince.get(wallet) ?? Infinity))
      } else if (!this.has(wallet)) {
        waiting.push({ wallet, sinceMs })
      }
    }
    this.#waiting = waiting
  }
}
