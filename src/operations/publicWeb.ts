/**
 * Reads URLs that come from untrusted data. The host is resolved first, and all its addresses must be public. The
 * connection goes only to those addresses. A redirect is a new request and is checked in the same way.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Context, type Duration, Effect, Layer, Result, Schema } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { Dns, NetAddress } from "effect/net"
import { isPublicIp, literalOf } from "./publicAddress.ts"
import { UpstreamFailure } from "./UpstreamFailure.ts"
import { withDeadline } from "./protection.ts"
import { makeExchange, type Reply } from "./upstreamHttp.ts"

/** The URL is refused: its form is not allowed, or its host is not on the public internet. */
export class UrlRefused extends Schema.TaggedError<UrlRefused>()("UrlRefused", { detail: Schema.String }) {}

/** Limits of one read. */
export interface PublicRead {
  /** Limit of the body, in bytes. */
  readonly maxBytes: number
  /** Covers all redirects together. */
  readonly deadline: Duration.Duration
  /** Value of the `Accept` header. */
  readonly accept: string
}

/** Fetches untrusted URLs with GET. */
export class PublicWeb extends Context.Service<
  PublicWeb,
  {
    /**
     * Fetches an `https` URL on port 443 without credentials, and returns the reply with status 200. Follows up to
     * three redirects. Asks for an uncompressed body. Fails with `UrlRefused` before it sends anything.
     */
    get(url: string, read: PublicRead): Effect.Effect<Reply, UpstreamFailure | UrlRefused>
  }
>()("fathom/operations/PublicWeb") {}

/** What tests replace. */
export interface PublicWebOptions {
  readonly isAllowed?: (address: NetAddress.IpAddress) => boolean
  /** Certificate authorities to trust instead of the usual ones, as PEM. */
  readonly ca?: string
  readonly port?: number
}

const MOST_REDIRECTS = 3
/** Redirect statuses that are followed. */
export const REDIRECTS: ReadonlyArray<number> = [301, 302, 303, 307, 308]

const refused = (detail: string) => new UrlRefused({ detail })

/** Parses the URL. Fails unless its form allows a request. */
const checkedUrl = (text: string, port: number): Result.Result<URL, UrlRefused> => {
  const url = URL.parse(text)
  if (url === null) {
    return Result.fail(refused("no URL"))
  }
  if (url.protocol !== "https:") {
    return Result.fail(refused("not https"))
  }
  if (url.username !== "" || url.password !== "") {
    return Result.fail(refused("credentials in the URL"))
  }
  return (url.port === "" ? 443 : Number(url.port)) === port
    ? Result.succeed(url)
    : Result.fail(refused("another port"))
}

/** Looks a host up at the name servers alone. The hosts file and search domains are ignored. */
const addressesOf = (dns: Dns.Dns["Service"], host: string) => {
  const literal = literalOf(host)
  if (literal !== null) {
    return Effect.succeed<ReadonlyArray<NetAddress.IpAddress>>([literal])
  }
  const recordsOf = (type: "A" | "AAAA") =>
    dns.resolve(host, type).pipe(
      Effect.map((records): ReadonlyArray<NetAddress.IpAddress> => records.map(({ address }) => address)),
      Effect.orElseSucceed((): ReadonlyArray<NetAddress.IpAddress> => [])
    )
  return Effect.map(Effect.all([recordsOf("A"), recordsOf("AAAA")], { concurrency: 2 }), (lists) => lists.flat())
}

/** An agent that connects to these addresses, whatever host the URL names. */
const dispatcherTo = (addresses: ReadonlyArray<NetAddress.IpAddress>, { ca }: PublicWebOptions) => {
  const found = addresses.map((address) => ({
    address: NetAddress.formatIp(address),
    family: NetAddress.isIpv4Address(address) ? 4 : 6
  }))
  return NodeHttpClient.makeDispatcherOptions({
    connect: {
      ...(ca !== undefined && { ca }),
      lookup: (_name, { all }, callback) =>
        all === true ? callback(null, found) : callback(null, found[0]?.address ?? "", found[0]?.family)
    }
  })
}

const make = (dns: Dns.Dns["Service"], options: PublicWebOptions): PublicWeb["Service"] => {
  const { isAllowed = isPublicIp, port = 443 } = options

  /** Sends one request to the checked addresses of the host. */
  const ask = Effect.fnUntraced(function* (url: URL, { accept, maxBytes }: PublicRead) {
    const addresses = yield* addressesOf(dns, url.hostname)
    if (addresses.length === 0) {
      return yield* new UpstreamFailure({ reason: "unreachable", detail: "the host has no address" })
    }
    if (!addresses.every(isAllowed)) {
      return yield* refused("the host is not on the public internet")
    }
    const dispatcher = yield* dispatcherTo(addresses, options)
    const client = yield* Effect.provideService(NodeHttpClient.makeUndici, NodeHttpClient.Dispatcher, dispatcher)
    const exchange = yield* Effect.provideService(makeExchange, HttpClient.HttpClient, client)
    const request = HttpClientRequest.get(url, { headers: { accept, "accept-encoding": "identity" } })
    return yield* exchange(request, { maxBytes, statuses: [200, ...REDIRECTS] })
  }, Effect.scoped)

  const follow = (
    text: string,
    read: PublicRead,
    redirects: number
  ): Effect.Effect<Reply, UpstreamFailure | UrlRefused> =>
    Effect.gen(function* () {
      const url = yield* Effect.fromResult(checkedUrl(text, port))
      const reply = yield* ask(url, read)
      if (reply.status === 200) {
        return reply
      }
      const next = URL.parse(reply.headers["location"] ?? "", url.href)
      if (next === null || redirects === MOST_REDIRECTS) {
        return yield* new UpstreamFailure({ reason: "malformed", detail: `HTTP ${reply.status}` })
      }
      return yield* follow(next.href, read, redirects + 1)
    })

  return PublicWeb.of({
    get: (url, read) => follow(url, read, 0).pipe(withDeadline(read.deadline))
  })
}

/** The implementation over the `Dns` in context. */
export const layer = (options: PublicWebOptions = {}): Layer.Layer<PublicWeb, never, Dns.Dns> =>
  Layer.effect(
    PublicWeb,
    Effect.map(Dns.Dns, (dns) => make(dns, options))
  )
