import { Idempotency } from "../../src/access/Idempotency.ts"
import { idempotencyContract } from "./idempotencyContract.ts"

idempotencyContract("Idempotency.layerMemory", Idempotency.layerMemory)
