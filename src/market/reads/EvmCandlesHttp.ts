import { ByteSize, Clock, Config, Duration, Effect, Layer, Option, Schema } from "effect"
import { type HttpClient, HttpClientRequest } from "effect/http"
import { durationSetting } from "../../domain/countSetting.ts"
import { type ChartRefusal, ChartNotReady, ChartUnavailable, ChartUnknown } from "../../api/schemas/Chart.ts"
import { Decimal } from "../../domain/Scalar.ts"
import { watchUpstream } from "../../operations/SourceMonitor.ts"
import { withDeadline } from "../../operations/protection.ts"
import type { UpstreamFailure } from "../../operations/UpstreamFailure.ts"
import { type Exchange, makeExchange, type Reply } from "../../operations/upstreamHttp.ts"
import { webUrl } from "../../operations/urlSettings.ts"
import { type EvmCandle, EvmCandles, type EvmRequest, type EvmSeries } from "./EvmCandles.ts"
import { floorTo, widthOf } from "../model/resolutions.ts"

const MAX_BODY = ByteSize.toNumberUnsafe(ByteSize.mebibytes(4))

const price = Schema.Finite.check(Schema.isGreaterThan(0))
const text = Schema.NullOr(Schema.String.check(Schema.isMaxLength(256)))

/** The answer of the source: candles as `[second, open, high, low, close, volume]`, oldest first. */
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

/** True when the candles are of the requested window and interval, in order, and each is possible. */
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
  } = yield* Effect.mapError(decode(body), () =>
    unavailable("The source of EVM candles sent an answer that cannot be decoded.")
  )
  const candles = tuples.map(([second, open, high, low, close, volume]) => ({ second, open, high, low, close, volume }))
  return isSound(candles, request)
    ? { ...token, asOfMs, candles }
    : yield* unavailable("The source of EVM candles sent impossible candles.")
})

const ACCEPTED = 202
const NOT_FOUND = 404
const rules = { maxBytes: MAX_BODY, statuses: [200, ACCEPTED, NOT_FOUND] }

// A date is not used: the clock of the source may differ.
const delayOf = ({ headers, retryAfterMs }: Reply): number | null =>
  /^\d+$/u.test(headers["retry-after"] ?? "") ? retryAfterMs : null

const failed = ({ detail, reason }: UpstreamFailure) =>
  unavailable(
    reason === "timeout"
      ? "The source of EVM candles did not answer in time."
      : `The source of EVM candles failed: ${detail}.`
  )

const makeRequest = (exchange: Exchange, url: string) =>
  Effect.fnUntraced(function* ({ address, chain, ...rest }: EvmRequest) {
    const request = HttpClientRequest.get(`${url}/v1/candles/${chain}/${address}`, { urlParams: rest })
    const reply = yield* Effect.mapError(exchange(request, rules), failed)
    switch (reply.status) {
      case ACCEPTED:
        return yield* new ChartNotReady({ retryAfterMs: delayOf(reply) })
      case NOT_FOUND:
        return yield* new ChartUnknown({ address })
      default:
        return yield* seriesOf(reply.text, { address, chain, ...rest })
    }
  })

const make = Effect.fnUntraced(function* (exchange: Exchange, url: string, deadline: Duration.Duration) {
  const watched = (yield* watchUpstream("evm_candles"))(({ _tag }: ChartRefusal) => _tag !== "ChartUnavailable")
  const request = makeRequest(exchange, url)
  const deadlineMs = Duration.toMillis(deadline)

  /** Repeats the request after each delay that the source asks for. A delay past the deadline is left to the caller. */
  const requestUntil = (wanted: EvmRequest, endMs: number): Effect.Effect<EvmSeries, ChartRefusal> =>
    request(wanted).pipe(
      Effect.catchTag("ChartNotReady", (warming) =>
        Effect.flatMap(Clock.currentTimeMillis, (nowMs) => {
          const { retryAfterMs } = warming
          return retryAfterMs === null || nowMs + retryAfterMs >= endMs
            ? Effect.fail(warming)
            : Effect.andThen(
                Effect.sleep(Math.max(retryAfterMs, SHORTEST_MS)),
                Effect.suspend(() => requestUntil(wanted, endMs))
              )
        })
      )
    )

  return EvmCandles.of({
    candles: Effect.fn("EvmCandles.candles")(function* (request) {
      const nowMs = yield* Clock.currentTimeMillis
      return yield* requestUntil(request, nowMs + deadlineMs).pipe(
        withDeadline(deadline),
        Effect.catchTag("UpstreamFailure", (failure) => Effect.fail(failed(failure))),
        watched
      )
    })
  })
})

/** The least delay between requests, even when the source asks for none. */
const SHORTEST_MS = 100

/** `EVM_CANDLES_URL` (none) and `EVM_CANDLES_DEADLINE` (8 s). */
export const settings = Config.all({
  url: Config.option(webUrl("EVM_CANDLES_URL")),
  deadline: durationSetting("EVM_CANDLES_DEADLINE").pipe(Config.withDefault(Duration.seconds(8)))
})

/**
 * The source at `EVM_CANDLES_URL`, or at the given address. Without either, EVM chains are not served.
 * `EVM_CANDLES_DEADLINE` (8 s) bounds a chart, including the wait for a series to be built.
 */
export const layer = (url?: string): Layer.Layer<EvmCandles, Config.ConfigError, HttpClient.HttpClient> =>
  Layer.unwrap(
    Effect.gen(function* () {
      const exchange = yield* makeExchange
      const { deadline, url: configured } = yield* settings
      const chosen = Option.getOrUndefined(configured) ?? url
      return chosen === undefined ? EvmCandles.layerNone : Layer.effect(EvmCandles, make(exchange, chosen, deadline))
    })
  )
