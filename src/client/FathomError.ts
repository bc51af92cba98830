/** The one error class of the clients. It imports no package: small clients use it too. */
import type { ErrorCode } from "../api/errors/catalogue.ts"
import type { ErrorDetail } from "../api/errors/Problem.ts"

/** Codes of failures that the client itself detects. */
export type ClientCode =
  /** The call does not fit the contract; nothing was sent. */
  | "invalid_call"
  /** No response arrived. */
  | "connection_lost"
  /** The response does not fit the contract. */
  | "invalid_answer"
  /** A stream sent neither frames nor heartbeats for too long. */
  | "stream_silent"
  /** A stream ended without its last frame. */
  | "stream_broken"
  /** The account tracks no wallets. */
  | "no_tracked_wallets"
  /** The tracker closed the socket permanently; the message has the close code. */
  | "tracker_closed"
  /** The market socket was closed permanently; the message has the close code. */
  | "market_closed"

/** What an error says. */
interface FathomErrorFields {
  readonly status: number | null
  readonly code: ErrorCode | ClientCode | (string & {})
  readonly message: string
  readonly requestId: string | null
  readonly retryAfterMs: number | null
  readonly details: ReadonlyArray<ErrorDetail>
  readonly cause?: unknown
}

/** The error of a failed call: a problem of the contract, or a failure that the client detected. */
export class FathomError extends Error {
  static {
    // Bundlers may rename the class. Stack traces keep its name.
    this.prototype.name = "FathomError"
  }

  readonly _tag = "FathomError"
  /** Status of the response; null without a response. */
  readonly status: number | null
  /** Branch on this. A newer service may send codes that are not listed here. */
  readonly code: ErrorCode | ClientCode | (string & {})
  readonly requestId: string | null
  /** `Retry-After` in milliseconds; null without one. */
  readonly retryAfterMs: number | null
  readonly details: ReadonlyArray<ErrorDetail>

  /** `cause` is what the platform threw, such as an ECONNREFUSED. */
  constructor({ cause, code, details, message, requestId, retryAfterMs, status }: FathomErrorFields) {
    super(message, cause === undefined ? undefined : { cause })
    this.status = status
    this.code = code
    this.requestId = requestId
    this.retryAfterMs = retryAfterMs
    this.details = details
  }
}

/** What a client knows about a failure that it detected. */
interface Detected {
  readonly status?: number
  readonly cause?: unknown
}

/** An error that the client detected. */
export const clientError = (code: ClientCode, message: string, { cause, status }: Detected = {}): FathomError =>
  new FathomError({ status: status ?? null, code, message, requestId: null, retryAfterMs: null, details: [], cause })

const reasonOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))

/** The last cause in a chain of causes. `fetch` hides the reason of a lost connection there. */
const rootOf = (cause: unknown): unknown =>
  cause instanceof Error && cause.cause !== undefined ? rootOf(cause.cause) : cause

/** No response arrived. `cause` is what `fetch` threw. */
export const connectionLost = (cause: unknown): FathomError => {
  const reasons = new Set([cause, rootOf(cause)].map(reasonOf).filter((reason) => reason !== ""))
  return clientError("connection_lost", `No response arrived: ${Array.from(reasons).join(": ")}.`, { cause })
}
