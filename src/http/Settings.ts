import { Config, Context, Duration, Effect, Layer, Schema } from "effect"
import { durationSetting, rangeSetting } from "../domain/countSetting.ts"

/** Settings of the HTTP server. */
export interface SettingsShape {
  readonly host: string
  /** 0 takes any free port. */
  readonly port: number
  /** Number of trusted proxies in front of the service that append to `X-Forwarded-For`. */
  readonly trustedHops: number
  /** Public base URL without a trailing slash; null derives it from the Host header. */
  readonly publicUrl: string | null
  /** Time between the first `Connection: close` and the closing of the listener. */
  readonly drainQuiet: Duration.Duration
  /** Longest time that a whole shutdown may take. */
  readonly drainLimit: Duration.Duration
  /** Longest time to receive the headers of a request. */
  readonly headersTimeout: Duration.Duration
  /** Longest time to receive a whole request. */
  readonly requestTimeout: Duration.Duration
  readonly keepAliveTimeout: Duration.Duration
  /** Pages, documents and static files that one address may request in any minute. */
  readonly pageRequests: number
  /** Whom to tell about a vulnerability of this service: a `mailto:` or `https:` address; null when nobody is named. */
  readonly securityContact: string | null
}

/** An address in one line, as `security.txt` wants it. */
const ContactUri = Schema.String.check(
  Schema.makeFilter(
    (text) =>
      (/^(?:mailto:\S+@\S+|https:\/\/\S+)$/u.test(text) && URL.canParse(text)) ||
      "must be an address that starts with mailto: or https://"
  )
)

const PORT = 3000

export const defaults: SettingsShape = {
  host: "127.0.0.1",
  port: PORT,
  trustedHops: 0,
  publicUrl: null,
  drainQuiet: Duration.millis(1500),
  drainLimit: Duration.seconds(20),
  // Enforced with a granularity of one second: Node checks connections once a second.
  headersTimeout: Duration.seconds(13),
  requestTimeout: Duration.seconds(18),
  // Longer than the idle time of common load balancers. They then close an idle connection first, and no request meets
  // a closing socket.
  keepAliveTimeout: Duration.seconds(65),
  pageRequests: 600,
  securityContact: null
}

export class Settings extends Context.Service<Settings, SettingsShape>()("fathom/http/Settings") {
  static readonly layer = (settings: Partial<SettingsShape> = {}): Layer.Layer<Settings> =>
    Layer.succeed(Settings, { ...defaults, ...settings })

  /** Reads `HOST`, `PORT`, `TRUST_PROXY`, `PUBLIC_URL`, `DRAIN_QUIET`, `DRAIN_LIMIT`, `PAGE_REQUESTS` and `SECURITY_CONTACT`. */
  static readonly layerConfig: Layer.Layer<Settings, Config.ConfigError> = Layer.effect(
    Settings,
    Effect.gen(function* () {
      return {
        ...defaults,
        host: yield* Config.String("HOST").pipe(Config.withDefault(defaults.host)),
        port: yield* rangeSetting("PORT", defaults.port, { minimum: 0, maximum: 65_535 }),
        trustedHops: yield* rangeSetting("TRUST_PROXY", defaults.trustedHops, { minimum: 0, maximum: 16 }),
        publicUrl: yield* Config.String("PUBLIC_URL").pipe(Config.withDefault(null)),
        drainQuiet: yield* durationSetting("DRAIN_QUIET").pipe(Config.withDefault(defaults.drainQuiet)),
        drainLimit: yield* durationSetting("DRAIN_LIMIT").pipe(Config.withDefault(defaults.drainLimit)),
        pageRequests: yield* rangeSetting("PAGE_REQUESTS", defaults.pageRequests, { minimum: 1, maximum: 1_000_000 }),
        securityContact: yield* Config.schema(ContactUri, "SECURITY_CONTACT").pipe(Config.withDefault(null))
      }
    })
  )
}
