/** Sends a request to a venue and decodes the answer. Failures become faults of the venue. */
import { ByteSize, Clock, type Duration, Effect, Exit, Schema } from "effect"
import type { HttpClient, HttpClientRequest } from "effect/http"
import { monotonicMs } from "../domain/loopTime.ts"
import { makeExchange } from "../operations/upstreamHttp.ts"
import type { VenueBudget } from "./VenueBudget.ts"
import { NoMarket, VenueUnreadable } from "./Venue.ts"

const MAX_BODY = ByteSize.toNumberUnsafe(ByteSize.mebibytes(4))

export interface VenueAnswer<A> {
  readonly value: A
  /** The `Date` header, which caches in between keep; null without one. */
  readonly sentAtMs: number | null
}

/** The statuses by which the venue says that it has no market of this symbol. */
export interface Absence {
  readonly symbol: string
  readonly statuses: ReadonlyArray<number>
}

/** A request of a market's book, unless stated otherwise. */
export interface AskTerms {
  readonly absence?: Absence
  /** What the request costs by the venue's documents; 1 when left out. */
  readonly units?: number
  /** True for a request that every read depends on. Requests of books leave it a part of the budget. */
  readonly isListing?: boolean
  /** True for a request of the past, which can wait. It leaves most of the budget to books. */
  readonly isPast?: boolean
}

/** Sends a request and decodes the answer. Fails with `paced` when the venue's budget is used up. */
export type Ask = <A>(
  request: HttpClientRequest.HttpClientRequest,
  schema: Schema.ConstraintCodec<A, unknown>,
  terms?: AskTerms
) => Effect.Effect<VenueAnswer<A>, VenueUnreadable | NoMarket>

/** How long nothing is sent after a 429 that gives no time. */
const REST_MS = 5000

const whyOf = { timeout: "late", unreachable: "down", rate_limited: "limited", malformed: "malformed" } as const

const dateOf = (header: string | undefined): number | null => {
  const ms = Date.parse(header ?? "")
  return Number.isNaN(ms) ? null : ms
}

/** Sends requests with the client of the context, within the budget of the venue. */
export const makeAsk = Effect.fnUntraced(function* (
  budget: VenueBudget
): Effect.fn.Return<Ask, never, HttpClient.HttpClient> {
  const exchange = yield* makeExchange
  const clock = yield* Clock.Clock
  const ask: Ask = Effect.fnUntraced(function* (
    request,
    schema,
    { absence, isListing = false, isPast = false, units = 1 } = {}
  ) {
    const nowMs = monotonicMs(clock)
    if (!(isPast ? budget.takePast(units, nowMs) : budget.take(units, isListing ? 0 : budget.kept, nowMs))) {
      return yield* new VenueUnreadable({ why: "paced", detail: "the venue's limit of requests is used up" })
    }
    const { headers, status, text } = yield* exchange(request, {
      maxBytes: MAX_BODY,
      statuses: [200, ...(absence?.statuses ?? [])]
    }).pipe(
      Effect.mapError(({ detail, reason, retryAfterMs = REST_MS }) => {
        if (reason === "rate_limited") {
          budget.restUntil(monotonicMs(clock) + retryAfterMs)
        }
        return new VenueUnreadable({ why: whyOf[reason], detail })
      })
    )
    if (absence !== undefined && status !== 200) {
      return yield* new NoMarket({ symbol: absence.symbol })
    }
    const value = yield* Schema.decodeUnknownEffect(Schema.fromJsonString(schema))(text).pipe(
      Effect.mapError(
        () => new VenueUnreadable({ why: "malformed", detail: `an unexpected answer of ${text.length} characters` })
      )
    )
    return { value, sentAtMs: dateOf(headers["date"]) }
  })
  return ask
})

/** How long successful answers are cached. Failures are not cached. */
export const whileGood =
  (duration: Duration.Input) =>
  (exit: Exit.Exit<unknown, unknown>): Duration.Input =>
    Exit.isSuccess(exit) ? duration : 0

/** Caches a venue's listing, for 15 s unless stated otherwise. */
export const cacheListing = <A, E, R>(listing: Effect.Effect<A, E, R>, kept: Duration.Input = "15 seconds") =>
  Effect.cachedWithTTL(listing, whileGood(kept))
