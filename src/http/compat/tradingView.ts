/** TradingView: the HTTP protocol UDF of its charting library. A symbol is a mint; it may stand behind `SOLANA:`. */
import { Effect } from "effect"
import type { ChartAnswer } from "../../api/Market.ts"
import type { SearchAnswer } from "../../api/Search.ts"
import {
  EXCHANGE,
  MOST_BARS,
  resolutionOf,
  searchRowOf,
  supported,
  symbolInfoOf,
  withoutExchange
} from "../../api/tradingView.ts"
import { addressOf } from "../../domain/Address.ts"
import { numberOf } from "./figures.ts"
import { type Call, invalid, refuse, type Service } from "./service.ts"
import { type Facts, factsOf } from "./tokens.ts"

const config = {
  supports_search: true,
  supports_group_request: false,
  supports_marks: false,
  supports_timescale_marks: false,
  supports_time: true,
  supported_resolutions: supported,
  exchanges: [{ value: EXCHANGE, name: EXCHANGE, desc: "Pools of Solana" }],
  symbols_types: [{ name: "Token", value: "crypto" }]
}

const symbolInfo = ({ priceUsd, token }: Facts) => symbolInfoOf(token, numberOf(priceUsd))

const found = (ask: Call["ask"], q: string, limit: number) =>
  Effect.map(
    ask<typeof SearchAnswer.Encoded>(`/api/v1/search?${new URLSearchParams({ q, limit: String(limit) })}`),
    ({ data }) => data
  )

/** The mint of a symbol. A ticker that several tokens share means the one that the search shows first. */
const mintOf = ({ ask, query }: Call) => {
  const symbol = withoutExchange(query.get("symbol") ?? "")
  if (symbol === "") {
    return invalid("symbol is required.")
  }
  if (addressOf(symbol) !== undefined) {
    return Effect.succeed(symbol)
  }
  return Effect.flatMap(found(ask, symbol, 1), ([row]) =>
    row === undefined ? refuse(404, "unknown_symbol", "unknown_symbol") : Effect.succeed(row.token.address)
  )
}

const symbols = (call: Call) =>
  Effect.gen(function* () {
    const [facts] = yield* factsOf(call.ask, [yield* mintOf(call)])
    return facts === undefined ? yield* refuse(404, "unknown_symbol", "unknown_symbol") : symbolInfo(facts)
  })

const search = ({ ask, query }: Call) =>
  Effect.gen(function* () {
    const text = withoutExchange(query.get("query") ?? "").trim()
    const limit = Math.min(Math.max(Number(query.get("limit") ?? 30) || 30, 1), 100)
    const rows = text === "" ? [] : yield* found(ask, text, limit)
    return rows.map(({ token }) => searchRowOf(token))
  })

const secondIn = (query: URLSearchParams, name: string): number | null => {
  const value = query.get(name)
  return value !== null && /^\d{1,12}$/u.test(value) ? Number(value) : null
}

/** With `countback`, that many bars before `to`, however long ago; otherwise those between `from` and `to`. */
const spanOf = (query: URLSearchParams): Readonly<Record<string, string>> => {
  const [from, to, countback] = ["from", "to", "countback"].map((name) => secondIn(query, name))
  return {
    ...(to !== null && to !== undefined && { to: String(to) }),
    ...(countback !== null && countback !== undefined && countback > 0
      ? { limit: String(Math.min(countback, MOST_BARS)) }
      : { limit: String(MOST_BARS), ...(from !== null && from !== undefined && { from: String(from) }) })
  }
}

const history = (call: Call) =>
  Effect.gen(function* () {
    const resolution = resolutionOf(call.query.get("resolution") ?? "")
    if (resolution === undefined) {
      return yield* invalid(`resolution must be one of ${supported.join(", ")}.`)
    }
    const own = new URLSearchParams({ resolution, ...spanOf(call.query) })
    const url = `/api/v1/market/chart/${yield* mintOf(call)}?${own}`
    const { data, meta } = yield* call.ask<typeof ChartAnswer.Encoded>(url)
    const { bars } = data
    if (bars.length === 0) {
      return { s: "no_data", ...(meta.prevTo !== null && { nextTime: meta.prevTo }) }
    }
    return {
      s: "ok",
      t: bars.map(({ t }) => t / 1000),
      o: bars.map(({ o }) => o),
      h: bars.map(({ h }) => h),
      l: bars.map(({ l }) => l),
      c: bars.map(({ c }) => c),
      v: bars.map(({ v }) => v)
    }
  })

export const tradingView: Service = {
  prefix: "/compat/udf",
  keyHeaders: [],
  reads: [
    { path: "/config", answer: () => Effect.succeed(config) },
    { path: "/symbols", answer: symbols },
    { path: "/search", answer: search },
    { path: "/history", answer: history },
    { path: "/time", answer: ({ nowMs }) => Effect.succeed(Math.floor(nowMs / 1000)) }
  ],
  refusal: ({ message, status }) => ({ status, body: { s: "error", errmsg: message } }),
  notOffered: (_, path) =>
    /^\/(?:marks|timescale_marks|symbol_info|quotes)$/u.test(path) ? "Not served: /config says so." : null
}
