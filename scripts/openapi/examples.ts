/** Examples of the document: exchanges that were recorded with a seeded market, reduced to what a reader needs. */
import { catalogue, type ErrorCode } from "../../src/api/errors/catalogue.ts"

/** One exchange as `test/api/recording.ts` writes it. */
export interface Recorded {
  readonly operation: string
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly status: number
  readonly type: string
  readonly text: string
}

/** The examples of one operation: parts of its request, and its answers by status. */
export interface OperationExample {
  readonly parameters: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly answers: Readonly<Record<string, { readonly type: string; readonly value: unknown }>>
}

/** Everything that the document shows as an example. */
export interface Examples {
  readonly operations: Readonly<Record<string, OperationExample>>
  /** Values of parameters by name, for operations whose recorded request does without. */
  readonly parameters: Readonly<Record<string, string>>
  /** Bodies of errors by code. */
  readonly errors: Readonly<Record<string, unknown>>
}

/** Items of a list that an example shows. */
const MOST_ITEMS = 2

/** Id of every answer in the examples: real ones differ from one recording to the next. */
const REQUEST_ID = "3f2c8e5a-6d1b-4c7e-9a40-5b8d2f7e1c93"

const SECRET = /svc_(?:live|test)_\w{20,}/gu

/** The value with short lists, without secrets, and with the id of the examples. */
const reduced = (value: unknown, key = ""): unknown => {
  if (Array.isArray(value)) {
    const most = key === "path" || key === "windows" ? value.length : MOST_ITEMS
    return value.slice(0, most).map((item) => reduced(item))
  }
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, reduced(inner, name)]))
  }
  if (key === "requestId") {
    return REQUEST_ID
  }
  return typeof value === "string" ? value.replaceAll(SECRET, "svc_live_EXAMPLE") : value
}

/** The first quote or snapshot of a stream, as its schema has it: the fields of one event. */
const firstEvent = (text: string): unknown => {
  const frame = text.split("\n\n").find((each) => /^event: (?:quote|snapshot)$/mu.test(each)) ?? ""
  const fields = frame.split("\n").map((line): [string, string] => {
    const colon = line.indexOf(": ")
    return [line.slice(0, colon), line.slice(colon + 2)]
  })
  return Object.fromEntries(fields)
}

const answerOf = ({ text, type }: Recorded): unknown => {
  if (type === "application/json") {
    return reduced(JSON.parse(text))
  }
  return type === "text/event-stream" ? firstEvent(text) : text.split("\n").slice(0, 3).join("\n")
}

/** The first text under one of the names, anywhere in a value. */
const textAt = (value: unknown, name: string): string | undefined => {
  if (typeof value !== "object" || value === null) {
    return undefined
  }
  const own: unknown = Reflect.get(value, name)
  if (typeof own === "string") {
    return own
  }
  for (const inner of Object.values(value)) {
    const found = textAt(inner, name)
    if (found !== undefined) {
      return found
    }
  }
  return undefined
}

/** Parameters that are found in an answer: by name, the operation and the field. */
const FOUND: Readonly<Record<string, readonly [string, string]>> = {
  creator: ["launches.one", "creator"],
  mint: ["spot.quote", "outputMint"],
  token: ["spot.quote", "outputMint"],
  pool: ["pools.trades", "pool"],
  pools: ["pools.trades", "pool"],
  wallet: ["trades.ofToken", "wallet"],
  cursor: ["trades.ofToken", "nextCursor"],
  walletId: ["accountFunding.wallets", "walletId"],
  alertId: ["alerts.get", "id"],
  followId: ["copying.follow", "id"],
  group: ["tracker.createGroup", "groupId"]
}

