/** Identities that an operator has reviewed, read from a file at start. */
import { Config, Effect, FileSystem, Option } from "effect"
import { atStart } from "../storage/Database.ts"
import { readIdentities } from "./identityFile.ts"
import { IdentityStore } from "./IdentityStore.ts"

const SOURCE = "reviewed"

/**
 * Replaces the reviewed records with the records of `IDENTITIES_FILE`. Without the setting, records of an earlier start
 * stay. Fails when the file cannot be read or holds anything but records, or when the store is unavailable.
 */
export const loadIdentities = Effect.gen(function* () {
  const path = yield* Config.option(Config.String("IDENTITIES_FILE"))
  if (Option.isSome(path)) {
    const store = yield* IdentityStore
    const files = yield* FileSystem.FileSystem
    const records = yield* readIdentities(yield* files.readFileString(path.value))
    yield* atStart(store.replace(SOURCE, records))
    yield* Effect.logInfo("Reviewed identities", { count: records.length })
  }
})
