import { Clock, Effect, Layer, Result } from "effect"
import type { HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { RateLimiter } from "../../access/RateLimiter.ts"
import { UsageStore } from "../../access/usage/UsageStore.ts"
import { WalletBatch } from "../../access/WalletBatch.ts"
import { Api } from "../../api/Api.ts"
import { retryAfter } from "../../api/errors/Problem.ts"
import {
  DataUnavailable,
  type InvalidRequest,
  type RateLimited,
  RouteNotFound,
  RouteTypeNotServed,
  StateNotLoaded,
  StateTooOld
} from "../../api/errors/problems.ts"
import { CurrentKey } from "../../api/middleware/Authorization.ts"
import { Meter } from "../../api/middleware/Metering.ts"
import type { Position } from "../../api/schemas/ExitCheck.ts"
import type { QuoteRefusal, SpotQuote } from "../../api/schemas/Quote.ts"
import { WalletExitCheck } from "../../api/schemas/WalletExit.ts"
import {
  defaults,
  type ExitCheckBody,
  type QuoteQuery,
  quotesIn,
  type SpotQuotesBody,
  type StreamQuery,
  type WalletExitBody
} from "../../api/Spot.ts"
import { type Mint, SOL } from "../../domain/Address.ts"
import { describeRefusal, NOT_SEARCHED_RETRY_MS } from "../../quotes/describeRefusal.ts"
import { batchAnswer, tradesBack, unitsOf } from "../../quotes/batchQuotes.ts"
import { exitCheck } from "../../quotes/exitCheck.ts"
import { type Priced, QuoteEngine } from "../../quotes/QuoteEngine.ts"
import { QuoteTicks } from "../../quotes/QuoteTicks.ts"
import {
  countsOf,
  type ExitOutcome,
  type PlannedExit,
  plannedExits,
  rungsIn,
  totalOf,
  walletExitPosition,
  type WalletExitTerms
} from "../../quotes/walletExit.ts"
import { TokenReader } from "../../tokens/TokenReader.ts"
import { allPositions } from "../../wallets/positionPages.ts"
import { WalletReader } from "../../wallets/WalletReader.ts"
import { RequestContext } from "../middleware/RequestContext.ts"
import { admittedSession } from "../middleware/sessionCookie.ts"
import { Settings } from "../Settings.ts"
import { invalid, storeUnavailable, tooManyColdMints } from "../problems.ts"
import { openStream } from "../streams/openStream.ts"
import { StreamLimits } from "../streams/StreamLimits.ts"
import { quoteResponse } from "../streams/wireQuote.ts"
import { makeAtSlot, PAST_UNITS, type ReadMarket } from "./pastMarket.ts"
import { batchTrades, exitPosition, quoteDecimalsOf, quoteRequest, streamTerms } from "./spotRequests.ts"
import { enterBatch } from "./walletBatch.ts"

/** Time for pricing all ladders. Positions that are not started within it are `not_reached`. */
const PRICING_LIMIT_MS = 1500
/** More than one wallet's trades can have, so that every position is read. */
const ALL_POSITIONS = 10_000

const unavailable = storeUnavailable("Wallets cannot be read", "Wallets are unavailable: try again.")

const stateOf = {
  StateCold: "loading",
  TooManyColdMints: "deferred",
  PoolsNotSearched: "not_searched",
  RouteNotSupported: "not_supported",
  NotExecuted: "not_supported"
} as const

/** Milliseconds until the refused mint is probably loaded; null when unknown. */
const retryInMs = (refusal: QuoteRefusal): number | null => {
  if (refusal._tag === "TooManyColdMints") {
    return refusal.fitsInMs
  }
  return refusal._tag === "StateCold" ? (refusal.readyInMs ?? null) : null
}

/** The outcome of a position with a refused rung. State that is too old fails the whole check. */
const refusedExit = (refusal: Exclude<QuoteRefusal, { readonly _tag: "NoRoute" }>) => {
  const detail = describeRefusal(refusal).message
  return refusal._tag === "StateStale"
    ? Effect.fail(new StateTooOld({ error: { message: detail } }))
    : Effect.succeed<ExitOutcome>({
        state: stateOf[refusal._tag],
        exit: null,
        detail,
        retryInMs: retryInMs(refusal)
      })
}

const notReached: ExitOutcome = {
  state: "not_reached",
  exit: null,
  detail: "The time of the request was over before this position.",
  retryInMs: null
}

const termsOf = (body: typeof WalletExitBody.Type, quoteDecimals: number | null): WalletExitTerms => ({
  quoteMint: body.quoteMint ?? SOL,
  quoteDecimals,
  slippageBps: body.slippageBps ?? defaults.exitSlippageBps,
  ladder: body.ladder ?? defaults.ladder,
  maxImpactPct: body.maxImpactPct ?? defaults.maxImpactPct,
  limit: body.limit ?? defaults.exitPositions
})

/** Charges one unit for each rung. A check that exceeds a whole window of the budget is rejected with a 400. */
const chargeRungs = Effect.fnUntraced(function* (planned: ReadonlyArray<PlannedExit>) {
  const meter = yield* Meter
  const units = rungsIn(planned)
  const most = meter.charge?.limit ?? units
  if (units > most) {
    const message = `limit must be lower: the check would price ${units} rungs, and the quote budget has ${most} units.`
    return yield* invalid({ in: "body", field: "limit", issue: "out_of_range" }, message)
  }
  yield* meter.raiseTo(units)
  return meter
})

/** Prices one position at a time, so that other requests are served in between. */
const makePricing = Effect.gen(function* () {
  const engine = yield* QuoteEngine
  const tokens = yield* TokenReader

  const outcomeOf = Effect.fnUntraced(function* (position: Position) {
    const { ladder, mint, quoteDecimals, quoteMint, slippageBps } = position
    const outputDecimals = quoteDecimals ?? undefined
    const rungs = yield* engine.quoteAll(
      ladder.map(({ amount }) => ({ inputMint: mint, outputMint: quoteMint, amount, slippageBps, outputDecimals }))
    )
    const quotes = rungs.map((rung) => (Result.isSuccess(rung) ? rung.success : null))
    for (const rung of rungs) {
      if (Result.isFailure(rung) && rung.failure._tag !== "NoRoute") {
        return yield* refusedExit(rung.failure)
      }
    }
    const decimals = position.decimals ?? (yield* tokens.decimalsOf(mint))
    const outcome: ExitOutcome = {
      state: "checked",
      exit: exitCheck({ ...position, decimals }, quotes),
      detail: null,
      retryInMs: null
    }
    return outcome
  })

  return Effect.fnUntraced(function* (planned: ReadonlyArray<PlannedExit>) {
    const endsMs = (yield* Clock.currentTimeMillis) + PRICING_LIMIT_MS
    return yield* Effect.forEach(
      planned,
      Effect.fnUntraced(function* ({ position }) {
        if (position === null) {
          return null
        }
        yield* Effect.yieldNow
        return (yield* Clock.currentTimeMillis) < endsMs ? yield* outcomeOf(position) : notReached
      })
    )
  })
})

/** Handles `{"wallet": …}`. Every open position is in the answer or counted in it. */
const makeWalletExit = Effect.gen(function* () {
  const tokens = yield* TokenReader
  const reader = yield* WalletReader
  const batch = yield* WalletBatch
  const price = yield* makePricing

  return Effect.fnUntraced(function* (body: typeof WalletExitBody.Type) {
    yield* enterBatch(batch)
    const stated = quoteDecimalsOf(body)
    const terms = termsOf(body, stated ?? (yield* tokens.decimalsOf(body.quoteMint ?? SOL)))
    const held = yield* Effect.catch(reader.positionsOf(body.wallet, allPositions(ALL_POSITIONS)), unavailable)
    const { open, planned } = plannedExits(held.positions, terms)
    const meter = yield* chargeRungs(planned)
    const outcomes = yield* price(planned)
    const priced = planned.filter((_, i) => outcomes[i]?.state === "checked")
    yield* meter.lowerTo(Math.max(1, rungsIn(priced)))
    const positions = planned.map((plan, i) => walletExitPosition(plan, outcomes[i] ?? null, terms.maxImpactPct))
    return WalletExitCheck.make({
      wallet: body.wallet,
      status: held.status,
      reason: held.reason ?? held.summary?.historyCoverage.solana.reason ?? null,
      quoteMint: terms.quoteMint,
      quoteDecimals: terms.quoteDecimals,
      slippageBps: terms.slippageBps,
      ladder: terms.ladder,
      counts: countsOf(positions, open),
      total: totalOf(positions, terms, { open, isKnown: held.status === "partial" }),
      positions
    })
  }, Effect.scoped)
})

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
    case "NotExecuted":
      return refusal.retryInMs === null
        ? new RouteTypeNotServed({ error })
        : retryAfter(new DataUnavailable({ error }), refusal.retryInMs / 1000)
    case "RouteNotSupported":
      return new RouteTypeNotServed({ error })
  }
}

