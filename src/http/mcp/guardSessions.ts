/**
 * Admission to `/mcp`. Every message passes the checks of an HTTP request: key, address and budget. A tool call is
 * charged by the endpoint that it reads; any other message costs one unit of `rest`. The protocol's runtime keeps a
 * session for each client until it is ended. Therefore a session belongs to the key that opened it and ends with it,
 * and the least recently used session ends when a key, or all keys together, have too many.
 */
import { Context, Effect, type Fiber, Stream } from "effect"
import { HttpEffect, HttpRouter, HttpServerRequest, type HttpServerResponse } from "effect/http"
import { KeyStore } from "../../access/KeyStore.ts"
import { RateLimiter } from "../../access/RateLimiter.ts"
import type { Problem } from "../../api/errors/Problem.ts"
import { MissingApiKey } from "../../api/errors/problems.ts"
import type { ApiKey } from "../../api/schemas/ApiKey.ts"
import { keepRunning } from "../../operations/keepRunning.ts"
import { makeAdmission } from "../middleware/admission.ts"
import { KEY_HEADER } from "../middleware/bearer.ts"
import { placeholder } from "../middleware/ErrorEnvelope.ts"
import { makeMeter } from "../middleware/meter.ts"
import { rawHeader } from "../middleware/rawHeader.ts"
import { RequestContext } from "../middleware/RequestContext.ts"
import { InnerApp } from "../middleware/innerRequests.ts"
import { endSession, isEnding } from "./endSession.ts"
import { makeListTexts } from "./listTexts.ts"
import { faultResponse, type Message, messageOf, rpcCodes } from "./messages.ts"
import { SESSION_HEADER } from "./paths.ts"
import { type Selection, selectionOf } from "./selection.ts"
import { SessionList } from "./SessionList.ts"
import { callOf } from "./toolCalls.ts"

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

/** Bounds of the sessions of one process. */
export const mcpLimits = { all: 2000, perHolder: 20 } as const

/** A key needs no particular scope here. Each tool call needs the scope of its endpoint. */
const TERMS = { accepted: [], isSessionOnly: false }

const noSession = (id: Message["id"]) =>
  faultResponse({
    status: 404,
    code: rpcCodes.noSession,
    message: "This key has no such session: send initialize to open one.",
    id
  })

/** Answers a refusal in the error envelope. */
const refused = (problem: Problem) =>
  Effect.withFiber<Response>((fiber) => {
    fiber.getRef(RequestContext).problem = problem
    return Effect.succeed(placeholder)
  })

/** The request with the text of its message instead of its stream. */
const withText = (request: Request, text: string): Request =>
  Object.create(request, { text: { value: Effect.succeed(text) } })

/** Ids of the requests of each session that have not been answered. */
class RunningIds {
  readonly #ids = new Set<string>()

