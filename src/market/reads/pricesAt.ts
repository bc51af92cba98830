/** Prices in the past, one or many, and what is known about them. */
import { Clock, Effect } from "effect"
import type { ChartRefusal } from "../../api/schemas/Chart.ts"
import { type MarketKnowledge, MarketUnavailable } from "../../api/schemas/MarketViews.ts"
import type { PriceAt, PriceMoment } from "../../api/schemas/PriceAt.ts"
import type { CoverageReason } from "../../domain/Scalar.ts"
import { knowledgeOf } from "../../tokens/scalars.ts"
import type { Market } from "../tape/Market.ts"
import { priceAt, type ReadChart, unknownPrice } from "./priceAt.ts"

/** Prices of one request that are read at a time. */
const AT_A_TIME = 8

const reasonOf = ({ _tag }: ChartRefusal): CoverageReason => (_tag === "ChartUnavailable" ? "deadline" : "not_captured")

/** Reads of prices in the past. */
export const makePricesAt = (tape: Market["Service"], read: ReadChart) => {
  /** `slot` is the newest slot when the reads began: later blocks may have trades of late seconds. */
  const knowledgeNow = (rows: ReadonlyArray<PriceAt>, slot: number): MarketKnowledge => {
    const heardAtMs = tape.heardAtMs()
    const observedAtMs = heardAtMs === null ? null : Math.min(tape.state.now * 1000, heardAtMs)
    const known = knowledgeOf(
      rows.flatMap(({ priceSol, priceUsd }) => [priceUsd, priceSol]),
      observedAtMs
    )
    return { slot, ...known }
  }

  const one = Effect.fn("MarketReader.priceAt")(function* (moment: PriceMoment) {
    const slot = tape.newestSlot()
    const data = yield* priceAt(tape, read, moment, yield* Clock.currentTimeMillis)
    return { data, ...knowledgeNow([data], slot) }
  })

  const many = Effect.fn("MarketReader.pricesAt")(function* (moments: ReadonlyArray<PriceMoment>) {
    if (tape.heardAtMs() === null) {
      return yield* new MarketUnavailable({ detail: "No block has been read yet." })
    }
    const slot = tape.newestSlot()
    const nowMs = yield* Clock.currentTimeMillis
    const found = yield* Effect.forEach(
      moments,
      (moment) =>
        priceAt(tape, read, moment, nowMs).pipe(
          Effect.map((row) => ({ row, isMissing: false })),
          Effect.catch((refusal) =>
            Effect.succeed({
              row: unknownPrice(moment, reasonOf(refusal)),
              isMissing: refusal._tag === "ChartUnavailable"
            })
          )
        ),
      { concurrency: AT_A_TIME }
    )
    if (found.every(({ isMissing }) => isMissing)) {
      return yield* new MarketUnavailable({ detail: "The stored candles are unavailable right now." })
    }
    const data = found.map(({ row }) => row)
    return { data, ...knowledgeNow(data, slot) }
  })

  return { priceAt: one, pricesAt: many }
}
