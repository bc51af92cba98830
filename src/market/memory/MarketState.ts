import type { Address, Mint } from "../../domain/Address.ts"
import { Addresses, GROUP } from "../columnar/Addresses.ts"
import type { ImageSteps, StateImage } from "../columnar/StateImage.ts"
import { Candles } from "./Candles.ts"
import type { BarPage, BarWindow } from "./foldBars.ts"
import { isAcceptable } from "../model/isAcceptable.ts"
import type { LaunchEvent } from "./MarketActivity.ts"
import { Markets } from "./Markets.ts"
import { TradeRecord } from "../model/TradeRecord.ts"
import type { Resolution } from "../model/resolutions.ts"
import type { TapeTrade } from "../model/TapeTrade.ts"
import { inWalletOrder } from "./walletOrder.ts"
import { type TokenGlance, TokenWindows, type TokenWindow } from "./TokenWindows.ts"
import type { RevisedBar, StoredBars } from "../model/StoredBars.ts"
import { type TraderPage, type TraderPageRequest, TraderViews } from "./TraderViews.ts"
import { PoolVolumes } from "./PoolVolumes.ts"
import { type TraderRow, Traders, type TraderWindow } from "./Traders.ts"
import { type WalletSums, walletSums } from "./WalletSums.ts"
import { windowFrom, type WindowName, windowIndex, WINDOWS } from "../model/windows.ts"

/**
 * The bounds of the state. When one is reached, the item that was idle longest is forgotten. Buckets of windows are
 * bounded by tokens and by wallets.
 */
export interface MarketLimits {
  readonly tokens: number
  /** Closed bars of each stored width. */
  readonly bars: number
  /** Stored trades that a start reads back. */
  readonly trades: number
  /** Wallets, counted once for every token they trade. */
  readonly traders: number
}

/** The number of pools, for each token, whose volume is kept. */
const POOLS_PER_TOKEN = 2

/** Trades in one step: somewhat less than a millisecond of processor time. */
const STEP_TRADES = 4 * GROUP

const NO_TRADE = { mint: "" as Mint, wallet: "" as Address }
/** Mints in one step of an image. */
const MINTS_AT_ONCE = 1024

/** The outcome of a batch. */
export interface Applied {
  readonly applied: number
  /** Trades older than every window. They are not applied. */
  readonly late: number
  /** Impossible values: amounts past u64, prices that are not positive numbers, times in the future. */
  readonly malformed: number
}

/** Takes all steps at once. Returns their result. */
export const wholeOf = <A>(steps: Iterator<void, A>): A => {
  for (;;) {
    const step = steps.next()
    if (step.done === true) {
      return step.value
    }
  }
}

/**
 * The whole market state in memory: candles, rolling windows, markets and the sums of wallets. One writer applies
 * trades; readers read when it has applied all of a block. Memory is bounded by the limits.
 */
export class MarketState {
  readonly markets = new Markets()
  readonly pools: PoolVolumes
  readonly traders: Traders
  readonly #views: TraderViews
  readonly #candles: Candles
  readonly #windows = new TokenWindows()
  /** Tokens are identified by the number of their mint. */
  readonly #mints = new Addresses()
  readonly #mintOf: Array<Mint | undefined> = []
  readonly #record = new TradeRecord()
  readonly #limits: MarketLimits
  /**
   * The group of trades that is being applied: the numbers of their tokens and of their wallets' rows, as `#locate`
   * found them.
   */
  readonly #located = { tokens: new Uint32Array(GROUP), rows: new Uint32Array(GROUP), forgotten: 0, sum: 0 }
  #forgets = 0
  #second = 0
  /** Windows may lack trades up to this second, because a token or a wallet was forgotten. */
  #lost = Number.NEGATIVE_INFINITY
  /** True once tokens were forgotten to make room for others. */
  #hasForgotten = false

