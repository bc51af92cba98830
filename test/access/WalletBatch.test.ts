import { Layer } from "effect"
import { CallerLimits } from "../../src/access/CallerLimits.ts"
import { WalletBatch } from "../../src/access/WalletBatch.ts"
import { walletBatchContract } from "./walletBatchContract.ts"

walletBatchContract("WalletBatch in one process", WalletBatch.layer.pipe(Layer.provide(CallerLimits.layerMemory)))
