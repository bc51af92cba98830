import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../api/Api.ts"
import { retryAfter } from "../../api/errors/Problem.ts"
import {
  InvalidSignature,
  RouteNotFound,
  RouteTypeNotServed,
  StatusNotFound,
  UpstreamInvalid,
  UpstreamRateLimited,
  UpstreamTimeout,
  UpstreamUnavailable
} from "../../api/errors/problems.ts"
import type { RouteBody } from "../../api/Routing.ts"
import { Meter } from "../../api/middleware/Metering.ts"
import type { QuoteRefusal, SpotQuote } from "../../api/schemas/Quote.ts"
import type { ChainUnavailable } from "../../chain/ChainUnavailable.ts"
import { TransactionStatus } from "../../chain/rpc/TransactionStatus.ts"
import { isSignature, Signature } from "../../domain/Signature.ts"
import { describeRefusal, NOT_SEARCHED_RETRY_MS } from "../../quotes/describeRefusal.ts"
import { ExecutedQuotes } from "../../quotes/ExecutedQuotes.ts"
import { QuoteEngine } from "../../quotes/QuoteEngine.ts"
import { TokenReader } from "../../tokens/TokenReader.ts"
import { invalid, tooManyColdMints } from "../problems.ts"
import { quoteResponse, simulatedResponse } from "../streams/wireQuote.ts"
import { metaWith } from "./metaWith.ts"
import { type AtSlot, makeAtSlot } from "./pastMarket.ts"
import { tradeRequest } from "./spotRequests.ts"

/**
 * The problem of a route without a quote. State that is missing or old counts as an unavailable upstream, because the
 * upstream is the chain.
 */
const routeProblem = (refusal: QuoteRefusal) => {
  const error = { message: describeRefusal(refusal).message }
  switch (refusal._tag) {
    case "NoRoute":
      return new RouteNotFound({ error })
    case "RouteNotSupported":
      return new RouteTypeNotServed({ error })
    case "TooManyColdMints":
      return tooManyColdMints(refusal)
    case "StateCold":
      return refusal.readyInMs === undefined
        ? new UpstreamUnavailable({ error })
        : retryAfter(new UpstreamUnavailable({ error }), refusal.readyInMs / 1000)
    case "PoolsNotSearched":
      return retryAfter(new UpstreamUnavailable({ error }), NOT_SEARCHED_RETRY_MS / 1000)
    case "NotExecuted":
      return refusal.retryInMs === null
        ? new RouteTypeNotServed({ error })
        : retryAfter(new UpstreamUnavailable({ error }), refusal.retryInMs / 1000)
    default:
      return new UpstreamUnavailable({ error })
  }
}

const upstreamProblems = {
  timeout: UpstreamTimeout,
  unreachable: UpstreamUnavailable,
  rate_limited: UpstreamRateLimited,
  invalid: UpstreamInvalid
}

const upstreamProblem = ({ reason, retryAfterMs = 1000 }: ChainUnavailable) =>
  retryAfter(new upstreamProblems[reason](), retryAfterMs / 1000)

const pastNotSimulated = invalid(
  { in: "body", field: "simulate", issue: "conflict" },
  "simulate must be left out beside atSlot: programs run on the present state."
)

/** Units of a route that is also executed. */
const SIMULATION_UNITS = 5

export const layer = HttpApiBuilder.group(
  Api,
  "routing",
  Effect.fnUntraced(function* (handlers) {
    const atSlot = yield* makeAtSlot({ engine: yield* QuoteEngine, tokens: yield* TokenReader })
    const executions = yield* ExecutedQuotes
    const { find } = yield* TransactionStatus

    /** The quote with what its programs did. Charged only once there is a quote. */
    const simulated = Effect.fnUntraced(function* (quote: SpotQuote) {
      const meter = yield* Meter
      yield* meter.raiseTo(SIMULATION_UNITS)
      const simulation = yield* executions.simulate(quote)
      yield* simulation.state === "not_executed" ? meter.lowerTo(1) : Effect.void
      return simulatedResponse(quote, simulation)
    })

    const route = ({ payload }: { readonly payload: typeof RouteBody.Type }) => {
      const { atSlot: slot, chain: _, simulate = false, ...trade } = payload
      if (simulate && slot !== undefined) {
        return Effect.fail(pastNotSimulated)
      }
      const when: AtSlot = { slot, part: "body", mints: [trade.inputMint, trade.outputMint] }
      const quoted = tradeRequest(trade).pipe(
        Effect.flatMap((request) => atSlot(when, ({ engine }) => Effect.mapError(engine.quote(request), routeProblem)))
      )
      return simulate ? Effect.flatMap(quoted, simulated) : Effect.map(quoted, quoteResponse)
    }

    const status = Effect.fnUntraced(function* ({ params: { id } }: { readonly params: { readonly id: string } }) {
      if (!isSignature(id)) {
        return yield* new InvalidSignature()
      }
      const data = yield* find(Signature.make(id)).pipe(
        Effect.tapErrorTag("ChainUnavailable", ({ reason, detail }) =>
          Effect.logWarning("The status of a transaction could not be read", { reason, detail })
        ),
        Effect.catchTags({ UnknownTransaction: () => new StatusNotFound(), ChainUnavailable: upstreamProblem })
      )
      return { data, meta: yield* metaWith({ methodVersion: "public-status-v1", executionAuthority: "none" }) }
    })

    return handlers.handleAll({ route, status })
  })
)
