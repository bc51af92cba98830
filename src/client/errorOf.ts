/** The error in a response, read without a schema: small clients use it too. */
import type { ErrorDetail } from "../api/errors/Problem.ts"
import { FathomError } from "./FathomError.ts"
import { retryAfterMs } from "./retryPolicy.ts"

type Json = Readonly<Record<string, unknown>>

const isRecord = (value: unknown): value is Json => typeof value === "object" && value !== null

const isDetail = (value: unknown): value is ErrorDetail =>
  isRecord(value) && ["in", "field", "issue"].every((name) => typeof value[name] === "string")

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** A response with an error. */
export interface FailedResponse {
  readonly status: number
  readonly text: string
  /** The headers `X-Request-Id` and `Retry-After`, where they were sent. */
  readonly requestId: string | undefined
  readonly retryAfter: string | undefined
}

/** The error that a response states; `invalid_answer` when it has no error envelope. */
export const errorOf = ({ requestId, retryAfter, status, text }: FailedResponse, nowMs: number): FathomError => {
  const envelope = parsed(text)
  const error = isRecord(envelope) ? envelope["error"] : null
  const known = { status, retryAfterMs: retryAfterMs(retryAfter, nowMs) }
  if (!isRecord(envelope) || !isRecord(error) || typeof error["code"] !== "string") {
    const message = `The response has status ${status} and no error envelope.`
    return new FathomError({ ...known, code: "invalid_answer", message, requestId: requestId ?? null, details: [] })
  }
  const id = envelope["requestId"]
  return new FathomError({
    ...known,
    code: error["code"],
    message: String(error["message"]),
    requestId: typeof id === "string" ? id : (requestId ?? null),
    details: Array.isArray(error["details"]) ? error["details"].filter(isDetail) : []
  })
}
