/** Sends a request to a venue and decodes the answer. Failures become faults of the venue. */
import { ByteSize, type Duration, Effect, Exit, Schema } from "effect"
import type { HttpClient, HttpClientRequest } from "effect/http"
import { makeExchange } from "../operations/upstreamHttp.ts"
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

export type Ask = <A>(
  request: HttpClientRequest.HttpClientRequest,
  schema: Schema.ConstraintCodec<A, unknown>,
  absence?: Absence
) => Effect.Effect<VenueAnswer<A>, VenueUnreadable | NoMarket>

const whyOf = { timeout: "late", unreachable: "down", rate_limited: "limited", malformed: "malformed" } as const

const dateOf = (header: string | undefined): number | null => {
  const ms = Date.parse(header ?? "")
  return Number.isNaN(ms) ? null : ms
}

/** Sends requests with the client of the context. */
export const makeAsk: Effect.Effect<Ask, never, HttpClient.HttpClient> = Effect.map(makeExchange, (exchange) => {
  const ask: Ask = Effect.fnUntraced(function* (request, schema, absence) {
    const { headers, status, text } = yield* exchange(request, {
      maxBytes: MAX_BODY,
      statuses: [200, ...(absence?.statuses ?? [])]
    }).pipe(Effect.mapError(({ detail, reason }) => new VenueUnreadable({ why: whyOf[reason], detail })))
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

/** Caches a venue's listing for 15 s. */
export const cacheListing = <A, E, R>(listing: Effect.Effect<A, E, R>) =>
  Effect.cachedWithTTL(listing, whileGood("15 seconds"))
