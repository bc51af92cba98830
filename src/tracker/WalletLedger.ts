import type { Address, Mint } from "../domain/Address.ts"
import type { TapeTrade } from "../market/TapeTrade.ts"
import type { Rational } from "../domain/rational.ts"
import { isMoney } from "../trades/sides.ts"
import { applyTrade, emptyPosition, type Position } from "../wallets/ledger.ts"

/** How many of its newest trades are held for each wallet. */
export const TRADES_PER_WALLET = 250
/** How many positions are held for each wallet; then closed ones go, the longest untouched first. */
export const POSITIONS_PER_WALLET = 500

/** Why a figure is to be told. */
export type Trigger = "trade" | "mark"

/** A position, and when and at what it was last told. */
export class HeldPosition {
  readonly wallet: Address
  position: Position
  toldAtMs = Number.NEGATIVE_INFINITY
  toldAt: Rational | null = null
  /** Why it has to be told again as soon as its pace allows; null when what was told still holds. */
  due: Trigger | null = null

  constructor(wallet: Address, mint: Mint) {
    this.wallet = wallet
    this.position = emptyPosition(mint)
  }
}

/** What is remembered of one tracked wallet. */
export class WalletLedger {
  readonly wallet: Address
  /** In the order of the chain; the newest is last. */
  readonly trades: Array<TapeTrade> = []
  /** In the order in which they last traded. */
  readonly positions = new Map<Mint, HeldPosition>()
  lastEventAtMs: number | null = null
  truncated = false
  /** Whether a position was given up. */
  clipped = false
  /** Whether blocks went unread since it began. */
  gapped = false
  summaryToldAtMs = Number.NEGATIVE_INFINITY

  constructor(wallet: Address) {
    this.wallet = wallet
  }

  /** Takes the next trade; gives its position, or null where money was traded, which is no position. */
  add(trade: TapeTrade): HeldPosition | null {
    this.trades.push(trade)
    if (isMoney(trade.mint)) {
      return null
    }
    const held = this.positions.get(trade.mint) ?? new HeldPosition(this.wallet, trade.mint)
    held.position = applyTrade(held.position, trade)
    this.positions.delete(trade.mint)
    this.positions.set(trade.mint, held)
    this.#clip()
    return held
  }

  /** Lets the oldest trade go. */
  dropTrade(): void {
    this.trades.shift()
    this.truncated = true
  }

  #clip(): void {
    if (this.positions.size <= POSITIONS_PER_WALLET) {
      return
    }
    const closed = this.positions.values().find(({ position }) => position.held === 0n)
    const [oldest] = this.positions.values()
    const gone = closed ?? oldest
    if (gone !== undefined) {
      this.positions.delete(gone.position.mint)
      this.clipped = true
    }
  }
}
