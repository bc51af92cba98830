/** Settings of the OpenID provider. */
import { Config, Option, type Redacted, Schema } from "effect"
import { WebUrl } from "../../operations/urlSettings.ts"

/** A provider and this service's registration there. */
export interface OidcSettings {
  readonly issuer: URL
  readonly clientId: string
  /** Null for a public client, which proves itself by PKCE alone. */
  readonly clientSecret: Redacted.Redacted | null
}

const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/u

/** True when plain HTTP does not leave this machine. */
export const isLoopback = ({ hostname }: URL): boolean => LOOPBACK.test(hostname)

const Issuer = WebUrl.check(
  Schema.makeFilter((url) => url.protocol === "https:" || isLoopback(url) || "must start with https:"),
  Schema.makeFilter(({ hash, search }) => search + hash === "" || "must end with its path")
)

/** `OIDC_ISSUER`, `OIDC_CLIENT_ID` and `OIDC_CLIENT_SECRET`; null without an issuer. */
export const settings: Config.Config<OidcSettings | null> = Config.flatMap(
  Config.option(Config.schema(Issuer, "OIDC_ISSUER")),
  Option.match({
    onNone: () => Config.succeed<OidcSettings | null>(null),
    onSome: (issuer) =>
      Config.all({
        issuer: Config.succeed(issuer),
        clientId: Config.String("OIDC_CLIENT_ID"),
        clientSecret: Config.map(Config.option(Config.Redacted("OIDC_CLIENT_SECRET")), Option.getOrNull)
      })
  })
)
