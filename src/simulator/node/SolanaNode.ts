import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Clock, Duration, Effect, Result, type Scope } from "effect"
import { type HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import { accountText, accountTextWith } from "./accountJson.ts"
import type { Bank, Block } from "../chain/Bank.ts"
import { makeBlockFaults, prunedBelow } from "./blockFaults.ts"
import { type Ailment, type Faults, makeFaults } from "./Faults.ts"
import { failure, internalError, invalidRequest, parseError, readCall, readJson, success } from "./jsonRpc.ts"
import { accountReads, answer, type NodeState } from "./rpcMethods.ts"
import { type Connection, runConnection } from "./Connection.ts"
import { searchRefusal } from "./searchFaults.ts"
import { listen } from "./loopback.ts"

export interface SolanaNode {
  readonly rpcUrl: string
  readonly wsUrl: string
  readonly faults: Faults
  /** Sends a finished slot to every subscriber. */
  readonly publish: (block: Block) => void
  /** When accounts were last read, in milliseconds since the Unix epoch; null before the first read. */
  readonly lastReadMs: () => number | null
}

const json = (text: string, status = 200): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(text, { status, contentType: "application/json" })

/** The response to one element of a request body; null for a notification. */
const answerOne = (state: NodeState, value: unknown): string | null => {
  const call = readCall(value)
  if (call === null) {
    return failure(null, invalidRequest)
  }
  if (accountReads.has(call.method)) {
    state.noteRead()
  }
  const fault = state.faultOf(call)
  const result = Result.match(
    fault === "failing" ? Result.fail(internalError) : answer(state, call.method, call.params),
    {
      onSuccess: (text) => success(call.id, text),
      onFailure: (reason) => failure(call.id, reason)
    }
  )
  if (call.id === undefined) {
    return null
  }
  return fault === "truncated" ? result.slice(0, result.length >> 1) : result
}

/** The response to a whole request body, single or batch. Empty when the body contains only notifications. */
const answerBody = (state: NodeState, body: string): string => {
  const parsed = readJson(body)
  if (parsed === undefined) {
    return failure(null, parseError)
  }
  if (!Array.isArray(parsed)) {
    return answerOne(state, parsed) ?? ""
  }
  if (parsed.length === 0) {
    return failure(null, invalidRequest)
  }
  const answers = parsed.map((value) => answerOne(state, value)).filter((text) => text !== null)
  return answers.length === 0 ? "" : `[${answers.join(",")}]`
}

/** The error response of a broken node; null when the node answers. */
const refusal = ({ http }: Ailment): HttpServerResponse.HttpServerResponse | null => {
  switch (http) {
    case "503":
      return HttpServerResponse.text("Service Unavailable\n", { status: 503 })
    case "429":
      return HttpServerResponse.text(
        failure(null, { code: 429, message: "Too many requests for a specific RPC call" }),
        {
          status: 429,
          contentType: "application/json",
          headers: { "retry-after": "1" }
        }
      )
    case "redirect":
      return HttpServerResponse.redirect("/elsewhere")
    default:
      return null
  }
}

const post = Effect.fnUntraced(function* (
  request: HttpServerRequest.HttpServerRequest,
  state: NodeState,
  faults: Faults
) {
  if (request.method === "GET" && request.url === "/health") {
    return HttpServerResponse.text("ok")
  }
  if (request.method !== "POST") {
    return HttpServerResponse.text("Used HTTP Method is not allowed. POST or OPTIONS is required\n", { status: 405 })
  }
  if (!(request.headers["content-type"] ?? "").startsWith("application/json")) {
    const text = "Supplied content type is not allowed. Content-Type: application/json is required\n"
    return HttpServerResponse.text(text, { status: 415 })
  }
  const body = yield* request.text
  const { blockLagMs } = faults.current()
  if (blockLagMs > 0 && body.includes('"getBlock"')) {
    yield* Effect.sleep(blockLagMs)
  }
  return searchRefusal(faults.current(), body) ?? json(answerBody(state, body))
})

/** Encodes accounts, possibly with faults. */
const encodeOf =
  (faults: Faults): NodeState["encode"] =>
  (account, encoding, slice) => {
    const { accounts } = faults.current()
    if (accounts === "garbled") {
      return accountTextWith(account, '["not*base64","base64"]')
    }
    const half = { offset: 0, length: account.data.length >> 1 }
    return accountText(account, encoding, accounts === "truncated" ? half : slice)
  }

/** Answers one request or handshake, possibly with faults. */
const answerRequest = Effect.fnUntraced(function* (
  faults: Faults,
  state: NodeState,
  connect: (request: HttpServerRequest.HttpServerRequest) => ReturnType<typeof runConnection>
) {
  const request = yield* HttpServerRequest.HttpServerRequest
  const { http, lag } = faults.current()
  if (http === "frozen") {
    return yield* Effect.never
  }
  if (Duration.toMillis(lag) > 0) {
    yield* Effect.sleep(lag)
  }
  const refused = refusal(faults.current())
  if (refused !== null) {
    return refused
  }
  const isWebSocket = request.headers.upgrade?.toLowerCase() === "websocket"
  if (isWebSocket && faults.current().sockets === "refused") {
    return HttpServerResponse.text("Service Unavailable\n", { status: 503 })
  }
  return yield* isWebSocket ? connect(request) : post(request, state, faults)
})

/** Serves the bank until the scope closes. */
export const makeSolanaNode = Effect.fnUntraced(function* ({
  seed,
  bank,
  ailment,
  resetLedger
}: {
  readonly seed: string
  /** The current chain. A reset replaces it. */
  readonly bank: () => Bank
  readonly ailment: Ailment
  readonly resetLedger: () => void
}): Effect.fn.Return<SolanaNode, HttpServerError.ServeError, Scope.Scope> {
  const connections = new Set<Connection>()
  const cut = () => connections.forEach((connection) => connection.cut())
  const clock = yield* Clock.Clock
  let lastReadMs: number | null = null
  const faults = makeFaults(ailment, { dropSockets: cut, skipSlots: (slots) => bank().skip(slots), resetLedger })
  const state: NodeState = {
    seed,
    get bank() {
      const { prunedBelow: slot } = faults.current()
      return slot === 0 ? bank() : prunedBelow(bank(), slot)
    },
    faultOf: makeBlockFaults(seed, faults.current),
    encode: encodeOf(faults),
    noteRead: () => {
      lastReadMs = clock.currentTimeMillisUnsafe()
    },
    timeOfBlock: (block) => (faults.current().blockTimes === "1970" ? block.height : block.unixTimestamp)
  }
  let subscriptions = 0
  const nextId = () => subscriptions++
  const connect = (request: HttpServerRequest.HttpServerRequest) => {
    const wire = NodeHttpServerRequest.toIncomingMessage(request).socket
    return runConnection({ request, wire, state, faults, connections, nextId })
  }
  const rpcUrl = yield* listen(answerRequest(faults, state, connect), cut)

  return {
    rpcUrl,
    wsUrl: rpcUrl.replace(/^http/u, "ws"),
    faults,
    lastReadMs: () => lastReadMs,
    publish: (block) => connections.forEach((connection) => connection.publish(block))
  }
})
