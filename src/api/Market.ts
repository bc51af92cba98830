import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Chart, ChartDenom, chartKnowledge, ChartMode, ChartResolution } from "../domain/Chart.ts"
import { Authorization } from "./Authorization.ts"
import { IntegerParameter, refuse } from "./parameters.ts"
import { ChartWarming, DataUnavailable, InvalidDenomination, TokenNotFound, UnsupportedChain } from "./problems.ts"

/** Where the contract leaves something out, this is what is meant. */
export const defaults = { chain: "solana", resolution: "1m", denom: "usd", mode: "price", bars: 300 } as const

/** Says in the document what the type of a parameter cannot. */
const noted = <S extends Schema.Top>(parameter: S, description: string) =>
  Schema.optionalKey(parameter.pipe(Schema.annotateEncoded({ description })))

/** The last second of the year 9999: what comes after is a mistake. */
const LAST_SECOND = 253_402_300_799

const Second = IntegerParameter(0, LAST_SECOND)

/** Which candles are asked for. The chain is read as text, so that one which is not served is named as such. */
export const ChartQuery = Schema.Struct({
  chain: noted(Schema.String, `Chain of the token; ${defaults.chain} unless given.`),
  resolution: noted(ChartResolution, `Width of a bar, ${defaults.resolution} unless given; 1mn is a month.`),
  denom: noted(ChartDenom, `What bars are counted in, ${defaults.denom} unless given; sol on Solana only.`),
  mode: noted(ChartMode, `Prices or market values; ${defaults.mode} unless given.`),
  from: noted(Second, "Unix second at which the window begins, floored to its bucket."),
  to: noted(Second, "Unix second before which the window ends, ceiled to its bucket; now unless given."),
  limit: noted(IntegerParameter(1, 1500), `The newest so many bars, 1 to 1500; ${defaults.bars} unless given.`)
}).check(
  Schema.makeFilter(
    ({ from, to }) =>
      from === undefined || to === undefined || from < to || refuse("to", "conflict", "to must be after from.")
  )
)

/** Candles of one token. */
export class ChartAnswer extends Schema.Opaque<ChartAnswer>()(
  Schema.Struct({
    data: Chart,
    meta: Schema.Struct({
      requestId: Schema.String,
      methodVersion: Schema.Literal("public-chart-v1"),
      chain: Schema.String,
      ...chartKnowledge
    })
  }).annotate({ identifier: "ChartAnswer", description: "Candles of one token." })
) {}

/** Charts and what the whole market does, answered from memory. */
export class MarketGroup extends HttpApiGroup.make("market")
  .add(
    HttpApiEndpoint.get("chart", "/api/v1/market/chart/:token", {
      params: { token: Schema.String.annotate({ description: "A mint, or a token address on an EVM chain." }) },
      query: ChartQuery,
      success: ChartAnswer,
      error: [InvalidDenomination, UnsupportedChain, TokenNotFound, ChartWarming, DataUnavailable]
    }).annotate(OpenApi.Summary, "Candles of one token")
  )
  .middleware(Authorization)
  .annotate(OpenApi.Description, "Charts and what the whole market does, answered from memory.") {}
