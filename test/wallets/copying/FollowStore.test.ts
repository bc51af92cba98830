import { copyTurnContract } from "./copyTurnContract.ts"
import { followStoreContract } from "./followStoreContract.ts"
import * as MemoryFollows from "../../support/memoryFollows.ts"

followStoreContract("follows in memory", MemoryFollows.layer)
copyTurnContract("follows in memory", MemoryFollows.layer)
