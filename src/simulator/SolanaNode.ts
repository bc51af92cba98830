import { NodeHttpServer, NodeHttpServerRequest } from "@effect/platform-node"
import { Duration, Effect, Result, type Scope } from "effect"
import { HttpServer, type HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import { createServer } from "node:http"
import { accountText, accountTextWith } from "./accountJson.ts"
import type { Bank, Block } from "./Bank.ts"
import { type Ailment, type Faults, makeFaults } from "./Faults.ts"
import { failure, invalidRequest, parseError, readCall, readJson, success } from "./jsonRpc.ts"
import { answer, type NodeState } from "./rpcMethods.ts"
import { type Connection, runConnection } from "./Connection.ts"

/** A running node. */
export interface SolanaNode {
  readonly rpcUrl: string
  readonly wsUrl: string
  readonly faults: Faults
  /** Tells every subscriber of the finished slot. */
  readonly publish: (block: Block) => void
}

const json = (text: string, status = 200): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(text, { status, contentType: "application/json" })

/** The answer to one element of a request body; null when it wants none. */
const answerOne = (state: NodeState, value: unknown): string | null => {
  const call = readCall(value)
  if (call === null) {
    return failure(null, invalidRequest)
  }
  const result = Result.match(answer(state, call.method, call.params), {
    onSuccess: (text) => success(call.id, text),
    onFailure: (reason) => failure(call.id, reason)
  })
  return call.id === undefined ? null : result
}

/** The answer to a whole request body, single or batch; empty when nothing in it wants one. */
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

/** What an ailing node says instead of an answer; null when it is well enough to answer. */
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
    default:
      return null
  }
}

const post = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest, state: NodeState) {
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
  return json(answerBody(state, yield* request.text))
})

/** Serves the bank on a free port of the loopback interface until the scope closes. */
export const makeSolanaNode = Effect.fnUntraced(function* (options: {
  readonly seed: string
  readonly bank: Bank
  readonly ailment: Ailment
}): Effect.fn.Return<SolanaNode, HttpServerError.ServeError, Scope.Scope> {
  const { seed, bank, ailment } = options
  const connections = new Set<Connection>()
  const faults = makeFaults(ailment, {
    dropSockets: () => connections.forEach((connection) => connection.cut()),
    skipSlots: bank.skip
  })

  const state: NodeState = {
    seed,
    bank,
    spell: (account, encoding, slice) => {
      const { accounts } = faults.current()
      if (accounts === "garbled") {
        return accountTextWith(account, '["not*base64","base64"]')
      }
      const half = { offset: 0, length: account.data.length >> 1 }
      return accountText(account, encoding, accounts === "truncated" ? half : slice)
    }
  }

  const app = Effect.gen(function* () {
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
    if (request.headers.upgrade?.toLowerCase() === "websocket") {
      const wire = NodeHttpServerRequest.toIncomingMessage(request).socket
      return yield* runConnection({ request, wire, state, faults, connections, nextId })
    }
    return yield* post(request, state)
  })

  let subscriptions = 0
  const nextId = () => subscriptions++

  const http = createServer()
  const server = yield* NodeHttpServer.make(() => http, {
    port: 0,
    host: "127.0.0.1",
    disablePreemptiveShutdown: true
  })
  // Runs once the requests have been interrupted: a client that keeps a silent connection must not hold up the end.
  yield* Effect.addFinalizer(() => Effect.sync(() => http.closeAllConnections()))
  // The server itself runs an app without a router uninterruptibly.
  yield* server.serve(Effect.interruptible(app))
  const address = HttpServer.formatAddress(server.address)

  return {
    rpcUrl: address,
    wsUrl: address.replace(/^http/u, "ws"),
    faults,
    publish: (block) => connections.forEach((connection) => connection.publish(block))
  }
})
