import { Option } from "effect"
import type { HttpServerRequest } from "effect/http"
import { rawHeader } from "./rawHeader.ts"

/**
 * The address of the caller. Each trusted proxy appends the address of its peer to `X-Forwarded-For`, so the caller is
 * `trustedHops` places from the right. Entries further left can be forged. Null when there are fewer entries than
 * trusted hops, because the request then bypassed a proxy.
 */
export const clientAddress = (request: {
  readonly peer: string | null
  readonly forwardedFor: string | undefined
  readonly trustedHops: number
}): string | null => {
  if (request.trustedHops === 0) {
    return request.peer
  }
  const hops = request.forwardedFor?.split(",") ?? []
  return hops.at(-request.trustedHops)?.trim() ?? null
}

export const callerAddress = (request: HttpServerRequest.HttpServerRequest, trustedHops: number): string | null =>
  clientAddress({
    peer: Option.getOrNull(request.remoteAddress),
    forwardedFor: rawHeader(request, "x-forwarded-for"),
    trustedHops
  })
