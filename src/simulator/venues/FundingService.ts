import { Clock, Config, Context, Effect, Layer, Redacted, type Scope } from "effect"
import { type HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import { inventBytes } from "../chain/addresses.ts"
import { makeAiling } from "../node/ailing.ts"
import { type FundingAilment, fundingAilmentConfig, type FundingFaults, sound } from "./fundingFaults.ts"
import { balanceOf, catalog, depositOf, NEIGHBOUR, registries, type SimOwned, WELCOME } from "./fundingWorld.ts"
import { listen } from "../node/loopback.ts"

export interface FundingServiceOptions {
  /** The same seed gives the same wallets, addresses and holdings. */
  readonly seed: string
  /** The faults at the start. */
  readonly ailment: FundingAilment
}

/** A simulated funding service on the loopback interface. It has two families, five networks and two owners. */
export class FundingService extends Context.Service<
  FundingService,
  {
    readonly url: string
    /** The bearer token that requests must carry. */
    readonly token: Redacted.Redacted
    readonly faults: FundingFaults
    /** The wallets of an owner; empty when the owner is unknown. */
    readonly walletsOf: (owner: string) => ReadonlyArray<SimOwned>
  }
>()("fathom/simulator/venues/FundingService") {
  /** The service lives until the layer's scope closes. */
  static readonly layer = (
    options: Partial<FundingServiceOptions> = {}
  ): Layer.Layer<FundingService, HttpServerError.ServeError> =>
    Layer.effect(
      FundingService,
      Effect.suspend(() => makeService({ seed: "fathom", ailment: sound, ...options }))
    )

  /** The service with settings from `SIMULATOR_SEED` and `SIMULATOR_FUNDING_...`. */
  static readonly layerConfig: Layer.Layer<FundingService, HttpServerError.ServeError | Config.ConfigError> =
    Layer.effect(
      FundingService,
      Effect.gen(function* () {
        const seed = yield* Config.String("SIMULATOR_SEED").pipe(Config.withDefault("fathom"))
        return yield* makeService({ seed, ailment: yield* fundingAilmentConfig })
      })
    )
}

const json = (body: unknown, status = 200): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.jsonUnsafe(body, { status })

const unknown = (what: "wallet" | "target") => json({ error: `unknown_${what}` }, 404)

/** What responses are made from. */
interface Books {
  readonly seed: string
  readonly registry: ReadonlyMap<string, ReadonlyArray<SimOwned>>
  readonly ailment: FundingAilment
  readonly nowMs: number
}

const balances = ({ ailment, nowMs, seed }: Books, owner: string, wallets: ReadonlyArray<SimOwned>) => {
  const isRead = (id: string) => !ailment.unread.includes(id)
  const rows = wallets
    .filter(({ verified }) => verified)
    .flatMap((wallet) =>
      catalog
        .filter(({ network }) => network.family === wallet.family && !network.memoRequired && isRead(network.id))
        .flatMap(({ assets, network }) => assets.map((asset) => balanceOf(seed, wallet, network, asset, nowMs)))
    )
  const unread = catalog
    .filter(({ network }) => wallets.some(({ family }) => family === network.family) && !isRead(network.id))
    .map(({ network }) => ({ chain: network.id, reason: "chain_unreachable" }))
  return json({ owner, balances: rows, unread, asOf: nowMs })
}

const deposit = ({ nowMs, seed }: Books, owner: string, wallet: SimOwned, query: URLSearchParams) => {
  const found = catalog.find(({ network }) => network.id === query.get("network"))
  const asset = found?.assets.find(({ id }) => id === query.get("asset"))
  return found === undefined || asset === undefined || !wallet.verified || found.network.family !== wallet.family
    ? unknown("target")
    : json({ owner, deposit: depositOf(seed, wallet, found.network, asset, nowMs) })
}

const OWNED = /^\/v1\/owners\/(?<owner>[^/]+)\/(?<what>wallets|balances|deposit-address)$/u

const answer = (books: Books, { pathname, searchParams }: URL): HttpServerResponse.HttpServerResponse => {
  if (pathname === "/v1/catalog") {
    return json({ networks: catalog, asOf: books.nowMs })
  }
  const asked = OWNED.exec(pathname)?.groups
  if (asked === undefined) {
    return HttpServerResponse.text("Not Found\n", { status: 404 })
  }
  const named = decodeURIComponent(asked["owner"] ?? "")
  // A service that mixes up its two customers.
  const isConfused = books.ailment.answers === "foreign"
  const owner = isConfused ? (named === NEIGHBOUR ? WELCOME : NEIGHBOUR) : named
  const wallets = books.registry.get(owner) ?? []
  const walletId = searchParams.get("wallet")
  const wallet = isConfused ? wallets[0] : wallets.find((owned) => owned.walletId === walletId)
  if (asked["what"] === "wallets") {
    return json({ owner, wallets, asOf: books.nowMs })
  }
  if (asked["what"] === "balances" && walletId === null) {
    return balances(books, owner, wallets)
  }
  if (wallet === undefined) {
    return unknown("wallet")
  }
  return asked["what"] === "balances" ? balances(books, owner, [wallet]) : deposit(books, owner, wallet, searchParams)
}

/** A response without its second half. */
const torn = ({ body, status }: HttpServerResponse.HttpServerResponse): HttpServerResponse.HttpServerResponse => {
  const text = body._tag === "Uint8Array" ? new TextDecoder().decode(body.body) : ""
  return HttpServerResponse.text(text.slice(0, text.length >> 1), { status, contentType: "application/json" })
}

const makeService = Effect.fnUntraced(function* ({
  ailment,
  seed
}: FundingServiceOptions): Effect.fn.Return<FundingService["Service"], HttpServerError.ServeError, Scope.Scope> {
  const registry = registries(seed)
  const faults = makeAiling(ailment, sound)
  const token = Buffer.from(inventBytes(seed, "funding credential")).toString("base64url")

  const app = Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const ailment = faults.current()
    switch (ailment.http) {
      case "frozen":
        return yield* Effect.never
      case "500":
        return HttpServerResponse.text("Internal Server Error\n", { status: 500 })
      case "429":
        return HttpServerResponse.text("Too Many Requests\n", { status: 429, headers: { "retry-after": "3" } })
      default:
    }
    if (request.headers["authorization"] !== `Bearer ${token}`) {
      return HttpServerResponse.text("Unauthorized\n", { status: 401 })
    }
    const nowMs = yield* Clock.currentTimeMillis
    const answered = answer({ seed, registry, ailment, nowMs }, new URL(request.url, "http://funding"))
    return ailment.answers === "malformed" ? torn(answered) : answered
  })

  const url = yield* listen(app)
  return FundingService.of({
    url,
    token: Redacted.make(token),
    faults,
    walletsOf: (owner) => registry.get(owner) ?? []
  })
})
