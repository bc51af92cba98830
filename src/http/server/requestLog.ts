/** Logs a line for a share of the answered requests. */
import { Context, Effect, Layer, Random } from "effect"
import type { IncomingMessage } from "node:http"
import { shareSetting } from "../../domain/countSetting.ts"
import type { Handle } from "./fastPath.ts"
import { contextOf } from "../middleware/RequestContext.ts"

/** `REQUEST_LOG`: share of requests that are logged, from 0 to 1; 0 by default. */
export const settings = shareSetting("REQUEST_LOG", 0)

/** Share of requests that are logged, from 0 to 1. Above 0, answers of 500 and more are always logged. */
export const RequestLogShare = Context.Reference<number>("fathom/http/requestLog/RequestLogShare", {
  defaultValue: () => 0
})

/** The share of `REQUEST_LOG`. */
export const layerConfig = Layer.effect(RequestLogShare, settings)

/** Status for a client that closed the connection before the answer began. */
export const CLIENT_LEFT = 499

const record = (request: IncomingMessage, operation: string, status: number, begunMs: number) => {
  const context = contextOf(request)
  return {
    requestId: context?.id ?? null,
    clientRequestId: context?.clientId ?? null,
    traceId: context?.trace?.traceId ?? null,
    spanId: context?.trace?.spanId ?? null,
    keyId: context?.caller?.id ?? null,
    operation,
    status,
    durationMs: Math.round((performance.now() - begunMs) * 1000) / 1000
  }
}

/**
 * Wraps a handler when `RequestLogShare` is above 0. A line has the ids of request, span and key, operation, status, and the
 * time to the end of the answer, also for streams. It never has a URL, which names wallets and mints, nor a header.
 */
export const requestLog = (
  nameOf: (method: string, url: string) => string
): Effect.Effect<(handle: Handle) => Handle> =>
  Effect.gen(function* () {
    const share = yield* RequestLogShare
    if (share === 0) {
      return (handle) => handle
    }
    const random = yield* Random.Random
    const run = Effect.runForkWith(yield* Effect.context())
    return (handle) => (request, response) => {
      const begunMs = performance.now()
      const isChosen = random.nextDoubleUnsafe() < share
      response.once("close", () => {
        const status = response.headersSent ? response.statusCode : CLIENT_LEFT
        if (isChosen || status >= 500) {
          const operation = nameOf(request.method ?? "", request.url ?? "")
          run(Effect.logInfo("Request", record(request, operation, status, begunMs)))
        }
      })
      handle(request, response)
    }
  })
