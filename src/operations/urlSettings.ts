/** Settings that hold the address of an upstream. */
import { Config, Schema } from "effect"

/** A URL with one of these protocols. Protocols include their colon. */
export const urlOf = (...protocols: ReadonlyArray<string>) =>
  Schema.URL.check(
    Schema.makeFilter(({ protocol }) => protocols.includes(protocol) || `must start with ${protocols.join(" or ")}`)
  )

export const WebUrl = urlOf("http:", "https:")

/** Reads an address from the setting `name`, without trailing slashes. */
export const webUrl = (name: string, schema: typeof WebUrl = WebUrl): Config.Config<string> =>
  Config.map(Config.schema(schema, name), ({ href }) => href.replace(/\/+$/u, ""))

/** Returns the value given in code, or else reads the setting. */
export const givenOr = <A>(given: A | undefined, setting: Config.Config<A>): Config.Config<A> =>
  given === undefined ? setting : Config.succeed(given)
