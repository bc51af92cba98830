import { AlertStore } from "../../src/alerts/AlertStore.ts"
import { alertStoreContract } from "./alertStoreContract.ts"

alertStoreContract("AlertStore.layerMemory", AlertStore.layerMemory)
