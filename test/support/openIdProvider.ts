/** A real OpenID provider on this machine, whose user signs in without a form. */
import { Effect, type Scope } from "effect"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { Provider } from "oidc-provider"

export const CLIENT_ID = "fathom"
export const CLIENT_SECRET = "a secret of the client"

/** A provider, and what its next answers are. */
export interface OpenIdProvider {
  readonly issuer: URL
  /** The user that signs in; null refuses. */
  user: string | null
  /** The status of every answer; null answers. */
  down: number | null
  /** Requests so far, by path. */
  readonly asked: Array<string>
}

const configurationOf = (callback: string) => ({
  clients: [
    {
      client_id: CLIENT_ID,
      client_secret: CLIENT_SECRET,
      redirect_uris: [callback],
      grant_types: ["authorization_code"],
      response_types: ["code"]
    }
  ],
  claims: { openid: ["sub"], profile: ["name"] },
  pkce: { required: () => true },
  features: { devInteractions: { enabled: false } },
  interactions: { url: (_: unknown, { uid }: { readonly uid: string }) => `/interaction/${uid}` },
  findAccount: (_: unknown, id: string) => ({ accountId: id, claims: () => ({ sub: id, name: `Name of ${id}` }) }),
  cookies: { keys: ["a key of the test"] },
  loadExistingGrant: async (context: {
    readonly oidc: {
      readonly provider: Provider
      readonly client: { readonly clientId: string }
      readonly session: { readonly accountId: string }
    }
  }) => {
    const { client, provider, session } = context.oidc
    const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId })
    grant.addOIDCScope("openid profile")
    await grant.save()
    return grant
  }
})

/** Starts a provider that sends browsers back to this address. */
export const openIdProvider = (callback: string): Effect.Effect<OpenIdProvider, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.callback<OpenIdProvider & { readonly stop: () => void }>((resume) => {
      const server = createServer()
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        const port = typeof address === "object" ? address?.port : null
        const issuer = new URL(`http://127.0.0.1:${port}/`)
        const provider = new Provider(issuer.origin, configurationOf(callback))
        const state = { issuer, user: "ada", down: null, asked: [], stop: () => server.close() } as OpenIdProvider & {
          readonly stop: () => void
        }
        const next = provider.callback()
        server.on("request", (request: IncomingMessage, response: ServerResponse) => {
          state.asked.push(new URL(request.url ?? "/", issuer).pathname)
          if (state.down !== null) {
            response.writeHead(state.down).end()
          } else if (request.url?.startsWith("/interaction/") === true) {
            const refusal = { error: "access_denied", error_description: "<b>details of the provider</b>" }
            const result = state.user === null ? refusal : { login: { accountId: state.user } }
            void provider.interactionFinished(request, response, result)
          } else {
            next(request, response)
          }
        })
        resume(Effect.succeed(state))
      })
    }),
    ({ stop }) => Effect.sync(stop)
  )
