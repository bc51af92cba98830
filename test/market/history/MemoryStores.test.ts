import * as MemoryStores from "../../../src/testing/MemoryStores.ts"
import { marketStoresContract } from "./marketStoresContract.ts"

marketStoresContract("MemoryStores.layer", MemoryStores.layer)
