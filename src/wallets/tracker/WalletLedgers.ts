import type { Address } from "../../domain/Address.ts"
import type { TapeTrade } from "../../market/model/TapeTrade.ts"
import { type PnlBook, WalletLedger } from "./WalletLedger.ts"

/** Trades held for all wallets together. */
export const MOST_TRADES = 400_000

/** Ledgers of all tracked wallets, bounded in trades: the oldest trades of all wallets are dropped first. */
export class WalletLedgers {
  readonly #most: number
  readonly #ledgers = new Map<Address, WalletLedger>()
  // One entry per trade, in order. A ledger that dropped a trade at its own limit skips one turn for it (`#passes`).
  #turns: Array<WalletLedger> = []
  #turn = 0
  readonly #passes = new Map<WalletLedger, number>()

  constructor(most: number = MOST_TRADES) {
    this.#most = most
  }

  get(wallet: Address): WalletLedger | undefined {
    return this.#ledgers.get(wallet)
  }

  all(): MapIterator<WalletLedger> {
    return this.#ledgers.values()
  }

  /** The ledger of the wallet, created if missing. */
  of(wallet: Address): WalletLedger {
    const known = this.#ledgers.get(wallet)
    if (known !== undefined) {
      return known
    }
    const ledger = new WalletLedger(wallet)
    this.#ledgers.set(wallet, ledger)
    return ledger
  }

  /** Replaces the ledger of the wallet with an empty one. */
  renew(wallet: Address): WalletLedger {
    const before = this.#ledgers.get(wallet)
    const ledger = new WalletLedger(wallet)
    this.#ledgers.set(wallet, ledger)
    if (before !== undefined && before.trades.length > 0) {
      this.#turns = this.#turns.slice(this.#turn).filter((one) => one !== before)
      this.#turn = 0
      this.#passes.delete(before)
    }
    return ledger
  }

  /** True if the book is still held. */
  holds(book: PnlBook): boolean {
    return this.#ledgers.get(book.wallet)?.books.get(book.sinceMs) === book
  }

  /** Adds a trade to the ledger. */
  add(ledger: WalletLedger, trade: TapeTrade): void {
    ledger.add(trade)
    this.#turns.push(ledger)
    if (ledger.isOverfull) {
      ledger.dropTrade()
      this.#passes.set(ledger, (this.#passes.get(ledger) ?? 0) + 1)
    }
    this.#shrink()
  }

  /** Drops untracked wallets, and books of seconds from which no account tracks. */
  keep(sincesOf: (wallet: Address) => ReadonlySet<number>): void {
    for (const [wallet, ledger] of this.#ledgers) {
      const sinces = sincesOf(wallet)
      ledger.keepBooks(sinces)
      if (sinces.size === 0) {
        this.#ledgers.delete(wallet)
      }
    }
    const kept = this.#turns.slice(this.#turn).filter((ledger) => this.#ledgers.get(ledger.wallet) === ledger)
    this.#turns = kept
    this.#turn = 0
    for (const ledger of this.#passes.keys()) {
      if (this.#ledgers.get(ledger.wallet) !== ledger) {
        this.#passes.delete(ledger)
      }
    }
  }

  #shrink(): void {
    while (this.#turns.length - this.#turn > this.#most) {
      const ledger = this.#turns[this.#turn++]
      const passes = ledger === undefined ? 0 : (this.#passes.get(ledger) ?? 0)
      if (ledger === undefined) {
        continue
      }
      if (passes === 0) {
        ledger.dropTrade()
      } else if (passes === 1) {
        this.#passes.delete(ledger)
      } else {
        this.#passes.set(ledger, passes - 1)
      }
    }
    if (this.#turn > this.#most) {
      this.#turns = this.#turns.slice(this.#turn)
      this.#turn = 0
    }
  }
}
