import { Config, Effect, Layer, Option, Record, Schema } from "effect"
import type { HttpClient } from "effect/http"
import { durationSetting } from "../domain/countSetting.ts"
import { tenTo } from "../domain/decimal.ts"
import { aster } from "./aster.ts"
import { dydx } from "./dydx.ts"
import { ONE, SCALE } from "./exact.ts"
import { hyperliquid } from "./hyperliquid.ts"
import { jupiter, type ReadAccounts } from "./jupiter.ts"
import { lighter } from "./lighter.ts"
import { paradex } from "./paradex.ts"
import { PerpsVenues } from "./PerpsVenues.ts"
import { NodeChoice } from "../chain/rpc/NodeChoice.ts"
import { rpcSettings, rpcUrlSetting } from "../chain/rpc/rpcSettings.ts"
import { failingOver, makeSolanaRpc } from "../chain/rpc/SolanaRpcHttp.ts"
import { defaultRules, type ReadRules } from "./SharedReads.ts"
import { webUrl } from "../operations/urlSettings.ts"
import { VenueUnreadable } from "./Venue.ts"
import { velocity } from "./velocity.ts"
import { DecimalText } from "./venueSchemas.ts"

/** Public addresses of the venues by the name of their setting, without a trailing slash. */
export const publicUrls = {
  PERPS_HL_URL: "https://api.hyperliquid.xyz",
  PERPS_VELOCITY_BOOK_URL: "https://dlob.velocity.exchange",
  PERPS_VELOCITY_DATA_URL: "https://data.velocity.exchange",
  PERPS_DYDX_URL: "https://indexer.dydx.trade",
  PERPS_PARADEX_URL: "https://api.prod.paradex.trade/v1",
  PERPS_LIGHTER_URL: "https://mainnet.zklighter.elliot.ai",
  PERPS_ASTER_URL: "https://fapi.asterdex.com"
} as const

/** The address of each source, without a trailing slash. */
export interface VenueUrls extends Readonly<Record<keyof typeof publicUrls, string>> {
  /** Nodes with the accounts of Jupiter Perps, comma-separated. Null for none: the venue then fails every read. */
  readonly PERPS_JUPITER_RPC_URL: string | null
}

const setting = (name: keyof VenueUrls) => Config.option(webUrl(name))

/** The venue addresses that are set. */
export const configured = Config.all({
  PERPS_HL_URL: setting("PERPS_HL_URL"),
  PERPS_VELOCITY_BOOK_URL: setting("PERPS_VELOCITY_BOOK_URL"),
  PERPS_VELOCITY_DATA_URL: setting("PERPS_VELOCITY_DATA_URL"),
  PERPS_DYDX_URL: setting("PERPS_DYDX_URL"),
  PERPS_PARADEX_URL: setting("PERPS_PARADEX_URL"),
  PERPS_LIGHTER_URL: setting("PERPS_LIGHTER_URL"),
  PERPS_ASTER_URL: setting("PERPS_ASTER_URL"),
  PERPS_JUPITER_RPC_URL: setting("PERPS_JUPITER_RPC_URL")
})

/** True when a setting gives the address of a venue. */
export const isConfigured: Config.Config<boolean> = Config.map(configured, (urls) =>
  Object.values(urls).some(Option.isSome)
)

const MILLIONTH = tenTo(SCALE - 6)

/** `PERPS_FEE_BPS` (0), in millionths of a basis point. */
export const ourBps = Config.schema(
  DecimalText.check(Schema.isBetweenBigInt({ minimum: 0n, maximum: 10_000n * ONE })),
  "PERPS_FEE_BPS"
).pipe(
  Config.withDefault(0n),
  Config.map((fee) => fee / MILLIONTH)
)

/** `PERPS_DEADLINE` (1.2 s): the longest wait for a venue. */
export const deadline = durationSetting("PERPS_DEADLINE").pipe(Config.withDefault(defaultRules.deadline))

/** The nodes of the market; null when the market is not read from nodes. */
const marketNodes = Config.option(rpcUrlSetting).pipe(
  Config.map(Option.match({ onNone: () => null, onSome: (nodes) => nodes.join(",") }))
)

const whyOf = { timeout: "late", unreachable: "down", rate_limited: "limited", invalid: "malformed" } as const

const withoutNode: ReadAccounts = () =>
  new VenueUnreadable({ why: "down", detail: "no Solana node is configured (PERPS_JUPITER_RPC_URL)" })

/** Reads accounts from these nodes. Without nodes, every read fails. */
const accountsOf = Effect.fnUntraced(function* (rpcUrl: string | null) {
  if (rpcUrl === null) {
    return withoutNode
  }
  const settings = yield* rpcSettings({ rpcUrl, retries: 1 })
  const rpc = yield* makeSolanaRpc(settings, failingOver(new NodeChoice(settings.nodes)))
  const read: ReadAccounts = (addresses) =>
    rpc.getMultipleAccounts(addresses).pipe(
      Effect.mapBoth({
        onSuccess: ({ states }) => new Map(Array.from(states, ([address, { account }]) => [address, account])),
        onFailure: ({ detail, reason }) => new VenueUnreadable({ why: whyOf[reason], detail })
      })
    )
  return read
})

const make = Effect.fnUntraced(function* (urls: VenueUrls, rules: Partial<ReadRules>) {
  const venues = yield* Effect.all([
    hyperliquid(urls.PERPS_HL_URL),
    velocity({ book: urls.PERPS_VELOCITY_BOOK_URL, data: urls.PERPS_VELOCITY_DATA_URL }),
    dydx(urls.PERPS_DYDX_URL),
    paradex(urls.PERPS_PARADEX_URL),
    lighter(urls.PERPS_LIGHTER_URL),
    aster(urls.PERPS_ASTER_URL),
    Effect.map(accountsOf(urls.PERPS_JUPITER_RPC_URL), jupiter)
  ])
  return PerpsVenues.layer(venues, { deadline: yield* deadline, ourBps: yield* ourBps, ...rules })
})

/**
 * The venues over HTTP, at the given addresses if there are any. Otherwise at their public addresses, unless
 * `PERPS_HL_URL`, `PERPS_VELOCITY_BOOK_URL`, `PERPS_VELOCITY_DATA_URL`, `PERPS_DYDX_URL`, `PERPS_PARADEX_URL`,
 * `PERPS_LIGHTER_URL` or `PERPS_ASTER_URL` override them. Jupiter Perps is read from `PERPS_JUPITER_RPC_URL`, else from
 * `SOLANA_RPC_URL`. `PERPS_DEADLINE` (1.2 s) is the longest wait for a venue, and `PERPS_FEE_BPS` (0) the fee of this
 * service. Rules that are given replace the default ones.
 */
export const layer = (
  given?: VenueUrls,
  rules: Partial<ReadRules> = {}
): Layer.Layer<PerpsVenues, Config.ConfigError, HttpClient.HttpClient> =>
  Layer.unwrap(
    Effect.gen(function* () {
      const nodes = { PERPS_JUPITER_RPC_URL: yield* marketNodes }
      return yield* make(given ?? { ...publicUrls, ...nodes, ...Record.getSomes(yield* configured) }, rules)
    })
  )
