import type { Address, Mint } from "../domain/Address.ts"
import type { LiveEvent } from "../domain/LiveFrame.ts"
import type { TrackerTrade } from "../domain/Tracker.ts"
import { PLACES } from "../market/tapeTrades.ts"
import type { TapeTrade } from "../market/TapeTrade.ts"
import type { PricedBatch } from "../market/TradeTape.ts"
import type { BlockTransaction } from "../solana/BlockFeed.ts"
import type { Prices } from "../tokens/PriceBook.ts"
import type { TokenState } from "../tokens/TokenShelf.ts"
import { LiveFigures, type Step } from "./LiveFigures.ts"
import type { Asked, RecentTrades, Standing } from "./TrackerFeed.ts"
import {
  balanceUpdate,
  type Mark,
  pnlBody,
  pnlSummaryBody,
  trackerTrade,
  type TradeCommitment
} from "./trackerTrades.ts"
import { type HeldPosition, WalletLedger } from "./WalletLedger.ts"
import { WalletLedgers } from "./WalletLedgers.ts"

/** What the books of tracked wallets are kept from. Everything is read synchronously. */
export interface BookSources {
  readonly isTracked: (wallet: Address) => boolean
  readonly tokenOf: (mint: Mint) => TokenState | null
  readonly pricesAt: (nowMs: number) => Prices
  readonly commitment: TradeCommitment
}

/** What a block did to tracked wallets, and what of it there is to tell. */
export interface BlockStory {
  readonly events: ReadonlyArray<LiveEvent>
  readonly wallets: ReadonlySet<Address>
  readonly mints: ReadonlySet<Mint>
}

/** What one transaction did to tracked wallets. */
interface Moment {
  readonly trades: Array<TapeTrade>
  transaction: BlockTransaction | null
}

/** What tracked wallets did and hold. One writer; whatever a block did is written down and told in one step. */
export class TrackerBooks {
  readonly #sources: BookSources
  readonly #ledgers: WalletLedgers
  readonly #figures: LiveFigures

  constructor(sources: BookSources, mostTrades?: number) {
    this.#sources = sources
    this.#ledgers = new WalletLedgers(mostTrades)
    this.#figures = new LiveFigures(this.#ledgers)
  }

