/** Trades of tracked wallets from before this process, or from before it knew that they are tracked. */
import { Effect } from "effect"
import type { Address } from "../../domain/Address.ts"
import type { TapeTrade } from "../../market/model/TapeTrade.ts"
import type { Market } from "../../market/tape/Market.ts"
import { byChainOrder } from "../ledger.ts"
import { TRADES_PER_WALLET } from "./WalletLedger.ts"
import type { WalletSince } from "./WalletSince.ts"

/** At most this many trades and transfers of one wallet are restored. */
export const MOST_RESTORED = 10_000

/** Trades and transfers of a wallet, oldest first. */
export interface StoredTrades {
  readonly trades: ReadonlyArray<TapeTrade>
  /** True when older ones may exist since tracking began. */
  readonly isClipped: boolean
}

/** Reads of the tape that a restore needs. */
export type RestoreSource = Pick<Market["Service"], "firstRead" | "gaps" | "stored" | "unstored">

const idOf = ({ index, slot }: TapeTrade): string => `${slot} ${index}`

/** Where a restore takes place: before the block of `slot`, with everything after `afterSlot`. */
export interface RestorePlace {
  readonly slot: number
  /** The slot at which the accounts of the wallet were read; infinite when they were not read. */
  readonly afterSlot: number
}

/**
 * The trades and transfers of a wallet since a time, or after a slot, that come before the slot of the place. They are
 * the newest 10,000 of the store, and the trades of blocks that wait to be stored. Without a store there are none.
 */
export const storedTradesOf = Effect.fnUntraced(function* (
  tape: RestoreSource,
  { sinceMs, wallet }: WalletSince,
  { afterSlot, slot }: RestorePlace
) {
  const history = tape.stored()
  if (history === null) {
    return { trades: [], isClipped: false } satisfies StoredTrades
  }
  // Taken before the read, so that a block that is stored meanwhile is in one of the two.
  const waiting = tape
    .unstored()
    .flatMap(({ trades, transfers = [] }) => [...trades, ...transfers])
    .filter((trade) => trade.wallet === wallet && trade.role !== "pool")
  const newest = yield* history.trades.ofWallet(wallet, TRADES_PER_WALLET)
  const isWanted = (trade: TapeTrade | undefined) =>
    trade !== undefined && (trade.timeMs >= sinceMs || trade.slot > afterSlot)
  const isEnough = newest.length < TRADES_PER_WALLET || !isWanted(newest.at(-1))
  const stored = isEnough ? newest : yield* history.trades.ofWallet(wallet, MOST_RESTORED)
  const known = new Set(stored.map(idOf))
  const found: StoredTrades = {
    trades: [...stored, ...waiting.filter((trade) => !known.has(idOf(trade)))]
      .filter((trade) => trade.slot < slot && isWanted(trade))
      .toSorted(byChainOrder),
    isClipped: stored.length >= MOST_RESTORED && isWanted(stored.at(-1))
  }
  return found
})

/** Stored trades may lack blocks before this time, in milliseconds; zero without a store. */
export const storedGapMs = (tape: RestoreSource): number => {
  const begins = tape.firstRead()
  return tape.stored() === null || !Number.isFinite(begins)
    ? 0
    : tape.gaps().reduce((gapMs, { toSecond }) => Math.max(gapMs, toSecond * 1000), begins * 1000)
}

/** The time after the last gap in the blocks that are stored, in milliseconds; zero without one. */
export const afterGapsMs = (tape: Pick<RestoreSource, "gaps">): number =>
  tape.gaps().reduce((afterMs, { toSecond }) => Math.max(afterMs, (toSecond + 1) * 1000), 0)

/** The tracked wallets, read synchronously. */
export interface WatchedSeconds {
  readonly wallets: () => Iterable<Address>
  readonly sincesOf: (wallet: Address) => ReadonlySet<number>
  readonly revision: () => number
  /**
   * True for wallets whose token accounts have to be read before anything is known of them. Left out when none have to.
   */
  readonly needsAccounts?: (wallet: Address) => boolean
  /** True for wallets with fills of a replay, whose ledgers need no restore. Left out when there are none. */
  readonly hasFills?: (wallet: Address) => boolean
}

/**
 * The wallets whose ledgers hold everything since tracking began. A wallet that is tracked from a later second than the
 * newest block needs no restore, unless its token accounts have to be read.
 */
export class RestoredWallets {
  readonly #watched: WatchedSeconds
  /** The second from which on the ledger of a wallet is whole. */
  readonly #wholeSince = new Map<Address, number>()
  /** The revision of the list that was last looked through; null before the first. */
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
      (this.#watched.hasFills?.(wallet) === true ||
        (this.#wholeSince.get(wallet) ?? Infinity) <= sinceMs ||
        this.#isLater(wallet, sinceMs))
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

  /** Records that the ledger of the wallet is whole since then. */
  restored({ sinceMs, wallet }: WalletSince): void {
    this.#wholeSince.set(wallet, sinceMs)
  }

  /** Records that the ledger of the wallet is no longer whole. */
  broken(wallet: Address): void {
    this.#wholeSince.delete(wallet)
    this.#revision = null
  }

  /** Records that a block of this time was applied. */
  applied(timeMs: number): void {
    this.#newestMs = Math.max(this.#newestMs ?? 0, timeMs)
  }

  /** Forgets what is restored: another chain follows, and its trades are restored anew. */
  startAnew(): void {
    this.#wholeSince.clear()
    this.#revision = null
    this.#newestMs = null
  }

  #isLater(wallet: Address, sinceMs: number): boolean {
    return sinceMs > (this.#newestMs ?? Infinity) && this.#watched.needsAccounts?.(wallet) !== true
  }

  #sinceOf(wallet: Address): number {
    return Math.min(...this.#watched.sincesOf(wallet))
  }

  /** Forgets wallets that are no longer tracked, and lists the wallets to restore. */
  #lookThrough(): void {
    for (const wallet of this.#wholeSince.keys()) {
      if (this.#watched.sincesOf(wallet).size === 0) {
        this.#wholeSince.delete(wallet)
      }
    }
    const waiting: Array<WalletSince> = []
    for (const wallet of this.#watched.wallets()) {
      const sinceMs = this.#sinceOf(wallet)
      if (this.#isLater(wallet, sinceMs)) {
        this.#wholeSince.set(wallet, Math.min(sinceMs, this.#wholeSince.get(wallet) ?? Infinity))
      } else if (!this.has(wallet)) {
        waiting.push({ wallet, sinceMs })
      }
    }
    this.#waiting = waiting
  }
}
