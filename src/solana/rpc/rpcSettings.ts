/** Where the node is and how it is asked. Addresses of nodes carry keys, so they are kept out of logs. */
import { Config, Duration, Option, Redacted, Schema } from "effect"
import { Commitment } from "./SolanaRpc.ts"

/** How a node is asked and followed. */
export interface RpcSettings {
  readonly rpcUrl: Redacted.Redacted
  readonly wsUrl: Redacted.Redacted
  readonly commitment: Commitment
  /** How long one request may take, and opening a connection; a call that is tried again has it each time. */
  readonly timeout: Duration.Duration
  /** The same for a search among a program's accounts, which is slow on every node. */
  readonly scanTimeout: Duration.Duration
  /** How often a call is tried again. */
  readonly retries: number
  /** Requests in flight at a time. */
  readonly concurrency: number
  /** Without a new slot for this long, the connection counts as dead. */
  readonly watchdog: Duration.Duration
  /** Events a slow consumer may leave lying before they are replaced by one snapshot. */
  readonly backlog: number
}

/** Settings given in code; they win over the environment. */
export interface RpcOptions extends Partial<Omit<RpcSettings, "rpcUrl" | "wsUrl">> {
  readonly rpcUrl?: string | undefined
  readonly wsUrl?: string | undefined
}

const http = ["http:", "https:"]
const ws = ["ws:", "wss:"]

const UrlOf = (protocols: ReadonlyArray<string>) =>
  Schema.URL.check(
    Schema.makeFilter((url) => protocols.includes(url.protocol) || `must start with ${protocols.join(" or ")}`)
  )

const urlOf = (name: string, protocols: ReadonlyArray<string>) =>
  Config.schema(UrlOf(protocols), name).pipe(Config.map((url) => url.href))

const or = <A>(given: A | undefined, config: Config.Config<A>): Config.Config<A> =>
  given === undefined ? config : Config.succeed(given)

const seconds = (name: string, byDefault: number) =>
  Config.Duration(name).pipe(Config.withDefault(Duration.seconds(byDefault)))

const count = (name: string, byDefault: number) => Config.Int(name).pipe(Config.withDefault(byDefault))

/** http becomes ws and https becomes wss. A validator that listens on another port for it needs `SOLANA_WS_URL`. */
export const wsUrlOf = (rpcUrl: string): string => rpcUrl.replace(/^http/u, "ws")

/**
 * What is given, the rest from `SOLANA_RPC_URL`, `SOLANA_WS_URL` (the former with ws for http), `SOLANA_COMMITMENT`
 * (confirmed), `SOLANA_RPC_TIMEOUT` (5 s), `SOLANA_SCAN_TIMEOUT` (20 s), `SOLANA_RPC_RETRIES` (3),
 * `SOLANA_RPC_CONCURRENCY` (16), `SOLANA_WATCHDOG` (10 s) and `SOLANA_BACKLOG` (4096 events).
 */
export const rpcSettings = (given: RpcOptions): Config.Config<RpcSettings> => {
  const rpcUrl = or(given.rpcUrl, urlOf("SOLANA_RPC_URL", http))
  const wsUrl = or(
    given.wsUrl,
    urlOf("SOLANA_WS_URL", ws).pipe(
      Config.option,
      Config.flatMap(Option.match({ onNone: () => Config.map(rpcUrl, wsUrlOf), onSome: (url) => Config.succeed(url) }))
    )
  )
  return Config.all({
    rpcUrl: Config.map(rpcUrl, (url) => Redacted.make(url)),
    wsUrl: Config.map(wsUrl, (url) => Redacted.make(url)),
    commitment: or(
      given.commitment,
      Config.schema(Commitment, "SOLANA_COMMITMENT").pipe(Config.withDefault("confirmed" as const))
    ),
    timeout: or(given.timeout, seconds("SOLANA_RPC_TIMEOUT", 5)),
    scanTimeout: or(given.scanTimeout, seconds("SOLANA_SCAN_TIMEOUT", 20)),
    retries: or(given.retries, count("SOLANA_RPC_RETRIES", 3)),
    concurrency: or(given.concurrency, count("SOLANA_RPC_CONCURRENCY", 16)),
    watchdog: or(given.watchdog, seconds("SOLANA_WATCHDOG", 10)),
    backlog: or(given.backlog, count("SOLANA_BACKLOG", 4096))
  })
}
