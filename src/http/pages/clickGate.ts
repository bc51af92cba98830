/** Which visits of a share page count: people, once in a while each. */
import { Result } from "effect"
import { IpNetwork, NetAddress } from "effect/net"

const AGAIN_AFTER_MS = 30 * 60_000
const MOST_REMEMBERED = 50_000
/** A household or a phone has a whole network of this size to itself. */
const IPV6_PREFIX = 64

const networkOf = (address: NetAddress.IpAddress): Result.Result<string, unknown> =>
  Result.map(IpNetwork.fromAddress(address, Math.min(IPV6_PREFIX, NetAddress.width(address))), IpNetwork.format)

/** Who is behind an address: IPv4 addresses one by one, IPv6 by network. All that cannot be read are one visitor. */
export const visitorOf = (address: string | null): string =>
  Result.getOrElse(
    Result.flatMap(NetAddress.ipFromString(address?.split("%", 1)[0] ?? ""), (ip) =>
      networkOf(NetAddress.toCanonical(ip))
    ),
    () => "unknown"
  )

const ROBOTS = /bot\b|crawl|spider|preview|facebookexternalhit|embedly|slurp|curl|wget|headless/iu

/** Whether somebody seems to look at the page: machines that say what they are do not count, nor does fetching ahead. */
export const isVisit = (request: {
  readonly method: string
  readonly userAgent: string | undefined
  readonly purpose: string | undefined
}): boolean =>
  request.method === "GET" &&
  request.purpose === undefined &&
  request.userAgent !== undefined &&
  !ROBOTS.test(request.userAgent)

/** Remembers who visited what: at most so many visits, and forgets the oldest first. */
export class ClickGate {
  readonly #most: number
  /** Oldest first. */
  readonly #countedAtMs = new Map<string, number>()

  constructor(most: number = MOST_REMEMBERED) {
    this.#most = most
  }

  /** Whether this visit counts: the first one, and the first after half an hour. */
  admit(visitor: string, calloutId: string, nowMs: number): boolean {
    const key = `${visitor} ${calloutId}`
    const last = this.#countedAtMs.get(key)
    if (last !== undefined && nowMs < last + AGAIN_AFTER_MS) {
      return false
    }
    this.#countedAtMs.delete(key)
    const [oldest] = this.#countedAtMs.keys()
    if (oldest !== undefined && this.#countedAtMs.size >= this.#most) {
      this.#countedAtMs.delete(oldest)
    }
    this.#countedAtMs.set(key, nowMs)
    return true
  }
}
