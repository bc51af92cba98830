import type { Address, Mint } from "../../domain/Address.ts"
import type { LiveEvent } from "../../api/schemas/LiveFrame.ts"
import type { TrackerTrade } from "../../api/schemas/Tracker.ts"
import { PLACES } from "../../market/model/tapeTrades.ts"
import type { TapeTrade } from "../../market/model/TapeTrade.ts"
import type { PricedBatch } from "../../market/model/TradeBatch.ts"
import type { BlockTransaction } from "../../chain/decoding/TradeBlock.ts"
import type { TokenState } from "../../tokens/TokenCache.ts"
import { byChainOrder, positionsOf } from "../ledger.ts"
import { LiveFigures, type FigurePass } from "./LiveFigures.ts"
import type { PnlSnapshot, RecentTrades, WalletSince } from "./WalletSince.ts"
import {
  balanceUpdate,
  filledBalance,
  pnlBody,
  pnlSummaryBody,
  trackerTrade,
  unrestoredSummaryBody,
  type TradeCommitment
} from "./trackerTrades.ts"
import type { Mark } from "../marks.ts"
import { positionEventsOf, type TransactionUpdate } from "./positionEvents.ts"
import { OwnerGroups, type OtherStored, type RestoredAccounts, restoredOwner } from "./OwnerGroups.ts"
import type { StoredTrades } from "./restoredTrades.ts"
import { type HeldPosition, PnlBook, type UnreadReason, type WalletLedger } from "./WalletLedger.ts"
import { WalletLedgers } from "./WalletLedgers.ts"

/** Inputs of the tracker state, read synchronously. */
export interface TrackerSources {
  /** Seconds from which accounts track the wallet, in milliseconds; empty for an untracked wallet. */
  readonly sincesOf: (wallet: Address) => ReadonlySet<number>
  /** False while the stored trades of the wallet are not restored. Left out when nothing is restored. */
  readonly isRestored?: (wallet: Address) => boolean
  readonly tokenOf: (mint: Mint) => TokenState | null
  /** Marks at `nowMs`. */
  readonly marksAt: (nowMs: number) => (mint: Mint) => Mark | null
  readonly commitment: TradeCommitment
}

/** The effect of a block on tracked wallets: events to send, wallets and mints involved. */
export interface BlockUpdate {
  readonly events: ReadonlyArray<LiveEvent>
  readonly wallets: ReadonlySet<Address>
  readonly mints: ReadonlySet<Mint>
}

/** Trades, positions and profits of tracked wallets. One writer; a block is applied and its events built in one pass. */
export class TrackerState {
  readonly #sources: TrackerSources
  readonly #mostTrades: number | undefined
  #ledgers: WalletLedgers
  #figures: LiveFigures
  readonly #owners = new OwnerGroups()
  /** Fills of a replay by wallet, tracked or not, oldest first. */
  readonly #fills = new Map<Address, ReadonlyArray<TapeTrade>>()
  readonly #broken = new Set<Address>()
  /** Time of the newest block after a gap: history before it may be incomplete. */
  #gapMs = 0

  constructor(sources: TrackerSources, mostTrades?: number) {
    this.#sources = sources
    this.#mostTrades = mostTrades
    this.#ledgers = new WalletLedgers(mostTrades)
    this.#figures = new LiveFigures(this.#ledgers)
  }

  /** Drops what belongs to the previous chain: the slots of another chain follow. */
  startAnew(): void {
    this.#owners.startAnew()
    this.#ledgers = new WalletLedgers(this.#mostTrades)
    this.#figures = new LiveFigures(this.#ledgers)
  }

