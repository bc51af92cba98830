import type { TradeRecord } from "../tape/TradeRecord.ts"
import { Records } from "../columnar/Records.ts"
import { floorTo } from "../candles/resolutions.ts"
import { LATE_SECONDS, windowSeconds, WINDOWS } from "./windows.ts"

const TOKEN = 0
const TRADER = 1
const KEY = 2
const PRICE = 3
const AMOUNT = 4
const USD = 6
const COST = 8
const GAIN = 10
const FLAGS = 12
const NEXT = 13
const CELLS = 14

const BUY = 1
const USD_KNOWN = 2
const COST_KNOWN = 4
const GAIN_KNOWN = 8
const FOR_POOL = 16
const FOR_WALLET = 32

/** Every second that can hold a trade of the longest window, and the late ones before it. */
const SPAN = Math.max(...windowSeconds) + LATE_SECONDS + 1

/** Called with each trade that leaves a window, given by its index in `windowNames`. */
export type Leave = (window: number, record: TradeRecord) => void

const slotOf = (second: number): number => second - floorTo(second, SPAN)

const flagsOf = (record: TradeRecord): number =>
  (record.buy ? BUY : 0) |
  (record.usdKnown ? USD_KNOWN : 0) |
  (record.costKnown ? COST_KNOWN : 0) |
  (record.gainKnown ? GAIN_KNOWN : 0) |
  (record.forPool ? FOR_POOL : 0) |
  (record.forWallet ? FOR_WALLET : 0)

/**
 * The trades of the longest window, second by second, so that each can be subtracted from every sum when it leaves a window.
 * Windows are therefore exact to the second. Trades may come late; within a second they have no order.
 */
export class ExpiryLog {
  private readonly entries = new Records(CELLS)
  private readonly headOf = new Uint32Array(SPAN)
  /** The first second that each window still holds. */
  private readonly edges = new Float64Array(WINDOWS)
  private started = false
  /** The second of the newest trade. Later seconds hold no trade that could expire. */
  private newest = 0
  private readonly leave: Leave
  /** The trade that is leaving; refilled for each one. */
  private readonly leaving: TradeRecord

  constructor(leaving: TradeRecord, leave: Leave) {
    this.leaving = leaving
    this.leave = leave
  }

  /** The first second whose trades are all held; earlier ones left by age or to make room. */
  get heldFrom(): number {
    return this.edges[WINDOWS - 1] ?? 0
  }

  /** Trades held. */
  get size(): number {
    return this.entries.used
  }

  /** Bytes in use. */
  get usedBytes(): number {
    return this.entries.used * CELLS * Float64Array.BYTES_PER_ELEMENT + this.headOf.byteLength
  }

  /** Moves every window to end with the second `now`; older trades leave. */
  advance(now: number): void {
    if (!this.started) {
      this.edges.fill(now - LATE_SECONDS)
      this.started = true
    }
    for (let window = 0; window < WINDOWS; window++) {
      const edge = now - (windowSeconds[window] ?? 0) + 1
      this.expire(window, edge)
    }
  }

  /** Adds a trade. It leaves at once the windows that have already passed it. */
  write(record: TradeRecord): void {
    if (record.second >= this.heldFrom) {
      this.store(record)
    }
    for (let window = 0; window < WINDOWS; window++) {
      if (record.second < (this.edges[window] ?? 0)) {
        this.leave(window, record)
      }
    }
  }

  /** Removes every trade of a token from every window. O(trades held). */
  removeToken(token: number): void {
    for (let second = this.heldFrom; second <= this.newest; second++) {
      const slot = slotOf(second)
      const kept: Array<number> = []
      for (let id = this.headOf[slot] ?? 0; id !== 0;) {
        const next = this.read(id, second)
        if (this.leaving.token === token) {
          this.leaveAll(second)
          this.entries.give(id)
        } else {
          kept.push(id)
        }
        id = next
      }
      this.relink(slot, kept)
    }
  }

