/** Runs a request at most once for each `Idempotency-Key`. */
import { Effect, Exit, Fiber, Option, Schema } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { createHash } from "node:crypto"
import { Idempotency } from "../../access/Idempotency.ts"
import { CurrentKey } from "../../api/middleware/Authorization.ts"
import { catalogue } from "../../api/errors/catalogue.ts"
import type { Problem } from "../../api/errors/Problem.ts"
import { DataUnavailable, IdempotencyInFlight, IdempotencyKeyReused } from "../../api/errors/problems.ts"
import type { Beginning, IdempotencyUnavailable, StoredAnswer } from "../../domain/Idempotency.ts"
import { RequestContext } from "./RequestContext.ts"
import { envelope } from "./envelope.ts"

type Fresh = Extract<Beginning, { readonly _tag: "Fresh" }>

/** Returns a function that encodes a value as an answer with this status. */
export const answerOf = <A, I>(status: number, schema: Schema.Codec<A, I>) => {
  const encode = Schema.encodeEffect(Schema.fromJsonString(schema))
  return (value: A): Effect.Effect<StoredAnswer> =>
    Effect.map(Effect.orDie(encode(value)), (body) => ({ status, body }))
}

/** The value with sorted keys in every object. Equal JSON values become equal texts. */
const ordered = (value: unknown): unknown => {
  if (Array.isArray(value)) {
    return value.map(ordered)
  }
  if (typeof value !== "object" || value === null) {
    return value
  }
  const entries = Object.entries(value).map(([key, inner]) => [key, ordered(inner)] as const)
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

const digestOf = ({ method, url }: HttpServerRequest.HttpServerRequest, body: unknown): string =>
  createHash("sha256")
    .update(`${method} ${url}\n${JSON.stringify(ordered(body))}`)
    .digest("base64url")

const respond = ({ body, status }: StoredAnswer) =>
  HttpServerResponse.text(body, { status, contentType: "application/json" })

const unavailable = (error: IdempotencyUnavailable) =>
  Effect.andThen(Effect.logError("The store of idempotency keys is unavailable", error.cause), new DataUnavailable())

/** The answer to keep; null for 429, 5xx and defects, because another attempt may succeed. */
const lasting = <E extends Problem>(exit: Exit.Exit<StoredAnswer, E>, requestId: string): StoredAnswer | null => {
  if (Exit.isSuccess(exit)) {
    return exit.value
  }
  const problem = Option.getOrNull(Exit.findErrorOption(exit))
  const status = problem === null ? 500 : catalogue[problem.error.code].status
  return problem === null || status >= 500 || status === 429 ? null : { status, body: envelope(problem, requestId) }
}

/** Runs `answer` to its end even when the caller disconnects, so that a retry with the same key finds the result. */
const carryOut = <E extends Problem, R>(fresh: Fresh, answer: Effect.Effect<StoredAnswer, E, R>, requestId: string) => {
  const noted = Effect.flatMap(Effect.exit(answer), (exit) => {
    const kept = lasting(exit, requestId)
    return Effect.as(
      (kept === null ? fresh.abandon : fresh.complete(kept)).pipe(
        Effect.retry({ times: 2 }),
        // The operation has been carried out, so its answer is sent all the same.
        Effect.catch(({ cause }) => Effect.logError("An answer could not be kept for its idempotency key", cause))
      ),
      exit
    )
  })
  return Effect.flatMap(Effect.forkDetach(noted, { startImmediately: true }), (fiber) =>
    Effect.flatten(Fiber.join(fiber))
  )
}

/**
 * Makes `once(request, key, answer)`, which runs `answer` at most once for each key of the caller. A repeated request
 * gets the stored status and body with `Idempotency-Replayed: true`. Without a key `answer` always runs. Every answer
 * except 429 and 5xx is stored.
 */
export const makeOnce = Effect.map(
  Idempotency,
  (store) =>
    <E extends Problem, R>(
      request: HttpServerRequest.HttpServerRequest,
      idempotencyKey: string | undefined,
      answer: Effect.Effect<StoredAnswer, E, R>
    ): Effect.Effect<
      HttpServerResponse.HttpServerResponse,
      E | IdempotencyInFlight | IdempotencyKeyReused | DataUnavailable,
      R | CurrentKey
    > => {
      if (idempotencyKey === undefined) {
        return Effect.map(answer, respond)
      }
      return Effect.gen(function* () {
        const { id: keyId } = yield* CurrentKey
        const context = yield* RequestContext
        const begun = yield* store
          .begin({ keyId, idempotencyKey, digest: digestOf(request, context.body?.value) })
          .pipe(Effect.catch(unavailable))
        switch (begun._tag) {
          case "Fresh":
            return respond(yield* carryOut(begun, answer, context.id))
          case "Replay":
            context.replayed = true
            return respond(begun.answer)
          case "InFlight":
            return yield* new IdempotencyInFlight()
          case "Reused":
            return yield* new IdempotencyKeyReused()
        }
      })
    }
)
