import type { Address } from "../../domain/Address.ts"
import { Addresses, GROUP } from "../columnar/Addresses.ts"
import { IdleList } from "../columnar/IdleList.ts"
import { PairTable } from "../columnar/PairTable.ts"
import { Records } from "../columnar/Records.ts"
import { imageList, type ImageSteps, type StateImage } from "../columnar/StateImage.ts"
import { transactionOf, type TradeRecord } from "../model/TradeRecord.ts"
import { doubtPosition, movePosition, POSITION } from "./position.ts"
import { Presence, PRESENCE } from "./Presence.ts"
import { addToTrader, addVolume, readTrader, TRADER_SUMS, type TraderTotals } from "./traderSums.ts"
import { rankedFrom, TRADER_WINDOWS, TraderWindows } from "./TraderWindows.ts"
import { WINDOWS } from "../model/windows.ts"

/** Words of a row: its token, its wallet, and its place among the token's wallets. */
const TOKEN = 0
const WALLET = 1
const PLACE = 2
/**
 * Cells after the words: the newest trade and its order key, the idle list, the position, the windows, the sums of all
 * time.
 */
const LAST_SECOND = 2
const LAST_KEY = 3
const IDLE = 4
const HOLDING = 6
const PRESENT = HOLDING + POSITION
const RANKED = PRESENT + PRESENCE / 2
const SUMS = RANKED + TRADER_WINDOWS
const CELLS = SUMS + TRADER_SUMS

/** The windows in which wallets are ranked. */
export type TraderWindow = "1h" | "24h" | "all"

/** Index of a rolling window in `TraderWindows`. */
const rankedIndex = { "1h": 0, "24h": 1 } as const

/**
 * The first second of a ranking that ends with the second `now`; its sums are sums of whole buckets. Null for all time.
 */
export const rankingFrom = (window: TraderWindow, now: number): number | null =>
  window === "all" ? null : rankedFrom(rankedIndex[window], now)

const HOUR = 1
const DAY = WINDOWS - 1

/** One wallet's trading of one token in one window. */
export interface TraderRow extends TraderTotals {
  readonly wallet: Address
  readonly lastTradeMs: number
}

/** Callbacks for changes of the wallets of a token. */
export interface TraderWatcher {
  /** A wallet is about to change. Its unchanged row can still be read. */
  readonly beforeChange: (token: number, trader: number) => void
  /** A wallet entered a rolling window or left it. */
  readonly counted: (token: number, window: number, change: 1 | -1) => void
}

const NO_TRADERS: ReadonlyArray<number> = []
/** Wallets in one step of a visit, and in one step of an image. */
const AT_ONCE = 1024
const IMAGED_AT_ONCE = 256

