import { ByteSize, Clock, Config, Duration, Effect, Layer, Option, Schema, Stream } from "effect"
import { HttpClient, HttpClientRequest, type HttpClientResponse } from "effect/http"
import { type ChartRefusal, ChartNotReady, ChartUnavailable, ChartUnknown } from "../../domain/market/Chart.ts"
import { Decimal } from "../../domain/Scalar.ts"
import { type EvmCandle, EvmCandles, type EvmRequest, type EvmSeries } from "./EvmCandles.ts"
import { floorTo, widthOf } from "./resolutions.ts"

const MAX_BODY = ByteSize.toNumberUnsafe(ByteSize.mebibytes(4))

const price = Schema.Finite.check(Schema.isGreaterThan(0))
const text = Schema.NullOr(Schema.String.check(Schema.isMaxLength(256)))

/** What the source answers: candles as `[second, open, high, low, close, volume]`, oldest first. */
const Answer = Schema.Struct({
  token: Schema.Struct({
    symbol: text,
    name: text,
    decimals: Schema.NullOr(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 36 }))),
    totalSupply: Schema.NullOr(Decimal)
  }),
  asOfMs: Schema.Int,
  candles: Schema.Array(
    Schema.Tuple([Schema.Int, price, price, price, price, Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0))])
  )
})

const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(Answer))

const unavailable = (detail: string) => new ChartUnavailable({ detail })

const boundedText = (response: HttpClientResponse.HttpClientResponse) =>
  response.stream.pipe(
    Stream.runFoldEffect(
      () => ({ bytes: 0, parts: new Array<Uint8Array>() }),
      (heard, part) => {
        heard.bytes += part.length
        heard.parts.push(part)
        return heard.bytes > MAX_BODY
          ? Effect.fail(unavailable(`The source sent more than ${MAX_BODY} bytes.`))
          : Effect.succeed(heard)
      }
    ),
    Effect.map(({ parts }) => Buffer.concat(parts).toString("utf8"))
  )

/** Whether the candles are what was asked for: of this window and interval, in order, each a possible candle. */
const isSound = (candles: ReadonlyArray<EvmCandle>, { from, interval, limit, to }: EvmRequest): boolean =>
  candles.length <= limit &&
  candles.every(
    ({ close, high, low, open, second }, at) =>
      second >= from &&
      second < to &&
      floorTo(second, widthOf[interval]) === second &&
      second > (candles[at - 1]?.second ?? Number.NEGATIVE_INFINITY) &&
      low <= Math.min(open, close) &&
      high >= Math.max(open, close)
  )

const seriesOf = Effect.fnUntraced(function* (body: string, request: EvmRequest) {
  const {
    asOfMs,
    candles: tuples,
    token
  } = yield* Effect.mapError(decode(body), () => unavailable("The source of EVM candles sent something unusable."))
  const candles = tuples.map(([second, open, high, low, close, volume]) => ({ second, open, high, low, close, volume }))
  return isSound(candles, request)
    ? { ...token, asOfMs, candles }
    : yield* unavailable("The source of EVM candles sent candles that cannot be.")
})

const ACCEPTED = 202
const NOT_FOUND = 404
const DELAY_SECONDS = /^(?:0|[1-9][0-9]{0,5})$/u

/** A delay in seconds, which is what we follow; a date is not. */
const delayOf = (header: string | undefined): number | null =>
  header !== undefined && DELAY_SECONDS.test(header) ? Number(header) * 1000 : null

const makeAsk = (client: HttpClient.HttpClient, url: string) =>
  Effect.fnUntraced(
    function* (request: EvmRequest): Effect.fn.Return<EvmSeries, ChartRefusal, never> {
      const { address, chain, ...rest } = request
      const response = yield* client
        .execute(
          HttpClientRequest.get(`${url}/v1/candles/${chain}/${address}`, {
            urlParams: rest
          })
        )
        .pipe(Effect.mapError(() => unavailable("The source of EVM candles cannot be reached.")))
      switch (response.status) {
        case 200: {
          const body = yield* boundedText(response).pipe(
            Effect.catchTag("HttpClientError", () =>
              Effect.fail(unavailable("The source of EVM candles broke off its answer."))
            )
          )
          return yield* seriesOf(body, request)
        }
        case ACCEPTED:
          return yield* new ChartNotReady({ retryAfterMs: delayOf(response.headers["retry-after"]) })
        case NOT_FOUND:
          return yield* new ChartUnknown({ address })
        default:
          return yield* unavailable(`The source of EVM candles answered HTTP ${response.status}.`)
      }
    },
    Effect.scoped,
    Effect.provideService(HttpClient.TracerDisabledWhen, () => true)
  )

const make = (client: HttpClient.HttpClient, url: string, deadline: Duration.Duration) => {
  const ask = makeAsk(client, url)
  const deadlineMs = Duration.toMillis(deadline)

  /** Asks again as often as the source says when; a delay past the deadline is for the caller to wait. */
  const askUntil = (request: EvmRequest, endMs: number): Effect.Effect<EvmSeries, ChartRefusal> =>
    ask(request).pipe(
      Effect.catchTag("ChartNotReady", (warming) =>
        Effect.flatMap(Clock.currentTimeMillis, (nowMs) => {
          const { retryAfterMs } = warming
          return retryAfterMs === null || nowMs + retryAfterMs >= endMs
            ? Effect.fail(warming)
            : Effect.andThen(
                Effect.sleep(Math.max(retryAfterMs, SHORTEST_MS)),
                Effect.suspend(() => askUntil(request, endMs))
              )
        })
      )
    )

  return EvmCandles.of({
    candles: Effect.fn("EvmCandles.candles")(function* (request) {
      const nowMs = yield* Clock.currentTimeMillis
      return yield* askUntil(request, nowMs + deadlineMs).pipe(
        Effect.timeoutOrElse({
          duration: deadline,
          orElse: () => Effect.fail(unavailable("The source of EVM candles did not answer in time."))
        })
      )
    })
  })
}

/** A source that asks for no delay at all is still not asked without pause. */
const SHORTEST_MS = 100

const WebUrl = Schema.URL.check(
  Schema.makeFilter(({ protocol }) => protocol === "http:" || protocol === "https:" || "must start with http or https")
)

const address = Config.schema(WebUrl, "EVM_CANDLES_URL").pipe(
  Config.map(({ href }) => href.replace(/\/+$/u, "")),
  Config.option
)

/**
 * The source at `EVM_CANDLES_URL`, or at the given address; without either there is none, and charts of EVM chains are
 * unavailable. `EVM_CANDLES_DEADLINE` (8 s) is how long a chart may take, all waiting for a series to be built included.
 */
export const layer = (url?: string): Layer.Layer<EvmCandles, Config.ConfigError, HttpClient.HttpClient> =>
  Layer.unwrap(
    Effect.gen(function* () {
      const client = yield* HttpClient.HttpClient
      const chosen = Option.getOrUndefined(yield* address) ?? url
      const deadline = yield* Config.Duration("EVM_CANDLES_DEADLINE").pipe(Config.withDefault(Duration.seconds(8)))
      return chosen === undefined ? EvmCandles.layerNone : Layer.sync(EvmCandles, () => make(client, chosen, deadline))
    })
  )
