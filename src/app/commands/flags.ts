/** Flags of several commands. A flag wins over the environment, under the name of its setting. */
import { ConfigProvider, Option } from "effect"
import { Flag } from "effect/cli"

/** `--accounts`: the folder of a recorded market. */
export const accounts = Flag.String("accounts").pipe(
  Flag.withDescription("Answer from a folder of account dumps instead of a live market (ACCOUNTS_DIR)"),
  Flag.optional
)

/** A layer of the settings that were given as flags. */
export const settings = (flags: Readonly<Record<string, Option.Option<string | number>>>) => {
  const given = Object.entries(flags).flatMap(([name, value]) =>
    Option.isSome(value) ? [[name, String(value.value)] as const] : []
  )
  // As in the environment, so that a name reaches nested settings too.
  return ConfigProvider.layerAdd(ConfigProvider.fromEnv({ env: Object.fromEntries(given) }), { asPrimary: true })
}
