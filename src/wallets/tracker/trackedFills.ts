/** Fills of a replay on their way to the tracker, as trades in the order of their slots. Without a replay there are none. */
import { Clock, Duration, Effect } from "effect"
import type { TapeTrade } from "../../market/model/TapeTrade.ts"
import type { Fill } from "../../past/FillBook.ts"
import { bySlot, ReplayFills } from "../../past/ReplayFills.ts"
import { FillTrades, fillTradesOf, SETTLED_MS } from "../fillTrades.ts"

/** A block waits at most this long for the prices of its fills. */
const PRICE_TIME = Duration.seconds(2)

/** A filled swap with its trades. */
export interface TrackedFill {
  readonly fill: Fill
  readonly trades: ReadonlyArray<TapeTrade>
}

const isUnpriced = ({ trades }: TrackedFill): boolean => trades.some(({ volumeUsdNanos }) => volumeUsdNanos === null)

/** Makes the fills that the tracker has not seen yet. Only one caller at a time. */
export const makeTrackedFills = Effect.gen(function* () {
  const { endsBy, filledAfter } = yield* ReplayFills
  const fillTrades = yield* FillTrades
  let looked = 0
  let waiting: ReadonlyArray<Fill> = []
  /** Fills whose price may still become known: their blocks may not be stored yet. */
  let unpriced: ReadonlyArray<TrackedFill> = []

  /** The trades of each fill; without their prices while these cannot be read. */
  const valued = (fills: ReadonlyArray<Fill>) =>
    fillTrades.of(fills).pipe(
      Effect.timeout(PRICE_TIME),
      Effect.catchCause((cause) =>
        Effect.as(Effect.logWarning("The prices of tracked fills cannot be read yet", cause), fillTradesOf(fills, []))
      ),
      Effect.map((trades) => fills.map((fill, at): TrackedFill => ({ fill, trades: trades[at] ?? [] })))
    )

  /**
   * The fills of slots up to this one that were not returned before, in the order of their slots. They are all of them once
   * the replay ended.
   */
  const reach = Effect.fnUntraced(function* (slot: number) {
    const found = filledAfter(looked)
    if (found.length === 0 && waiting.length === 0) {
      return []
    }
    looked += found.length
    waiting = [...waiting, ...found]
    const last = endsBy(slot) ? Number.POSITIVE_INFINITY : slot
    const due = waiting.filter((fill) => fill.slot <= last).toSorted(bySlot)
    const reached = due.length === 0 ? [] : yield* valued(due)
    waiting = waiting.filter((fill) => fill.slot > last)
    unpriced = [...unpriced, ...reached.filter(isUnpriced)]
    return reached
  })

  /** Fills whose price has become known since they were returned. */
  const priced = Effect.gen(function* () {
    if (unpriced.length === 0) {
      return []
    }
    const again = yield* valued(unpriced.map(({ fill }) => fill))
    const nowMs = yield* Clock.currentTimeMillis
    unpriced = again.filter((each) => isUnpriced(each) && nowMs < (each.fill.atMs ?? 0) + 2 * SETTLED_MS)
    return again.filter((each) => !isUnpriced(each))
  })

  return { priced, reach }
})
