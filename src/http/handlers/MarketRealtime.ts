import { Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../api/Api.ts"
import { MARKET_REALTIME_PATH } from "../../api/MarketRealtime.ts"
import { CurrentKey } from "../../api/middleware/Authorization.ts"
import { SecretSource } from "../../domain/randomText.ts"
import { MarketTickets } from "../../live/market/MarketTickets.ts"
import { ticketPolicy } from "../../live/tickets.ts"
import { admittedSession } from "../middleware/sessionCookie.ts"
import { limiterUnavailable } from "../problems.ts"
import { Settings } from "../Settings.ts"
import { newStreamId, socketUrl, ticketsUnavailable, tooManySessions } from "./liveSession.ts"

export const layer = HttpApiBuilder.group(
  Api,
  "marketRealtime",
  Effect.fnUntraced(function* (handlers) {
    const tickets = yield* MarketTickets
    const random = yield* SecretSource
    const settings = yield* Settings

    const session = Effect.fnUntraced(function* ({
      request
    }: {
      readonly request: HttpServerRequest.HttpServerRequest
    }) {
      const key = yield* CurrentKey
      yield* tickets.enter(key.id, key.plan).pipe(
        Effect.catchTags({
          TooManySessions: tooManySessions,
          LimiterUnavailable: limiterUnavailable
        })
      )
      const streamId = newStreamId(random)
      const { expiresAtMs, ticket } = yield* tickets
        .issue({
          keyId: key.id,
          session: admittedSession(request, settings, key),
          accountId: key.accountId,
          control: true,
          streamId,
          sockets: key.plan.sockets,
          plan: key.plan
        })
        .pipe(Effect.catchTag("TicketsUnavailable", ticketsUnavailable))
      return {
        wsUrl: socketUrl(settings.publicUrl, request, `${MARKET_REALTIME_PATH}?ticket=${ticket}`),
        expiresInSeconds: ticketPolicy.lifeMs / 1000,
        ticketExpiresAtMs: expiresAtMs,
        streamId
      }
    })

    return handlers.handleAll({ session })
  })
)
