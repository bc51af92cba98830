import { TradeStore } from "../../src/market/TradeStore.ts"
import { tradeStoreContract } from "./tradeStoreContract.ts"

tradeStoreContract("TradeStore.layerMemory", TradeStore.layerMemory)
