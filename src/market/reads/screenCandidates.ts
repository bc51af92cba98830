/** The tokens that a screen examines: those that plain numbers in memory do not rule out. Exact values decide later. */
import type { Mint } from "../../domain/Address.ts"
import type { ScreenStatistic, windowStatistics } from "../../api/schemas/TokenScreen.ts"
import { Ranking } from "../columnar/Ranking.ts"
import type { TokenGlance } from "../memory/TokenWindows.ts"
import type { LaunchRecord } from "../model/Launches.ts"
import { eachWindow, secondsOf, type WindowName } from "../model/windows.ts"
import type { Market } from "../tape/Market.ts"
import { isShown } from "./coverageRule.ts"
import { partsOf } from "./screenStatistics.ts"
import { isYoungIn, windowStart } from "./tokenMeasures.ts"

/** A range in plain numbers. */
export interface PlainRange {
  readonly statistic: ScreenStatistic
  readonly min: number
  readonly max: number
  readonly takesUnknown: boolean
}

/** What rules a token out, or decides its place, without measuring it. */
export interface PlainSelection {
  readonly ranges: ReadonlyArray<PlainRange>
  readonly sort: { readonly statistic: ScreenStatistic; readonly direction: "asc" | "desc" }
  /** True, false, or null where it is unknown whether a token is wanted. */
  readonly isWanted: (mint: Mint, launch: LaunchRecord | null) => boolean | null
}

/** The tokens to examine. */
export interface Candidates {
  /** Tokens that traded or were launched within the day. */
  readonly tokens: number
  /** Candidates, the first by the order of the screen first. */
  readonly mints: ReadonlyArray<Mint>
  /** True when there are more candidates than listed. */
  readonly isCut: boolean
  /** Tokens that are left out because a filtered value is unknown. */
  readonly unknown: number
  /** True when the order of the candidates is the order of the screen. */
  readonly isInOrder: boolean
}

type Column = (typeof plain)[number]

/** Statistics of a window that a glance shows. */
const plain = [
  "changePct",
  "volumeUsd",
  "trades",
  "buys",
  "sells",
  "buySharePct",
  "traders"
] as const satisfies ReadonlyArray<(typeof windowStatistics)[number]>

const isPlain = (name: string): name is Column => plain.some((each) => each === name)

/** Dollars are kept in nano-dollars. */
const NANO = 1e9

const valueOf = (name: Column, glance: TokenGlance, isYoung: () => boolean): number => {
  const { buys, firstPrice, lastPrice, startPrice, traders, trades, unpriced, volume } = glance
  switch (name) {
    case "changePct": {
      const start = Number.isNaN(startPrice) && isYoung() ? firstPrice : startPrice
      return (lastPrice / start - 1) * 100
    }
    case "volumeUsd":
      return unpriced > 0 && unpriced === trades ? Number.NaN : volume / NANO
    case "trades":
      return trades
    case "buys":
      return buys
    case "sells":
      return trades - buys
    case "buySharePct":
      return (100 * buys) / trades
    case "traders":
      return traders
  }
}

/** The values of a token without trades in a window: zero, and no price. */
const ofNothing = (name: Column): number => (name === "changePct" || name === "buySharePct" ? Number.NaN : 0)

/** Statistics that are the time since a moment. */
const TIMES: ReadonlySet<ScreenStatistic> = new Set(["ageMs", "sinceGraduationMs", "idleMs"])

/** Values of every token in plain numbers. NaN: unknown, or only known once the token is measured. */
class PlainTable {
  readonly mints: Array<Mint> = []
  readonly #columns = new Map<ScreenStatistic, Float64Array>()
  readonly #places = new Map<number, number>()
  readonly #tape: Market["Service"]
  readonly #nowMs: number
  readonly #shown: Readonly<Record<WindowName, boolean>>

  constructor(tape: Market["Service"], nowMs: number) {
    this.#tape = tape
    this.#nowMs = nowMs
    this.#shown = eachWindow((window) => isShown(tape.coverageFrom(windowStart(tape, window), nowMs)))
    tape.state.scan("24h", (token) => {
      this.#places.set(token, this.mints.length)
      this.mints.push(tape.state.mintOfToken(token))
    })
    const from = nowMs - 1000 * secondsOf("24h")
    for (const { createdAtMs, graduatedAtMs, mint } of tape.launches.all()) {
      const isRecent = Math.max(createdAtMs ?? 0, graduatedAtMs ?? 0) >= from
      if (isRecent && (tape.state.window(mint, "24h")?.trades ?? 0) === 0) {
        this.mints.push(mint)
      }
    }
  }

  /**
   * False when too little of a statistic's window was seen to state it. A token that was launched within the window may
   * have it all the same.
   */
  states(statistic: ScreenStatistic): boolean {
    const { window } = partsOf(statistic)
    return window === null || this.#shown[window]
  }

  /** True when the statistic of a token may be stated: its window was seen, or the token was launched in the window. */
  mayState(statistic: ScreenStatistic, mint: Mint): boolean {
    const { window } = partsOf(statistic)
    return window === null || this.#shown[window] || isYoungIn(this.#tape, mint, window)
  }

