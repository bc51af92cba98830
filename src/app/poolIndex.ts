/** The index of the pools of whole programs: where the market has a Geyser, and in every process of a service that divides its roles. */
import { Effect, Layer } from "effect"
import { isIndexing } from "../pools/poolIndex/PoolIndex.ts"
import * as KeepPoolIndex from "../pools/poolIndex/keepPoolIndex.ts"
import * as PoolIndexStorePg from "../pools/poolIndex/PoolIndexStorePg.ts"
import * as ReadPoolIndex from "../pools/poolIndex/readPoolIndex.ts"
import { ProgramWrites } from "../solana/geyser/ProgramWrites.ts"
import * as Database from "../storage/Database.ts"
import { role } from "./role.ts"

const store = PoolIndexStorePg.layer.pipe(Layer.provideMerge(Database.layer))

/** The index that the store has. */
export const poolIndex = Layer.unwrap(
  Effect.gen(function* () {
    const mayHave = (yield* ProgramWrites) !== null || (yield* role) !== "all"
    return mayHave && (yield* isIndexing) ? ReadPoolIndex.layer.pipe(Layer.provide(store)) : Layer.empty
  })
)

/** Keeps it, in one of the processes whose market has a Geyser. */
export const poolIndexKeeper = Layer.unwrap(
  Effect.gen(function* () {
    const isKept = (yield* ProgramWrites) !== null && (yield* isIndexing)
    return isKept ? KeepPoolIndex.layer.pipe(Layer.provide(store)) : Layer.empty
  })
)
