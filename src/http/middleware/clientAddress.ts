/**
 * The address a request came from. Each trusted proxy appends the address it was called from to `X-Forwarded-For`, so with
 * `trustedHops` of them the caller stands that many places from the right; what stands further left anyone can have
 * written. Null when fewer proxies have signed than are trusted: then the request did not come the trusted way.
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