  /** Fills the columns of the statistics that a scan shows. */
  add(statistics: ReadonlyArray<ScreenStatistic>): void {
    for (const window of ["5m", "1h", "6h", "24h"] as const) {
      const own = statistics.flatMap((statistic) => {
        const parts = partsOf(statistic)
        return parts.window === window && isPlain(parts.name) ? [{ statistic, name: parts.name }] : []
      })
      if (own.length > 0) {
        this.#fillWindow(window, own)
      }
    }
  }

  /** True when the table has the statistic in plain numbers. */
  has(statistic: ScreenStatistic): boolean {
    return this.#columns.has(statistic) || TIMES.has(statistic)
  }

  at(statistic: ScreenStatistic, place: number): number {
    const column = this.#columns.get(statistic)
    if (column !== undefined) {
      return column[place] ?? Number.NaN
    }
    return Math.max(0, this.#nowMs - (this.#timeOf(statistic, this.mints[place]) ?? Number.NaN))
  }

  #timeOf(statistic: ScreenStatistic, mint: Mint | undefined): number | null {
    if (mint === undefined || statistic === "idleMs") {
      const seen = mint === undefined ? null : this.#tape.state.seen(mint)
      return seen === null ? null : seen.last * 1000
    }
    const launch = this.#tape.launches.of(mint)
    return (statistic === "ageMs" ? launch?.createdAtMs : launch?.graduatedAtMs) ?? null
  }

  #fillWindow(window: WindowName, own: ReadonlyArray<{ readonly statistic: ScreenStatistic; readonly name: Column }>) {
    const columns = own.map(({ name, statistic }) => {
      const cells = new Float64Array(this.mints.length).fill(ofNothing(name))
      this.#columns.set(statistic, cells)
      return { name, cells }
    })
    this.#tape.state.scan(window, (token, glance) => {
      const place = this.#places.get(token)
      if (place !== undefined) {
        const isYoung = () => isYoungIn(this.#tape, this.#tape.state.mintOfToken(token), window)
        columns.forEach(({ cells, name }) => void (cells[place] = valueOf(name, glance, isYoung)))
      }
    })
  }
}

/** Plain numbers are the nearest to the exact values; a value this close to a bound is measured. */
const SLACK = 1e-9

const isOutside = (value: number, { max, min }: PlainRange): boolean =>
  value < min - SLACK * (1 + Math.abs(min)) || value > max + SLACK * (1 + Math.abs(max))

/** False when the token is certainly out; null when a value that is not known keeps it out; true otherwise. */
const judge = (table: PlainTable, place: number, { isWanted, ranges }: PlainSelection, launch: LaunchRecord | null) => {
  const mint = table.mints[place]
  const wanted = mint === undefined ? false : isWanted(mint, launch)
  if (wanted === false) {
    return false
  }
  let isKnown = wanted === true
  for (const range of ranges) {
    if (!table.states(range.statistic)) {
      isKnown &&= range.takesUnknown || (launch?.createdAtMs ?? null) !== null
    } else if (table.has(range.statistic)) {
      const value = table.at(range.statistic, place)
      if (isOutside(value, range)) {
        return false
      }
      isKnown &&= !Number.isNaN(value) || range.takesUnknown
    }
  }
  return isKnown ? true : null
}

/**
 * The first `most` candidates of a screen. Tokens whose sort value cannot be stated come after all others, so that they take
 * no place of a token whose value is known.
 */
export const candidatesOf = (
  tape: Market["Service"],
  selection: PlainSelection,
  nowMs: number,
  most: number
): Candidates => {
  const { ranges, sort } = selection
  const table = new PlainTable(tape, nowMs)
  table.add([sort.statistic, ...ranges.map(({ statistic }) => statistic)])
  const isInOrder = table.has(sort.statistic)
  const by: ScreenStatistic = isInOrder ? sort.statistic : "volumeUsd.24h"
  table.add(table.has(by) ? [] : [by])
  const sign = isInOrder && sort.direction === "asc" ? -1 : 1
  const count = table.mints.length
  const [ids, high, low] = [new Uint32Array(count), new Float64Array(count), new Float64Array(count)]
  let [size, unknown] = [0, 0]
  for (let place = 0; place < count; place++) {
    const mint = table.mints[place]
    const verdict = mint !== undefined && judge(table, place, selection, tape.launches.of(mint))
    if (verdict === null) {
      unknown++
    } else if (verdict) {
      const value = table.at(by, place)
      ids[size] = place
      high[size] = table.mayState(by, mint) && !Number.isNaN(value) ? 1 : 0
      low[size] = Number.isNaN(value) ? Number.NEGATIVE_INFINITY : sign * value
      size++
    }
  }
  const precedes = (a: number, b: number) => ((table.mints[a] ?? "") < (table.mints[b] ?? "") ? -1 : 1)
  const ranking = new Ranking({ ids: ids.subarray(0, size), high, low }, precedes)
  const mints = Array.from({ length: Math.min(size, most) }, (_, place) => table.mints[ranking.at(place) ?? 0]).filter(
    (mint) => mint !== undefined
  )
  return { tokens: count, mints, isCut: size > most, unknown, isInOrder }
}
