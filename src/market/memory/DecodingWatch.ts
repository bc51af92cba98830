/**
 * Watches how well the decoded swaps of each program agree with the chain, so that a program that changed its
 * instructions or events is noticed within minutes. All times are block times: the clock of the machine plays no part.
 */
import { minuteWords, percentWords } from "../model/shareWords.ts"
import { type Outcome, outcomes, type ProgramChecks } from "../../chain/decoding/swapChecks.ts"

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** Hours that are kept. Metrics have the long history. */
const HOURS = 6
/** Minutes whose confirmed share is compared with the time before. */
const SHARE_MINUTES = 10
/** Minutes in which contradictions are counted. They are rare, so they are counted for longer. */
const CONTRADICTED_MINUTES = 60
/** A block whose time is this much before the newest one was not late: the clock of the chain stepped back. */
const STEP_MS = HOUR_MS
/** What was learned loses half of its weight in a day. */
const HALF_LIFE_MINUTES = 24 * 60
/** Swaps that are needed before their share says anything. */
const LEAST_SWAPS = 50
/** Without an earlier share, a program that is quoted is expected to have at least this one. */
const LEAST_SHARE = 0.95
/** A smaller fall of the confirmed share is no drift. */
const LEAST_FALL = 0.005
/** Unknown instructions that are kept by name, for each program and hour. */
const MOST_TAGS = 8
/** Programs that are watched. There are fewer decoders; a message of the bus may name others. */
const MOST_PROGRAMS = 64

export type Counts = Record<Outcome, number>

const noCounts = (): Counts => ({
  confirmed: 0,
  contradicted: 0,
  no_evidence: 0,
  one_sided: 0,
  unmoved: 0,
  unknown: 0
})

/** How many swaps were seen. */
export const seenIn = (counts: Readonly<Counts>): number => outcomes.reduce((sum, outcome) => sum + counts[outcome], 0)

/** Swaps, and how many of them are of the kind that should be rare. */
interface Rare {
  seen: number
  rare: number
}

/** The fall of a share. */
export interface Drift {
  /** Begin of the first minute that it shows in, in milliseconds since the Unix epoch. */
  readonly sinceMs: number
  /** The share before, from 0 to 1; null when the process has not seen enough traffic before. */
  readonly before: number | null
}

/** More rare swaps than chance explains: four deviations above the usual number, and a few more. */
const isMany = (recent: Rare, usual: Rare, few: number): boolean => {
  const expected = (recent.seen * (usual.rare + 0.5)) / (usual.seen + 1)
  return recent.rare >= expected + 4 * Math.sqrt(expected * (1 + recent.seen / usual.seen)) + few
}

/** Compares the swaps of the last minutes with what was learned from the minutes before them. */
class RareWatch {
  readonly #minutes: number
  /** How far the part of rare swaps may be above the usual one in a minute that is as usual. */
  readonly #tolerance: number
  readonly #isDrift: (recent: Rare, usual: Rare | null) => boolean
  /** The last minutes by their number since the Unix epoch. */
  #recent = new Map<number, Rare>()
  #usual: Rare = { seen: 0, rare: 0 }
  #learnedTo: number | null = null
  #drift: Drift | null = null

  constructor(minutes: number, tolerance: number, isDrift: (recent: Rare, usual: Rare | null) => boolean) {
    this.#minutes = minutes
    this.#tolerance = tolerance
    this.#isDrift = isDrift
  }

  get drift(): Drift | null {
    return this.#drift
  }

  /** The swaps of the last minutes. */
  recent(): Rare {
    const sum = { seen: 0, rare: 0 }
    for (const { rare, seen } of this.#recent.values()) {
      sum.seen += seen
      sum.rare += rare
    }
    return sum
  }

  add(minute: number, seen: number, rare: number): void {
    const cell = this.#recent.get(minute) ?? { seen: 0, rare: 0 }
    cell.seen += seen
    cell.rare += rare
    this.#recent.set(minute, cell)
    this.#judge(minute)
  }

