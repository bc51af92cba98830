import { Effect } from "effect"
import * as MemoryAlerts from "../support/memoryAlerts.ts"
import { alertStoreContract } from "./alertStoreContract.ts"
import { walletAlertContract } from "./walletAlertContract.ts"

alertStoreContract("AlertStore.layerMemory", MemoryAlerts.layer)

const tracked = new Set<string>()

walletAlertContract("AlertStore.layerOf", {
  store: MemoryAlerts.layerOf((accountId, wallet) => tracked.has(`${accountId} ${wallet}`)),
  track: (accountId, wallet) => Effect.sync(() => void tracked.add(`${accountId} ${wallet}`)),
  untrack: (accountId, wallet) => Effect.sync(() => void tracked.delete(`${accountId} ${wallet}`))
})
