import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Scope } from "effect"
import type { HttpServerResponse } from "effect/http"
import { TestClock } from "effect/testing"
import { Readable } from "node:stream"
import { SOL } from "../../../src/domain/Address.ts"
import type { StreamTerms } from "../../../src/api/schemas/QuoteStream.ts"
import { streamSession } from "../../../src/http/streams/quoteStream.ts"
import { at } from "../../quotes/toyChain.ts"
import { quoteOf } from "../../quotes/toyStream.ts"

const terms: StreamTerms = {
  inputMint: at(10),
  outputMint: SOL,
  amount: 1n,
  outputDecimals: null,
  slippageBps: 50,
  intervalMs: 1000,
  durationSeconds: 240,
  changesOnly: false
}

/** A session on a connection whose fiber only ends when it is interrupted. */
const open = Effect.gen(function* () {
  const scope = yield* Scope.make()
  const request = yield* Effect.forkChild(Effect.never)
  const { response, session } = yield* Scope.provide(streamSession(terms, request), scope)
  session.open({ windowMs: 60_000, limit: 300, remaining: 300, resetAtMs: 0 }, 0)
  return { request, response, scope, session }
})

/** All chunks of the response, read late. */
const framesOf = ({ body }: HttpServerResponse.HttpServerResponse) =>
  body._tag === "Raw" && body.body instanceof Readable
    ? Effect.promise(() => Readable.prototype.toArray.call(body.body))
    : Effect.die("not a streamed answer")

describe("streamSession", () => {
  it.effect("drops a reader who does not read, and cuts the connection five seconds later", () =>
    Effect.gen(function* () {
      const { request, response, session } = yield* open
      let tick = 0
      while (!session.closed) {
        session.quoted(tick++, quoteOf(BigInt(tick)), 1, tick)
      }
      assert.strictEqual(tick, 63)
      yield* TestClock.adjust("4 seconds")
      assert.isUndefined(request.pollUnsafe())
      yield* TestClock.adjust("1 second")
      assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(request)))
      const chunks = yield* framesOf(response)
      const last = String(chunks.at(-1))
      assert.include(last, "event: close")
      assert.include(last, `"reason":"slow_consumer"`)
      assert.strictEqual(chunks.length, 65)
    })
  )

  it.effect("does not pile up heartbeats for such a reader", () =>
    Effect.gen(function* () {
      const { response, session } = yield* open
      yield* TestClock.adjust("2 hours")
      session.close("completed", 1)
      const chunks = yield* framesOf(response)
      assert.strictEqual(chunks.length, 65)
    })
  )

  it.effect("does not touch the connection once its scope has closed", () =>
    Effect.gen(function* () {
      const { request, scope, session } = yield* open
      session.close("completed", 1)
      yield* Scope.close(scope, Exit.void)
      yield* TestClock.adjust("1 minute")
      assert.isUndefined(request.pollUnsafe())
    })
  )
})
