import type { HttpServerRequest } from "effect/http"
import { REALTIME_PATH } from "../../api/Tracker.ts"
import type { Address } from "../../domain/Address.ts"
import { baseUrl } from "../middleware/baseUrl.ts"

/** As many as leave the URL well below the 8 KiB that a server reads. The ticket knows all of them. */
const LISTED = 100

/** Where the ticket opens a live connection: wherever the caller found us, over WebSocket. The URL is a secret: it is not logged. */
export const realtimeUrl = (
  publicUrl: string | null,
  request: HttpServerRequest.HttpServerRequest,
  { ticket, wallets }: { readonly ticket: string; readonly wallets: ReadonlyArray<Address> }
): string => {
  const base = (baseUrl(publicUrl, request) ?? "").replace(/^http/u, "ws")
  // Neither tickets nor addresses hold a character that a query would have to escape.
  return `${base}${REALTIME_PATH}?ticket=${ticket}&wallets=${wallets.slice(0, LISTED).join(",")}`
}
