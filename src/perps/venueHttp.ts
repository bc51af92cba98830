/** One request to a venue: bounded, decoded, and every way it can go wrong named. */
import { ByteSize, Effect, Schema } from "effect"
import type { HttpClient, HttpClientRequest } from "effect/http"
import { makeExchange } from "../upstream/upstreamHttp.ts"
import { NoMarket, VenueUnreadable } from "./Venue.ts"

const MAX_BODY = ByteSize.toNumberUnsafe(ByteSize.mebibytes(4))

/** A decoded answer. */
export interface Heard<A> {
  readonly value: A
  /** When the answer was made, which a cache on the way leaves alone; null when it does not say. */
  readonly sentAtMs: number | null
}

/** The statuses by which a venue says that it has no market of this symbol. */
export interface Absence {
  readonly symbol: string
  readonly statuses: ReadonlyArray<number>
}

/** Asks and decodes. */
export type Ask = <A>(
  request: HttpClientRequest.HttpClientRequest,
  schema: Schema.ConstraintCodec<A, unknown>,
  absence?: Absence
) => Effect.Effect<Heard<A>, VenueUnreadable | NoMarket>

const whyOf = { timeout: "late", unreachable: "down", rate_limited: "limited", malformed: "malformed" } as const

const dateOf = (header: string | undefined): number | null => {
  const ms = Date.parse(header ?? "")
  return Number.isNaN(ms) ? null : ms
}

/** Requests over the client in context. */
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
