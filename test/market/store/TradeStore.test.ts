import { TradeStore } from "../../../src/market/store/TradeStore.ts"
import { snapshotContract } from "./snapshotContract.ts"
import { supplyContract } from "./supplyContract.ts"
import { tokenSwapsContract } from "./tokenSwapsContract.ts"
import { tradePagesContract } from "./tradePagesContract.ts"
import { tradeStoreContract } from "./tradeStoreContract.ts"
import { transferContract } from "./transferContract.ts"

tradeStoreContract("TradeStore.layerMemory", TradeStore.layerMemory)
snapshotContract("snapshots in TradeStore.layerMemory", TradeStore.layerMemory)
supplyContract("changes of supply in TradeStore.layerMemory", TradeStore.layerMemory)
tokenSwapsContract("prices of tokens in TradeStore.layerMemory", TradeStore.layerMemory)
transferContract("transfers in TradeStore.layerMemory", TradeStore.layerMemory)
tradePagesContract("TradeStore.layerMemory, by page", TradeStore.layerMemory)