/** Parameters whose value has nothing to do with a market. */
export const CHOSEN = {
  quoteToken: "So11111111111111111111111111111111111111112",
  chain: "solana",
  launchpad: "pump-fun",
  platform: "bags,letsbonk",
  venues: "orca-whirlpool,raydium-cpmm",
  venue: "orca-whirlpool,raydium-cpmm",
  excludeVenues: "meteora-dlmm",
  "perps.quote venues": "hl,velocity",
  "perps.funding venue": "hl",
  "perps.markets venues": "hl,velocity",
  builder: "xyz",
  "account.usage to": "2026-12-31",
  uiAmount: "1.5",
  minLiquidityUsd: "1000",
  minVolumeUsd: "500",
  minUsd: "100",
  minHolders: "50",
  holdHours: "24",
  leverage: "10",
  maxHops: "2",
  inputDecimals: "9",
  outputDecimals: "6",
  "last-event-id": "str_7Qm2xVb9LkT4sWz8RcYp1e:41",
  "Idempotency-Key": "2026-11-22-first-try"
} as const

/** A day in seconds before and at the time of the recorded quote. */
const timesOf = (quotedAtMs: number): Readonly<Record<string, string>> => ({
  from: String(Math.floor(quotedAtMs / 1000) - 86_400),
  to: String(Math.floor(quotedAtMs / 1000)),
  sinceMs: String(quotedAtMs - 86_400_000),
  untilMs: String(quotedAtMs)
})

const parametersOf = (operations: Examples["operations"]): Readonly<Record<string, string>> => {
  const found = Object.entries(FOUND).flatMap(([name, [operation, field]]) => {
    const text = textAt(operations[operation]?.answers, field)
    return text === undefined ? [] : [[name, text]]
  })
  const quote: unknown = operations["spot.quote"]?.answers["200"]?.value
  return {
    ...CHOSEN,
    ...timesOf(Number(Reflect.get(Object(quote), "quotedAtMs"))),
    ...Object.fromEntries(found)
  }
}

/** The rows of an answer: its data, or the first list in it; of CSV the lines below the names. Null without a list. */
export const rowsOf = (value: unknown): ReadonlyArray<unknown> | null => {
  if (typeof value === "string") {
    return value.split("\n").filter((line, at) => at > 0 && line !== "")
  }
  const data: unknown = Reflect.get(Object(value), "data")
  return Array.isArray(data) ? data : (Object.values(Object(data)).find((each) => Array.isArray(each)) ?? null)
}

const lacksRows = ({ answers }: OperationExample): boolean =>
  Object.values(answers).some(({ value }) => rowsOf(value)?.length === 0)

/**
 * New examples in place of earlier ones. An earlier example stays where the new answer has no rows: what is rare need not
 * happen while examples are recorded.
 */
export const withExamplesOf = (
  before: Examples["operations"],
  found: Examples["operations"]
): Examples["operations"] => ({
  ...before,
  ...Object.fromEntries(
    Object.entries(found).map(([id, example]) => {
      const earlier = before[id]
      return [id, earlier !== undefined && lacksRows(example) && !lacksRows(earlier) ? earlier : example]
    })
  )
})

const isGood = ({ status }: Recorded): boolean => status < 300

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b))

/** Examples of a recording, in the order of their names. */
export const examplesOf = (recorded: ReadonlyArray<Recorded>): Examples => {
  const sorted = recorded.toSorted((a, b) => compare(a.operation, b.operation) || b.status - a.status)
  const operations: Record<string, OperationExample> = {}
  for (const exchange of sorted.filter(isGood)) {
    const { body, operation, params, query, status, type } = exchange
    const before = operations[operation]
    operations[operation] = {
      parameters: { ...before?.parameters, ...params, ...query },
      ...((body !== undefined || before?.body !== undefined) && { body: body ?? before?.body }),
      answers: { ...before?.answers, [status]: { type, value: answerOf(exchange) } }
    }
  }
  const errors: Record<string, unknown> = {}
  for (const code of Object.keys(catalogue) as ReadonlyArray<ErrorCode>) {
    const { message } = catalogue[code]
    const found = sorted.find(({ status, text }) => status >= 400 && text.includes(`"code":"${code}"`))
    errors[code] =
      found === undefined ? { error: { code, message }, requestId: REQUEST_ID } : reduced(JSON.parse(found.text))
  }
  return { operations, parameters: parametersOf(operations), errors }
}
