import { FollowStore } from "../../src/copying/FollowStore.ts"
import { followStoreContract } from "./followStoreContract.ts"

followStoreContract("FollowStore.layerMemory", FollowStore.layerMemory)
