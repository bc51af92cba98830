import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Clock, Config, Context, Effect, Layer, type Scope } from "effect"
import { type HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import { readJson } from "../node/jsonRpc.ts"
import { makeAiling } from "../node/ailing.ts"
import { perpsResponses } from "./perpsResponses.ts"
import { makePerpsWorld, type PerpsWorld, perpsVenues, type SimVenue } from "./perpsMarkets.ts"
import { listen } from "../node/loopback.ts"

const conditions = ["ok", "down", "dead", "silent", "slow", "malformed", "thin", "stale"] as const

/**
 * The state of a venue. `down` answers 503, `dead` drops connections, `silent` never answers, `slow` takes three
 * seconds, `malformed` stops in the middle of its responses, `thin` offers three levels of almost nothing, `stale` is
 * a minute and a half behind.
 */
export type Condition = (typeof conditions)[number]

/** The state of every venue. */
export type Health = Readonly<Record<SimVenue, Condition>>

const SLOW = "3 seconds"
const STALE_MS = 90_000
const THIN_LEVELS = 3
const THIN_PART = 1000n

const healthy: Health = {
  hl: "ok",
  velocity: "ok",
  dydx: "ok",
  paradex: "ok",
  lighter: "ok",
  aster: "ok",
  jupiter: "ok"
}

const condition = (name: string) => Config.Literals(conditions, name).pipe(Config.withDefault("ok" as const))

/** The faults at the start, from settings: `SIMULATOR_FAULTS_PERPS_HL=down` and so on. */
export const healthConfig: Config.Config<Health> = Config.all({
  hl: condition("HL"),
  velocity: condition("VELOCITY"),
  dydx: condition("DYDX"),
  paradex: condition("PARADEX"),
  lighter: condition("LIGHTER"),
  aster: condition("ASTER"),
  jupiter: condition("JUPITER")
}).pipe(Config.nested("SIMULATOR_FAULTS_PERPS"))

/** Perpetual futures venues on the loopback interface. They look like the real ones and derive from one seed. */
export class PerpsSimulator extends Context.Service<
  PerpsSimulator,
  {
    /** URL of each venue, by the name of its setting. */
    readonly urls: {
      readonly PERPS_HL_URL: string
      readonly PERPS_VELOCITY_BOOK_URL: string
      readonly PERPS_VELOCITY_DATA_URL: string
      readonly PERPS_DYDX_URL: string
      readonly PERPS_PARADEX_URL: string
      readonly PERPS_LIGHTER_URL: string
      readonly PERPS_ASTER_URL: string
      readonly PERPS_JUPITER_RPC_URL: string
    }
    /** Changes the state of the given venues. */
    setHealth(change: Partial<Health>): Effect.Effect<void>
    /** How many requests have arrived, by venue. */
    readonly requests: () => Readonly<Record<SimVenue, number>>
  }
>()("fathom/simulator/venues/PerpsSimulator") {
  /** The venues live until the layer's scope closes. The same seed and time give the same books. */
  static readonly layer = (
    options: { readonly seed?: string; readonly health?: Partial<Health> } = {}
  ): Layer.Layer<PerpsSimulator, HttpServerError.ServeError> =>
    Layer.effect(
      PerpsSimulator,
      Effect.suspend(() => make(options.seed ?? "fathom", { ...healthy, ...options.health }))
    )

  /**
   * The venues with settings from `SIMULATOR_SEED` and `SIMULATOR_FAULTS_PERPS_...`, such as
   * `SIMULATOR_FAULTS_PERPS_VELOCITY=silent`.
   */
  static readonly layerConfig: Layer.Layer<PerpsSimulator, HttpServerError.ServeError | Config.ConfigError> =
    Layer.effect(
      PerpsSimulator,
      Effect.gen(function* () {
        const seed = yield* Config.String("SEED").pipe(Config.withDefault("fathom"), Config.nested("SIMULATOR"))
        return yield* make(seed, yield* healthConfig)
      })
    )
}

/** A venue's books, given its state. */
const bookIn = (world: PerpsWorld, venue: SimVenue, state: Condition, nowMs: number): PerpsBook => {
  const atMs = state === "stale" ? nowMs - STALE_MS : nowMs
  return (perp) => {
    if (state !== "thin") {
      return world.book(venue, perp, atMs)
    }
    const { asks, bids } = world.book(venue, perp, atMs, THIN_LEVELS)
    const thin = ({ lots, ticks }: (typeof asks)[number]) => ({ ticks, lots: lots / THIN_PART + 1n })
    return { asks: asks.map(thin), bids: bids.map(thin), asOfMs: atMs }
  }
}

type PerpsBook = Parameters<(typeof perpsResponses)["hl"]>[0]["book"]

const json = (text: string, status: number, sentAtMs: number) =>
  HttpServerResponse.text(text, {
    status,
    contentType: "application/json",
    headers: { date: new Date(sentAtMs).toUTCString() }
  })

/** Splits a path into its first part, the venue, and the rest. */
const parted = (pathname: string): readonly [SimVenue, string] | undefined => {
  const venue = perpsVenues.find((key) => pathname.startsWith(`/${key}/`))
  return venue === undefined ? undefined : [venue, pathname.slice(venue.length + 1)]
}

const make = Effect.fnUntraced(function* (
  seed: string,
  initial: Health
): Effect.fn.Return<PerpsSimulator["Service"], HttpServerError.ServeError, Scope.Scope> {
  const world = makePerpsWorld(seed)
  const requests: Record<SimVenue, number> = {
    hl: 0,
    velocity: 0,
    dydx: 0,
    paradex: 0,
    lighter: 0,
    aster: 0,
    jupiter: 0
  }
  const health = makeAiling(initial, healthy)

  const respond = Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const url = new URL(request.url, "http://127.0.0.1")
    const at = parted(url.pathname)
    if (at === undefined) {
      return HttpServerResponse.empty({ status: 404 })
    }
    const [venue, path] = at
    requests[venue]++
    const state = health.current()[venue]
    if (state === "silent") {
      return yield* Effect.never
    }
    if (state === "slow") {
      yield* Effect.sleep(SLOW)
    }
    if (state === "dead") {
      NodeHttpServerRequest.toIncomingMessage(request).socket.destroy()
      return yield* Effect.never
    }
    if (state === "down") {
      return HttpServerResponse.text("Service Unavailable\n", { status: 503 })
    }
    const body = request.method === "POST" ? readJson(yield* request.text) : undefined
    const nowMs = yield* Clock.currentTimeMillis
    const book = bookIn(world, venue, state, nowMs)
    const response = perpsResponses[venue]({ path, query: url.searchParams, body, nowMs, book, rate8h: world.rate8h })
    const text = JSON.stringify(response.json)
    const sentAtMs = state === "stale" ? nowMs - STALE_MS : nowMs
    return json(state === "malformed" ? text.slice(0, text.length >> 1) : text, response.status, sentAtMs)
  })

  const base = yield* listen(respond)
  return PerpsSimulator.of({
    urls: {
      PERPS_HL_URL: `${base}/hl`,
      PERPS_VELOCITY_BOOK_URL: `${base}/velocity`,
      PERPS_VELOCITY_DATA_URL: `${base}/velocity`,
      PERPS_DYDX_URL: `${base}/dydx`,
      PERPS_PARADEX_URL: `${base}/paradex`,
      PERPS_LIGHTER_URL: `${base}/lighter`,
      PERPS_ASTER_URL: `${base}/aster`,
      PERPS_JUPITER_RPC_URL: `${base}/jupiter/rpc`
    },
    setHealth: health.set,
    requests: () => ({ ...requests })
  })
})