  private leaveAll(second: number): void {
    for (let window = 0; window < WINDOWS; window++) {
      if (second >= (this.edges[window] ?? 0)) {
        this.leave(window, this.leaving)
      }
    }
  }

  private relink(slot: number, kept: ReadonlyArray<number>): void {
    this.headOf[slot] = kept[0] ?? 0
    for (const [at, id] of kept.entries()) {
      this.entries.page(id)[this.entries.at(id) + NEXT] = kept[at + 1] ?? 0
    }
  }

  private store(record: TradeRecord): void {
    const id = this.entries.take()
    const cells = this.entries.page(id)
    const at = this.entries.at(id)
    const second = slotOf(record.second)
    this.newest = Math.max(this.newest, record.second)
    cells[at + TOKEN] = record.token
    cells[at + TRADER] = record.trader
    cells[at + KEY] = record.key
    cells[at + PRICE] = record.price
    cells[at + AMOUNT] = record.amountHigh
    cells[at + AMOUNT + 1] = record.amountLow
    cells[at + USD] = record.usdHigh
    cells[at + USD + 1] = record.usdLow
    cells[at + COST] = record.costHigh
    cells[at + COST + 1] = record.costLow
    cells[at + GAIN] = record.gainHigh
    cells[at + GAIN + 1] = record.gainLow
    cells[at + FLAGS] = flagsOf(record)
    cells[at + NEXT] = this.headOf[second] ?? 0
    this.headOf[second] = id
  }

  /** Removes the oldest second that holds trades before its time. False when there is none. */
  dropOldest(): boolean {
    for (let second = this.heldFrom; second <= this.newest; second++) {
      if (this.headOf[slotOf(second)] !== 0) {
        this.dropUntil(second + 1)
        return true
      }
    }
    return false
  }

  private dropUntil(edge: number): void {
    for (let window = 0; window < WINDOWS; window++) {
      this.expire(window, edge)
    }
  }

  private expire(window: number, edge: number): void {
    const from = this.edges[window] ?? 0
    const until = Math.min(edge, this.newest + 1)
    for (let second = from; second < until; second++) {
      this.leaveSecond(window, second)
    }
    this.edges[window] = Math.max(from, edge)
  }

  private leaveSecond(window: number, second: number): void {
    const slot = slotOf(second)
    const last = window === WINDOWS - 1
    for (let id = this.headOf[slot] ?? 0; id !== 0;) {
      const next = this.read(id, second)
      this.leave(window, this.leaving)
      if (last) {
        this.entries.give(id)
      }
      id = next
    }
    if (last) {
      this.headOf[slot] = 0
    }
  }

  private read(id: number, second: number): number {
    const cells = this.entries.page(id)
    const at = this.entries.at(id)
    const record = this.leaving
    const flags = cells[at + FLAGS] ?? 0
    record.second = second
    record.token = cells[at + TOKEN] ?? 0
    record.trader = cells[at + TRADER] ?? 0
    record.key = cells[at + KEY] ?? 0
    record.price = cells[at + PRICE] ?? 0
    record.amountHigh = cells[at + AMOUNT] ?? 0
    record.amountLow = cells[at + AMOUNT + 1] ?? 0
    record.usdHigh = cells[at + USD] ?? 0
    record.usdLow = cells[at + USD + 1] ?? 0
    record.costHigh = cells[at + COST] ?? 0
    record.costLow = cells[at + COST + 1] ?? 0
    record.gainHigh = cells[at + GAIN] ?? 0
    record.gainLow = cells[at + GAIN + 1] ?? 0
    record.buy = (flags & BUY) !== 0
    record.usdKnown = (flags & USD_KNOWN) !== 0
    record.costKnown = (flags & COST_KNOWN) !== 0
    record.gainKnown = (flags & GAIN_KNOWN) !== 0
    record.forPool = (flags & FOR_POOL) !== 0
    record.forWallet = (flags & FOR_WALLET) !== 0
    return cells[at + NEXT] ?? 0
  }
}
