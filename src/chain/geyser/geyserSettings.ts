/** Settings of the Geyser endpoints. Addresses may hold keys, and tokens are keys, so both are redacted. */
import { Config, Option, Redacted, Schema } from "effect"
import { givenOr } from "../../operations/urlSettings.ts"
import type { GeyserTarget } from "./geyserMessages.ts"

/** An endpoint that streams blocks over gRPC. */
export interface GeyserEndpoint {
  /** Host and port, for logs and probes. */
  readonly host: string
  readonly url: Redacted.Redacted
  /** Sent as `x-token`; null when the endpoint wants none. */
  readonly token: Redacted.Redacted | null
}

/** Endpoints given in code; they win over the environment. */
export interface GeyserOptions {
  readonly url?: string | undefined
  readonly token?: string | undefined
}

const split = (list: string): ReadonlyArray<string> => list.split(",").map((part) => part.trim())

const isUrl = (text: string) => URL.canParse(text) && ["http:", "https:"].includes(new URL(text).protocol)

/** The message of a bad address does not repeat it, because it may hold a key. */
const urls = Config.schema(
  Schema.String.check(
    Schema.makeFilter(
      (list) =>
        split(list).every(isUrl) || "must be a URL, or several with commas between, each starting with http: or https:"
    )
  ),
  "GEYSER_URL"
).pipe(Config.map(split))

/** Characters that a header may have. */
const TOKENS = /^[ -~]*$/u

const tokens = (count: number) =>
  Config.schema(
    Schema.String.check(
      Schema.makeFilter((list) => TOKENS.test(list) || "must have letters, digits and signs of ASCII alone"),
      Schema.makeFilter(
        (list) =>
          split(list).length === count ||
          `must have as many tokens as GEYSER_URL has addresses, which are ${count}; an empty one is none`
      )
    ),
    "GEYSER_TOKEN"
  ).pipe(Config.map(split), Config.option, Config.map(Option.getOrElse((): ReadonlyArray<string> => [])))

const endpoints = (addresses: ReadonlyArray<string>, secrets: ReadonlyArray<string>): ReadonlyArray<GeyserEndpoint> =>
  addresses.map((address, place) => {
    const token = secrets[place] ?? ""
    return {
      host: new URL(address).host,
      url: Redacted.make(address),
      token: token === "" ? null : Redacted.make(token)
    }
  })

/**
 * The endpoints of the options, or else the endpoints at `GEYSER_URL` with the tokens of `GEYSER_TOKEN` in the same
 * order. The preferred endpoint comes first. Empty when neither is set.
 */
export const geyserEndpoints = ({ token, url }: GeyserOptions = {}): Config.Config<ReadonlyArray<GeyserEndpoint>> =>
  Config.flatMap(Config.option(givenOr(url === undefined ? undefined : split(url), urls)), (addresses) =>
    Option.match(addresses, {
      onNone: () => Config.map(tokens(0), (): ReadonlyArray<GeyserEndpoint> => []),
      onSome: (found) =>
        Config.map(
          url === undefined ? tokens(found.length) : Config.succeed(token === undefined ? [] : split(token)),
          (secrets) => endpoints(found, secrets)
        )
    })
  )

/** The endpoint as plain data, with address and token in the clear. */
export const targetOf = ({ host, token, url }: GeyserEndpoint): GeyserTarget => ({
  host,
  url: Redacted.value(url),
  token: token === null ? null : Redacted.value(token)
})

/** The endpoint at this index as plain data. After the last endpoint the first one follows again. */
export const targetAt = (endpoints: ReadonlyArray<GeyserEndpoint>, place: number): GeyserTarget => {
  const endpoint = endpoints[place % endpoints.length]
  return endpoint === undefined ? { host: "", url: "", token: null } : targetOf(endpoint)
}