  /** `origin` identifies the views of this process in the pins of their pages. */
  constructor(limits: MarketLimits, origin: string) {
    this.#limits = limits
    this.#candles = new Candles(limits)
    this.pools = new PoolVolumes(POOLS_PER_TOKEN * limits.tokens)
    this.traders = new Traders(limits.traders, {
      beforeChange: (token, trader) => this.#views.beforeChange(token, trader),
      counted: (token, window, change) => this.#windows.countTrader(token, window, change)
    })
    this.#views = new TraderViews(this.traders, origin)
  }

  /** Applies trades in the given order, which should be the order of the chain. `nowMs` is the local time. */
  apply(trades: ReadonlyArray<TapeTrade>, nowMs: number): Applied {
    return wholeOf(this.inSteps(trades, nowMs))
  }

  /** Applies trades in steps of `STEP_TRADES`. Between two steps the state has only part of them. */
  *inSteps(given: ReadonlyArray<TapeTrade>, nowMs: number): Generator<void, Applied> {
    const trades = inWalletOrder(given)
    const counts = { applied: 0, late: 0, malformed: 0 }
    for (let from = 0; from < trades.length; from += GROUP) {
      if (from > 0 && from % STEP_TRADES === 0) {
        yield
      }
      const group = trades.slice(from, from + GROUP)
      this.#locate(group)
      for (let place = 0; place < group.length; place++) {
        const trade = group[place]
        if (trade !== undefined) {
          counts[this.#applyOne(trade, nowMs, place)]++
        }
      }
    }
    return counts
  }

  /** Moves every window to end at a time. Windows never move back. */
  advance(nowMs: number): void {
    const second = Math.floor(nowMs / 1000)
    if (second > this.#second) {
      this.#second = second
      this.#windows.advance(second)
      this.traders.advance(second)
      this.markets.advance(second)
    }
  }

  /** Sets the revision of a bar that an earlier process changed after closing it. */
  revise(bar: RevisedBar): void {
    const token = this.#mints.find(bar.mint)
    if (token !== 0) {
      this.#candles.revise(token, bar)
    }
  }

  /** Counts a token that a launchpad created or that migrated. */
  addLaunch(event: LaunchEvent, launchpad: string | null, timeMs: number): void {
    this.advance(timeMs)
    this.markets.addLaunch(event, launchpad, Math.floor(timeMs / 1000))
  }

  /** Bars of a token, together with `older` ones when they are given; null when the token is unknown. */
  bars(mint: Mint, window: BarWindow, older?: StoredBars): BarPage | null {
    const token = this.#mints.find(mint)
    return token === 0 && older === undefined ? null : this.#candles.read(token, window, older)
  }

  /** From this second on the bars of a token are held for a resolution; minus infinity when none was dropped. */
  heldSince(mint: Mint, resolution: Resolution): number {
    const token = this.#mints.find(mint)
    if (token === 0) {
      return this.#hasForgotten ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY
    }
    const first = this.#hasForgotten ? (this.#windows.seen(token)?.first ?? 0) : Number.NEGATIVE_INFINITY
    return this.#candles.trimmedTo(token, resolution) ?? first
  }

  /** Nano-dollars bought of a token from a second on, by bars of a stored width; null when unknown. */
  boughtSince(mint: Mint, resolution: Resolution, second: number): bigint | null {
    const token = this.#mints.find(mint)
    return token === 0 ? null : this.#candles.boughtSince(token, resolution, second)
  }

  has(mint: Mint): boolean {
    return this.#mints.find(mint) !== 0
  }

  /** True when the wallet has traded the token, as far as memory knows. */
  isTrader({ mint, wallet }: Pick<TapeTrade, "mint" | "wallet">): boolean {
    const token = this.#mints.find(mint)
    return token !== 0 && this.traders.find(token, wallet) !== 0
  }

  /** The trading of a wallet in a token, as far as memory knows; null for none. */
  traderOf(mint: Mint, wallet: Address): TraderRow | null {
    const token = this.#mints.find(mint)
    const trader = token === 0 ? 0 : this.traders.find(token, wallet)
    return trader === 0 ? null : this.traders.read(trader, "all", Number.NEGATIVE_INFINITY)
  }

  /** Seconds of the first and the newest trade of a token; null when it is unknown. */
  seen(mint: Mint): { readonly first: number; readonly last: number } | null {
    const token = this.#mints.find(mint)
    return token === 0 ? null : this.#windows.seen(token)
  }

  /** Visits the numbers of all tokens that traded in a window. The numbers are valid until the next trade. */
  scan(name: WindowName, visit: (token: number, glance: TokenGlance) => void): void {
    wholeOf(this.scanInSteps(name, visit))
  }

  /** Visits them in steps. Between two steps trades may be applied, and a number may change its token. */
  scanInSteps(name: WindowName, visit: (token: number, glance: TokenGlance) => void): Generator<void, void> {
    return this.#windows.scan(windowIndex[name], visit)
  }

  /** The mint of a token that was visited. */
  mintOfToken(token: number): Mint {
    return this.#mintOf[token] ?? this.#mints.text(0)
  }

  /** One rolling window of a token; null when it is unknown. */
  window(mint: Mint, name: WindowName): TokenWindow | null {
    const token = this.#mints.find(mint)
    return token === 0 ? null : this.#windows.read(token, windowIndex[name])
  }

  /** The last known price of a token in USD and the order key of its trade; null when there was none. */
  lastPrice(mint: Mint): { readonly price: number; readonly key: number } | null {
    const token = this.#mints.find(mint)
    return token === 0 ? null : this.#windows.last(token)
  }

  /** A page of a token's wallets by observed volume. Empty when the token is unknown; null when its view has ended. */
  topTraders(request: Omit<TraderPageRequest, "token">): TraderPage | null {
    return this.#views.page({ ...request, token: this.#mints.find(request.mint) })
  }

  /** The sums of every wallet over the tokens that it traded in a window. Yields now and then; trades may be applied meanwhile. */
  walletSums(window: TraderWindow): Generator<void, WalletSums> {
    return walletSums(this.traders, window)
  }

  /** The first second whose trades are all still in the windows. Earlier trades left by age or to make room. */
  get heldFrom(): number {
    return Math.max(windowFrom(WINDOWS - 1, this.#second), this.#lost + 1)
  }

  /** The second that every window ends with; 0 before the first trade. */
  get now(): number {
    return this.#second
  }

  get tokens(): number {
    return this.#mints.size
  }

  /**
   * Bytes in use by candles, tokens and wallets, and by the buckets of their windows. Markets and pools are not
   * counted.
   */
  get usedBytes() {
    const [tokens, traders] = [this.#windows.usedBytes, this.traders.usedBytes]
    return {
      candles: this.#candles.usedBytes,
      traders: traders.traders,
      traderBuckets: traders.buckets,
      windows: tokens.tokens + this.#mints.usedBytes,
      windowBuckets: tokens.buckets
    }
  }

  /**
   * Writes everything except pinned views, or reads it into an empty state with the same limits. No trade may be
   * applied while it is written; reads are allowed.
   */
  *image(image: StateImage): ImageSteps {
    this.#second = image.number(this.#second)
    this.#lost = image.number(this.#lost)
    this.#hasForgotten = image.number(this.#hasForgotten ? 1 : 0) === 1
    yield* this.#mints.image(image)
    yield* this.markets.image(image)
    yield* this.pools.image(image)
    yield* this.traders.image(image)
    yield* this.#candles.image(image)
    yield* this.#windows.image(image)
    for (const token of image.isRead ? this.#mints.ids() : []) {
      this.#mintOf[token] = this.#mints.text(token)
      if (token % MINTS_AT_ONCE === 0) {
        yield
      }
    }
  }

  /**
   * Finds the tokens and wallets of a group of trades, and reads their memory together. The processor then waits once
   * for all of it; applied one trade after another, it would wait again and again.
   */
  #locate(group: ReadonlyArray<TapeTrade>): void {
    const { length } = group
    for (let place = 0; place < length; place++) {
      const { mint, wallet } = group[place] ?? NO_TRADE
      this.#mints.note(place, mint)
      this.traders.note(place, wallet)
    }
    const { rows, tokens } = this.#located
    this.#mints.findGroup(length, tokens)
    this.#located.sum =
      this.#candles.fetch(length, tokens) +
      this.#windows.fetch(length, tokens) +
      this.traders.findGroup(length, tokens, rows)
    this.#located.forgotten = this.#forgotten
  }

  /** True for a place of the group while the numbers found for it hold: nothing was forgotten since. */
  #isLocated(at: number | undefined): at is number {
    return at !== undefined && this.#located.forgotten === this.#forgotten
  }

  /** The number of tokens and wallets that were forgotten so far. */
  get #forgotten(): number {
    return this.#forgets + this.traders.forgotten
  }

  #applyOne(trade: TapeTrade, nowMs: number, at: number): keyof Applied {
    if (!isAcceptable(trade, nowMs)) {
      return "malformed"
    }
    const record = this.#record
    record.read(trade)
    if (record.second > this.#second) {
      this.advance(trade.timeMs)
    } else if (record.second < windowFrom(WINDOWS - 1, this.#second)) {
      return "late"
    }
    this.#place(trade, at)
    this.#enter()
    if (record.forPool) {
      this.markets.add(record, trade)
      if (trade.pool !== null) {
        this.pools.add(trade.pool, record, trade)
      }
    }
    return "applied"
  }

  /** Finds token and wallet, or makes room for them. `at` is the place of the trade in its group, if it has one. */
  #place(trade: TapeTrade, at?: number): void {
    const record = this.#record
    // A number that was found holds until something is forgotten. A number that was not found may exist by now.
    const known = this.#isLocated(at) ? (this.#located.tokens[at] ?? 0) : 0
    const token = known === 0 ? this.#mints.find(trade.mint) : known
    record.token = token === 0 ? this.#begin(trade.mint, record.second) : token
    if (!record.forWallet) {
      record.trader = 0
      return
    }
    const row = known === 0 ? 0 : (this.#located.rows[at ?? 0] ?? 0)
    // The new token may have displaced another one.
    const wallet = this.#isLocated(at) ? this.traders.walletAt(at) : 0
    record.trader = row === 0 ? this.#traderOf(record.token, trade.wallet, wallet) : row
  }

  #enter(): void {
    const record = this.#record
    if (record.forPool) {
      this.#candles.add(record, this.#second)
      this.#windows.enter(record)
    }
    this.#windows.see(record.token, record.second)
    if (record.forWallet) {
      this.traders.enter(record)
    }
  }

