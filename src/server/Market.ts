import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../api/Api.ts"
import type { ChartQuery } from "../api/Market.ts"
import { ChartWarming, DataUnavailable, retryAfter, TokenNotFound } from "../api/problems.ts"
import type { ChartRefusal } from "../domain/Chart.ts"
import { MarketReader } from "../market/MarketReader.ts"
import { chartRequest } from "./chartRequests.ts"
import { Exchange } from "./Exchange.ts"

const problemOf = (refusal: ChartRefusal) => {
  switch (refusal._tag) {
    case "ChartUnknown":
      return new TokenNotFound()
    case "ChartNotReady": {
      const { retryAfterMs } = refusal
      return retryAfterMs === null ? new ChartWarming() : retryAfter(new ChartWarming(), retryAfterMs / 1000)
    }
    case "ChartUnavailable":
      return new DataUnavailable({ error: { message: refusal.detail } })
  }
}

interface ChartInput {
  readonly params: { readonly token: string }
  readonly query: typeof ChartQuery.Type
}

export const layer = HttpApiBuilder.group(
  Api,
  "market",
  Effect.fnUntraced(function* (handlers) {
    const reader = yield* MarketReader

    const chart = Effect.fnUntraced(function* ({ params, query }: ChartInput) {
      const { request, subject } = yield* chartRequest(params.token, query)
      const { data, knowledge } = yield* (
        subject._tag === "Solana"
          ? reader.chart(subject.mint, request)
          : reader.evmChart(subject.token, subject.interval, request)
      ).pipe(Effect.mapError(problemOf))
      const { id: requestId } = yield* Exchange
      return {
        data,
        meta: { requestId, methodVersion: "public-chart-v1" as const, chain: data.token.chain, ...knowledge }
      }
    })

    return handlers.handleAll({ chart })
  })
)
