import { WalletBatch } from "../../src/access/WalletBatch.ts"
import { walletBatchContract } from "./walletBatchContract.ts"

walletBatchContract("WalletBatch.layerMemory", WalletBatch.layerMemory)
