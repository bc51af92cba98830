/** Requests of every kind, spending of a budget, and alerts that fire at once, until they are stopped. */
import { randomUUID } from "node:crypto"
import { readFileSync } from "node:fs"
import { DEFAULT_PLAN } from "../../../src/api/schemas/Plan.ts"
import { SOL } from "../../../src/domain/Address.ts"
import type { Stopping } from "../../soak/sockets.ts"
import { ask, at, type Question, type ServiceAccess } from "../repair/answers.ts"
import type { Span } from "./scene.ts"

const document: { readonly paths: Record<string, Record<string, { readonly responses: object }>> } = JSON.parse(
  readFileSync(new URL("../../../src/api/openapi.json", import.meta.url), "utf8")
)

const templates = Object.entries(document.paths).map(([path, methods]) => ({
  pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/gu, "[^/]+")}$`, "u"),
  methods
}))

/** True when the document declares the status for the question. */
export const isDeclared = ({ body, path }: Question, status: number): boolean => {
  const found = templates.find(({ pattern }) => pattern.test(path.split("?")[0] ?? ""))
  const operation = found?.methods[body === undefined ? "get" : "post"]
  return operation !== undefined && String(status) in operation.responses
}

/** One read of every kind that a service without a funding service answers. */
export const everyRead = (mint: string, wallet: string): ReadonlyArray<Question> => {
  const token = `/api/v1/tokens/solana/${mint}`
  const pair = { inputMint: SOL, outputMint: mint, amount: "1000000000" }
  return [
    "/livez",
    "/readyz",
    "/freshness",
    "/api/v1/account/key",
    "/api/v1/account/usage",
    `/api/v1/spot/quote?${new URLSearchParams(pair).toString()}`,
    ...["lighthouse", "overview", "movement?rank=trades", "discovery?stage=trending"].map(
      (name) => `/api/v1/market/${name}`
    ),
    `/api/v1/market/chart/${mint}`,
    ...["", "/risk", "/liquidity", "/holders", "/trades", "/top-traders", "/stats"].map((name) => token + name),
    ...["positions", "pnl/history"].map((name) => `/api/v1/wallets/${wallet}/${name}`),
    ...["wallets", "snapshot", "trades"].map((name) => `/api/v1/tracker/${name}`),
    "/api/v1/alerts",
    "/api/v1/alerts/events",
    "/api/v1/launches",
    "/api/v1/search?q=usdc",
    "/api/v1/copy/follows",
    "/api/v1/callouts/feed"
  ]
    .map((path): Question => ({ path }))
    .concat([
      { path: "/api/v1/wallets/summary", body: { wallets: [wallet] } },
      { path: "/api/v1/route", body: pair },
      { path: "/api/v1/spot/exit-check", body: { mint, amount: "1000000" } }
    ])
}

/** Counts of answers by status, undocumented statuses, answers of 500 and above, and requests without an answer. */
export interface Answers {
  readonly statuses: Record<string, number>
  /**
   * Answers of 500 and above, by the fault during which the request was sent or answered, then by status, code and
   * path.
   */
  readonly failed: Record<string, Record<string, number>>
  /** 503 answers outside of faults that are no failure, because a repeated request succeeded. */
  readonly askedAgain: Record<string, number>
  /** Answers with an undocumented status, and answers of defects. */
  readonly undeclared: Array<{ readonly path: string; readonly status: number; readonly content: string }>
  /** Requests without an answer, by the fault in which they were sent or cut; `none` outside of all. */
  readonly unanswered: Record<string, number>
}

/** No answer was noted yet. */
export const noAnswers = (): Answers => ({
  statuses: {},
  failed: {},
  askedAgain: {},
  undeclared: [],
  unanswered: {}
})

/** The fault that is being held or recovered from; `start` before the service is whole for the first time, else `none`. */
export interface Current {
  fault: string
}

const INTERNAL_ERROR = 500
const UNAVAILABLE = 503
/** Tries after which a request that is answered 503 outside of faults has failed: a late decision of a busy machine is made at the next one. */
const TRIES = 5
const TRY_EVERY_MS = 1000

/** The answers of 503 in a row to one request outside of faults. */
export interface Tries {
  count: number
}

const pause = (ms: number) => new Promise<void>((resume) => setTimeout(resume, ms))

/** Notes an answer; with status 0 that there was none. */
export const noteAnswer = (
  { askedAgain, failed, statuses, unanswered, undeclared }: Answers,
  question: Question,
  { content, status }: { readonly status: number; readonly content: unknown },
  fault: string,
  tries: Tries
): void => {
  const isRefused = status === UNAVAILABLE && fault === "none"
  tries.count = isRefused ? (tries.count + 1) % TRIES : 0
  if (status === 0) {
    unanswered[fault] = (unanswered[fault] ?? 0) + 1
    return
  }
  statuses[status] = (statuses[status] ?? 0) + 1
  if (status >= INTERNAL_ERROR) {
    const counts = isRefused && tries.count > 0 ? askedAgain : (failed[fault] ??= {})
    const name = `${status} ${String(at(content, "error", "code"))} ${question.path.split("?")[0]}`
    counts[name] = (counts[name] ?? 0) + 1
  }
  if (!isDeclared(question, status) || status === INTERNAL_ERROR) {
    undeclared.push({ path: question.path, status, content: JSON.stringify(content).slice(0, 200) })
  }
}

/** The fault of an answer: the one in which the request was sent, else the one in which it was answered. */
const faultOf = (sentIn: string, { fault }: Current): string => (sentIn === "none" ? fault : sentIn)

/** Requests that were answered and not sent again, and their number in a round. */
export interface ReadProgress {
  answered: number
  readonly round: number
}

/** Asks every question in turn, and again where it is answered 503 outside of faults. */
export const readOn = async (
  asked: ServiceAccess,
  questions: ReadonlyArray<Question>,
  answers: Answers,
  progress: ReadProgress,
  current: Current,
  stopping: Stopping
) => {
  const tries: Tries = { count: 0 }
  while (!stopping.isStopping || tries.count > 0) {
    const question = questions[progress.answered % questions.length]
    if (question !== undefined) {
      const { fault } = current
      const answer = await ask(asked, question)
      noteAnswer(answers, question, answer, faultOf(fault, current), tries)
      progress.answered += tries.count === 0 ? 1 : 0
    }
    await pause(tries.count === 0 ? 100 : TRY_EVERY_MS)
  }
}

/** Time of a request and of its answer. */
export interface Admitted {
  readonly sentMs: number
  readonly answeredMs: number
  /** True when the process decided alone: the limit of the answer is its share of the budget. */
  readonly isAlone?: boolean
}

const SPENT: Question = { path: "/api/v1/alerts?limit=1" }

/** Spends the budget of a key at a process as fast as it is let, and notes what was answered to a process that is there. */
export const spendOn = async (
  asked: ServiceAccess,
  admitted: Array<Admitted>,
  answers: Answers,
  current: Current,
  stopping: Stopping
) => {
  const tries: Tries = { count: 0 }
  while (!stopping.isStopping || tries.count > 0) {
    const { fault } = current
    const sentMs = performance.now()
    try {
      const response = await fetch(asked.baseUrl + SPENT.path, {
        headers: { authorization: `Bearer ${asked.secret}` },
        signal: AbortSignal.timeout(30_000)
      })
      const content: unknown = await response.json()
      noteAnswer(answers, SPENT, { status: response.status, content }, faultOf(fault, current), tries)
      if (response.status === 200) {
        const isAlone = Number(response.headers.get("x-ratelimit-limit")) < DEFAULT_PLAN.rest
        admitted.push({ sentMs, answeredMs: performance.now(), isAlone })
      }
    } catch {
      // The process is away.
      tries.count = 0
    }
    await pause(tries.count === 0 ? 150 : TRY_EVERY_MS)
  }
}

/** Admissions outside of the times at which processes decide alone. */
export const outside = (admitted: ReadonlyArray<Admitted>, spans: ReadonlyArray<Span>): ReadonlyArray<Admitted> =>
  admitted.filter(({ answeredMs, sentMs }) => !spans.some(({ fromMs, toMs }) => answeredMs >= fromMs && sentMs <= toMs))

/**
 * The most admissions that certainly lie within less than a window: no other order of the clocks allows them. Budgets begin anew
 * at the times of `emptiedMs`, so those before and after one are counted apart.
 */
export const fullestWindow = (
  admitted: ReadonlyArray<Admitted>,
  windowMs: number,
  emptiedMs: ReadonlyArray<number> = []
): number => {
  const bySent = admitted.toSorted((a, b) => a.sentMs - b.sentMs)
  const bounds = [...emptiedMs, Number.POSITIVE_INFINITY]
  return bySent.reduce((most, first, i) => {
    const emptied = bounds.find((bound) => bound > first.sentMs) ?? Number.POSITIVE_INFINITY
    const end = Math.min(first.sentMs + windowMs, emptied)
    return Math.max(most, bySent.slice(i).filter(({ answeredMs }) => answeredMs < end).length)
  }, 0)
}

/** How often an alert may fire. */
type Recurrence = "once" | "repeat"

/**
 * Creates an alert that fires at once. The price stays above its threshold, so one that repeats fires once too, but only
 * because it is not armed again: no final status stops a second firing. Returns the answer, and the id where it was created;
 * status 0 without an answer.
 */
export const createAlert = (asked: ServiceAccess, mint: string, name: string, recurrence: Recurrence = "once") => {
  const condition = { metric: "price_usd", operator: "crosses_above", threshold: "0.000000000001" }
  return sendAlert(asked, { mint, condition, fireNow: true, recurrence }, name)
}

/** Creates an alert that fires on every trade of a wallet that the account tracks. */
const createWalletAlert = (asked: ServiceAccess, wallet: string, name: string) => {
  const condition = { metric: "wallet_trade_usd", operator: "at_least", threshold: "0.000001" }
  return sendAlert(asked, { wallet, condition, recurrence: "repeat" }, name)
}

const sendAlert = async (asked: ServiceAccess, alert: object, name: string) => {
  try {
    const response = await fetch(asked.baseUrl + ALERTS.path, {
      method: "POST",
      headers: {
        authorization: `Bearer ${asked.secret}`,
        "content-type": "application/json",
        "idempotency-key": name
      },
      body: JSON.stringify(alert),
      signal: AbortSignal.timeout(30_000)
    })
    const content: unknown = await response.json()
    const id = at(content, "data", "id")
    return { status: response.status, content, id: response.ok && typeof id === "string" ? id : null }
  } catch {
    return { status: 0, content: null, id: null }
  }
}

const ALERTS: Question = { path: "/api/v1/alerts", body: {} }

/** An alert that was acknowledged. */
export interface CreatedAlert {
  readonly id: string
  readonly atMs: number
}

/** Creates alerts that fire at once, every other one of them repeating. Each is sent under one idempotency key until it is acknowledged. */
export const createOn = async (
  asked: ServiceAccess,
  mint: string,
  created: Array<CreatedAlert>,
  answers: Answers,
  current: Current,
  stopping: Stopping
) => {
  let name = randomUUID()
  const tries: Tries = { count: 0 }
  while (!stopping.isStopping || tries.count > 0) {
    const { fault } = current
    const answer = await createAlert(asked, mint, name, created.length % 2 === 0 ? "once" : "repeat")
    noteAnswer(answers, ALERTS, answer, faultOf(fault, current), tries)
    if (answer.id !== null) {
      created.push({ id: answer.id, atMs: performance.now() })
      name = randomUUID()
    }
    await pause(tries.count === 0 ? 500 : TRY_EVERY_MS)
  }
}

/** Tracks wallets and sets an alert on the trades of each, until both are acknowledged. */
export const track = async (asked: ServiceAccess, wallets: ReadonlyArray<string>, stopping: Stopping) => {
  for (const wallet of wallets) {
    const name = randomUUID()
    let isWatched = false
    while (!isWatched && !stopping.isStopping) {
      const { status } = await ask(asked, { path: "/api/v1/tracker/wallets", body: { wallet } })
      const isTracked = status === 200 || status === 201
      isWatched = isTracked && (await createWalletAlert(asked, wallet, name)).id !== null
      await pause(isWatched ? 0 : 500)
    }
  }
}
