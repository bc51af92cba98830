import { calloutStoreContract } from "./calloutStoreContract.ts"
import * as MemoryCallouts from "../support/memoryCallouts.ts"

calloutStoreContract("callouts in memory", MemoryCallouts.layer)
