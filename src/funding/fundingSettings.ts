/** Where the funding service is and how it is asked. The credential is kept out of logs. */
import { Config, Duration, Option, type Redacted, Schema } from "effect"

/** How the funding service is asked. */
export interface FundingSettings {
  /** Origin and path, without a trailing slash. */
  readonly url: string
  /** Null sends none. */
  readonly token: Redacted.Redacted | null
  /** How long one question may take, a second attempt included. */
  readonly timeout: Duration.Duration
}

/** Settings given in code; they win over the environment. */
export type FundingOptions = Partial<FundingSettings>

const ServiceUrl = Schema.URL.check(
  Schema.makeFilter(({ protocol }) => ["http:", "https:"].includes(protocol) || "must start with http: or https:"),
  Schema.makeFilter(({ password, username }) => username + password === "" || "must not carry a credential"),
  Schema.makeFilter(({ hash, search }) => search + hash === "" || "must end with its path")
)

const or = <A>(given: A | undefined, config: Config.Config<A>): Config.Config<A> =>
  given === undefined ? config : Config.succeed(given)

/** What is given, the rest from `FUNDING_URL`, `FUNDING_TOKEN` (none) and `FUNDING_TIMEOUT` (2 s). */
export const fundingSettings = (given: FundingOptions): Config.Config<FundingSettings> =>
  Config.all({
    url: or(
      given.url,
      Config.map(Config.schema(ServiceUrl, "FUNDING_URL"), ({ href }) => href.replace(/\/$/u, ""))
    ),
    token: or(given.token, Config.map(Config.option(Config.Redacted("FUNDING_TOKEN")), Option.getOrNull)),
    timeout: or(given.timeout, Config.Duration("FUNDING_TIMEOUT").pipe(Config.withDefault(Duration.seconds(2))))
  })