  /** Runs a request. Null when its id is in use. */
  run<A, E, R>(session: string, id: string | number, request: Effect.Effect<A, E, R>): Effect.Effect<A | null, E, R> {
    const name = `${session} ${typeof id} ${id}`
    return Effect.suspend((): Effect.Effect<A | null, E, R> => {
      if (this.#ids.has(name)) {
        return Effect.succeed(null)
      }
      this.#ids.add(name)
      return Effect.ensuring(
        request,
        Effect.sync(() => this.#ids.delete(name))
      )
    })
  }
}

/** Ends sessions in the list and in the protocol's runtime. */
const makeSessions = Effect.gen(function* () {
  const inner = yield* InnerApp
  const keys = yield* KeyStore
  const list = new SessionList(mcpLimits)
  const end = (id: string) => (inner.app === null ? Effect.void : endSession(inner.app, id))

  yield* keys.closures.pipe(
    Stream.runForEach((key) => Effect.forEach(list.removeAll(key), end, { discard: true })),
    keepRunning("Ending sessions of closed keys"),
    Effect.forkScoped({ startImmediately: true })
  )

  /** Notes the session that an answer opens. The runtime adds the id only after the route has answered. */
  const note =
    (key: ApiKey): HttpEffect.PreResponseHandler =>
    (_, response) => {
      const id = response.headers[SESSION_HEADER]
      const version = response.headers["mcp-protocol-version"] ?? ""
      const ended = id === undefined ? null : list.add(id, { holder: key.id, version })
      return ended === null ? Effect.succeed(response) : Effect.as(end(ended), response)
    }
  return { list, note }
})

/** Wraps the routes of `/mcp`. */
export const guardSessions = HttpRouter.middleware(
  Effect.gen(function* () {
    const { accept, verify } = yield* makeAdmission
    const limiter = yield* RateLimiter
    const { list, note } = yield* makeSessions
    const running = new RunningIds()
    const answerList = makeListTexts()

    /** The key of a request. A session of the app opens nothing here. */
    const admit = Effect.fnUntraced(function* (
      fiber: Fiber.Fiber<unknown, unknown>,
      context: RequestContext,
      request: Request
    ) {
      context.keyed = true
      const hasKey = rawHeader(request, "authorization") !== undefined || rawHeader(request, KEY_HEADER) !== undefined
      const key = yield* hasKey ? verify(fiber, request) : Effect.fail(new MissingApiKey())
      context.caller = key
      yield* accept(key, TERMS, request)
      return key
    })

    /** Passes a message on, or answers it here: a list whose text is known, and an id in use. */
    const pass = <E, R>(
      route: Effect.Effect<Response, E, R>,
      key: ApiKey,
      request: Request,
      message: Message,
      selection: Selection
    ) => {
      const name = request.headers[SESSION_HEADER]
      const { id, method, text } = message
      const routed = Effect.provideService(route, HttpServerRequest.HttpServerRequest, withText(request, text))
      if (name === undefined) {
        return method === "initialize"
          ? Effect.tap(routed, () => HttpEffect.appendPreResponseHandler(note(key)))
          : routed
      }
      const session = list.use(name, key.id)
      if (session === null || id === null) {
        return session === null ? Effect.succeed(noSession(id)) : routed
      }
      return Effect.map(
        running.run(name, id, answerList(request, message, session.version, selection, routed)),
        (response) =>
          response ??
          faultResponse({
            status: 400,
            code: rpcCodes.invalid,
            message: `The id ${JSON.stringify(id)} is in use by a request that has not been answered.`,
            id
          })
      )
    }

    /** Admits and charges a request. Returns its key and message; no message for DELETE. */
    const admitted = Effect.fnUntraced(function* (fiber: Fiber.Fiber<unknown, unknown>, request: Request) {
      const context = fiber.getRef(RequestContext)
      const key = yield* admit(fiber, context, request)
      const message = request.method === "POST" ? yield* messageOf(request) : null
      const reads = message !== null && "text" in message && callOf(message) !== null
      if (!reads) {
        context.operation = "mcp.message"
        yield* makeMeter({ fiber, context, limiter, key, budget: "rest", cost: 1 })
      }
      return { key, message }
    })

    const remove = <E, R>(route: Effect.Effect<Response, E, R>, key: ApiKey, request: Request) => {
      const session = request.headers[SESSION_HEADER]
      return session === undefined || list.remove(session, key.id) ? route : Effect.succeed(noSession(null))
    }

    return (route) =>
      Effect.withFiber((fiber) => {
        const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
        const isGuarded = request.method === "POST" || request.method === "DELETE"
        if (!isGuarded || isEnding(request)) {
          return route
        }
        return Effect.matchEffect(admitted(fiber, request), {
          onFailure: refused,
          onSuccess: ({ key, message }) => {
            if (message === null) {
              return remove(route, key, request)
            }
            if (!("text" in message)) {
              return Effect.succeed(faultResponse(message))
            }
            const selection = selectionOf(request.url)
            return typeof selection === "string"
              ? Effect.succeed(
                  faultResponse({ status: 400, code: rpcCodes.invalid, message: selection, id: message.id })
                )
              : pass(route, key, request, message, selection)
          }
        })
      })
  })
)
