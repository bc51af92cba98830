import type { HttpServerRequest } from "effect/http"
import { REALTIME_PATH } from "../../api/Tracker.ts"
import type { Address } from "../../domain/Address.ts"
import { baseUrl } from "../middleware/baseUrl.ts"

/** Wallets listed in the URL, so that it stays well below 8 KiB. The ticket holds all of them. */
const LISTED = 100

/** The WebSocket URL of a ticket, on the base URL of the request. It is a secret and is not logged. */
export const realtimeUrl = (
  publicUrl: string | null,
  request: HttpServerRequest.HttpServerRequest,
  { ticket, wallets }: { readonly ticket: string; readonly wallets: ReadonlyArray<Address> }
): string => {
  const base = (baseUrl(publicUrl, request) ?? "").replace(/^http/u, "ws")
  // Tickets and addresses contain no character that a query has to escape.
  return `${base}${REALTIME_PATH}?ticket=${ticket}&wallets=${wallets.slice(0, LISTED).join(",")}`
}
