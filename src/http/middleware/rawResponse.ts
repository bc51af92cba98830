/** Responses to input that never becomes a request: errors of the HTTP parser in the error envelope. */
import { catalogue, type ErrorCode } from "../../api/catalogue.ts"
import { openRequest } from "./RequestContext.ts"
import { type HeaderRecord, writeCommonHeaders, writeProblem } from "./headers.ts"
import { envelope, serverProblem } from "./envelope.ts"

/** A response independent of its transport. */
export interface RawResponse {
  readonly status: number
  readonly headers: HeaderRecord
  readonly body: string
}

/** The error response of a code. It closes the connection, because the bytes that follow cannot be parsed. */
export const rawErrorResponse = (
  code: ErrorCode,
  options: { readonly id: string; readonly message?: string | undefined; readonly headers?: HeaderRecord | undefined }
): RawResponse => {
  const context = openRequest(options.id, undefined)
  const problem = serverProblem(code, options.message)
  const body = envelope(problem, options.id)
  const headers: HeaderRecord = {
    "content-type": "application/json",
    "content-length": String(new TextEncoder().encode(body).length),
    connection: "close"
  }
  writeCommonHeaders(headers, context, 0)
  writeProblem(headers, problem, context, 0)
  return { status: catalogue[code].status, headers: Object.assign(headers, options.headers), body }
}

/** The response as HTTP/1.1 text. */
export const asText = (answer: RawResponse, reason: string): string => {
  const lines = Object.entries(answer.headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${answer.status} ${reason}\r\n${lines.join("")}\r\n${answer.body}`
}
