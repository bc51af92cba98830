/** Checks before anything is started: settings, port and database. */
import { type Config, Effect } from "effect"
import { type AddressUnusable, checkAddress } from "../http/server/listenAddress.ts"
import * as Database from "../storage/Database.ts"
import { checkRole, type RoleIncomplete } from "./role.ts"
import { checkedSettings } from "./settings.ts"

/**
 * Fails when a setting has a bad value, when the role lacks a setting, when the address is taken, or when the database
 * cannot be used. Starts nothing.
 */
export const preflight: Effect.Effect<
  void,
  AddressUnusable | RoleIncomplete | Config.ConfigError | Effect.Error<typeof Database.check>
> = Effect.gen(function* () {
  const settings = yield* checkedSettings
  yield* checkRole
  yield* checkAddress(settings)
  yield* Database.check
})
