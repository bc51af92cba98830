/** Accounts and sessions, apart from the service, so that a command that needs only them loads nothing else. */
import { Layer } from "effect"
import * as AccountStorePg from "../accounts/AccountStorePg.ts"
import * as SessionStorePg from "../accounts/SessionStorePg.ts"
import * as Database from "../storage/Database.ts"

/** The accounts and sessions of the service. */
export const accountStores = Layer.mergeAll(AccountStorePg.layer, SessionStorePg.layer).pipe(
  Layer.provide(Database.layer)
)

/** The same accounts for a short command beside a service that is running on the same data. */
export const accountStoreBeside = AccountStorePg.layer.pipe(Layer.provide(Database.layerBeside))
