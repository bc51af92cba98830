/** A JSON-RPC node with scripted answers over a real socket. */
import { NodeHttpServer } from "@effect/platform-node"
import { Deferred, Effect, Queue } from "effect"
import { HttpServer, HttpServerRequest, HttpServerResponse } from "effect/http"
import { createServer } from "node:http"

/** One call as the node received it. */
export interface Call {
  readonly method: string
  readonly params: ReadonlyArray<unknown>
}

/** A scripted answer: a result, a JSON-RPC error, a whole response, or silence. */
export type Script = (call: Call) => Effect.Effect<HttpServerResponse.HttpServerResponse>

/** A JSON-RPC result. */
export const result = (value: unknown) =>
  Effect.succeed(HttpServerResponse.jsonUnsafe({ jsonrpc: "2.0", id: 1, result: value }))

/** A JSON-RPC error. */
export const rpcError = (code: number, message: string) =>
  Effect.succeed(HttpServerResponse.jsonUnsafe({ jsonrpc: "2.0", id: 1, error: { code, message } }))

/** An answer that is not JSON-RPC. */
export const response = (status: number, body = "", headers: Record<string, string> = {}) =>
  Effect.succeed(HttpServerResponse.text(body, { status, headers }))

/** Starts a node on a free port of the loopback interface; it ends with the scope. */
export const scriptedNode = Effect.gen(function* () {
  const received = yield* Queue.unbounded<Call>()
  const over = yield* Deferred.make<never>()
  const calls: Array<Call> = []
  const node: { script: Script } = { script: () => rpcError(-32601, "Method not found") }
  const server = yield* NodeHttpServer.make(createServer, {
    port: 0,
    host: "127.0.0.1",
    disablePreemptiveShutdown: true
  })
  yield* server.serve(
    Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      const { method, params }: Call = JSON.parse(yield* request.text)
      const call = { method, params }
      calls.push(call)
      Queue.offerUnsafe(received, call)
      return yield* node.script(call)
    })
  )
  yield* Effect.addFinalizer(() => Deferred.interrupt(over))
  return {
    /** Stays silent until the node ends. */
    silence: Deferred.await(over),
    rpcUrl: HttpServer.formatAddress(server.address),
    /** Calls so far. */
    calls,
    /** Waits for the next call that has not been waited for. */
    next: Queue.take(received),
    /** Changes the answers from now on. */
    say: (script: Script) => {
      node.script = script
    }
  }
})
