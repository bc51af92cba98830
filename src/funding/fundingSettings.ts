/** Settings of the funding service. The token is redacted. */
import { Config, Duration, Option, type Redacted, Schema } from "effect"
import { durationSetting } from "../domain/countSetting.ts"
import { givenOr, WebUrl, webUrl } from "../operations/urlSettings.ts"

export interface FundingSettings {
  /** Origin and path, without a trailing slash. */
  readonly url: string
  /** Null when none is sent. */
  readonly token: Redacted.Redacted | null
  /** The deadline of one request, including its retry. */
  readonly timeout: Duration.Duration
}

/** Settings given in code; they win over the environment. */
export type FundingOptions = Partial<FundingSettings>

const ServiceUrl = WebUrl.check(
  Schema.makeFilter(({ password, username }) => username + password === "" || "must not carry a credential"),
  Schema.makeFilter(({ hash, search }) => search + hash === "" || "must end with its path")
)

/** The given options; for the rest `FUNDING_URL`, `FUNDING_TOKEN` (none) and `FUNDING_TIMEOUT` (2 s). */
export const fundingSettings = (given: FundingOptions): Config.Config<FundingSettings> =>
  Config.all({
    url: givenOr(given.url, webUrl("FUNDING_URL", ServiceUrl)),
    token: givenOr(given.token, Config.map(Config.option(Config.Redacted("FUNDING_TOKEN")), Option.getOrNull)),
    timeout: givenOr(given.timeout, durationSetting("FUNDING_TIMEOUT").pipe(Config.withDefault(Duration.seconds(2))))
  })
