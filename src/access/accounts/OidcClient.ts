import { Context, Effect, Layer, type Redacted } from "effect"
import type { Identity, ProviderUnavailable, SignInRefused } from "../../api/schemas/Account.ts"

/** A user as the provider describes it. */
export interface ProviderUser {
  readonly identity: Identity
  /** Display name; empty when the provider gives none. */
  readonly name: string
}

/** Sign-in with an OpenID provider: code flow with PKCE, state and nonce, all derived from the secret of the pending sign-in. */
export class OidcClient extends Context.Service<
  OidcClient,
  {
    /** False without a provider; the other methods then fail. */
    readonly isConfigured: boolean
    /**
     * The provider's address that the browser is sent to. `callback` is the address of this service that the provider
     * sends it back to.
     */
    authorizationUrl(secret: Redacted.Redacted, callback: string): Effect.Effect<string, ProviderUnavailable>
    /**
     * The user whom the provider has signed in. `query` is what the provider added to the callback, with `?`. Fails
     * when state, nonce, code or signature is wrong, or when the provider reports an error.
     */
    redeem(
      secret: Redacted.Redacted,
      callback: string,
      query: string
    ): Effect.Effect<ProviderUser, SignInRefused | ProviderUnavailable>
  }
>()("fathom/access/accounts/OidcClient") {
  /** Without a provider, every method fails. */
  static readonly layerUnconfigured: Layer.Layer<OidcClient> = Layer.succeed(OidcClient, {
    isConfigured: false,
    authorizationUrl: () => Effect.die("no OpenID provider is configured"),
    redeem: () => Effect.die("no OpenID provider is configured")
  })
}
