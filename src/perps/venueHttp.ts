/** One request to a venue: bounded, decoded, and every way it can go wrong named. */
import { ByteSize, Effect, Schema } from "effect"
import { HttpClient, type HttpClientRequest, type HttpClientResponse } from "effect/http"
import { boundedText } from "../domain/boundedText.ts"
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

const unreadable = (why: VenueUnreadable["why"], detail: string) => new VenueUnreadable({ why, detail })

const textOf = ({ stream }: HttpClientResponse.HttpClientResponse) =>
  boundedText(stream, MAX_BODY).pipe(
    Effect.catchTag("UnusableText", ({ detail }) => Effect.fail(unreadable("malformed", detail)))
  )

const refused = (status: number): VenueUnreadable => {
  const why = status === 429 ? "limited" : status >= 500 || status === 408 ? "down" : "malformed"
  return unreadable(why, `HTTP ${status}`)
}

const dateOf = (header: string | undefined): number | null => {
  const ms = Date.parse(header ?? "")
  return Number.isNaN(ms) ? null : ms
}

/** Asking over the client in context. */
export const makeAsk: Effect.Effect<Ask, never, HttpClient.HttpClient> = Effect.map(HttpClient.HttpClient, (client) => {
  const ask: Ask = Effect.fnUntraced(
    function* (request, schema, absence) {
      const response = yield* client.execute(request)
      if (absence?.statuses.includes(response.status) === true) {
        return yield* new NoMarket({ symbol: absence.symbol })
      }
      if (response.status !== 200) {
        return yield* refused(response.status)
      }
      const text = yield* textOf(response)
      const value = yield* Schema.decodeUnknownEffect(Schema.fromJsonString(schema))(text).pipe(
        Effect.mapError(() => unreadable("malformed", `an unexpected answer of ${text.length} characters`))
      )
      return { value, sentAtMs: dateOf(response.headers["date"]) }
    },
    Effect.scoped,
    Effect.catchTag("HttpClientError", ({ reason }) => Effect.fail(unreadable("down", reason._tag))),
    Effect.provideService(HttpClient.TracerDisabledWhen, () => true)
  )
  return ask
})
