/** Which failures are kept under an idempotency key. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Redacted } from "effect"
import { HttpServerRequest } from "effect/http"
import { KeyStore } from "../../../src/access/KeyStore.ts"
import type { Problem } from "../../../src/api/errors/Problem.ts"
import { DataUnavailable, InvalidRequest, LimitReached, RateLimited } from "../../../src/api/errors/problems.ts"
import { CurrentKey } from "../../../src/api/middleware/Authorization.ts"
import type { StoredAnswer } from "../../../src/domain/Idempotency.ts"
import { makeOnce } from "../../../src/http/middleware/idempotent.ts"
import { openRequest, RequestContext } from "../../../src/http/middleware/RequestContext.ts"
import { keyOf, secretOf } from "../../support/http.ts"
import * as MemoryIdempotency from "../../support/memoryIdempotency.ts"
import * as MemoryKeys from "../../support/memoryKeys.ts"

const request = HttpServerRequest.fromWeb(new Request("http://localhost/wallets", { method: "POST" }))

const stores = Layer.mergeAll(MemoryIdempotency.layer, MemoryKeys.layer({ keys: [keyOf("a")] }))

/** Sends a request that fails, and the same request again once it would succeed. Returns the second answer. */
const sentAgain = (failure: Effect.Effect<never, Problem>) =>
  Effect.gen(function* () {
    const key = yield* (yield* KeyStore).authenticate(Redacted.make(secretOf("a")))
    const once = yield* makeOnce
    const send = (answer: Effect.Effect<StoredAnswer, Problem>) => {
      const context = openRequest("id", undefined)
      return once(request, "first-and-second", answer).pipe(
        Effect.provideService(CurrentKey, key),
        Effect.provideService(RequestContext, context),
        Effect.map(({ status }) => ({ status, replayed: context.replayed }))
      )
    }
    assert.isTrue(Exit.isFailure(yield* Effect.exit(send(failure))))
    return yield* send(Effect.succeed({ status: 201, body: "{}" }))
  }).pipe(Effect.provide(stores))

describe("a request that is sent again under its idempotency key", () => {
  it.effect.each([
    ["a 429", Effect.fail(new RateLimited())],
    ["a 503", Effect.fail(new DataUnavailable())],
    ["a defect", Effect.die("defect")]
  ] as const)("is carried out after %s", ([, failure]) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* sentAgain(failure), { status: 201, replayed: false })
    })
  )

  it.effect.each([
    [400, new InvalidRequest()],
    [409, new LimitReached()]
  ] as const)("is answered with the %d of the first attempt", ([status, problem]) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* sentAgain(Effect.fail(problem)), { status, replayed: true })
    })
  )
})
