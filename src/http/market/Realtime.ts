import { Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../api/Api.ts"
import { MARKET_REALTIME_PATH } from "../../api/market/Realtime.ts"
import { CurrentKey } from "../../api/middleware/Authorization.ts"
import { randomBase62, SecretSource } from "../../domain/randomText.ts"
import { ticketPolicy, type TooManySessions } from "../../live/tickets.ts"
import { MarketTickets } from "../../subscriptions/MarketTickets.ts"
import { baseUrl } from "../middleware/baseUrl.ts"
import { admittedSession } from "../middleware/sessionCookie.ts"
import { limited, limiterUnavailable, storeUnavailable } from "../problems.ts"
import { Settings } from "../Settings.ts"

const STREAM_ID_LENGTH = 22

const ticketsUnavailable = storeUnavailable("Tickets cannot be issued", "Live connections are unavailable: try again.")

const tooOften = ({ retryAfterMs }: TooManySessions) =>
  limited("stream", `A key may ask for ${ticketPolicy.calls} sessions a minute.`, retryAfterMs)

/** Handlers of the tickets of the market socket. */
export const layer = HttpApiBuilder.group(
  Api,
  "marketRealtime",
  Effect.fnUntraced(function* (handlers) {
    const tickets = yield* MarketTickets
    const random = yield* SecretSource
    const { publicUrl } = yield* Settings

    const session = Effect.fnUntraced(function* ({
      request
    }: {
      readonly request: HttpServerRequest.HttpServerRequest
    }) {
      const key = yield* CurrentKey
      yield* tickets.enter(key.id).pipe(
        Effect.catchTags({
          TooManySessions: (error) => Effect.fail(tooOften(error)),
          LimiterUnavailable: limiterUnavailable
        })
      )
      const streamId = `str_${randomBase62(STREAM_ID_LENGTH, random)}`
      const { expiresAtMs, ticket } = yield* tickets
        .issue({
          keyId: key.id,
          session: admittedSession(request, key),
          accountId: key.accountId,
          control: true,
          streamId,
          sockets: key.plan.sockets,
          plan: key.plan
        })
        .pipe(Effect.catchTag("TicketsUnavailable", ticketsUnavailable))
      const base = (baseUrl(publicUrl, request) ?? "").replace(/^http/u, "ws")
      return {
        wsUrl: `${base}${MARKET_REALTIME_PATH}?ticket=${ticket}`,
        expiresInSeconds: ticketPolicy.lifeMs / 1000,
        ticketExpiresAtMs: expiresAtMs,
        streamId
      }
    })

    return handlers.handleAll({ session })
  })
)
