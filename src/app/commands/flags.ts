/** Flags that several commands have. A flag overrides its setting in the environment. */
import { ConfigProvider, Option } from "effect"
import { Flag } from "effect/cli"

/** `--accounts`: the folder of a recorded market. */
export const accounts = Flag.String("accounts").pipe(
  Flag.withDescription("Answer from a folder of account dumps instead of a live market (ACCOUNTS_DIR)"),
  Flag.optional
)

/** `--json`: for output that a program reads. */
export const json = Flag.Boolean("json").pipe(
  Flag.withDescription("Print JSON instead of text"),
  Flag.withDefault(false)
)

/** The flags that were given, as settings. */
export const settings = (flags: Readonly<Record<string, Option.Option<string | number>>>) => {
  const given = Object.entries(flags).flatMap(([name, value]) =>
    Option.isSome(value) ? [[name, String(value.value)] as const] : []
  )
  // Named as in the environment, so that a flag reaches nested settings too.
  return ConfigProvider.layerAdd(ConfigProvider.fromEnv({ env: Object.fromEntries(given) }), { asPrimary: true })
}
