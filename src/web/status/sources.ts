/** The sources of `/freshness` in words. */
import { ageWords, timeText } from "../parts/words.ts"

/** One source as the API gives it. Some sources have more keys, such as gaps and the progress of a repair. */
export interface SourceJson {
  readonly source: string
  readonly observedAtMs: number | null
  readonly lagMs: number | null
  readonly status: "known" | "partial" | "stale" | "unavailable"
  readonly node?: string
  /** When the last request failed. Only services that are asked on demand have this key. */
  readonly failedAtMs?: number | null
}

const purposes: Readonly<Record<string, string>> = {
  chain: "Slots and accounts of pools",
  block_feed: "The node that blocks are read from",
  pool_search: "Search for pools by program",
  pool_index: "Index of pools",
  execution: "Quotes by executing programs",
  blocks: "Blocks, from which trades are decoded",
  decoding: "Swaps that events or balances confirm",
  trades: "Trades in memory: charts, windows, rankings",
  database: "PostgreSQL",
  alerts: "Evaluation of alerts",
  callouts: "Callouts and their results",
  tracker: "Trades of tracked wallets",
  search: "Names of tokens",
  wallets: "Index of wallets",
  owner_links: "Wallets of one owner",
  wallet_accounts: "Token accounts of wallets",
  wallet_history: "Earlier trades of wallets",
  follows: "Copy trading",
  keys: "API keys",
  repair: "Repair of missed blocks",
  backfill: "Backfill of history",
  history_feed: "The node that old blocks are read from",
  evm_candles: "Candles of EVM tokens",
  funding: "Deposits and balances",
  usage: "Request counts by key",
  valkey: "Budgets and connections shared by processes",
  market_socket: "Frames of the market socket"
}

/** What a source is for; null when it has no description. */
export const purposeOf = (source: string): string | null =>
  purposes[source] ?? (source.startsWith("perps_") ? "A perps venue" : null)

const states = {
  known: "Current",
  partial: "Partly current",
  stale: "Stale",
  unavailable: "Unavailable"
} as const

/** True for a service that no request has needed yet. */
export const isUnasked = ({ failedAtMs, observedAtMs, status }: SourceJson): boolean =>
  status === "unavailable" && failedAtMs === null && observedAtMs === null

/** The state of a source in words. */
export const stateWords = (source: SourceJson): string => (isUnasked(source) ? "Not asked yet" : states[source.status])

const own = new Set(["source", "observedAtMs", "lagMs", "status", "node"])

/** Turns a key into words: `openGaps` becomes `open gaps`. A unit at the end is dropped, because the value shows it. */
const keyWords = (key: string): string =>
  key
    .replace(/(?<=[a-z0-9])(?:AtMs|Ms|Pct)$/u, "")
    .replaceAll(/(?<=[a-z0-9])[A-Z]/gu, (letter) => ` ${letter.toLowerCase()}`)

const valueWords = (key: string, value: unknown): string => {
  if (value === null) {
    return "–"
  }
  if (typeof value === "number" && key.endsWith("AtMs")) {
    return timeText(value)
  }
  if (typeof value === "number" && key.endsWith("Ms")) {
    return ageWords(value)
  }
  return key.endsWith("Pct") ? `${String(value)} %` : String(value)
}

/** All other keys of a source as names and values. Nested objects are flattened. */
export const extrasOf = (source: object): ReadonlyArray<readonly [name: string, value: string]> =>
  Object.entries(source).flatMap(([key, value]) => {
    if (own.has(key)) {
      return []
    }
    if (Array.isArray(value)) {
      return [[keyWords(key), String(value.length)] as const]
    }
    return typeof value === "object" && value !== null
      ? extrasOf(value).map(([name, text]) => [`${keyWords(key)}: ${name}`, text] as const)
      : [[keyWords(key), valueWords(key, value)] as const]
  })
