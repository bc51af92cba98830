/** Accounts and sessions without the service, for commands that need nothing else. */
import { Layer } from "effect"
import * as AccountStorePg from "../access/accounts/AccountStorePg.ts"
import * as SessionStorePg from "../access/accounts/SessionStorePg.ts"
import * as Database from "../storage/Database.ts"

export const accountStores = Layer.mergeAll(AccountStorePg.layer, SessionStorePg.layer).pipe(
  Layer.provide(Database.layer)
)

/** The same accounts for a short command while a service runs on the same data. */
export const accountStoreBeside = AccountStorePg.layer.pipe(Layer.provide(Database.layerBeside))
