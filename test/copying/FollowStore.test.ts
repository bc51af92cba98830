import { FollowStore } from "../../src/copying/FollowStore.ts"
import { copyTurnContract } from "./copyTurnContract.ts"
import { followStoreContract } from "./followStoreContract.ts"

followStoreContract("FollowStore.layerMemory", FollowStore.layerMemory)
copyTurnContract("FollowStore.layerMemory", FollowStore.layerMemory)
