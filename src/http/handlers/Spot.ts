import { Effect, Layer, Result } from "effect"
import type { HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { RateLimiter } from "../../access/RateLimiter.ts"
import { UsageStore } from "../../access/usage/UsageStore.ts"
import { Api } from "../../api/Api.ts"
import { retryAfter } from "../../api/Problem.ts"
import { CurrentKey } from "../../api/middleware/Authorization.ts"
import { Meter } from "../../api/middleware/Metering.ts"
import {
  DataUnavailable,
  type RateLimited,
  type InvalidRequest,
  RouteNotFound,
  RouteTypeNotServed,
  StateNotLoaded,
  StateTooOld
} from "../../api/problems.ts"
import type { ExitCheckBody, QuoteQuery, StreamQuery, WalletExitBody } from "../../api/Spot.ts"
import { type Mint, SOL } from "../../domain/Address.ts"
import type { QuoteRefusal, SpotQuote } from "../../domain/quotes/Quote.ts"
import { describeRefusal, NOT_SEARCHED_RETRY_MS } from "../../quotes/describeRefusal.ts"
import { exitCheck } from "../../quotes/exitCheck.ts"
import { type Priced, QuoteEngine } from "../../quotes/QuoteEngine.ts"
import { QuoteTicks } from "../../quotes/QuoteTicks.ts"
import { RequestContext } from "../middleware/RequestContext.ts"
import { admittedSession } from "../middleware/sessionCookie.ts"
import { StreamLimits } from "../streams/StreamLimits.ts"
import { openStream } from "../streams/openStream.ts"
import { TokenReader } from "../../tokens/TokenReader.ts"
import { invalid, tooManyColdMints } from "../problems.ts"
import { exitPosition, quoteRequest, streamTerms } from "./spotRequests.ts"
import { makeWalletExit } from "./walletExit.ts"
import { quoteResponse } from "../streams/wireQuote.ts"

const problemOf = (refusal: QuoteRefusal) => {
  const error = { message: describeRefusal(refusal).message }
  switch (refusal._tag) {
    case "NoRoute":
      return new RouteNotFound({ error })
    case "StateCold":
      return refusal.readyInMs === undefined
        ? new StateNotLoaded({ error })
        : retryAfter(new StateNotLoaded({ error }), refusal.readyInMs / 1000)
    case "TooManyColdMints":
      return tooManyColdMints(refusal)
    case "PoolsNotSearched":
      return retryAfter(new DataUnavailable({ error }), NOT_SEARCHED_RETRY_MS / 1000)
    case "StateStale":
      return new StateTooOld({ error })
    case "RouteNotSupported":
      return new RouteTypeNotServed({ error })
  }
}

/** The 400 of a position that this deployment cannot measure. */
const notMeasured = (field: "mint" | "quoteMint", message: string) =>
  invalid({ in: "body", field, issue: "out_of_range" }, message)

/** The quote of a rung; null without a route. Any other failure fails the whole ladder. */
const rungQuote = (
  priced: Priced
): Effect.Effect<SpotQuote | null, StateNotLoaded | StateTooOld | RateLimited | DataUnavailable | InvalidRequest> => {
  if (Result.isSuccess(priced)) {
    return Effect.succeed(priced.success)
  }
  const problem = problemOf(priced.failure)
  switch (problem._tag) {
    case "RouteNotFound":
      return Effect.succeed(null)
    case "RouteTypeNotServed":
      return Effect.fail(notMeasured("mint", `The exit of mint cannot be measured. ${problem.error.message}`))
    default:
      return Effect.fail(problem)
  }
}

const handlers = HttpApiBuilder.group(
  Api,
  "spot",
  Effect.fnUntraced(function* (handlers) {
    const engine = yield* QuoteEngine
    const accounting = { limiter: yield* RateLimiter, usage: yield* UsageStore, operation: "spot.stream" }
    const streams = yield* StreamLimits
    const ticks = yield* QuoteTicks
    const tokens = yield* TokenReader

    const quote = ({ query }: { readonly query: typeof QuoteQuery.Type }) =>
      quoteRequest(query).pipe(
        Effect.flatMap((request) => Effect.mapError(engine.quote(request), problemOf)),
        Effect.map(quoteResponse)
      )

    const checkWallet = yield* makeWalletExit

    const requireExitMint = (quoteMint: Mint) =>
      engine.exitMint !== null && quoteMint !== engine.exitMint
        ? notMeasured("quoteMint", `quoteMint must be ${engine.exitMint}: exits are measured in SOL only here.`)
        : Effect.void

    const checkPosition = Effect.fnUntraced(function* (payload: typeof ExitCheckBody.Type) {
      const { body } = yield* RequestContext
      const position = yield* exitPosition(payload, body?.numberText("uiAmount"))
      const { ladder, mint, quoteMint, slippageBps } = position
      yield* requireExitMint(quoteMint)
      const meter = yield* Meter
      yield* meter.raiseTo(ladder.length)
      const quoteDecimals = position.quoteDecimals ?? (yield* tokens.decimalsOf(quoteMint))
      const outputDecimals = quoteDecimals ?? undefined
      const rungs = yield* engine.quoteAll(
        ladder.map(({ amount }) => ({ inputMint: mint, outputMint: quoteMint, amount, slippageBps, outputDecimals }))
      )
      const quotes = yield* Effect.forEach(rungs, rungQuote)
      const decimals = position.decimals ?? (yield* tokens.decimalsOf(mint))
      return exitCheck({ ...position, decimals, quoteDecimals }, quotes)
    })

    const check = ({ payload }: { readonly payload: typeof ExitCheckBody.Type | typeof WalletExitBody.Type }) =>
      "wallet" in payload
        ? Effect.andThen(requireExitMint(payload.quoteMint ?? SOL), checkWallet(payload))
        : checkPosition(payload)

    const stream = Effect.fnUntraced(function* ({
      query,
      request
    }: {
      readonly query: typeof StreamQuery.Type
      readonly request: HttpServerRequest.HttpServerRequest
    }) {
      const key = yield* CurrentKey
      const { charge } = yield* Meter
      if (charge === null) {
        return yield* Effect.die("a stream is charged to a budget")
      }
      const slot = yield* streams.acquire({
        key,
        accountId: key.accountId,
        session: admittedSession(request, key)
      })
      const start = { charge, slot, terms: streamTerms(query) }
      return yield* Effect.mapError(openStream(ticks, accounting, start), problemOf)
    })

    return handlers.handleAll({ quote, stream, exitCheck: check })
  })
)

export const layer = handlers.pipe(Layer.provide(StreamLimits.layer))
