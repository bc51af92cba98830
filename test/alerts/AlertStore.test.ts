import * as MemoryAlerts from "../support/memoryAlerts.ts"
import { alertStoreContract } from "./alertStoreContract.ts"

alertStoreContract("AlertStore.layerMemory", MemoryAlerts.layer)