  /**
   * Builds the ledger of a wallet from stored trades and transfers, oldest first, all before the next block, and from
   * the read of its token accounts. No read is needed when transactions name all accounts. `others` are further wallets
   * of its owner. False when a read does not fit the trades.
   */
  restore(
    wallet: Address,
    stored: StoredTrades,
    accounts: RestoredAccounts | null = null,
    others: ReadonlyArray<OtherStored> = []
  ): boolean {
    const owner = restoredOwner([{ wallet, stored, accounts }, ...others])
    if (owner === null) {
      return false
    }
    const ledger = this.#ledgers.renew(wallet)
    ledger.fills = this.#fills.get(wallet) ?? null
    for (const trade of stored.trades) {
      if (trade.role !== "transfer") {
        this.#ledgers.add(ledger, trade)
      }
    }
    const isClipped = [stored, ...others.map((other) => other.stored)].some((each) => each.isClipped)
    ledger.restore(owner.transactions, this.#sources.sincesOf(wallet), isClipped)
    const running = owner.running.get(wallet)
    if (running !== undefined) {
      ledger.settle(running.units())
    }
    this.#owners.run(wallet, owner.running)
    this.link(
      wallet,
      others.map((other) => other.wallet)
    )
    this.#figures.enqueueBooks(ledger.books.values())
    return true
  }

  /** Sets the other wallets of the owner. None of them has changed since the wallet is tracked. */
  link(wallet: Address, others: ReadonlyArray<Address>): void {
    this.#owners.link(wallet, others)
  }

  /** Records that restored trades may lack blocks before this time, in milliseconds. */
  noteGap(beforeMs: number): void {
    this.#gapMs = Math.max(this.#gapMs, beforeMs)
  }

  /** Replaces the time of `noteGap`: ledgers are restored from trades that lack no later block. */
  gapIs(beforeMs: number): void {
    this.#gapMs = beforeMs
  }

  /**
   * Applies a block. Events are in chain order per wallet, a trade before its balance changes. Figures are queued for
   * `due`.
   */
  apply(batch: PricedBatch, nowMs: number, wants: FigurePass["wants"]): BlockUpdate {
    if (batch.afterGap) {
      this.#gapMs = batch.timeMs
    }
    const pass = this.#passAt(nowMs, wants)
    const touched: Array<HeldPosition> = []
    const wallets = new Set<Address>()
    const mints = new Set<Mint>()
    const updates = this.#transactionsOf(batch)
    for (const [at, update] of Array.from(updates).toSorted(([a], [b]) => a - b)) {
      const { trades, transaction } = update
      const indexes = new Map<Address, number>()
      for (const trade of trades) {
        if (this.#isTracked(trade.wallet)) {
          wallets.add(trade.wallet)
          mints.add(trade.mint)
          indexes.set(trade.wallet, trade.index)
          this.#trade(trade, pass)
        }
      }
      touched.push(...this.#applyEvents(update, batch.timeMs))
      for (const { owner } of transaction?.changes ?? []) {
        if (this.#isTracked(owner)) {
          wallets.add(owner)
        }
      }
      if (transaction !== null) {
        this.#emitBalances(transaction, batch, (owner) => indexes.get(owner) ?? at * PLACES, pass)
      }
    }
    for (const wallet of wallets) {
      this.#ledgerOf(wallet).lastEventAtMs = batch.timeMs
    }
    this.#figures.enqueue(touched)
    return { events: pass.events, wallets, mints }
  }

  /**
   * Applies a fill of a replay: the trades of one swap that was never sent. A ledger with fills has all of them, also
   * from before the wallet was tracked, and no fill leaves it.
   */
  takeFill(
    trades: readonly [TapeTrade, ...ReadonlyArray<TapeTrade>],
    nowMs: number,
    wants: FigurePass["wants"]
  ): BlockUpdate {
    const [{ timeMs, wallet }] = trades
    const earlier = this.#fills.get(wallet) ?? []
    const isTracked = this.#isTracked(wallet)
    if (earlier.length > 0 && isTracked) {
      this.#ledgerOf(wallet)
    } else if (isTracked) {
      // Begins anew: token accounts are no longer waited for.
      this.#owners.stop(wallet)
      this.#ledgers.renew(wallet)
    }
    const fills = [...earlier, ...trades].toSorted(byChainOrder)
    this.#fills.set(wallet, fills)
    const pass = this.#passAt(nowMs, wants)
    if (!isTracked) {
      return { events: [], wallets: new Set(), mints: new Set() }
    }
    const positions = positionsOf(fills)
    for (const trade of trades) {
      if (wants(wallet)) {
        pass.events.push({ type: "trade", wallet, body: this.#tradeOf(trade), isOfFill: true })
        const held = positions.get(trade.mint)?.held ?? null
        pass.events.push(...(held === null ? [] : [filledBalance(trade, held, pass.marks(trade.mint))]))
      }
    }
    if (fills.at(-1) === trades.at(-1)) {
      const ledger = this.#ledgers.of(wallet)
      ledger.fills = fills
      trades.forEach((trade) => this.#ledgers.add(ledger, trade))
      this.#figures.enqueue(this.#applyEvents({ trades: [...trades], transaction: null }, timeMs))
    }
    this.#ledgerOf(wallet).lastEventAtMs = fills.at(-1)?.timeMs ?? timeMs
    return { events: pass.events, wallets: new Set([wallet]), mints: new Set(trades.map(({ mint }) => mint)) }
  }

  /** Replaces fills of a wallet by the same fills with the prices that are known now. */
  revalue(wallet: Address, trades: ReadonlyArray<TapeTrade>): void {
    const known = new Map(trades.map((trade) => [`${trade.signature} ${trade.index}`, trade]))
    const fills = this.#fills.get(wallet) ?? []
    this.#fills.set(
      wallet,
      fills.map((trade) => known.get(`${trade.signature} ${trade.index}`) ?? trade)
    )
    if (this.#isTracked(wallet)) {
      this.#ledgerOf(wallet)
    }
  }

  /** True for a wallet with fills of a replay. */
  hasFills(wallet: Address): boolean {
    return this.#fills.has(wallet)
  }

  /** Marks the units of a wallet as unknown until a restore. */
  unread(wallet: Address, reason: UnreadReason): void {
    this.#owners.stop(wallet)
    const ledger = this.#ledgers.of(wallet)
    ledger.unread(reason)
    this.#figures.enqueueBooks(ledger.books.values())
  }

  /** Wallets with a change that was missed since the last call. Their accounts have to be read again. */
  takeBroken(): ReadonlyArray<Address> {
    const broken = Array.from(this.#broken)
    this.#broken.clear()
    return broken
  }

  /** Queued figures whose interval has passed. */
  due(nowMs: number, wants: FigurePass["wants"]): ReadonlyArray<LiveEvent> {
    const pass = this.#passAt(nowMs, wants)
    this.#figures.due(pass)
    return pass.events
  }

  /** Drops untracked wallets, and books of seconds from which no account tracks. */
  forget(): void {
    this.#ledgers.keep(this.#sources.sincesOf)
    this.#figures.reset()
    this.#owners.keep((wallet) => this.#isTracked(wallet))
  }

  tradesOf(wallets: ReadonlyArray<WalletSince>, limit: number): RecentTrades {
    const trades = this.newestOf(wallets, limit, limit)
    return {
      trades,
      oldestTs: trades.at(-1)?.ts ?? null,
      newestTs: trades[0]?.ts ?? null,
      // Dropped trades are older than the held ones.
      truncated: wallets.some(({ sinceMs, wallet }) => {
        const ledger = this.#ledgers.get(wallet)
        return ledger?.truncated === true && (ledger.trades.oldestMs ?? 0) >= sinceMs
      })
    }
  }

  newestOf(wallets: ReadonlyArray<WalletSince>, each: number, limit: number): ReadonlyArray<TrackerTrade> {
    const held = wallets
      .flatMap(({ sinceMs, wallet }) => {
        const ledger = this.#heldOf(wallet)
        return ledger === undefined
          ? []
          : Array.from(ledger.trades.newest(each)).filter(({ timeMs }) => ledger.counts(timeMs, sinceMs))
      })
      .toSorted((a, b) => b.timeMs - a.timeMs)
    // Reads only trades that can be among the newest. All trades of a block have the same time, so ties are read too.
    const oldestMs = held.slice(0, limit).at(-1)?.timeMs ?? Infinity
    return held
      .filter(({ timeMs }) => timeMs >= oldestMs)
      .map(({ read }) => read())
      .toSorted((a, b) => b.timeMs - a.timeMs || b.slot - a.slot || b.index - a.index)
      .slice(0, limit)
      .map((trade) => this.#tradeOf(trade))
  }

  lastEventAtMs(wallet: Address): number | null {
    return this.#heldOf(wallet)?.lastEventAtMs ?? null
  }

  pnlSnapshotOf(wallets: ReadonlyArray<WalletSince>, limit: number, nowMs: number): PnlSnapshot {
    const marks = this.#sources.marksAt(nowMs)
    const gapMs = this.#gapMs
    const books = wallets.map(
      ({ sinceMs, wallet }) => this.#heldOf(wallet)?.bookSince(sinceMs) ?? new PnlBook(wallet, sinceMs)
    )
    const summaryOf = (book: PnlBook) =>
      this.#isRestored(book.wallet)
        ? pnlSummaryBody({ book, marks, gapMs, nowMs })
        : unrestoredSummaryBody(book.wallet, nowMs)
    const pnl = books
      .flatMap(({ positions }) => Array.from(positions.values()))
      .toSorted((a, b) => (b.position.lastAtMs ?? 0) - (a.position.lastAtMs ?? 0))
      .slice(0, limit)
      .map(({ book, position }) =>
        pnlBody({ book, position, mark: marks(position.mint), gapMs, trigger: "resync", nowMs })
      )
    return { pnl, summaries: books.map(summaryOf) }
  }

  /** The ledger of a wallet; undefined without one. It has all fills of the wallet at their newest prices. */
  #heldOf(wallet: Address): WalletLedger | undefined {
    const fills = this.#fills.get(wallet)
    if (fills !== undefined && this.#ledgers.get(wallet)?.fills !== fills) {
      this.restore(wallet, { trades: fills, isClipped: false })
    }
    return this.#ledgers.get(wallet)
  }

  /** The ledger of a wallet, created if missing. */
  #ledgerOf(wallet: Address): WalletLedger {
    return this.#heldOf(wallet) ?? this.#ledgers.of(wallet)
  }

  #isRestored(wallet: Address): boolean {
    return this.#sources.isRestored?.(wallet) ?? true
  }

  #isTracked(wallet: Address): boolean {
    return this.#sources.sincesOf(wallet).size > 0
  }

  #isFollowed(wallet: Address): boolean {
    return this.#isTracked(wallet) || this.#owners.concerns(wallet)
  }

  #passAt(nowMs: number, wants: FigurePass["wants"]): FigurePass {
    return { nowMs, wants, marks: this.#sources.marksAt(nowMs), gapMs: this.#gapMs, events: [] }
  }

  #trade(trade: TapeTrade, { events, wants }: FigurePass): void {
    // A wallet that waits for a restore is skipped: the restore finds its trades in the store.
    if (this.#isRestored(trade.wallet)) {
      this.#ledgers.add(this.#ledgerOf(trade.wallet), trade)
    }
    if (wants(trade.wallet)) {
      events.push({ type: "trade", wallet: trade.wallet, body: this.#tradeOf(trade) })
    }
  }

  /** Applies a transaction to the positions of its wallets, and returns these positions. */
  #applyEvents(update: TransactionUpdate, timeMs: number): ReadonlyArray<HeldPosition> {
    const all = positionEventsOf(update, timeMs, (wallet) => this.#isFollowed(wallet))
    const traded = new Set(update.trades.map(({ mint, wallet }) => `${wallet} ${mint}`))
    const groups = this.#owners.byTracked(all, (wallet) => this.#isTracked(wallet))
    return Array.from(groups).flatMap(([wallet, together]) => {
      if (!this.#isRestored(wallet)) {
        return []
      }
      const { events, isBroken } = this.#owners.whole(wallet, together)
      if (isBroken) {
        this.#broken.add(wallet)
      }
      const touched = this.#ledgerOf(wallet).apply(events, this.#sources.sincesOf(wallet))
      for (const held of touched) {
        const isTrade = traded.has(`${wallet} ${held.position.mint}`) || held.due === "trade"
        held.due = isTrade ? "trade" : "transfer"
      }
      return touched
    })
  }

  #emitBalances(
    { changes, signature }: BlockTransaction,
    { slot, timeMs }: PricedBatch,
    indexOf: (owner: Address) => number,
    { events, marks, wants }: FigurePass
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

  /** Updates by index of the transaction in the block. */
  #transactionsOf({ trades, transactions }: PricedBatch): ReadonlyMap<number, TransactionUpdate> {
    const updates = new Map<number, TransactionUpdate>()
    const updateAt = (at: number): TransactionUpdate => {
      const update = updates.get(at) ?? { trades: [], transaction: null }
      updates.set(at, update)
      return update
    }
    for (const trade of trades) {
      if (trade.role !== "pool" && this.#isFollowed(trade.wallet)) {
        updateAt(Math.floor(trade.index / PLACES)).trades.push(trade)
      }
    }
    for (const transaction of transactions) {
      if (transaction.changes.some(({ owner }) => this.#isFollowed(owner))) {
        updateAt(transaction.index).transaction = transaction
      }
    }
    return updates
  }
}
