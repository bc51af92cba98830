import { CalloutStore } from "../../src/callouts/CalloutStore.ts"
import { calloutStoreContract } from "./calloutStoreContract.ts"

calloutStoreContract("CalloutStore.layerMemory", CalloutStore.layerMemory)
