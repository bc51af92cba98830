import { type LaunchEvent, MarketActivity, StepClock } from "./MarketActivity.ts"
import { imageEntries, type ImageSteps, type StateImage } from "../columnar/StateImage.ts"
import type { TradeRecord } from "../model/TradeRecord.ts"
import type { TapeTrade } from "../model/TapeTrade.ts"

/** Rows of the lighthouse, including the aggregate. */
const MOST_ROWS = 100

/** The market that a row stands for. */
export interface MarketKey {
  readonly kind: "all" | "dex" | "launchpad"
  /** `all`, the venue's label or the launchpad's key. */
  readonly name: string
}

/** One market and its activity. */
export interface Market extends MarketKey {
  readonly activity: MarketActivity
}

/**
 * The activity of all markets, of each venue and of each launchpad. Bounded: past 100 rows a new market counts in `all`
 * only.
 */
export class Markets {
  readonly #dexes = new Map<string, Market>()
  readonly #launchpads = new Map<string, Market>()
  readonly all: Market
  readonly #clock = new StepClock()
  #now = 0

  constructor() {
    this.all = { kind: "all", name: "all", activity: new MarketActivity(0) }
  }

  /** Moves every window to end with the second `now`. */
  advance(now: number): void {
    this.#now = now
    for (const { activity } of this.rows()) {
      activity.advance(now)
    }
  }

  /** Counts a swap of one pool. */
  add(record: TradeRecord, trade: TapeTrade): void {
    const places = this.#clock.find(record.second, this.#now)
    this.all.activity.add(record, places)
    this.#activityOf(this.#dexes, "dex", trade.dex)?.add(record, places)
    this.#activityOf(this.#launchpads, "launchpad", trade.launchpad)?.add(record, places)
  }

  /** Counts a token that a launchpad created, or that migrated from its curve to a pool. */
  addLaunch(event: LaunchEvent, launchpad: string | null, second: number): void {
    const places = this.#clock.find(second, this.#now)
    this.all.activity.addLaunch(event, places)
    this.#activityOf(this.#launchpads, "launchpad", launchpad)?.addLaunch(event, places)
  }

  /** The aggregate, every venue and every launchpad. */
  rows(): ReadonlyArray<Market> {
    return [this.all, ...this.#dexes.values(), ...this.#launchpads.values()]
  }

  /** Writes every row, or reads the rows. */
  *image(image: StateImage): ImageSteps {
    this.#now = image.number(this.#now)
    for (const [kind, rows] of [
      ["dex", this.#dexes],
      ["launchpad", this.#launchpads]
    ] as const) {
      yield* imageEntries(image, rows, 1, (key, row) => {
        const name = image.text(key ?? "")
        return [name, row ?? { kind, name, activity: new MarketActivity(this.#now) }]
      })
    }
    for (const { activity } of this.rows()) {
      yield* activity.image(image)
    }
  }

  #activityOf(rows: Map<string, Market>, kind: "dex" | "launchpad", name: string | null): MarketActivity | undefined {
    const known = name === null ? undefined : rows.get(name)
    if (known !== undefined || name === null) {
      return known?.activity
    }
    if (this.#dexes.size + this.#launchpads.size + 1 >= MOST_ROWS) {
      return undefined
    }
    const activity = new MarketActivity(this.#now)
    rows.set(name, { kind, name, activity })
    return activity
  }
}
