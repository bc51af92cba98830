/** Settings of the node. Addresses of nodes carry keys, so they are redacted. */
import { Config, Duration, Option, Redacted } from "effect"
import { givenOr, urlOf } from "../../upstream/urlSettings.ts"
import { Commitment } from "../Commitment.ts"

/** Settings of calls to a node and of following it. */
export interface RpcSettings {
  readonly rpcUrl: Redacted.Redacted
  readonly wsUrl: Redacted.Redacted
  readonly commitment: Commitment
  /** The deadline of one request, of each retry, and of opening a connection. */
  readonly timeout: Duration.Duration
  /** The same for a search among a program's accounts, which is slow on every node. */
  readonly scanTimeout: Duration.Duration
  /** Retries of a call. */
  readonly retries: number
  /** Requests in flight at a time. */
  readonly concurrency: number
  /** Without a new slot for this long, the connection counts as dead. */
  readonly watchdog: Duration.Duration
  /** Queued events of a slow consumer before they are replaced by one snapshot. */
  readonly backlog: number
}

/** Settings given in code; they win over the environment. */
export interface RpcOptions extends Partial<Omit<RpcSettings, "rpcUrl" | "wsUrl">> {
  readonly rpcUrl?: string | undefined
  readonly wsUrl?: string | undefined
}

const url = (name: string, ...protocols: ReadonlyArray<string>) =>
  Config.map(Config.schema(urlOf(...protocols), name), ({ href }) => href)

const seconds = (name: string, byDefault: number) =>
  Config.Duration(name).pipe(Config.withDefault(Duration.seconds(byDefault)))

const count = (name: string, byDefault: number) => Config.Int(name).pipe(Config.withDefault(byDefault))

/** `SOLANA_RPC_URL`: the node that serves the market. */
export const rpcUrlSetting: Config.Config<string> = url("SOLANA_RPC_URL", "http:", "https:")

/** http becomes ws and https becomes wss. A validator that listens on another port for it needs `SOLANA_WS_URL`. */
export const wsUrlOf = (rpcUrl: string): string => rpcUrl.replace(/^http/u, "ws")

/**
 * The given options, the rest from `SOLANA_RPC_URL`, `SOLANA_WS_URL` (the former with ws for http), `SOLANA_COMMITMENT`
 * (confirmed), `SOLANA_RPC_TIMEOUT` (5 s), `SOLANA_SCAN_TIMEOUT` (20 s), `SOLANA_RPC_RETRIES` (3),
 * `SOLANA_RPC_CONCURRENCY` (16), `SOLANA_WATCHDOG` (10 s) and `SOLANA_BACKLOG` (4096 events).
 */
export const rpcSettings = (given: RpcOptions): Config.Config<RpcSettings> => {
  const rpcUrl = givenOr(given.rpcUrl, rpcUrlSetting)
  const wsUrl = givenOr(
    given.wsUrl,
    url("SOLANA_WS_URL", "ws:", "wss:").pipe(
      Config.option,
      Config.flatMap(Option.match({ onNone: () => Config.map(rpcUrl, wsUrlOf), onSome: Config.succeed }))
    )
  )
  return Config.all({
    rpcUrl: Config.map(rpcUrl, (url) => Redacted.make(url)),
    wsUrl: Config.map(wsUrl, (url) => Redacted.make(url)),
    commitment: givenOr(
      given.commitment,
      Config.schema(Commitment, "SOLANA_COMMITMENT").pipe(Config.withDefault("confirmed" as const))
    ),
    timeout: givenOr(given.timeout, seconds("SOLANA_RPC_TIMEOUT", 5)),
    scanTimeout: givenOr(given.scanTimeout, seconds("SOLANA_SCAN_TIMEOUT", 20)),
    retries: givenOr(given.retries, count("SOLANA_RPC_RETRIES", 3)),
    concurrency: givenOr(given.concurrency, count("SOLANA_RPC_CONCURRENCY", 16)),
    watchdog: givenOr(given.watchdog, seconds("SOLANA_WATCHDOG", 10)),
    backlog: givenOr(given.backlog, count("SOLANA_BACKLOG", 4096))
  })
}
