/**
 * Hyperliquid: `POST /info`. Funding is quoted for the hour and paid every hour; longs pay while it is positive. Fees of
 * the first tier: 0.045 % and 0.015 %. Orders below ten dollars are refused.
 */
import { Effect, Schema } from "effect"
import { HttpClientRequest } from "effect/http"
import { tenTo } from "../domain/decimal.ts"
import { ONE, SCALE } from "./exact.ts"
import { fundingOf } from "./fundingRates.ts"
import { NoMarket, type Venue } from "./Venue.ts"
import { cacheListing, makeAsk } from "./venueHttp.ts"
import { bookOf, DecimalText } from "./venueSchemas.ts"

const Contexts = Schema.Tuple([
  Schema.Struct({
    universe: Schema.Array(
      Schema.Struct({
        name: Schema.String,
        szDecimals: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: SCALE })),
        isDelisted: Schema.optionalKey(Schema.Boolean)
      })
    )
  }),
  Schema.Array(Schema.Struct({ funding: DecimalText }))
])

const Levels = Schema.Array(Schema.Struct({ px: DecimalText, sz: DecimalText }))
const L2Book = Schema.NullOr(
  Schema.Struct({ coin: Schema.String, time: Schema.Int, levels: Schema.Tuple([Levels, Levels]) })
)

const fees = { taker: 4_500_000n, maker: 1_500_000n }
const LEAST_VALUE = 10n * ONE

const levelOf = ({ px, sz }: (typeof Levels.Type)[number]) => ({ price: px, size: sz })

/** Reads from the API under this address. */
export const hyperliquid = Effect.fnUntraced(function* (baseUrl: string) {
  const ask = yield* makeAsk
  const info = (body: object) => HttpClientRequest.post(`${baseUrl}/info`).pipe(HttpClientRequest.bodyJsonUnsafe(body))

  const contexts = yield* ask(info({ type: "metaAndAssetCtxs" }), Contexts).pipe(
    Effect.map(({ value: [{ universe }, states] }) =>
      universe.flatMap(({ isDelisted, name, szDecimals }, i) => {
        const funding = states[i]?.funding
        return isDelisted === true || funding === undefined ? [] : [[name, { funding, szDecimals }] as const]
      })
    ),
    Effect.map((listed) => new Map(listed)),
    cacheListing
  )

  const read = Effect.fnUntraced(function* (symbol: string) {
    const listed = (yield* contexts).get(symbol)
    if (listed === undefined) {
      return yield* new NoMarket({ symbol })
    }
    const { value: book } = yield* ask(info({ type: "l2Book", coin: symbol }), L2Book)
    if (book === null) {
      return yield* new NoMarket({ symbol })
    }
    const [bids, asks] = book.levels
    return {
      ...(yield* bookOf(bids, asks, levelOf)),
      asOfMs: book.time,
      lots: { step: tenTo(SCALE - listed.szDecimals), least: null, most: null, leastValue: LEAST_VALUE },
      funding: fundingOf(listed.funding, 1),
      fees
    }
  })

  const venue: Venue = { key: "hl", fees, maxAgeMs: 10_000, read }
  return venue
})
