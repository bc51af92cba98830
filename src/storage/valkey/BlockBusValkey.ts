/** The bus of blocks on Valkey or Redis 7. Loaded when several processes share the roles of a service. */
import { Effect, Layer } from "effect"
import { blockBounds, BlockBus, busMib, makeBlocks } from "../bus/BlockBus.ts"
import type { LogBounds } from "../bus/busLog.ts"
import { makeConnection } from "./busConnection.ts"
import { makeValkeyLog } from "./busLogValkey.ts"

/** The bus on the server at this address. The start does not wait for the server. */
export const layer = (url: string, bounds: LogBounds): Layer.Layer<BlockBus> =>
  Layer.effect(
    BlockBus,
    Effect.gen(function* () {
      const settings = { ...bounds, url, kind: "blocks", title: "bus of blocks" }
      return makeBlocks(yield* makeValkeyLog(settings, yield* makeConnection(url)))
    })
  )

/** The bus, bounded by the settings. */
export const layerSettings = (url: string) => Layer.unwrap(Effect.map(busMib, (mib) => layer(url, blockBounds(mib))))
