import { idempotencyContract } from "./idempotencyContract.ts"
import * as MemoryIdempotency from "../support/memoryIdempotency.ts"

idempotencyContract("Idempotency.layerMemory", MemoryIdempotency.layer)
