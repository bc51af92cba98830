/** The OpenID provider over HTTP. `openid-client` speaks the protocol; it is loaded at the first sign-in. */
import { type Config, Duration, Effect, Layer, Redacted } from "effect"
import { type HttpClient, HttpClientRequest } from "effect/http"
import type * as Protocol from "openid-client"
import { ProviderUnavailable, SignInRefused } from "../../api/schemas/Account.ts"
import { retryOnce, withDeadline } from "../../operations/protection.ts"
import { UpstreamFailure } from "../../operations/UpstreamFailure.ts"
import { type Exchange, makeExchange } from "../../operations/upstreamHttp.ts"
import { OidcClient, type ProviderUser } from "./OidcClient.ts"
import { isLoopback, type OidcSettings, settings } from "./oidcSettings.ts"
import { signInProofs } from "./secrets.ts"

const DEADLINE = Duration.seconds(3)
const MAX_BYTES = 256 * 1024
/** Statuses of replies whose body is read. */
const STATUSES = [200, 201, 400, 401, 403]
/** Metadata of the provider is read again after this time. */
const METADATA_KEPT = Duration.hours(1)
/** Tolerated difference between the clocks, in seconds. */
const TOLERANCE = 30
const SCOPE = "openid profile"

const METHODS = { GET: HttpClientRequest.get, POST: HttpClientRequest.post } as const

/** Sends the protocol's requests over this exchange. A read is repeated once when the provider was unreachable. */
const fetchOver =
  (exchange: Exchange): Protocol.CustomFetch =>
  async (url, { body, headers, method }) => {
    const request = METHODS[method === "POST" ? "POST" : "GET"](url).pipe(
      HttpClientRequest.setHeaders(headers),
      method === "POST"
        ? HttpClientRequest.bodyText(String(body ?? ""), headers["content-type"] ?? "application/x-www-form-urlencoded")
        : (bare) => bare
    )
    const once = exchange(request, { maxBytes: MAX_BYTES, statuses: STATUSES })
    const reply = await Effect.runPromise(withDeadline(DEADLINE)(method === "POST" ? once : retryOnce(once)))
    return new Response(reply.text, { status: reply.status, headers: new Headers({ ...reply.headers }) })
  }

/** True when the provider gave no usable reply, anywhere among the causes of this error. */
const isUpstreamFailure = (error: unknown): boolean =>
  error instanceof UpstreamFailure || (error instanceof Error && isUpstreamFailure(error.cause))

/** The library's own code for an error. It repeats nothing that the provider or the browser sent. */
const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "unknown"

const problemOf = (cause: unknown): SignInRefused | ProviderUnavailable =>
  isUpstreamFailure(cause) ? new ProviderUnavailable({ cause }) : new SignInRefused({ code: codeOf(cause) })

/** Sends the secret in the way that the provider asks for; in a header when it does not say. */
const authOf = (protocol: typeof Protocol, clientSecret: Redacted.Redacted | null): Protocol.ClientAuth => {
  if (clientSecret === null) {
    return protocol.None()
  }
  const secret = Redacted.value(clientSecret)
  const [basic, post] = [protocol.ClientSecretBasic(secret), protocol.ClientSecretPost(secret)]
  return (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ["client_secret_basic"]
    return (methods.includes("client_secret_basic") ? basic : post)(server, ...rest)
  }
}

const discover = async (exchange: Exchange, { clientId, clientSecret, issuer }: OidcSettings) => {
  const protocol = await import("openid-client")
  const execute = [protocol.enableNonRepudiationChecks, ...(isLoopback(issuer) ? [protocol.allowInsecureRequests] : [])]
  const metadata = { [protocol.clockTolerance]: TOLERANCE }
  const configuration = await protocol.discovery(issuer, clientId, metadata, authOf(protocol, clientSecret), {
    [protocol.customFetch]: fetchOver(exchange),
    execute
  })
  return { protocol, configuration }
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "")

const nameIn = (claims: Readonly<Record<string, unknown>>): string =>
  textOf(claims["name"]) || textOf(claims["preferred_username"]) || textOf(claims["nickname"])

/** The name in the ID token, or else in the user info; empty when that cannot be read. */
const nameOf = async (
  { configuration, protocol }: { readonly protocol: typeof Protocol; readonly configuration: Protocol.Configuration },
  tokens: Awaited<ReturnType<typeof Protocol.authorizationCodeGrant>>,
  claims: Readonly<Record<string, unknown>> & { readonly sub: string }
): Promise<string> => {
  const name = nameIn(claims)
  if (name !== "" || configuration.serverMetadata().userinfo_endpoint === undefined) {
    return name
  }
  try {
    return nameIn(await protocol.fetchUserInfo(configuration, tokens.access_token, claims.sub))
  } catch {
    return ""
  }
}

const make = Effect.fnUntraced(function* (provider: OidcSettings) {
  const exchange = yield* makeExchange
  const [found, forget] = yield* Effect.cachedInvalidateWithTTL(
    // Other requests may wait for it, so it continues when the request that started it ends.
    Effect.uninterruptible(
      Effect.tryPromise({
        try: () => discover(exchange, provider),
        catch: (cause) => new ProviderUnavailable({ cause })
      })
    ),
    METADATA_KEPT
  )
  const ready = Effect.tapError(found, () => forget)

  const authorizationUrl = Effect.fn("OidcClient.authorizationUrl")(function* (
    secret: Redacted.Redacted,
    callback: string
  ) {
    const { configuration, protocol } = yield* ready
    const { nonce, state, verifier } = signInProofs(secret)
    const challenge = yield* Effect.promise(() => protocol.calculatePKCECodeChallenge(verifier))
    const url = protocol.buildAuthorizationUrl(configuration, {
      redirect_uri: callback,
      scope: SCOPE,
      state,
      nonce,
      code_challenge: challenge,
      code_challenge_method: "S256"
    })
    return url.href
  })

  const redeem = Effect.fn("OidcClient.redeem")(function* (secret: Redacted.Redacted, callback: string, query: string) {
    const client = yield* ready
    const { nonce, state, verifier } = signInProofs(secret)
    return yield* Effect.tryPromise({
      try: async (): Promise<ProviderUser> => {
        const tokens = await client.protocol.authorizationCodeGrant(client.configuration, new URL(callback + query), {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true
        })
        const claims = tokens.claims()
        if (claims === undefined) {
          throw new Error("no ID token")
        }
        return {
          identity: { issuer: claims.iss, subject: claims.sub },
          name: await nameOf(client, tokens, claims)
        }
      },
      catch: problemOf
    })
  })

  return OidcClient.of({ isConfigured: true, authorizationUrl, redeem })
})

/** The provider of these settings. */
export const layerOf = (provider: OidcSettings): Layer.Layer<OidcClient, never, HttpClient.HttpClient> =>
  Layer.effect(OidcClient, make(provider))

/** The provider of `OIDC_ISSUER`; none without it. It is not contacted before the first sign-in. */
export const layer: Layer.Layer<OidcClient, Config.ConfigError, HttpClient.HttpClient> = Layer.unwrap(
  Effect.map(settings, (provider) => (provider === null ? OidcClient.layerUnconfigured : layerOf(provider)))
)
