/** Checks before anything is started: settings, port and database. */
import { type Config, Effect } from "effect"
import { type AddressUnusable, checkAddress } from "../http/listenAddress.ts"
import * as Database from "../storage/Database.ts"
import { checkRole, type RoleIncomplete } from "./role.ts"
import { checkedSettings } from "./settings.ts"

/** Fails when a setting has a bad value or lacks for the role, the address is taken, or the database cannot be used. Starts nothing. */
export const preflight: Effect.Effect<
  void,
  AddressUnusable | RoleIncomplete | Config.ConfigError | Effect.Error<typeof Database.check>
> = Effect.gen(function* () {
  const settings = yield* checkedSettings
  yield* checkRole
  yield* checkAddress(settings)
  yield* Database.check
})
