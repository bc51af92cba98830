/** The bus of blocks on Valkey or Redis 7. Loaded when several processes share the roles of a service. */
import { Effect, Layer } from "effect"
import { countSetting } from "../../domain/countSetting.ts"
import { blockBounds, BLOCKS_MIB, BlockBus, makeBlocks } from "../bus/BlockBus.ts"
import type { LogBounds } from "../bus/busLog.ts"
import { makeConnection } from "./busConnection.ts"
import { makeValkeyLog } from "./busLogValkey.ts"

/** One block of any size fits. */
const LEAST_MIB = 16

/** `BUS_MIB` (512): the most MiB of blocks on the bus. A block of a busy slot takes about half of one. */
export const busMib = countSetting("BUS_MIB", BLOCKS_MIB, LEAST_MIB)

/** The bus on the server at this address. Does not wait for the server. */
export const layer = (url: string, bounds: LogBounds): Layer.Layer<BlockBus> =>
  Layer.effect(
    BlockBus,
    Effect.gen(function* () {
      const settings = { ...bounds, url, kind: "blocks", title: "bus of blocks" }
      return makeBlocks(yield* makeValkeyLog(settings, yield* makeConnection(url)))
    })
  )

/** The bus with the bounds of the settings. */
export const layerSettings = (url: string) => Layer.unwrap(Effect.map(busMib, (mib) => layer(url, blockBounds(mib))))
