/** Answers of a service, and the differences between the answers of two services. */
import { SOL } from "../../../src/domain/Address.ts"

/** A service to ask. */
export interface ServiceAccess {
  readonly baseUrl: string
  readonly secret: string
}

/** One question: a path, with a body where it is a POST. */
export interface Question {
  readonly path: string
  readonly body?: object
}

/** A difference between two answers at a path of member names. */
export interface Difference {
  readonly question: string
  readonly at: string
  readonly expected: unknown
  readonly found: unknown
}

const PATIENCE_MS = 120_000

/** Status and content of an answer; status 0 when there is none. Waits for as long as a 429 asks. */
export const ask = async (
  { baseUrl, secret }: ServiceAccess,
  { body, path }: Question
): Promise<{ readonly status: number; readonly content: unknown }> => {
  try {
    const response = await fetch(baseUrl + path, {
      method: body === undefined ? "GET" : "POST",
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(PATIENCE_MS)
    })
    const content: unknown = JSON.parse(await response.text())
    if (response.status === 429) {
      await new Promise((resume) => setTimeout(resume, 1000 * Number(response.headers.get("retry-after") ?? 1)))
      return await ask({ baseUrl, secret }, { path, ...(body !== undefined && { body }) })
    }
    return { status: response.status, content }
  } catch (cause) {
    return { status: 0, content: String(cause) }
  }
}

/** The value at a path of member names; undefined when there is none. */
export const at = (value: unknown, ...path: ReadonlyArray<string | number>): unknown =>
  path.reduce<unknown>(
    (inner, key) => (typeof inner === "object" && inner !== null ? Reflect.get(inner, key) : undefined),
    value
  )

/**
 * Members that belong to the answer or to the process, not to the market. A repaired bar has another revision. The day of a
 * wallet that is not over ends with the answer (`throughMs`). A process that reads the chain knows of a slot before its state
 * is confirmed (`contextSlot`). Each process reads the prices of pools at a time of its own (`markAtMs`, `oldestAtMs`). A
 * process that has read an account again knows the same state at a later slot (`stateSlot`), so one process may warn
 * that the rungs of a ladder are of slots far apart (`mixed_slots`), and another one not.
 */
const OWN: ReadonlySet<string> = new Set([
  "requestId",
  "asOf",
  "observedAtMs",
  "markAtMs",
  "oldestAtMs",
  "expiresAtMs",
  "nextCursor",
  "revision",
  "throughMs",
  "contextSlot",
  "stateSlot",
  "quotedAtMs",
  "engineTimeMs",
  "stateAgeMs"
])

const isOwnWarning = (value: unknown): boolean => typeof value === "string" && value.startsWith("mixed_slots:")

/** The value without the warnings that belong to the process. */
const shared = (value: unknown): unknown => (Array.isArray(value) ? value.filter((item) => !isOwnWarning(item)) : value)

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null

/** The differences between two contents. */
export const differences = (question: string, expected: unknown, found: unknown, path = ""): Array<Difference> => {
  if (!isObject(expected) || !isObject(found)) {
    return expected === found ? [] : [{ question, at: path, expected, found }]
  }
  const keys = new Set([...Object.keys(expected), ...Object.keys(found)])
  return Array.from(keys)
    .filter((key) => !OWN.has(key))
    .flatMap((key) => differences(question, shared(at(expected, key)), shared(at(found, key)), `${path}/${key}`))
}

/** Compares two answers to each question; returns the length of what was compared, too. */
export const compare = async (
  [one, other]: readonly [ServiceAccess, ServiceAccess],
  questions: ReadonlyArray<Question>
): Promise<{ readonly compared: number; readonly found: ReadonlyArray<Difference> }> => {
  const found: Array<Difference> = []
  let compared = 0
  for (const question of questions) {
    const [expected, actual] = await Promise.all([ask(one, question), ask(other, question)])
    compared += JSON.stringify(expected.content).length
    found.push(
      ...(expected.status === 200
        ? differences(question.path, expected, actual)
        : [{ question: question.path, at: "", expected: "an answer", found: expected }])
    )
  }
  return { compared, found }
}

/** The path of a quote of a thousandth of a SOL, or of as many atomic units. */
export const quotePath = (inputMint: string, outputMint: string): string =>
  `/api/v1/spot/quote?inputMint=${inputMint}&outputMint=${outputMint}&amount=1000000`

/** Answers that are made of account state, of tokens that trade against SOL. */
export const stateQuestionsOf = (mints: ReadonlyArray<string>): ReadonlyArray<Question> =>
  mints.flatMap((mint) =>
    mint === SOL
      ? []
      : [
          { path: quotePath(SOL, mint) },
          { path: quotePath(mint, SOL) },
          { path: `/api/v1/tokens/solana/${mint}/liquidity` },
          { path: "/api/v1/spot/exit-check", body: { mint, amount: "1000000" } }
        ]
  )

/** Every bar, window, ranking and wallet. */
export const questionsOf = (
  mints: ReadonlyArray<string>,
  wallets: ReadonlyArray<string>
): Record<"bars" | "rankings" | "wallets" | "windows", ReadonlyArray<Question>> => {
  const market = "/api/v1/market"
  const windows = ["5m", "1h", "6h", "24h"]
  return {
    windows: [
      { path: `${market}/lighthouse` },
      ...windows.flatMap((window) => [
        { path: `${market}/overview?window=${window}` },
        ...["gainers", "losers", "volume", "trades", "traders"].map((rank) => ({
          path: `${market}/movement?window=${window}&rank=${rank}&limit=100&minLiquidityUsd=0`
        })),
        ...["new", "graduated", "trending"].map((stage) => ({
          path: `${market}/discovery?window=${window}&stage=${stage}&limit=100`
        }))
      ])
    ],
    rankings: mints.flatMap((mint) =>
      ["1h", "24h", "all"].map((window) => ({
        path: `/api/v1/tokens/solana/${mint}/top-traders?window=${window}&limit=100`
      }))
    ),
    wallets: [
      { path: "/api/v1/wallets/summary", body: { wallets } },
      ...wallets.flatMap((wallet) => [
        { path: `/api/v1/wallets/${wallet}/positions?limit=500` },
        { path: `/api/v1/wallets/${wallet}/pnl/history` }
      ])
    ],
    bars: mints.flatMap((mint) =>
      ["1m", "5m", "1h", "1d"].flatMap((resolution) =>
        ["usd", "sol"]
          // SOL has no price in SOL.
          .filter((denom) => denom === "usd" || !mint.startsWith("So111"))
          .map((denom) => ({
            path: `${market}/chart/${mint}?resolution=${resolution}&denom=${denom}&limit=1500`
          }))
      )
    )
  }
}

/** Windows of an hour or more whose activity is null, by name. */
export const nullWindows = async (asked: ServiceAccess): Promise<ReadonlyArray<string> | null> => {
  const { content, status } = await ask(asked, { path: "/api/v1/market/lighthouse" })
  const stats = at(content, "data", "markets", 0, "stats")
  return status === 200 ? ["1h", "6h", "24h"].filter((window) => at(stats, window, "trades", "total") === null) : null
}

/** The state of a source at /freshness; null when there is no answer. */
export const sourceState = async (asked: ServiceAccess, source: string): Promise<unknown> => {
  const { content, status } = await ask(asked, { path: "/freshness" })
  const sources = at(content, "data")
  return status === 200 && Array.isArray(sources)
    ? (sources.find((each: unknown) => at(each, "source") === source) ?? null)
    : null
}
