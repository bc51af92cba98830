/** A node behind an HTTP client without sockets, for tests on the test clock. */
import { Duration, Effect, Fiber, Layer, Schema } from "effect"
import { HttpClient, HttpClientError, HttpClientResponse } from "effect/http"
import { TestClock } from "effect/testing"
import type { RpcOptions } from "../../../src/chain/rpc/rpcSettings.ts"
import { SolanaRpc } from "../../../src/chain/rpc/SolanaRpc.ts"
import * as SolanaRpcHttp from "../../../src/chain/rpc/SolanaRpcHttp.ts"

/** A secret that must not leak. */
export const SECRET = "5ecret"

/** One call of the node. */
export interface ReceivedCall {
  readonly method: string
  readonly params: ReadonlyArray<unknown>
}

const Request = Schema.fromJsonString(Schema.Struct({ method: Schema.String, params: Schema.Array(Schema.Unknown) }))

/** A result. */
export const ok = (result: unknown) => new Response(JSON.stringify({ jsonrpc: "2.0", id: 1, result }))
/** An error of the protocol. */
export const error = (code: number, message: string) =>
  new Response(JSON.stringify({ jsonrpc: "2.0", id: 1, error: { code, message } }))
/** A status whose body is not worth reading. */
export const status = (status: number, headers: Record<string, string> = {}) => new Response("no", { status, headers })

/** A node that answers by a function of the call and of how often it was made before. */
export class Node {
  readonly asked: Array<ReceivedCall> = []
  inFlight = 0
  mostInFlight = 0
  readonly #answer: (asked: ReceivedCall, times: number) => Response | "never" | "unreachable"
  readonly #pace: Duration.Duration

  constructor(
    answer: (asked: ReceivedCall, times: number) => Response | "never" | "unreachable",
    pace = Duration.zero
  ) {
    this.#answer = answer
    this.#pace = pace
  }

  readonly client = HttpClient.make((request) =>
    Effect.gen({ self: this }, function* () {
      const body = request.body._tag === "Uint8Array" ? new TextDecoder().decode(request.body.body) : ""
      const asked = Schema.decodeSync(Request)(body)
      const answer = this.#answer(asked, this.asked.push(asked) - 1)
      this.inFlight++
      this.mostInFlight = Math.max(this.mostInFlight, this.inFlight)
      if (answer === "never") {
        return yield* Effect.never
      }
      yield* Effect.sleep(this.#pace)
      if (answer === "unreachable") {
        return yield* new HttpClientError.HttpClientError({
          reason: new HttpClientError.TransportError({ request, description: `no route to ${request.url}` })
        })
      }
      return HttpClientResponse.fromWeb(request, answer)
    }).pipe(
      Effect.ensuring(
        Effect.sync(() => {
          this.inFlight--
        })
      )
    )
  )
}

/** Reads from the node. */
export const use = <A, E>(
  node: Node,
  body: (rpc: SolanaRpc["Service"]) => Effect.Effect<A, E>,
  options: RpcOptions = {}
): Effect.Effect<A, E> =>
  SolanaRpc.use(body).pipe(
    Effect.provide(
      SolanaRpcHttp.layer({ rpcUrl: `http://node.test/${SECRET}`, ...options }).pipe(
        Layer.provide(Layer.succeed(HttpClient.HttpClient, node.client)),
        Layer.orDie
      )
    )
  )

/** Runs with time passing as fast as it is waited for. */
export const inNoTime = Effect.fnUntraced(function* <A, E>(effect: Effect.Effect<A, E>) {
  const fiber = yield* Effect.forkChild(effect)
  yield* TestClock.adjust("10 minutes")
  return yield* Fiber.join(fiber)
})
