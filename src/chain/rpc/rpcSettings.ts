/** Settings of the nodes. The address of a node may hold a key, so addresses are redacted. */
import { Array, Config, ConfigProvider, Duration, Option, Redacted, Schema } from "effect"
import { countSetting, durationSetting } from "../../domain/countSetting.ts"
import { givenOr } from "../../operations/urlSettings.ts"
import { Commitment } from "../Commitment.ts"

/** The two addresses of one node. */
export interface RpcNode {
  /** Host and port, for logs and probes: the rest of an address may hold a key. */
  readonly host: string
  readonly rpcUrl: Redacted.Redacted
  readonly wsUrl: Redacted.Redacted
}

/** Settings of calls to nodes and of following one of them. */
export interface RpcSettings {
  /** In order of preference. */
  readonly nodes: Array.NonEmptyReadonlyArray<RpcNode>
  readonly commitment: Commitment
  /** The deadline of one request, of each retry, and of opening a connection. */
  readonly timeout: Duration.Duration
  /** The same deadline for a search among a program's accounts, which is slow on every node. */
  readonly scanTimeout: Duration.Duration
  /** Retries of a call. */
  readonly retries: number
  /** Requests in flight at a time. */
  readonly concurrency: number
  /** Accounts that one WebSocket follows. Another WebSocket is opened for more. */
  readonly subscriptions: number
  /** A connection without a new slot for this long counts as dead. */
  readonly watchdog: Duration.Duration
  /** Events that may wait for a slow consumer. When there are more, one snapshot replaces them. */
  readonly backlog: number
}

/** Settings given in code; they win over the environment. Addresses are comma-separated, as in the environment. */
export interface RpcOptions extends Partial<Omit<RpcSettings, "nodes">> {
  readonly rpcUrl?: string | undefined
  readonly wsUrl?: string | undefined
}

const split = (list: string): ReadonlyArray<string> => list.split(",").map((part) => part.trim())

const isUrl = (text: string, protocols: ReadonlyArray<string>) =>
  URL.canParse(text) && protocols.includes(new URL(text).protocol)

/** A comma-separated list of addresses. The message of a bad one does not repeat it, because it may hold a key. */
const urls = (name: string, protocols: ReadonlyArray<string>, count?: number): Config.Config<ReadonlyArray<string>> =>
  Config.schema(
    Schema.String.annotate({
      message: "is missing: the address of a Solana node, or several with commas between"
    }).check(
      Schema.makeFilter((list) => {
        const parts = split(list)
        if (!parts.every((part) => isUrl(part, protocols))) {
          return `must be a URL, or several with commas between, each starting with ${protocols.join(" or ")}`
        }
        return (
          count === undefined ||
          parts.length === count ||
          `must have as many addresses as SOLANA_RPC_URL, which has ${count}`
        )
      })
    ),
    name
  ).pipe(Config.map((list) => split(list).map((part) => new URL(part).href)))

/** Addresses given in code, checked like the setting, and refused by its name. */
const givenAddresses = (
  name: string,
  list: string,
  setting: Config.Config<ReadonlyArray<string>>
): Config.Config<ReadonlyArray<string>> =>
  Config.mapEffect(Config.succeed(ConfigProvider.fromUnknown({ [name]: list })), (provider) => setting.parse(provider))

const seconds = (name: string, byDefault: number) =>
  durationSetting(name).pipe(Config.withDefault(Duration.seconds(byDefault)))

/** `SOLANA_RPC_URL`: the nodes that serve the market, comma-separated, the preferred node first. */
export const rpcUrlSetting: Config.Config<ReadonlyArray<string>> = urls("SOLANA_RPC_URL", ["http:", "https:"])

/** `SOLANA_WS_URL`: the WebSocket addresses of these nodes, in the same order. `rpcSettings` checks the count. */
export const wsUrlSetting: Config.Config<Option.Option<ReadonlyArray<string>>> = Config.option(
  urls("SOLANA_WS_URL", ["ws:", "wss:"])
)

