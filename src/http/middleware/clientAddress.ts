import { Option, Result } from "effect"
import type { HttpServerRequest } from "effect/http"
import { IpNetwork, NetAddress } from "effect/net"
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

/** Prefix length of the IPv6 network of one household or phone. */
const IPV6_PREFIX = 64

const networkOf = (address: NetAddress.IpAddress): Result.Result<string, unknown> =>
  Result.map(IpNetwork.fromAddress(address, Math.min(IPV6_PREFIX, NetAddress.width(address))), IpNetwork.format)

/** Visitor id of an address: the IPv4 address, or the IPv6 /64 network. All invalid addresses are "unknown". */
export const visitorOf = (address: string | null): string =>
  Result.getOrElse(
    Result.flatMap(NetAddress.ipFromString(address?.split("%", 1)[0] ?? ""), (ip) =>
      networkOf(NetAddress.toCanonical(ip))
    ),
    () => "unknown"
  )