/** A 400 for a position that this deployment cannot measure. */
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
    const settings = yield* Settings
    const ticks = yield* QuoteTicks
    const tokens = yield* TokenReader

    const atSlot = yield* makeAtSlot({ engine, tokens })

    const quote = ({ query: { atSlot: slot, ...query } }: { readonly query: typeof QuoteQuery.Type }) =>
      quoteRequest(query).pipe(
        Effect.flatMap((request) =>
          atSlot({ slot, part: "query", mints: [query.inputMint, query.outputMint] }, (market) =>
            Effect.mapError(market.engine.quote(request), problemOf)
          )
        ),
        Effect.map(quoteResponse)
      )

    const quotes = Effect.fnUntraced(function* ({ payload }: { readonly payload: typeof SpotQuotesBody.Type }) {
      const trades = yield* batchTrades(payload)
      const meter = yield* Meter
      yield* meter.raiseTo(quotesIn(payload.quotes))
      const requests = trades.map(({ request }) => request)
      const mints = requests.flatMap(({ inputMint, outputMint }) => [inputMint, outputMint])
      const answers = yield* atSlot({ slot: payload.atSlot, part: "body", mints }, (market) =>
        market.engine.quoteAll(requests, tradesBack(trades))
      )
      const stale = answers.find((answer) => Result.isFailure(answer) && answer.failure._tag === "StateStale")
      if (stale !== undefined && Result.isFailure(stale)) {
        return yield* new StateTooOld({ error: { message: describeRefusal(stale.failure).message } })
      }
      yield* meter.lowerTo(Math.max(payload.atSlot === undefined ? 1 : PAST_UNITS, unitsOf(answers)))
      return batchAnswer(trades, answers)
    })

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
      const read = Effect.fnUntraced(function* ({ engine, tokens }: ReadMarket) {
        const quoteDecimals = position.quoteDecimals ?? (yield* tokens.decimalsOf(quoteMint))
        const outputDecimals = quoteDecimals ?? undefined
        const rungs = yield* engine.quoteAll(
          ladder.map(({ amount }) => ({ inputMint: mint, outputMint: quoteMint, amount, slippageBps, outputDecimals }))
        )
        const quotes = yield* Effect.forEach(rungs, rungQuote)
        const decimals = position.decimals ?? (yield* tokens.decimalsOf(mint))
        return exitCheck({ ...position, decimals, quoteDecimals }, quotes)
      })
      return yield* atSlot({ slot: payload.atSlot, part: "body", mints: [mint, quoteMint] }, read)
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
        session: admittedSession(request, settings, key)
      })
      const start = { charge, slot, terms: streamTerms(query) }
      return yield* Effect.mapError(openStream(ticks, accounting, start), problemOf)
    })

    return handlers.handleAll({ quote, quotes, stream, exitCheck: check })
  })
)

export const layer = handlers.pipe(Layer.provide(StreamLimits.layer))
