/** What is said of wallets from the start: by a file of reviewed records, and by a market that is invented. */
import { Config, Context, Effect, FileSystem, Option } from "effect"
import type { IdentityRecord } from "../domain/wallets/WalletIdentity.ts"
import { readIdentities } from "./identityFile.ts"
import { IdentityStore } from "./IdentityStore.ts"

const REVIEWED = "reviewed"
const INVENTED = "invented"

/** Who the wallets of an invented market are: nobody, unless the market is invented. */
export const InventedIdentities = Context.Reference<ReadonlyArray<IdentityRecord>>(
  "fathom/wallets/InventedIdentities",
  { defaultValue: () => [] }
)

/**
 * Takes the records of `IDENTITIES_FILE` in place of those of an earlier start; without the setting they stay as they are.
 * What was invented is forgotten as soon as the market is real.
 */
export const loadIdentities = Effect.gen(function* () {
  const store = yield* IdentityStore
  const path = yield* Config.option(Config.String("IDENTITIES_FILE"))
  if (Option.isSome(path)) {
    const files = yield* FileSystem.FileSystem
    const records = yield* readIdentities(yield* files.readFileString(path.value))
    yield* store.replace(REVIEWED, records)
    yield* Effect.logInfo("Reviewed identities", { count: records.length })
  }
  yield* store.replace(INVENTED, yield* InventedIdentities)
})
