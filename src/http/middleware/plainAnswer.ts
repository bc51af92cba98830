/** Answers to what never becomes a request: the HTTP parser's refusals, in the same envelope as every other. */
import { catalogue, type ErrorCode } from "../../api/catalogue.ts"
import { openRequest } from "./RequestContext.ts"
import { type HeaderRecord, writeExchange, writeProblem } from "./headers.ts"
import { envelope, refusal } from "./refusal.ts"

/** A whole answer, not yet in the form of any transport. */
export interface PlainAnswer {
  readonly status: number
  readonly headers: HeaderRecord
  readonly body: string
}

/** The refusal of that code. The connection closes after it, because nothing more on it can be trusted. */
export const plainAnswer = (
  code: ErrorCode,
  options: { readonly id: string; readonly message?: string | undefined; readonly headers?: HeaderRecord | undefined }
): PlainAnswer => {
  const context = openRequest(options.id, undefined)
  const problem = refusal(code, options.message)
  const body = envelope(problem, options.id)
  const headers: HeaderRecord = {
    "content-type": "application/json",
    "content-length": String(new TextEncoder().encode(body).length),
    connection: "close"
  }
  writeExchange(headers, context, 0)
  writeProblem(headers, problem, context, 0)
  return { status: catalogue[code].status, headers: Object.assign(headers, options.headers), body }
}

/** The answer as bytes on a socket. */
export const asText = (answer: PlainAnswer, reason: string): string => {
  const lines = Object.entries(answer.headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${answer.status} ${reason}\r\n${lines.join("")}\r\n${answer.body}`
}