/** `HISTORY_RPC_URL`: the nodes that old blocks are read from, comma-separated, the preferred node first. */
export const historyUrlSetting: Config.Config<Option.Option<ReadonlyArray<string>>> = Config.option(
  urls("HISTORY_RPC_URL", ["http:", "https:"])
)

/** Turns http into ws and https into wss. A validator whose WebSocket listens on another port needs `SOLANA_WS_URL`. */
export const wsUrlOf = (rpcUrl: string): string => rpcUrl.replace(/^http/u, "ws")

/** A node. Its WebSocket address is derived when it is not given. */
export const rpcNode = (rpcUrl: string, wsUrl: string = wsUrlOf(rpcUrl)): RpcNode => ({
  host: URL.canParse(rpcUrl) ? new URL(rpcUrl).host : "unknown",
  rpcUrl: Redacted.make(rpcUrl),
  wsUrl: Redacted.make(wsUrl)
})

const pairs = (rpcUrls: ReadonlyArray<string>, wsUrls: ReadonlyArray<string>): Array.NonEmptyReadonlyArray<RpcNode> => {
  const nodes = rpcUrls.map((url, index) => rpcNode(url, wsUrls[index]))
  // A list always has at least one address.
  return Array.isReadonlyArrayNonEmpty(nodes) ? nodes : [rpcNode("")]
}

/**
 * The given options; for the rest `SOLANA_RPC_URL`, `SOLANA_WS_URL` (by default the RPC address with ws for http),
 * `SOLANA_COMMITMENT` (confirmed), `SOLANA_RPC_TIMEOUT` (5 s), `SOLANA_SCAN_TIMEOUT` (20 s), `SOLANA_RPC_RETRIES` (3),
 * `SOLANA_RPC_CONCURRENCY` (16), `SOLANA_WS_SUBSCRIPTIONS` (1,000), `SOLANA_WATCHDOG` (10 s) and `SOLANA_BACKLOG` (4096
 * events).
 */
export const rpcSettings = (given: RpcOptions): Config.Config<RpcSettings> => {
  const rpcUrls =
    given.rpcUrl === undefined ? rpcUrlSetting : givenAddresses("SOLANA_RPC_URL", given.rpcUrl, rpcUrlSetting)
  const wsUrls = (count: number) => {
    const setting = urls("SOLANA_WS_URL", ["ws:", "wss:"], count)
    if (given.wsUrl !== undefined) {
      return givenAddresses("SOLANA_WS_URL", given.wsUrl, setting)
    }
    return given.rpcUrl === undefined
      ? Config.map(
          Config.option(setting),
          Option.getOrElse((): ReadonlyArray<string> => [])
        )
      : Config.succeed<ReadonlyArray<string>>([])
  }
  return Config.all({
    nodes: Config.flatMap(rpcUrls, (rpc) => Config.map(wsUrls(rpc.length), (ws) => pairs(rpc, ws))),
    commitment: givenOr(
      given.commitment,
      Config.schema(Commitment, "SOLANA_COMMITMENT").pipe(Config.withDefault("confirmed" as const))
    ),
    timeout: givenOr(given.timeout, seconds("SOLANA_RPC_TIMEOUT", 5)),
    scanTimeout: givenOr(given.scanTimeout, seconds("SOLANA_SCAN_TIMEOUT", 20)),
    retries: givenOr(given.retries, countSetting("SOLANA_RPC_RETRIES", 3)),
    concurrency: givenOr(given.concurrency, countSetting("SOLANA_RPC_CONCURRENCY", 16, 1)),
    subscriptions: givenOr(given.subscriptions, countSetting("SOLANA_WS_SUBSCRIPTIONS", 1000, 1)),
    watchdog: givenOr(given.watchdog, seconds("SOLANA_WATCHDOG", 10)),
    backlog: givenOr(given.backlog, countSetting("SOLANA_BACKLOG", 4096))
  })
}
