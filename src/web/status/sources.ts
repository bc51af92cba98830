/** The sources of `/freshness` in words. */
import { tidyDecimal } from "../parts/numbers.ts"
import { ageWords, reasonWords, timeText } from "../parts/words.ts"

/** One source as the API gives it. Some sources have more keys, such as gaps and the progress of a repair. */
export interface SourceJson {
  readonly source: string
  readonly observedAtMs: number | null
  readonly lagMs: number | null
  readonly status: "known" | "partial" | "stale" | "unavailable"
  readonly node?: string
  /** When the last request failed. Only services that are asked on demand have this key. */
  readonly failedAtMs?: number | null
  /** Why the source is not current. */
  readonly reason?: string | null
}

const names: Readonly<Record<string, readonly [name: string, purpose: string]>> = {
  chain: ["Chain", "slots and accounts of pools"],
  block_feed: ["Block feed", "the node that blocks are read from"],
  geyser_1: ["First Geyser", "one of the raced streams of blocks"],
  geyser_2: ["Second Geyser", "one of the raced streams of blocks"],
  pool_search: ["Pool search", "pools found by their program"],
  pool_index: ["Pool index", "all pools of the quoted programs"],
  execution: ["Execution", "quotes by running their programs"],
  blocks: ["Blocks", "what trades are decoded from"],
  decoding: ["Decoding", "swaps that events or balances confirm"],
  programs: ["Programs", "whether quoted programs were upgraded"],
  trades: ["Trades", "in memory: charts, windows, rankings"],
  holders: ["Holders", "owners of tokens"],
  database: ["Database", "PostgreSQL"],
  alerts: ["Alerts", "their evaluation"],
  callouts: ["Callouts", "and their results"],
  tracker: ["Tracker", "trades of tracked wallets"],
  search: ["Search", "names of tokens"],
  wallets: ["Wallets", "the index of wallets"],
  owner_links: ["Owners", "wallets of one owner"],
  wallet_accounts: ["Wallet accounts", "token accounts of wallets"],
  wallet_history: ["Wallet history", "earlier trades of wallets"],
  follows: ["Copy trading", "follows and fills"],
  keys: ["API keys", "limits and plans"],
  repair: ["Repair", "blocks that were missed"],
  backfill: ["History", "blocks from before the start"],
  history_feed: ["History feed", "the node that old blocks are read from"],
  replay: ["Replay", "a recording that is played"],
  recording: ["Recording", "account writes and blocks in files"],
  evm_candles: ["EVM candles", "tokens of other chains"],
  funding: ["Funding", "deposits and balances"],
  usage: ["Usage", "requests by key"],
  valkey: ["Valkey", "budgets and connections of all processes"],
  market_socket: ["Market socket", "live frames"]
}

/** A source's key as words, for sources that have no name here. */
const wordsOfKey = (key: string): string => {
  const words = key.replaceAll("_", " ")
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`
}

/** Name of a source, and what it is for; null when it has no description. */
export const nameOf = (source: string): readonly [name: string, purpose: string | null] =>
  source.startsWith("perps_")
    ? [`Perps: ${source.slice("perps_".length)}`, "a venue of perpetual futures"]
    : (names[source] ?? [wordsOfKey(source), null])

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

/** Keys that say nothing, or that `noteOf` puts into words. */
const told = new Set([
  "slot",
  "head",
  "share",
  "leftMs",
  "gapsOpen",
  "estimatedTimes",
  "failedAtMs",
  "reason",
  "decoding"
])

const numberOf = (source: object, key: string): number | null => {
  const value = (source as Readonly<Record<string, unknown>>)[key]
  return typeof value === "number" ? value : null
}

/** Where a source is, how far it has come and what it lacks, as parts of a sentence. Nothing that is usual is said. */
export const noteOf = (source: SourceJson): ReadonlyArray<string> => {
  const number = (key: string) => numberOf(source, key)
  const [slot, share, leftMs, gaps, failedAtMs] = [
    number("slot"),
    number("share"),
    number("leftMs"),
    number("gapsOpen"),
    number("failedAtMs")
  ]
  const { reason } = source
  const rest = Object.fromEntries(Object.entries(source).filter(([key, value]) => !told.has(key) && value !== null))
  return [
    ...(slot === null ? [] : [`at slot ${tidyDecimal(String(slot))}`]),
    ...(share === null || share >= 1
      ? []
      : [`${Math.floor(100 * share)} % read${leftMs === null ? "" : `, about ${ageWords(leftMs)} left`}`]),
    ...(gaps === null ? [] : [gaps === 0 ? "no gaps" : `${gaps} ${gaps === 1 ? "gap" : "gaps"} open`]),
    ...(failedAtMs === null ? [] : [`last failed ${ageWords(Date.now() - failedAtMs)} ago`]),
    ...(reason === undefined || reason === null || isUnasked(source) ? [] : [reasonWords(reason)]),
    ...extrasOf(rest).map(([name, value]) => `${name} ${value}`)
  ]
}

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
