/** Checks before anything is started: settings, port and database. */
import { Effect } from "effect"
import { checkAddress } from "../http/server/listenAddress.ts"
import * as Logs from "../operations/Logs.ts"
import * as Database from "../storage/Database.ts"
import { blankSettings, checkPaths, misspelt, SettingBlank } from "./environment.ts"
import { checkRole } from "./role.ts"
import { checkedSettings, settingNames } from "./settings.ts"

/**
 * Returns the settings of the HTTP server. Fails when a setting is blank, has a bad value or names a path that is
 * missing. Warns of variables that look like a setting and are none.
 */
export const checkEnvironment = Effect.fnUntraced(function* (
  environment: Readonly<Record<string, string | undefined>>
) {
  const names = yield* settingNames
  const [blank] = blankSettings(environment, names)
  if (blank !== undefined) {
    return yield* new SettingBlank({ setting: blank })
  }
  const settings = yield* checkedSettings
  yield* Effect.forEach(misspelt(environment, names), (warning) => Effect.logWarning(warning), { discard: true })
  yield* checkPaths
  return settings
})

/**
 * Fails when the environment cannot be used, when the role lacks a setting, when the address is taken, or when the
 * database cannot be used. Starts nothing.
 */
export const preflight = Effect.gen(function* () {
  const settings = yield* checkEnvironment(process.env)
  yield* checkRole
  yield* checkAddress(settings)
  yield* Database.check
}).pipe(Effect.provide(Logs.layer))
