import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../api/Api.ts"
import type { ScreenBody } from "../../api/Screen.ts"
import { screenDefaults } from "../../api/schemas/TokenScreen.ts"
import { MarketReader } from "../../market/reads/MarketReader.ts"
import { selectorsOf } from "../../market/reads/screenSelectors.ts"
import { viewProblem } from "./marketProblems.ts"
import { metaWith } from "./metaWith.ts"
import { readPin, sealedBy, writePin } from "./paging.ts"

type Body = typeof ScreenBody.Type

export const layer = HttpApiBuilder.group(
  Api,
  "screen",
  Effect.fnUntraced(function* (handlers) {
    const reader = yield* MarketReader

    const tokens = Effect.fnUntraced(function* ({ payload }: { readonly payload: Body }) {
      const { limit = screenDefaults.rows } = payload
      const selectors = selectorsOf(payload)
      const sealed = sealedBy("screen.tokens", selectors, limit)
      const pin = yield* readPin(sealed, payload.cursor, "body")
      const page = yield* Effect.mapError(reader.screen(selectors, { limit, pin }), viewProblem)
      const { coverage, data, excluded, next, observedAtMs, screened, slot, status } = page
      return {
        data,
        nextCursor: next === null ? null : writePin(sealed, next),
        meta: {
          ...(yield* metaWith({
            methodVersion: "public-screen-v1",
            chain: "solana",
            tradersBasis: "net_trades",
            slot,
            observedAtMs,
            status,
            coverage
          })),
          sort: selectors.sort,
          tokens: screened?.tokens ?? 0,
          examined: screened?.examined ?? 0,
          excluded: { unknownFilter: excluded.unknownFilter }
        }
      }
    })

    return handlers.handleAll({ tokens })
  })
)
