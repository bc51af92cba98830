import { Clock, Config, Context, Effect, Layer, type Scope } from "effect"
import { type HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import { makeAiling } from "../node/ailing.ts"
import { evmCandles, evmTokens, evmWidths, type SimEvmToken } from "./evmCandles.ts"
import { listen } from "../node/loopback.ts"

const answers = ["ok", "500", "malformed", "frozen", "dated"] as const

/** What is wrong with the source. `dated` says by a date, instead of a delay, when a series is ready. */
export interface EvmAilment {
  readonly answers: (typeof answers)[number]
  /** How many milliseconds a series takes to build after its first request; null means forever. */
  readonly warmingMs: number | null
}

const healthy: EvmAilment = { answers: "ok", warmingMs: 1000 }

/** The fault at the start, from the setting `SIMULATOR_FAULTS_EVM=500` and so on. */
export const answersConfig = Config.Literals(answers, "SIMULATOR_FAULTS_EVM").pipe(Config.withDefault("ok" as const))

/** A source of EVM candles on the loopback interface. It builds a series at the first request for it. */
export class EvmCandleSource extends Context.Service<
  EvmCandleSource,
  {
    readonly url: string
    readonly tokens: ReadonlyArray<SimEvmToken>
    /** Changes the given faults and leaves the others. */
    setAilment(change: Partial<EvmAilment>): Effect.Effect<void>
    /** How many requests have arrived. */
    readonly requests: () => number
  }
>()("fathom/simulator/venues/EvmCandleSource") {
  /** The source lives until the layer's scope closes. The same seed gives the same tokens and candles. */
  static readonly layer = (
    options: { readonly seed?: string; readonly ailment?: Partial<EvmAilment> } = {}
  ): Layer.Layer<EvmCandleSource, HttpServerError.ServeError> =>
    Layer.effect(
      EvmCandleSource,
      Effect.suspend(() => make(options.seed ?? "fathom", { ...healthy, ...options.ailment }))
    )

  /** The source with settings from `SIMULATOR_SEED` and `SIMULATOR_FAULTS_EVM`. */
  static readonly layerConfig: Layer.Layer<EvmCandleSource, HttpServerError.ServeError | Config.ConfigError> =
    Layer.effect(
      EvmCandleSource,
      Effect.gen(function* () {
        const seed = yield* Config.String("SIMULATOR_SEED").pipe(Config.withDefault("fathom"))
        return yield* make(seed, { ...healthy, answers: yield* answersConfig })
      })
    )
}

const PATH = /^\/v1\/candles\/(?<chain>[a-z]+)\/(?<address>0x[0-9a-f]{40})$/u

const json = (body: unknown, status = 200) => HttpServerResponse.jsonUnsafe(body, { status })

const seriesOf = (token: SimEvmToken, query: URLSearchParams, nowMs: number) => {
  const number = (name: string) => Number(query.get(name) ?? Number.NaN)
  const width = evmWidths.get(query.get("interval") ?? "")
  const [from, to, limit] = [number("from"), number("to"), number("limit")]
  if (width === undefined || ![from, to, limit].every(Number.isSafeInteger)) {
    return json({ error: "bad_query" }, 400)
  }
  const { decimals, name, symbol, totalSupply } = token
  const now = Math.floor(nowMs / 1000)
  return json({
    token: { symbol, name, decimals, totalSupply },
    asOfMs: nowMs,
    candles: evmCandles(token, { width, from, to, limit, now })
  })
}

const warming = (waitMs: number, isDated: boolean, nowMs: number) =>
  HttpServerResponse.jsonUnsafe(
    { status: "warming" },
    {
      status: 202,
      headers: { "retry-after": isDated ? new Date(nowMs + waitMs).toUTCString() : String(Math.ceil(waitMs / 1000)) }
    }
  )

/** Longer than any deadline. */
const NEVER_MS = 3_600_000

const make = Effect.fnUntraced(function* (
  seed: string,
  initial: EvmAilment
): Effect.fn.Return<EvmCandleSource["Service"], HttpServerError.ServeError, Scope.Scope> {
  const tokens = evmTokens(seed)
  const faults = makeAiling(initial, healthy)
  let requests = 0
  const begun = new Map<string, number>()

  const respond = (url: string, nowMs: number) => {
    const { pathname, searchParams } = new URL(url, "http://source")
    const { chain, address } = PATH.exec(pathname)?.groups ?? {}
    const token = tokens.find((one) => one.chain === chain && one.address === address)
    if (token === undefined) {
      return json({ error: "unknown_token" }, 404)
    }
    const ailment = faults.current()
    const since = begun.get(pathname) ?? nowMs
    begun.set(pathname, since)
    const waitMs = ailment.warmingMs === null ? NEVER_MS : since + ailment.warmingMs - nowMs
    return waitMs > 0 ? warming(waitMs, ailment.answers === "dated", nowMs) : seriesOf(token, searchParams, nowMs)
  }

  const app = Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    requests++
    switch (faults.current().answers) {
      case "frozen":
        return yield* Effect.never
      case "500":
        return HttpServerResponse.text("Internal Server Error\n", { status: 500 })
      case "malformed":
        return HttpServerResponse.text('{"token":{"symbol":', { contentType: "application/json" })
      default:
        return respond(request.url, yield* Clock.currentTimeMillis)
    }
  })

  const url = yield* listen(app)
  return EvmCandleSource.of({
    url,
    tokens,
    setAilment: faults.set,
    requests: () => requests
  })
})
