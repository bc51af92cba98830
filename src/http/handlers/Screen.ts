import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../api/Api.ts"
import { type ScreenBody, screenDefaults } from "../../api/Screen.ts"
import { fractionOf, type Rational } from "../../domain/rational.ts"
import { MarketReader } from "../../market/reads/MarketReader.ts"
import type { ScreenSelectors } from "../../market/reads/screenView.ts"
import { viewProblem } from "./marketProblems.ts"
import { metaWith } from "./metaWith.ts"
import { readPin, sealedBy, writePin } from "./paging.ts"

type Body = typeof ScreenBody.Type

const signed = (text: string | undefined): Rational | null => {
  if (text === undefined) {
    return null
  }
  const { denominator, numerator } = fractionOf(text.replace("-", ""))
  return { numerator: text.startsWith("-") ? -numerator : numerator, denominator }
}

const selectorsOf = (body: Body): ScreenSelectors => ({
  ranges: (body.ranges ?? []).map(({ max, min, statistic, unknown }) => ({
    statistic,
    min: signed(min),
    max: signed(max),
    takesUnknown: unknown === "include"
  })),
  mints: body.mints ?? null,
  launchpads: body.launchpads ?? null,
  platforms: body.platforms ?? null,
  venues: body.venues ?? null,
  creator: body.creator ?? null,
  graduated: body.graduated ?? null,
  mintAuthority: body.mintAuthority ?? null,
  freezeAuthority: body.freezeAuthority ?? null,
  sort: body.sort ?? screenDefaults.sort,
  show: body.show ?? []
})

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
