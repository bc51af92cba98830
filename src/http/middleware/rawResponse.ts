/** Answers input that never becomes a request: errors of the HTTP parser, in the error envelope. */
import { catalogue, type ErrorCode } from "../../api/errors/catalogue.ts"
import type { ErrorDetail } from "../../api/errors/Problem.ts"
import { openRequest } from "./RequestContext.ts"
import { type HeaderRecord, writeCommonHeaders, writeProblem } from "./headers.ts"
import { envelope, serverProblem } from "./envelope.ts"

/** A response independent of its transport. */
export interface RawResponse {
  readonly status: number
  readonly headers: HeaderRecord
  readonly body: string
}

/**
 * An error outside the contract's endpoints: its code, and where the catalogue is not enough its message, details and
 * headers.
 */
export interface RawError {
  readonly code: ErrorCode
  readonly message?: string
  readonly details?: ReadonlyArray<ErrorDetail>
  readonly headers?: HeaderRecord
}

/** A 400 for one header. */
export const invalidHeader = (field: string, issue: ErrorDetail["issue"], message: string): RawError => ({
  code: "invalid_request",
  message,
  details: [{ in: "header", field, issue }]
})

/** The response of an error. It closes the connection, because the bytes that follow cannot be parsed. */
export const rawErrorResponse = ({ code, details, headers: added, message }: RawError, id: string): RawResponse => {
  const context = openRequest(id, undefined)
  const plain = serverProblem(code, message)
  const problem = details === undefined ? plain : { ...plain, error: { ...plain.error, details } }
  const body = envelope(problem, id)
  const headers: HeaderRecord = {
    "content-type": "application/json",
    "content-length": String(new TextEncoder().encode(body).length),
    connection: "close"
  }
  writeCommonHeaders(headers, context, 0)
  writeProblem(headers, problem, context, 0)
  return { status: catalogue[code].status, headers: Object.assign(headers, added), body }
}

/** The response as HTTP/1.1 text. */
export const asText = (answer: RawResponse, reason: string): string => {
  const lines = Object.entries(answer.headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${answer.status} ${reason}\r\n${lines.join("")}\r\n${answer.body}`
}