/** Every wallet of every token: sums of all time and of the rolling windows, and positions at average cost. */
export class Traders {
  readonly #rows = new Records(CELLS)
  readonly #wallets = new Addresses()
  /** The number of rows of each wallet. */
  readonly #walletUses: Array<number> = []
  readonly #rowOf = new PairTable()
  /** Wallets that are in no window. */
  readonly #idle = new IdleList(this.#rows, IDLE)
  readonly #windows = new TraderWindows(this.#rows, RANKED, (trader) => this.#changes(trader))
  readonly #presence = new Presence(
    { records: this.#rows, words: 2 * PRESENT, lastSecond: LAST_SECOND },
    { entered: (window, trader) => this.#entered(window, trader), left: (window, trader) => this.#left(window, trader) }
  )
  /** The rows of each token. */
  readonly #members: Array<Array<number> | undefined> = []
  readonly #sums = new Float64Array(TRADER_SUMS)
  readonly #watcher: TraderWatcher
  readonly #most: number
  readonly #group = new Uint32Array(GROUP)
  #second = 0
  #forgets = 0

  /** Room for `most` wallets, each counted once for every token it trades. */
  constructor(most: number, watcher: TraderWatcher) {
    this.#most = most
    this.#watcher = watcher
  }

  /** The row of a wallet; 0 when it has none. */
  find(token: number, address: Address): number {
    const wallet = this.#wallets.find(address)
    return wallet === 0 ? 0 : this.#rowOf.get(token, wallet)
  }

  /** Puts the wallet of a trade into the group for `findGroup`. */
  note(place: number, address: Address): void {
    this.#wallets.note(place, address)
  }

  /** Fills in the rows of the group's wallets, 0 for none, and reads their memory. */
  findGroup(count: number, tokens: Uint32Array, traders: Uint32Array): number {
    this.#wallets.findGroup(count, this.#group)
    this.#rowOf.getGroup(count, tokens, this.#group, traders)
    let sum = 0
    for (let place = 0; place < count; place++) {
      const trader = traders[place] ?? 0
      sum += trader === 0 ? (this.#members[tokens[place] ?? 0]?.length ?? 0) : this.#rows.fetch(trader)
    }
    for (let place = 0; place < count; place++) {
      sum += this.#windows.fetch(traders[place] ?? 0)
    }
    return sum
  }

  /** The wallet at a place of the group, as `findGroup` found it; 0 for none. */
  walletAt(place: number): number {
    return this.#group[place] ?? 0
  }

  /** How many wallets of tokens were forgotten so far. */
  get forgotten(): number {
    return this.#forgets
  }

  /** The row of the wallet with a known number; 0 when it has none. */
  rowOfWallet(token: number, wallet: number): number {
    return this.#rowOf.get(token, wallet)
  }

  /**
   * Begins the row of a wallet that has none. Call `makeRoom` first. `known` is the number of the wallet, if it has
   * one.
   */
  begin(token: number, address: Address, known = 0): number {
    const wallet = known === 0 ? this.#wallets.hold(address) : known
    const trader = this.#rows.take()
    const words = this.#rows.words(trader)
    const at = this.#rows.wordsAt(trader)
    words[at + TOKEN] = token
    words[at + WALLET] = wallet
    this.#rows.page(trader)[this.#rows.at(trader) + LAST_KEY] = -1
    this.#windows.begin(trader)
    this.#walletUses[wallet] = (this.#walletUses[wallet] ?? 0) + 1
    this.#rowOf.set(token, wallet, trader)
    this.#join(token, trader)
    this.#idle.add(trader)
    return trader
  }

  /**
   * Makes room for another wallet. It forgets the wallet that has been out of every window longest, or else one that
   * has not traded for about the longest. Returns the second of the newest trade that a window loses; minus infinity
   * for none.
   */
  makeRoom(): number {
    if (this.#rows.used < this.#most) {
      return Number.NEGATIVE_INFINITY
    }
    const { longest } = this.#idle
    const trader = longest === 0 ? this.#presence.oldest() : longest
    const lost = this.#rows.page(trader)[this.#rows.at(trader) + LAST_SECOND] ?? 0
    if (trader !== 0) {
      this.#forget(trader)
    }
    return longest === 0 ? lost : Number.NEGATIVE_INFINITY
  }

  /** Moves every window to end with the second `now`. */
  advance(now: number): void {
    this.#second = now
    this.#windows.advance(now)
    this.#presence.advance(now)
  }

  /** Adds a trade of any age, and sets its cost and result from the position. */
  enter(record: TradeRecord): void {
    const { trader, token } = record
    this.#watcher.beforeChange(token, trader)
    const cells = this.#rows.page(trader)
    const at = this.#rows.at(trader)
    // Trades of one transaction come together, in the order of their wallet, which is not the order of their keys.
    if (transactionOf(record.key) < transactionOf(cells[at + LAST_KEY] ?? 0)) {
      doubtPosition(cells, at + HOLDING)
    } else {
      cells[at + LAST_KEY] = record.key
    }
    if (record.second > (cells[at + LAST_SECOND] ?? 0)) {
      cells[at + LAST_SECOND] = record.second
    }
    movePosition(cells, at + HOLDING, record)
    addToTrader(cells, at + SUMS, record)
    this.#windows.enter(record)
    this.#presence.see(trader)
  }

  /** The rows of a token's wallets in no order; some may be in no window. Valid until the next trade. */
  of(token: number): ReadonlyArray<number> {
    return this.#members[token] ?? NO_TRADERS
  }

  /** True when a wallet traded in a window. */
  isIn(trader: number, window: TraderWindow): boolean {
    return (this.#rows.page(trader)[this.#rows.at(trader) + LAST_SECOND] ?? 0) >= this.fromOf(window)
  }

  /** The first second of a window; minus infinity for all time. */
  fromOf(window: TraderWindow): number {
    return rankingFrom(window, this.#second) ?? Number.NEGATIVE_INFINITY
  }

  /** Writes a wallet's known USD volume in a window, bought and sold, into two cells. */
  volume(trader: number, window: TraderWindow, to: Float64Array): void {
    if (window === "all") {
      to.fill(0)
      addVolume(this.#rows.page(trader), this.#rows.at(trader) + SUMS, to, 0)
    } else {
      this.#windows.volume(trader, rankedIndex[window], to)
    }
  }

  /** The trading of a wallet in a window that began with the second `from`, if the wallet has not changed since. */
  read(trader: number, window: TraderWindow, from: number): TraderRow {
    const cells = this.#rows.page(trader)
    const at = this.#rows.at(trader)
    const row = { wallet: this.walletOf(trader), lastTradeMs: (cells[at + LAST_SECOND] ?? 0) * 1000 }
    if (window === "all") {
      return { ...row, ...readTrader(cells, at + SUMS) }
    }
    this.#sums.fill(0)
    this.#windows.addTo(this.#sums, trader, rankedIndex[window], from)
    return { ...row, ...readTrader(this.#sums, 0) }
  }

  walletOf(trader: number): Address {
    return this.#wallets.text(this.#word(trader, WALLET))
  }

  /** The number of a row's wallet. It stays the same while the wallet has a row. */
  walletNumber(trader: number): number {
    return this.#word(trader, WALLET)
  }

  /**
   * Visits the sums of each wallet in each token that traded in a window. Yields after a few rows: a row that was forgotten or
   * begun since may be left out.
   */
  *visit(
    window: TraderWindow,
    visit: (trader: number, sums: Float64Array, lastSecond: number) => void
  ): Generator<void, void> {
    const sums = new Float64Array(TRADER_SUMS)
    let count = 0
    for (let token = 0; token < this.#members.length; token++) {
      for (const trader of Uint32Array.from(this.of(token))) {
        count++
        if (count % AT_ONCE === 0) {
          yield
        }
        // The row may belong to another wallet by now.
        if (this.#rowOf.get(token, this.#word(trader, WALLET)) !== trader || !this.isIn(trader, window)) {
          continue
        }
        const cells = this.#rows.page(trader)
        const at = this.#rows.at(trader)
        if (window === "all") {
          sums.set(cells.subarray(at + SUMS, at + SUMS + TRADER_SUMS))
        } else {
          sums.fill(0)
          this.#windows.addTo(sums, trader, rankedIndex[window], this.fromOf(window))
        }
        visit(trader, sums, cells[at + LAST_SECOND] ?? 0)
      }
    }
  }

  /** Forgets every wallet of a token. */
  clear(token: number): void {
    for (const trader of Array.from(this.of(token))) {
      this.#forget(trader)
    }
    this.#members[token] = undefined
  }

  /** The number of wallets kept, counted once for every token they trade. */
  get size(): number {
    return this.#rows.used
  }

  /** Bytes in use by wallets, and by the buckets of their windows. */
  get usedBytes() {
    return {
      traders: this.#rows.usedBytes + this.#rowOf.bytes + this.#wallets.usedBytes,
      buckets: this.#windows.usedBytes
    }
  }

  /** Writes or reads every wallet. No trade may be added while they are written. */
  *image(image: StateImage): ImageSteps {
    if (!image.isRead) {
      yield* this.#settleAll()
    }
    this.#second = image.number(this.#second)
    this.#idle.image(image)
    yield* this.#wallets.image(image)
    yield* this.#rows.image(image)
    yield* this.#windows.image(image)
    yield* this.#presence.image(image)
    yield* this.#rowOf.image(image)
    yield* imageList(image, this.#walletUses)
    const tokens = image.number(this.#members.length)
    for (let token = 0; token < tokens; token++) {
      const members = this.#members[token] ?? []
      yield* imageList(image, members)
      if (image.isRead) {
        this.#members[token] = members
      }
      if (token % IMAGED_AT_ONCE === 0) {
        yield
      }
    }
  }

  /** Moves the buckets that are due, so that reads move none while the image is written. */
  *#settleAll(): ImageSteps {
    let count = 0
    for (const members of this.#members) {
      for (const trader of members ?? NO_TRADERS) {
        this.#windows.settle(trader)
        count++
        if (count % IMAGED_AT_ONCE === 0) {
          yield
        }
      }
    }
  }

  #forget(trader: number): void {
    const token = this.#word(trader, TOKEN)
    const wallet = this.#word(trader, WALLET)
    this.#forgets++
    this.#watcher.beforeChange(token, trader)
    this.#presence.remove(trader)
    this.#windows.end(trader)
    this.#idle.remove(trader)
    this.#part(token, this.#word(trader, PLACE))
    this.#rowOf.delete(token, wallet)
    this.#rows.give(trader)
    this.#walletUses[wallet] = (this.#walletUses[wallet] ?? 0) - 1
    if (this.#walletUses[wallet] === 0) {
      this.#wallets.drop(this.#wallets.text(wallet))
    }
  }

  #entered(window: number, trader: number): void {
    this.#watcher.counted(this.#word(trader, TOKEN), window, 1)
    if (window === DAY) {
      this.#idle.remove(trader)
    }
  }

  #left(window: number, trader: number): void {
    this.#watcher.counted(this.#word(trader, TOKEN), window, -1)
    if (window === HOUR || window === DAY) {
      this.#windows.settle(trader)
    }
    if (window === DAY) {
      this.#idle.add(trader)
    }
  }

  #changes(trader: number): void {
    this.#watcher.beforeChange(this.#word(trader, TOKEN), trader)
  }

  #join(token: number, trader: number): void {
    const members = (this.#members[token] ??= [])
    this.#setPlace(trader, members.length)
    members.push(trader)
  }

  #part(token: number, place: number): void {
    const members = this.#members[token] ?? []
    const last = members.pop()
    if (last !== undefined && place < members.length) {
      members[place] = last
      this.#setPlace(last, place)
    }
  }

  #setPlace(trader: number, place: number): void {
    this.#rows.words(trader)[this.#rows.wordsAt(trader) + PLACE] = place
  }

  #word(trader: number, word: number): number {
    return this.#rows.words(trader)[this.#rows.wordsAt(trader) + word] ?? 0
  }
}
