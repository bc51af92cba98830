import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../api/Api.ts"
import { PerpsUnavailable } from "../../api/errors/problems.ts"
import { defaults, FORMER_KEYS, type PerpsQuery } from "../../api/Perps.ts"
import { compare, hasAnswer } from "../../perps/compare.ts"
import { fixedNumber, fixedText, parseFixed } from "../../perps/exact.ts"
import { PerpsVenues } from "../../perps/PerpsVenues.ts"
import { RequestContext } from "../middleware/RequestContext.ts"

/** The fraction of decimal text that the contract has validated. */
const exact = (text: string) => {
  const value = parseFixed(text)
  return value === null ? Effect.die("decimal text passed the contract and cannot be parsed") : Effect.succeed(value)
}

export const layer = HttpApiBuilder.group(
  Api,
  "perps",
  Effect.fnUntraced(function* (handlers) {
    const { ourBps, read, venues: known } = yield* PerpsVenues

    const quote = Effect.fnUntraced(function* ({ query }: { readonly query: typeof PerpsQuery.Type }) {
      const { side, symbol, venues: named } = query
      const size = yield* exact(query.size)
      const holdHours = yield* exact(query.holdHours ?? defaults.holdHours)
      const leverage = query.leverage === undefined ? null : yield* exact(query.leverage)
      const wanted = named?.map((venue) => FORMER_KEYS[venue] ?? venue)
      const venues = known.filter((venue) => wanted === undefined || wanted.includes(venue))
      const readings = yield* read(symbol, venues, { side, size })
      if (!hasAnswer(readings)) {
        return yield* new PerpsUnavailable()
      }
      const { id: requestId } = yield* RequestContext
      return {
        query: {
          symbol,
          side,
          size: fixedText(size),
          holdHours: fixedNumber(holdHours),
          leverage: leverage === null ? null : fixedNumber(leverage),
          venues: named === undefined ? null : venues
        },
        ...compare({ symbol, side, size, holdHours, leverage }, readings, ourBps),
        requestId
      }
    })

    return handlers.handleAll({ quote })
  })
)
