import type { Address } from "../../domain/Address.ts"
import { Addresses } from "../columnar/Addresses.ts"
import { IdleList } from "../columnar/IdleList.ts"
import { PairTable } from "../columnar/PairTable.ts"
import { doubtPosition, movePosition, POSITION } from "./position.ts"
import type { TradeRecord } from "../tape/TradeRecord.ts"
import { Records } from "../columnar/Records.ts"
import { addToTrader, addVolume, readTrader, TRADER_SUMS, tradesIn, type TraderTotals } from "./traderSums.ts"
import { windowIndex, WINDOWS } from "./windows.ts"

const TOKEN = 0
const WALLET = 1
const LAST_SECOND = 2
const LAST_KEY = 3
const IDLE = 4
const HOLDING = 6
/** Trades in each rolling window. */
const COUNTS = HOLDING + POSITION
/** For the rolling windows that rank wallets: the sums that have left. */
const LEFT = COUNTS + WINDOWS
/** Place among the token's wallets. */
const PLACE = LEFT + 2
const SUMS = PLACE + 1
const CELLS = SUMS + TRADER_SUMS

/** The windows in which wallets are ranked. */
export type TraderWindow = "1h" | "24h" | "all"

/** Which of the two sums that have left belongs to a rolling window; -1 where wallets are not ranked. */
const leftCell: ReadonlyArray<number> = [-1, 0, -1, 1]

/** One wallet's trading of one token in one window. */
export interface TraderRow extends TraderTotals {
  readonly wallet: Address
  readonly lastTradeMs: number
}

/** Callbacks for changes of the wallets of a token. */
export interface TraderWatcher {
  /** A wallet is about to change: its row as it is can still be read. */
  readonly beforeChange: (token: number, trader: number) => void
  /** A wallet came into a rolling window, or left it. */
  readonly counted: (token: number, window: number, change: 1 | -1) => void
}

const NO_TRADERS: ReadonlyArray<number> = []

/** Every wallet of every token: sums of all time and of the rolling windows, and positions at average cost. */
export class Traders {
  private readonly rows = new Records(CELLS)
  /** Sums that have left a window, for those wallets that are partly out of it. */
  private readonly left = new Records(TRADER_SUMS)
  private readonly wallets: Addresses
  /** The number of rows of each wallet. */
  private readonly walletUses: Array<number> = []
  private readonly rowOf: PairTable
  private readonly idle: IdleList
  /** The rows of each token. */
  private readonly members: Array<Array<number> | undefined> = []
  private readonly watcher: TraderWatcher
  private readonly most: number

  /** Room for `most` wallets, each counted once for every token it trades. */
  constructor(most: number, watcher: TraderWatcher) {
    this.most = most
    this.watcher = watcher
    this.wallets = new Addresses(most)
    this.rowOf = new PairTable(most)
    this.idle = new IdleList(this.rows, IDLE)
  }

  /** The number of a wallet. Begin a row with it, or it is never forgotten. */
  wallet(address: Address): number {
    return this.wallets.hold(address)
  }

  /** The row of a wallet; 0 when it has none. */
  find(token: number, wallet: number): number {
    return this.rowOf.get(token, wallet)
  }

  /** Begins the row of a wallet that has none. Call `makeRoom` first. */
  begin(token: number, wallet: number): number {
    const trader = this.rows.take()
    const cells = this.rows.page(trader)
    const at = this.rows.at(trader)
    cells[at + TOKEN] = token
    cells[at + WALLET] = wallet
    cells[at + LAST_KEY] = -1
    this.walletUses[wallet] = (this.walletUses[wallet] ?? 0) + 1
    this.rowOf.set(token, wallet, trader)
    this.join(token, trader, cells, at)
    this.idle.add(trader)
    return trader
  }

  /** True when another wallet fits, after forgetting the one that has been out of every window for longest. */
  makeRoom(): boolean {
    if (this.rows.used < this.most) {
      return true
    }
    const longest = this.idle.longest
    if (longest === 0) {
      return false
    }
    this.forget(longest)
    return true
  }

  /** Adds a trade, and sets its cost and result from the position. */
  enter(record: TradeRecord): void {
    const { trader, token } = record
    this.watcher.beforeChange(token, trader)
    const cells = this.rows.page(trader)
    const at = this.rows.at(trader)
    if (record.key < (cells[at + LAST_KEY] ?? 0)) {
      doubtPosition(cells, at + HOLDING)
    } else {
      cells[at + LAST_KEY] = record.key
      cells[at + LAST_SECOND] = record.second
    }
    for (let window = 0; window < WINDOWS; window++) {
      const count = cells[at + COUNTS + window] ?? 0
      cells[at + COUNTS + window] = count + 1
      if (count === 0) {
        this.enterWindow(window, token, trader, cells, at)
      }
    }
    movePosition(cells, at + HOLDING, record)
    addToTrader(cells, at + SUMS, record)
  }

