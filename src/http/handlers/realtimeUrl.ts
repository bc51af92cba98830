import type { HttpServerRequest } from "effect/http"
import { REALTIME_PATH } from "../../api/Tracker.ts"
import type { Address } from "../../domain/Address.ts"
import { baseUrl } from "../middleware/baseUrl.ts"

/** Most wallets in the URL. The ticket holds all of them. */
const LISTED = 100
/** Longest URL that servers take. */
const MAX_URL = 8192
const LONGEST_ADDRESS = 44

/** The WebSocket URL of a ticket, on the base URL of the request. It is a secret and is not logged. */
export const realtimeUrl = (
  publicUrl: string | null,
  request: HttpServerRequest.HttpServerRequest,
  { ticket, wallets }: { readonly ticket: string; readonly wallets: ReadonlyArray<Address> }
): string => {
  const base = (baseUrl(publicUrl, request) ?? "").replace(/^http/u, "ws")
  // Tickets and addresses contain no character that a query has to escape.
  const start = `${base}${REALTIME_PATH}?ticket=${ticket}&wallets=`
  const room = Math.floor((MAX_URL - start.length) / (LONGEST_ADDRESS + 1))
  return start + wallets.slice(0, Math.max(0, Math.min(LISTED, room))).join(",")
}