  #traderOf(token: number, address: Address, wallet: number): number {
    const { forgotten } = this.traders
    const known = wallet === 0 ? this.traders.find(token, address) : this.traders.rowOfWallet(token, wallet)
    if (known !== 0) {
      return known
    }
    this.#lost = Math.max(this.#lost, this.traders.makeRoom())
    // The wallet may have lost its number with its last row.
    return this.traders.begin(token, address, this.traders.forgotten === forgotten ? wallet : 0)
  }

  #begin(mint: Mint, second: number): number {
    while (this.#mints.size >= this.#limits.tokens) {
      const { longest } = this.#windows.idle
      const token = longest === 0 ? this.#windows.oldest() : longest
      if (token === 0) {
        break
      }
      this.#lost = longest === 0 ? Math.max(this.#lost, this.#windows.seen(token).last) : this.#lost
      this.#hasForgotten = true
      this.#forget(token)
    }
    const token = this.#mints.hold(mint)
    this.#windows.begin(token, second)
    this.#mintOf[token] = mint
    return token
  }

  #forget(token: number): void {
    this.#forgets++
    this.#views.drop(token)
    this.#candles.clear(token)
    this.traders.clear(token)
    this.#windows.end(token)
    const mint = this.#mintOf[token]
    if (mint !== undefined) {
      this.#mints.drop(mint)
      this.#mintOf[token] = undefined
    }
  }
}