  /**
   * Writes a block down. Per wallet, what there is to tell is in the order of the chain, a trade before what it causes.
   * Figures are due from then on: nobody waits for those of others.
   */
  apply(batch: PricedBatch, nowMs: number, wants: Step["wants"]): BlockStory {
    if (batch.afterGap) {
      this.#ledgers.all().forEach((ledger) => (ledger.gapped = true))
    }
    const step: Step = { nowMs, wants, marks: this.#marksAt(nowMs), events: [] }
    const touched = new Set<HeldPosition>()
    const wallets = new Set<Address>()
    const mints = new Set<Mint>()
    const moments = this.#momentsOf(batch)
    for (const [at, { trades, transaction }] of Array.from(moments).toSorted(([a], [b]) => a - b)) {
      const indexes = new Map<Address, number>()
      for (const trade of trades) {
        wallets.add(trade.wallet)
        mints.add(trade.mint)
        indexes.set(trade.wallet, trade.index)
        const held = this.#trade(trade, step)
        if (held !== null) {
          touched.add(held)
        }
      }
      for (const { owner } of transaction?.changes ?? []) {
        if (this.#sources.isTracked(owner)) {
          wallets.add(owner)
        }
      }
      if (transaction !== null) {
        this.#tellBalances(transaction, batch, (owner) => indexes.get(owner) ?? at * PLACES, step)
      }
    }
    for (const wallet of wallets) {
      this.#ledgers.of(wallet).lastEventAtMs = batch.timeMs
    }
    this.#figures.owe(touched)
    return { events: step.events, wallets, mints }
  }

  /** What has waited for its time to be told. */
  due(nowMs: number, wants: Step["wants"]): ReadonlyArray<LiveEvent> {
    const step: Step = { nowMs, wants, marks: this.#marksAt(nowMs), events: [] }
    this.#figures.due(step)
    return step.events
  }

  /** Forgets the wallets that nobody tracks any more. */
  forget(): void {
    this.#ledgers.keep(this.#sources.isTracked)
    this.#figures.reset()
  }

  tradesOf(asked: ReadonlyArray<Asked>, limit: number): RecentTrades {
    const trades = this.newestOf(asked, limit, limit)
    return {
      trades,
      oldestTs: trades.at(-1)?.ts ?? null,
      newestTs: trades[0]?.ts ?? null,
      // What was dropped is older than what is held.
      truncated: asked.some(({ sinceMs, wallet }) => {
        const ledger = this.#ledgers.get(wallet)
        return ledger?.truncated === true && (ledger.trades[0]?.timeMs ?? 0) >= sinceMs
      })
    }
  }

  newestOf(asked: ReadonlyArray<Asked>, each: number, limit: number): ReadonlyArray<TrackerTrade> {
    return asked
      .flatMap(({ sinceMs, wallet }) => {
        const trades = this.#ledgers.get(wallet)?.trades.slice(-each) ?? []
        return trades.filter(({ timeMs }) => timeMs >= sinceMs)
      })
      .toSorted((a, b) => b.timeMs - a.timeMs || b.slot - a.slot || b.index - a.index)
      .slice(0, limit)
      .map((trade) => this.#tradeOf(trade))
  }

  lastEventAtMs(wallet: Address): number | null {
    return this.#ledgers.get(wallet)?.lastEventAtMs ?? null
  }

  standingOf(wallets: ReadonlyArray<Address>, limit: number, nowMs: number): Standing {
    const marks = this.#marksAt(nowMs)
    const ledgers = wallets.map((wallet) => this.#ledgers.get(wallet) ?? new WalletLedger(wallet))
    const pnl = ledgers
      .toSorted((a, b) => (b.lastEventAtMs ?? 0) - (a.lastEventAtMs ?? 0))
      .flatMap((ledger) =>
        Array.from(ledger.positions.values())
          .toReversed()
          .map(({ position }) => ({ ledger, position }))
      )
      .slice(0, limit)
      .map((held) => pnlBody({ ...held, mark: marks(held.position.mint), trigger: "resync", nowMs }))
    return { pnl, summaries: ledgers.map((ledger) => pnlSummaryBody(ledger, marks, nowMs)) }
  }

  #trade(trade: TapeTrade, { events, wants }: Step): HeldPosition | null {
    const held = this.#ledgers.add(this.#ledgers.of(trade.wallet), trade)
    if (held !== null) {
      held.due = "trade"
    }
    if (wants(trade.wallet)) {
      events.push({ type: "trade", wallet: trade.wallet, body: this.#tradeOf(trade) })
    }
    return held
  }

  #tellBalances(
    { changes, signature }: BlockTransaction,
    { slot, timeMs }: PricedBatch,
    indexOf: (owner: Address) => number,
    { events, marks, wants }: Step
  ): void {
    for (const change of changes) {
      if (this.#sources.isTracked(change.owner) && wants(change.owner)) {
        const place = { signature, slot, index: indexOf(change.owner), timeMs }
        events.push(balanceUpdate(change, place, marks(change.mint)))
      }
    }
  }

  #tradeOf(trade: TapeTrade): TrackerTrade {
    return trackerTrade(trade, this.#sources.tokenOf(trade.mint), this.#sources.commitment)
  }

  /** What mints are worth in this moment. */
  #marksAt(nowMs: number): (mint: Mint) => Mark {
    const prices = this.#sources.pricesAt(nowMs)
    const atMs = prices.lifetime?.observedAtMs ?? null
    const known = new Map<Mint, Mark>()
    return (mint) => {
      const mark = known.get(mint) ?? { price: prices.isStale ? null : (prices.of(mint)?.usd ?? null), atMs }
      known.set(mint, mark)
      return mark
    }
  }

  /** What each transaction did to tracked wallets, by its place in the block. */
  #momentsOf({ trades, transactions }: PricedBatch): ReadonlyMap<number, Moment> {
    const moments = new Map<number, Moment>()
    const momentAt = (at: number): Moment => {
      const moment = moments.get(at) ?? { trades: [], transaction: null }
      moments.set(at, moment)
      return moment
    }
    for (const trade of trades) {
      if (trade.role !== "pool" && this.#sources.isTracked(trade.wallet)) {
        momentAt(Math.floor(trade.index / PLACES)).trades.push(trade)
      }
    }
    for (const transaction of transactions) {
      if (transaction.changes.some(({ owner }) => this.#sources.isTracked(owner))) {
        momentAt(transaction.index).transaction = transaction
      }
    }
    return moments
  }
}
