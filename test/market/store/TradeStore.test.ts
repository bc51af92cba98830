import { TradeStore } from "../../../src/market/store/TradeStore.ts"
import { tradeStoreContract } from "./tradeStoreContract.ts"

tradeStoreContract("TradeStore.layerMemory", TradeStore.layerMemory)