  /** Takes a trade out of one rolling window. */
  leave(window: number, record: TradeRecord): void {
    const { trader, token } = record
    const cells = this.rows.page(trader)
    const at = this.rows.at(trader)
    const count = (cells[at + COUNTS + window] ?? 0) - 1
    const left = leftCell[window] ?? -1
    if (left >= 0) {
      this.watcher.beforeChange(token, trader)
      this.leaveSums(at + LEFT + left, count, record, cells)
    }
    cells[at + COUNTS + window] = count
    if (count > 0) {
      return
    }
    this.watcher.counted(token, window, -1)
    if (window === WINDOWS - 1) {
      this.idle.add(trader)
    }
  }

  /** The rows of a token's wallets, in no order; some may not be in a window. Valid until the next trade. */
  of(token: number): ReadonlyArray<number> {
    return this.members[token] ?? NO_TRADERS
  }

  /** True when a wallet traded in a window. */
  isIn(trader: number, window: TraderWindow): boolean {
    return window === "all" || (this.rows.page(trader)[this.rows.at(trader) + COUNTS + windowIndex[window]] ?? 0) > 0
  }

  /** Writes a wallet's known USD volume in a window, bought and sold, into two cells. */
  volume(trader: number, window: TraderWindow, to: Float64Array): void {
    to.fill(0)
    addVolume(this.rows.page(trader), this.rows.at(trader) + SUMS, to, 0, 1)
    const left = this.leftOf(trader, window)
    if (left !== 0) {
      addVolume(this.left.page(left), this.left.at(left), to, 0, -1)
    }
  }

  /** The trading of a wallet in a window. */
  read(trader: number, window: TraderWindow): TraderRow {
    const cells = this.rows.page(trader)
    const at = this.rows.at(trader)
    const left = this.leftOf(trader, window)
    const minus = left === 0 ? null : { cells: this.left.page(left), at: this.left.at(left) }
    return {
      wallet: this.walletOf(trader),
      lastTradeMs: (cells[at + LAST_SECOND] ?? 0) * 1000,
      ...readTrader(cells, at + SUMS, minus)
    }
  }

  /** The address of a row's wallet. */
  walletOf(trader: number): Address {
    return this.wallets.text(this.rows.page(trader)[this.rows.at(trader) + WALLET] ?? 0)
  }

  /** Forgets every wallet of a token that is in no window. */
  clear(token: number): void {
    for (const trader of Array.from(this.of(token))) {
      this.forget(trader)
    }
    this.members[token] = undefined
  }

  /** Wallets kept, each counted once for every token it trades. */
  get size(): number {
    return this.rows.used
  }

  /** Bytes in use. */
  get usedBytes(): number {
    const cells = this.rows.used * CELLS + this.left.used * TRADER_SUMS
    return cells * Float64Array.BYTES_PER_ELEMENT + this.rowOf.bytes + this.wallets.usedBytes
  }

  private forget(trader: number): void {
    const cells = this.rows.page(trader)
    const at = this.rows.at(trader)
    const token = cells[at + TOKEN] ?? 0
    const wallet = cells[at + WALLET] ?? 0
    this.watcher.beforeChange(token, trader)
    this.idle.remove(trader)
    this.part(token, cells[at + PLACE] ?? 0)
    this.rowOf.delete(token, wallet)
    this.rows.give(trader)
    this.walletUses[wallet] = (this.walletUses[wallet] ?? 0) - 1
    if (this.walletUses[wallet] === 0) {
      this.wallets.drop(this.wallets.text(wallet))
    }
  }

  private enterWindow(window: number, token: number, trader: number, cells: Float64Array, at: number): void {
    this.watcher.counted(token, window, 1)
    const left = leftCell[window] ?? -1
    if (left >= 0) {
      cells[at + LEFT + left] = tradesIn(cells, at + SUMS) === 0 ? 0 : this.copySums(cells, at + SUMS)
    }
    if (window === WINDOWS - 1) {
      this.idle.remove(trader)
    }
  }

  /** Copies the sums so far: the part that is outside of a window that begins now. */
  private copySums(cells: Float64Array, at: number): number {
    const left = this.left.take()
    const to = this.left.page(left)
    const start = this.left.at(left)
    for (let cell = 0; cell < TRADER_SUMS; cell++) {
      to[start + cell] = cells[at + cell] ?? 0
    }
    return left
  }

  private leaveSums(cell: number, count: number, record: TradeRecord, cells: Float64Array): void {
    const known = cells[cell] ?? 0
    if (count === 0) {
      cells[cell] = 0
      if (known !== 0) {
        this.left.give(known)
      }
      return
    }
    const left = known === 0 ? this.left.take() : known
    cells[cell] = left
    addToTrader(this.left.page(left), this.left.at(left), record)
  }

  private join(token: number, trader: number, cells: Float64Array, at: number): void {
    const members = (this.members[token] ??= [])
    cells[at + PLACE] = members.length
    members.push(trader)
  }

  private part(token: number, place: number): void {
    const members = this.members[token] ?? []
    const last = members.pop()
    if (last !== undefined && place < members.length) {
      members[place] = last
      this.rows.page(last)[this.rows.at(last) + PLACE] = place
    }
  }

  private leftOf(trader: number, window: TraderWindow): number {
    const left = window === "all" ? -1 : (leftCell[windowIndex[window]] ?? -1)
    return left < 0 ? 0 : (this.rows.page(trader)[this.rows.at(trader) + LEFT + left] ?? 0)
  }
}
