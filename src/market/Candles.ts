import { addToBar, BAR, beginBar, START } from "./bar.ts"
import { BarLog, type BarLimits } from "./BarLog.ts"
import { foldBars, type BarPage, type BarWindow } from "./foldBars.ts"
import type { Print } from "./Print.ts"
import { Records } from "./Records.ts"
import { levelOf, levels } from "./resolutions.ts"

/** Bars below a minute are kept this long, in seconds: seven days. */
const FINE_RETENTION = 7 * 86_400
const MINUTE = 60

/** Bars kept of one token: about an hour of seconds, three days of minutes, four years of days. */
const perSeries: ReadonlyArray<number> = [3600, 4096, 4320, 2880, 4320, 1500]

/** The candles of every token at every stored width. One writer adds trades; readers read synchronously. */
export class Candles {
  /** The newest bar of every width, side by side, because one trade touches them all. */
  private readonly open = new Records(levels.length * BAR)
  private readonly openOf: Uint32Array
  private readonly closed: ReadonlyArray<BarLog>

  /** Room for tokens numbered from 1 to `tokens`, and for `bars` closed bars of each stored width. */
  constructor(limits: { readonly tokens: number; readonly bars: number }) {
    this.openOf = new Uint32Array(limits.tokens + 1)
    this.closed = levels.map((_, level): BarLog => {
      const most: BarLimits = { perSeries: perSeries[level] ?? 0, total: limits.bars }
      return new BarLog(limits.tokens, most)
    })
  }

  /** Adds a trade to the bar of its bucket at every width. Late trades find their bucket, or make it where none was. */
  add(print: Print): void {
    const id = this.openOf[print.token] ?? 0
    if (id === 0) {
      this.begin(print)
      return
    }
    const cells = this.open.page(id)
    const base = this.open.at(id)
    for (let level = 0; level < levels.length; level++) {
      const at = base + level * BAR
      const width = levels[level] ?? 1
      const past = print.second - (cells[at + START] ?? 0)
      if (past < 0) {
        this.addLate(level, print)
        continue
      }
      if (past >= width) {
        this.close(level, print, cells, at)
      }
      addToBar(cells, at, print)
    }
  }

  /** Bars of one resolution, oldest first, and what the window left out. */
  read(token: number, window: BarWindow): BarPage {
    const level = levelOf(window.resolution)
    const log = this.closed[level]
    const id = this.openOf[token] ?? 0
    return foldBars(
      (visit) => {
        if (id !== 0 && visit(this.open.page(id), this.open.at(id) + level * BAR)) {
          log?.walkBack(token, visit)
        }
      },
      window,
      log?.isTrimmed(token) ?? false
    )
  }

  /** Forgets a token. */
  clear(token: number): void {
    const id = this.openOf[token] ?? 0
    if (id !== 0) {
      this.open.give(id)
      this.openOf[token] = 0
    }
    for (const log of this.closed) {
      log.clear(token)
    }
  }

  /** Bytes in use. */
  get usedBytes(): number {
    const open = this.open.used * this.open.stride * Float64Array.BYTES_PER_ELEMENT
    return this.closed.reduce((sum, log) => sum + log.usedBytes, open)
  }

  private begin(print: Print): void {
    const id = this.open.take()
    this.openOf[print.token] = id
    const cells = this.open.page(id)
    const base = this.open.at(id)
    for (let level = 0; level < levels.length; level++) {
      const at = base + level * BAR
      beginBar(cells, at, print.second - (print.second % (levels[level] ?? 1)))
      addToBar(cells, at, print)
    }
  }

  private close(level: number, print: Print, cells: Float64Array, at: number): void {
    const width = levels[level] ?? 1
    const log = this.closed[level]
    log?.append(print.token, cells, at)
    beginBar(cells, at, print.second - (print.second % width))
    if (width < MINUTE) {
      log?.dropBefore(print.token, print.second - FINE_RETENTION)
    }
  }

  private addLate(level: number, print: Print): void {
    const width = levels[level] ?? 1
    const start = print.second - (print.second % width)
    const state = { found: false }
    this.closed[level]?.walkBack(print.token, (cells, at) => {
      const bar = cells[at + START] ?? 0
      if (bar === start) {
        state.found = true
        addToBar(cells, at, print)
      }
      return bar > start
    })
    if (!state.found) {
      const bar = new Float64Array(BAR)
      beginBar(bar, 0, start)
      addToBar(bar, 0, print)
      this.closed[level]?.insert(print.token, bar, 0)
    }
  }
}