  /** Moves on to this minute. Minutes that are over are learned, unless they belong to a drift. */
  moveTo(minute: number): void {
    for (const [at, { rare, seen }] of this.#recent) {
      if (at <= minute - this.#minutes) {
        this.#recent.delete(at)
        if (this.#drift === null) {
          const fade = 0.5 ** (Math.max(0, at - (this.#learnedTo ?? at)) / HALF_LIFE_MINUTES)
          this.#usual = { seen: this.#usual.seen * fade + seen, rare: this.#usual.rare * fade + rare }
          this.#learnedTo = at
        }
      }
    }
  }

  /** Begins anew after the clock stepped back. What was learned stays. */
  restart(): void {
    this.#recent.clear()
    this.#learnedTo = null
  }

  #judge(minute: number): void {
    const recent = this.recent()
    const isLearned = this.#usual.seen >= Math.max(LEAST_SWAPS, recent.seen / 2)
    const usual = isLearned ? this.#usual : null
    if (!this.#isDrift(recent, usual)) {
      // Too little traffic says nothing, so a drift goes on.
      this.#drift = recent.seen < LEAST_SWAPS ? this.#drift : null
    } else if (this.#drift === null) {
      const before = usual === null ? null : 1 - usual.rare / usual.seen
      this.#drift = { sinceMs: this.#begin(minute, usual) * MINUTE_MS, before }
    }
  }

  /** The first of the last minutes with more than the usual part of rare swaps. */
  #begin(minute: number, usual: Rare | null): number {
    const most = usual === null ? this.#tolerance : usual.rare / usual.seen + this.#tolerance
    const begun = Array.from(this.#recent).flatMap(([at, { rare, seen }]) => (rare > seen * most ? [at] : []))
    return Math.min(minute, ...begun)
  }
}

/** True when the share of confirmed swaps fell. `isExpected` is true for a program whose swaps should be confirmed. */
const hasFallen =
  (isExpected: boolean) =>
  (recent: Rare, usual: Rare | null): boolean => {
    if (recent.seen < LEAST_SWAPS) {
      return false
    }
    const share = recent.rare / recent.seen
    return usual === null
      ? isExpected && share > 1 - LEAST_SHARE
      : share - usual.rare / usual.seen > LEAST_FALL && isMany(recent, usual, 5)
  }

/** Contradictions of a program whose swaps should be confirmed, until its own are learned. */
const NONE_USUALLY: Rare = { seen: 10_000, rare: 0 }

/** True when events contradict more swaps than usual, however few these are among all swaps. */
const isContradicted =
  (isExpected: boolean) =>
  (recent: Rare, usual: Rare | null): boolean => {
    const known = usual ?? (isExpected ? NONE_USUALLY : null)
    return known !== null && isMany(recent, known, 3)
  }

interface Hour {
  readonly counts: Counts
  readonly tags: Map<string, number>
}

const addTag = (tags: Map<string, number>, tag: string, swaps: number): void => {
  const name = tags.has(tag) || tags.size < MOST_TAGS - 1 ? tag : "others"
  tags.set(name, (tags.get(name) ?? 0) + swaps)
}

/** The checks of one program in one hour. */
export interface HourlyChecks {
  readonly startMs: number
  readonly counts: Readonly<Counts>
  readonly tags: ReadonlyMap<string, number>
}

/** What is known about the decoding of one program. */
export interface WatchedProgram {
  readonly dex: string
  /** Part of the swaps of the last ten minutes that is confirmed, from 0 to 1; null without traffic. */
  readonly share: number | null
  /** Swaps of the last ten minutes. */
  readonly swaps: number
  /** Null while all is as before, or as expected. */
  readonly drift: (Drift & { readonly detail: string }) | null
  /** The hours with traffic, newest first. */
  readonly hours: ReadonlyArray<HourlyChecks>
  /** All swaps since the process started. */
  readonly total: Readonly<Counts>
}

class ProgramWatch {
  readonly dex: string
  readonly total = noCounts()
  readonly #hours = new Map<number, Hour>()
  readonly #share: RareWatch
  readonly #contradicted: RareWatch

  constructor(dex: string, isExpected: boolean) {
    this.dex = dex
    this.#share = new RareWatch(SHARE_MINUTES, LEAST_FALL, hasFallen(isExpected))
    this.#contradicted = new RareWatch(CONTRADICTED_MINUTES, 0, isContradicted(isExpected))
  }

  add(minute: number, hour: number, { counts, tags = {} }: ProgramChecks): void {
    const own = this.#hours.get(hour) ?? { counts: noCounts(), tags: new Map<string, number>() }
    this.#hours.set(hour, own)
    let seen = 0
    for (const outcome of outcomes) {
      const count = counts[outcome] ?? 0
      seen += count
      own.counts[outcome] += count
      this.total[outcome] += count
    }
    Object.entries(tags).forEach(([tag, swaps]) => addTag(own.tags, tag, swaps))
    this.#share.add(minute, seen, seen - (counts.confirmed ?? 0))
    this.#contradicted.add(minute, seen, counts.contradicted ?? 0)
  }

  moveTo(minute: number, hour: number): void {
    this.#share.moveTo(minute)
    this.#contradicted.moveTo(minute)
    for (const at of this.#hours.keys()) {
      if (at <= hour - HOURS || at > hour) {
        this.#hours.delete(at)
      }
    }
  }

  restart(): void {
    this.#share.restart()
    this.#contradicted.restart()
  }

  read(): WatchedProgram {
    const { rare, seen } = this.#share.recent()
    const hours = Array.from(this.#hours, ([hour, { counts, tags }]) => ({ startMs: hour * HOUR_MS, counts, tags }))
    return {
      dex: this.dex,
      share: seen === 0 ? null : 1 - rare / seen,
      swaps: seen,
      drift: this.#drift(),
      hours: hours.toSorted((a, b) => b.startMs - a.startMs),
      total: this.total
    }
  }

  #drift(): WatchedProgram["drift"] {
    const { rare, seen } = this.#share.recent()
    const fallen = this.#share.drift
    if (fallen !== null) {
      const from = fallen.before === null ? "is" : `fell from ${percentWords(fallen.before)} to`
      const now = seen === 0 ? "unknown" : percentWords(1 - rare / seen)
      return {
        ...fallen,
        detail: `The confirmed share of ${this.dex} ${from} ${now} since ${minuteWords(fallen.sinceMs)}.`
      }
    }
    const contradicted = this.#contradicted.drift
    const { rare: count } = this.#contradicted.recent()
    return contradicted === null
      ? null
      : {
          ...contradicted,
          before: null,
          detail: `${count} swaps of ${this.dex} were contradicted by their events or balances since ${minuteWords(contradicted.sinceMs)}.`
        }
  }
}

/** The checks of all programs. Memory is bounded by the number of programs, hours and minutes. */
export class DecodingWatch {
  readonly #programs = new Map<string, ProgramWatch>()
  readonly #isExpected: (dex: string) => boolean
  #newestMs: number | null = null

  /** `isExpected` is true for a program whose swaps should nearly all be confirmed. */
  constructor(isExpected: (dex: string) => boolean) {
    this.#isExpected = isExpected
  }

  /** Time of the newest block with checks, in milliseconds since the Unix epoch; null before the first. */
  get newestMs(): number | null {
    return this.#newestMs
  }

  /** Adds the checks of one block. A block that is late counts as of the newest one. */
  add(timeMs: number, checks: ReadonlyArray<ProgramChecks>): void {
    const newest = this.#newestMs ?? timeMs
    const isBack = timeMs < newest - STEP_MS
    const atMs = isBack ? timeMs : Math.max(newest, timeMs)
    this.#newestMs = atMs
    const [minute, hour] = [Math.floor(atMs / MINUTE_MS), Math.floor(atMs / HOUR_MS)]
    for (const program of this.#programs.values()) {
      if (isBack) {
        program.restart()
      }
      program.moveTo(minute, hour)
    }
    for (const each of checks) {
      const program =
        this.#programs.get(each.dex) ??
        (this.#programs.size < MOST_PROGRAMS ? new ProgramWatch(each.dex, this.#isExpected(each.dex)) : null)
      if (program !== null) {
        this.#programs.set(each.dex, program)
        program.add(minute, hour, each)
      }
    }
  }

  /** Every program that had a swap, by label. */
  read(): ReadonlyArray<WatchedProgram> {
    return Array.from(this.#programs.values(), (program) => program.read()).toSorted((a, b) => (a.dex < b.dex ? -1 : 1))
  }
}
