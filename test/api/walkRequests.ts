/** The parts of the walk: its requests, its services, and the sessions that it uses. */
import { Redacted } from "effect"
import { at } from "../quotes/toyChain.ts"
import type { Operation } from "../support/openapi.ts"
import { csrfTokenOf } from "../../src/access/accounts/secrets.ts"

/** A request of an operation: what fills its path, its query and its body. */
export interface Request {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** The service that a call is sent to. */
export type World =
  /** The whole service on a simulated market, as `npm start` has it. */
  | "simulated"
  /** No capabilities: calls that are rejected before a handler runs. */
  | "bare"
  /** No budget can be decided. */
  | "without a limiter"
  /** The key store, the chain and the settings have a bug. */
  | "broken"
  /** A few toy pools. */
  | "toy pools"
  /** A market on a tape, and a clock that can be moved. */
  | "tape"

/** One way to one answer. */
export interface Way {
  readonly world: World
  readonly request: Request
  /** The letter of the key; null sends none. Left out, the key may do everything. */
  readonly key?: string | null
  /** Written to the socket as it stands, in place of the request. */
  readonly raw?: string
  /** Takes a cursor of the same request and lets it grow so many seconds old. */
  readonly staleCursorAfter?: number
  /** ReceivedCall first, in order and with the same key. A path parameter `LAST_ID` then is the id that the last of them gave. */
  readonly before?: ReadonlyArray<{ readonly operation: string; readonly request: Request }>
}

/** Stands for the id of what was made just before. */
export const LAST_ID = "(last)"

/** Subjects of requests in the simulated market. */
export interface Offer {
  readonly mint: string
  readonly wallet: string
  readonly network: string
  readonly asset: string
  /** A pool of the mint. */
  readonly pool: string
  /** A mint whose launch was seen. */
  readonly launched: string
  /** A wallet that trades the mint. */
  readonly trader: string
  /** A follow of the account. */
  readonly follow: string
}

/** Public URL of the services whose pages send changes, the secrets of two sessions, and a token that opens another. */
export const ORIGIN = "http://pages.example"
export const SESSION = "s".repeat(43)
export const ENDING_SESSION = "e".repeat(43)
export const SIGN_IN_TOKEN = "t".repeat(43)

/** Sessions of an account with all the keys that it may have, of one whose budget is spent, and of another that rotates. */
export const FULL_SESSION = "f".repeat(43)
export const SPENT_SESSION = "p".repeat(43)
export const ROTATING_SESSION = "r".repeat(43)

export const pageHeaders = { origin: ORIGIN, "sec-fetch-site": "same-origin" }
export const headersOf = (secret: string) => ({
  ...pageHeaders,
  cookie: `fathom_session=${secret}`,
  "x-csrf-token": csrfTokenOf(Redacted.make(secret))
})
export const sessionHeaders = headersOf(SESSION)
export const cookieAlone = { cookie: `fathom_session=${SESSION}` }

export const isClosed = ({ id }: Operation) => id.startsWith("closed.")

export const raw = (method: string, target: string, ...lines: ReadonlyArray<string>) =>
  [`${method} ${target} HTTP/1.1`, "Connection: close", ...lines, "", ""].join("\r\n")

export const malformed = ({ method, path }: Operation) => raw(method, path)

export const tooLarge = { text: "x".repeat(140_000) }

export const inSimulation = (request: Request): Way => ({ world: "simulated", request })

export const overToys = (request: Request): Way => ({ world: "toy pools", request })

export const onTape = (request: Request, staleCursorAfter: number): Way => ({
  world: "tape",
  request,
  staleCursorAfter
})

export const bySession = (request: Request, before: NonNullable<Way["before"]> = []): Way => ({
  world: "bare",
  key: null,
  before,
  request
})

export const nowhere = at(200)

/** Calls that only need to be understood, for answers that come before anything is looked up. */
export const anything: Offer = {
  mint: nowhere,
  wallet: "w_1",
  network: "n",
  asset: "a",
  follow: "cf_none",
  trader: nowhere,
  pool: nowhere,
  launched: nowhere
}

export const batchOnce = {
  body: { wallets: [{ wallet: nowhere }] },
  headers: { "idempotency-key": "batched-once" }
}
export const groupOnce = { body: { name: "Once" }, headers: { "idempotency-key": "grouped-once" } }

/** Declared for the day there is a bug, which nothing from outside can bring about. */
export const unreachable: Readonly<Record<string, ReadonlyArray<number>>> = {
  "system.describe": [500],
  "system.live": [500]
}

/** An alert on a mint. */
export const alertOn = (mint: string) => ({
  mint,
  condition: { metric: "price_usd", operator: "crosses_above", threshold: "1.5", source: "median" },
  fireNow: true
})

/** A wallet to track. */
export const trackNowhere = { body: { wallet: nowhere } }

/** An alert on the trades of that wallet. */
const alertOnWallet = {
  wallet: nowhere,
  condition: { metric: "wallet_trade_usd", operator: "at_least", threshold: "500" }
}

/** A call that sets an alert. */
export const setAlert = { operation: "alerts.create", request: { body: alertOn(nowhere) } }

/** An alert is made first, by a key whose account is for that. */
export const ofNewAlert = (body?: object): Way => ({
  world: "bare",
  key: "w",
  before: [setAlert],
  request: { params: { id: LAST_ID }, ...(body !== undefined && { body }) }
})

/** A wallet is tracked, and an alert on its trades made. */
export const ofWalletAlert: Way = {
  world: "bare",
  key: "w",
  before: [
    { operation: "tracker.track", request: trackNowhere },
    { operation: "alerts.create", request: { body: alertOnWallet } }
  ],
  request: { params: { id: LAST_ID } }
}
