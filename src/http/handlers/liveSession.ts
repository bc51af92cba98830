/** Shared by the sessions of both sockets and the event streams of the market. */
import { Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import { randomBase62, type RandomBytes } from "../../domain/randomText.ts"
import type { TooManySessions } from "../../live/tickets.ts"
import { baseUrl } from "../middleware/baseUrl.ts"
import { limited, storeUnavailable } from "../problems.ts"

/** A new stream id. */
export const newStreamId = (random: RandomBytes): string => `str_${randomBase62(22, random)}`

/** The WebSocket URL of a path, on the base URL of the request. */
export const socketUrl = (
  publicUrl: string | null,
  request: HttpServerRequest.HttpServerRequest,
  path: string
): string => (baseUrl(publicUrl, request) ?? "").replace(/^http/u, "ws") + path

/** Logs why no ticket could be issued, and fails with the 503. */
export const ticketsUnavailable = storeUnavailable(
  "Tickets cannot be issued",
  "Live connections are unavailable: try again."
)

/** A 429 for a key that asks for too many sessions. */
export const tooManySessions = ({ calls, retryAfterMs }: TooManySessions) =>
  Effect.fail(limited("stream", `A key of this plan may request ${calls} sessions a minute.`, retryAfterMs))
