import type { Address, Mint } from "../domain/Address.ts"
import type { LiveEvent } from "../domain/wallets/LiveFrame.ts"
import type { TrackerTrade } from "../domain/wallets/Tracker.ts"
import { PLACES } from "../market/tape/tapeTrades.ts"
import type { TapeTrade } from "../market/tape/TapeTrade.ts"
import type { PricedBatch } from "../market/tape/TradeTape.ts"
import type { BlockTransaction } from "../solana/blocks/BlockFeed.ts"
import type { Prices } from "../tokens/PriceBook.ts"
import type { TokenState } from "../tokens/TokenCache.ts"
import { LiveFigures, type FigureUpdate } from "./LiveFigures.ts"
import type { PnlSnapshot, RecentTrades, WalletSince } from "./WalletSince.ts"
import {
  balanceUpdate,
  type Mark,
  pnlBody,
  pnlSummaryBody,
  trackerTrade,
  type TradeCommitment
} from "./trackerTrades.ts"
import { type HeldPosition, PnlBook } from "./WalletLedger.ts"
import { WalletLedgers } from "./WalletLedgers.ts"

/** What the books of tracked wallets are kept from. Everything is read synchronously. */
export interface BookSources {
  /** From which seconds on accounts track the wallet, in milliseconds; empty when nobody does. */
  readonly sincesOf: (wallet: Address) => ReadonlySet<number>
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
export class TrackerState {
  readonly #sources: BookSources
  readonly #ledgers: WalletLedgers
  readonly #figures: LiveFigures
  /** When the newest block came of which none may be told what was before it. */
  #gapMs = 0

  constructor(sources: BookSources, mostTrades?: number) {
    this.#sources = sources
    this.#ledgers = new WalletLedgers(mostTrades)
    this.#figures = new LiveFigures(this.#ledgers)
  }

  /**
   * Writes a block down. Per wallet, what there is to tell is in the order of the chain, a trade before what it causes.
   * Figures are due from then on: nobody waits for those of others.
   */
  apply(batch: PricedBatch, nowMs: number, wants: FigureUpdate["wants"]): BlockStory {
    if (batch.afterGap) {
      this.#gapMs = batch.timeMs
    }
    const step = this.#stepAt(nowMs, wants)
    const touched: Array<HeldPosition> = []
    const wallets = new Set<Address>()
    const mints = new Set<Mint>()
    const moments = this.#momentsOf(batch)
    for (const [at, { trades, transaction }] of Array.from(moments).toSorted(([a], [b]) => a - b)) {
      const indexes = new Map<Address, number>()
      for (const trade of trades) {
        wallets.add(trade.wallet)
        mints.add(trade.mint)
        indexes.set(trade.wallet, trade.index)
        touched.push(...this.#trade(trade, step))
      }
      for (const { owner } of transaction?.changes ?? []) {
        if (this.#isTracked(owner)) {
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
  due(nowMs: number, wants: FigureUpdate["wants"]): ReadonlyArray<LiveEvent> {
    const step = this.#stepAt(nowMs, wants)
    this.#figures.due(step)
    return step.events
  }

  /** Forgets the wallets that nobody tracks any more, and what only those knew who have stopped. */
  forget(): void {
    this.#ledgers.keep(this.#sources.sincesOf)
    this.#figures.reset()
  }

  tradesOf(asked: ReadonlyArray<WalletSince>, limit: number): RecentTrades {
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

  newestOf(asked: ReadonlyArray<WalletSince>, each: number, limit: number): ReadonlyArray<TrackerTrade> {
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

  pnlSnapshotOf(asked: ReadonlyArray<WalletSince>, limit: number, nowMs: number): PnlSnapshot {
    const marks = this.#marksAt(nowMs)
    const gapMs = this.#gapMs
    const books = asked.map(
      ({ sinceMs, wallet }) => this.#ledgers.get(wallet)?.bookSince(sinceMs) ?? new PnlBook(wallet, sinceMs)
    )
    const pnl = books
      .flatMap(({ positions }) => Array.from(positions.values()))
      .toSorted((a, b) => (b.position.lastAtMs ?? 0) - (a.position.lastAtMs ?? 0))
      .slice(0, limit)
      .map(({ book, position }) =>
        pnlBody({ book, position, mark: marks(position.mint), gapMs, trigger: "resync", nowMs })
      )
    return { pnl, summaries: books.map((book) => pnlSummaryBody({ book, marks, gapMs, nowMs })) }
  }

  #isTracked(wallet: Address): boolean {
    return this.#sources.sincesOf(wallet).size > 0
  }

  #stepAt(nowMs: number, wants: FigureUpdate["wants"]): FigureUpdate {
    return { nowMs, wants, marks: this.#marksAt(nowMs), gapMs: this.#gapMs, events: [] }
  }

  #trade(trade: TapeTrade, { events, wants }: FigureUpdate): ReadonlyArray<HeldPosition> {
    const sinces = this.#sources.sincesOf(trade.wallet)
    const touched = this.#ledgers.add(this.#ledgers.of(trade.wallet), trade, sinces)
    touched.forEach((held) => (held.due = "trade"))
    if (wants(trade.wallet)) {
      events.push({ type: "trade", wallet: trade.wallet, body: this.#tradeOf(trade) })
    }
    return touched
  }

  #tellBalances(
    { changes, signature }: BlockTransaction,
    { slot, timeMs }: PricedBatch,
    indexOf: (owner: Address) => number,
    { events, marks, wants }: FigureUpdate
  ): void {
    for (const change of changes) {
      if (this.#isTracked(change.owner) && wants(change.owner)) {
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
      if (trade.role !== "pool" && this.#isTracked(trade.wallet)) {
        momentAt(Math.floor(trade.index / PLACES)).trades.push(trade)
      }
    }
    for (const transaction of transactions) {
      if (transaction.changes.some(({ owner }) => this.#isTracked(owner))) {
        momentAt(transaction.index).transaction = transaction
      }
    }
    return moments
  }
}
