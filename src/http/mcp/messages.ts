/** Reads one JSON-RPC message of `/mcp`, and names what is wrong with it. */
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import type { HttpServerRequest } from "effect/http"
import { bytesOf } from "../middleware/JsonBody.ts"
import { readJson } from "../middleware/strictJson.ts"

/** Largest body of a message in bytes. */
export const MESSAGE_BYTES = 65_536

/** Objects and lists inside each other in a message. */
export const MOST_LEVELS = 64

/** Codes of JSON-RPC, and -32001 for a session that does not exist. */
export const rpcCodes = { parse: -32_700, invalid: -32_600, noSession: -32_001 } as const

type Id = string | number

/** A message that may be passed on. */
export interface Message {
  /** The JSON as it was sent. */
  readonly text: string
  /** Null for a notification. */
  readonly id: Id | null
  /** Empty for a response of the client. */
  readonly method: string
  readonly params: Readonly<Record<string, unknown>>
}

/** A message that is refused, with the status of its answer. */
export interface MessageFault {
  readonly status: number
  readonly code: number
  readonly message: string
  readonly id: Id | null
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const isDeeper = (value: unknown, levels: number): boolean =>
  typeof value === "object" &&
  value !== null &&
  (levels === 0 || Object.values(value).some((each) => isDeeper(each, levels - 1)))

const isId = (id: unknown): id is Id =>
  (typeof id === "string" && id.isWellFormed()) || (typeof id === "number" && Math.abs(id) <= Number.MAX_SAFE_INTEGER)

const fault = (message: string, id: unknown = null, code: number = rpcCodes.invalid): MessageFault => ({
  status: 400,
  code,
  message,
  id: isId(id) ? id : null
})

const checked = (text: string, value: unknown): Message | MessageFault => {
  if (Array.isArray(value)) {
    return fault("Batches are not accepted: send each message in a request of its own.")
  }
  if (!isRecord(value)) {
    return fault("A message must be an object.")
  }
  const { id, jsonrpc, method, params } = value
  if (jsonrpc !== "2.0") {
    return fault('jsonrpc must be "2.0".', id)
  }
  if ("id" in value && !isId(id)) {
    return fault("id must be well-formed text or an exact number.")
  }
  const isAnswer = !("method" in value) && ("result" in value || "error" in value)
  if (!isAnswer && (typeof method !== "string" || !method.isWellFormed())) {
    return fault("method must be text.", id)
  }
  if (params !== undefined && !isRecord(params)) {
    return fault("params must be an object.", id)
  }
  return {
    text,
    id: isId(id) ? id : null,
    method: typeof method === "string" ? method : "",
    params: isRecord(params) ? params : {}
  }
}

const flaws = {
  missing: "Send one JSON-RPC message as the body.",
  format: "The body is not JSON in UTF-8."
} as const

/** The message in these bytes, or its first fault. */
export const readMessage = (bytes: Uint8Array): Message | MessageFault => {
  const read = readJson(bytes)
  if ("issue" in read) {
    return read.issue === "missing" || read.issue === "format"
      ? fault(flaws[read.issue], null, rpcCodes.parse)
      : fault(`${read.field.toWellFormed()} ${read.issue === "duplicate" ? "is sent twice" : "is unknown"}.`)
  }
  return isDeeper(read.value, MOST_LEVELS)
    ? fault(`A message may nest objects and lists ${MOST_LEVELS} levels deep.`)
    : checked(read.text, read.value)
}

/** The message of a request, or its first fault. A body of more than MESSAGE_BYTES is not read. */
export const messageOf = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<Message | MessageFault> =>
  bytesOf(request, MESSAGE_BYTES).pipe(
    Effect.map(readMessage),
    Effect.catch(({ _tag }) =>
      Effect.succeed(
        _tag === "BodyTooLarge"
          ? { ...fault(`A message may have ${MESSAGE_BYTES} bytes.`), status: 413 }
          : fault(flaws.format, null, rpcCodes.parse)
      )
    )
  )

/** The answer to a message that is refused. */
export const faultResponse = ({ code, id, message, status }: MessageFault): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.jsonUnsafe({ jsonrpc: "2.0", id, error: { code, message } }, { status })
