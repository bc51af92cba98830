/** The bus of blocks on Valkey or Redis 7. Loaded when several processes share the roles of a service. */
import { Duration, Effect, Layer } from "effect"
import { BLOCKS_KEPT, BlockBus, makeBlocks } from "../bus/BlockBus.ts"
import { makeConnection } from "./busConnection.ts"
import { makeValkeyLog } from "./busLogValkey.ts"

/** The bus on the server at this address. Does not wait for the server. */
export const layer = (url: string, kept: Duration.Duration = BLOCKS_KEPT): Layer.Layer<BlockBus> =>
  Layer.effect(
    BlockBus,
    Effect.gen(function* () {
      const settings = { url, kind: "blocks", title: "bus of blocks", keptMs: Duration.toMillis(kept) }
      return makeBlocks(yield* makeValkeyLog(settings, yield* makeConnection(url)))
    })
  )
