import { Config, Duration, Effect } from "effect"
import { countSetting, durationSetting, rangeSetting } from "../../domain/countSetting.ts"
import type { BlockHead } from "../blocks/BlockFeed.ts"
import { type BlockFeedOptions, blockSettings, makeBlockFeed } from "../blocks/BlockFeedRpc.ts"
import { rpcSettings } from "../rpc/rpcSettings.ts"
import { geyserCommitment } from "./geyserCommitment.ts"
import { makeGeyserSlots } from "./GeyserSlots.ts"
import { geyserEndpoints, type GeyserOptions } from "./geyserSettings.ts"

/** Settings of a block feed with a stream. */
export interface GeyserFeedOptions extends BlockFeedOptions {
  readonly geyser?:
    | (GeyserOptions & {
        readonly patience?: Duration.Duration | undefined
        readonly race?: number | undefined
        readonly decoders?: number | undefined
      })
    | undefined
  /** The module that the thread of the stream runs. It calls `serveGeyser` with a decoder. */
  readonly geyserWorker: URL
}

/** How long a slot may take to become whole before a node is asked: `GEYSER_PATIENCE` (5 s). */
export const geyserPatience: Config.Config<Duration.Duration> = durationSetting("GEYSER_PATIENCE").pipe(
  Config.withDefault(Duration.seconds(5))
)

/**
 * How many endpoints stream blocks at once: `GEYSER_RACE` (1). The first whole slot wins, so the loss of one of them
 * costs nothing. Each needs a thread of its own.
 */
export const geyserRace: Config.Config<number> = countSetting("GEYSER_RACE", 1, 1)

/**
 * How many threads decode the slots of one endpoint: `GEYSER_DECODERS` (1), at most 16. With one, the thread that reads
 * the endpoint decodes too. Otherwise these threads come beside it.
 */
export const geyserDecoders: Config.Config<number> = rangeSetting("GEYSER_DECODERS", 1, { minimum: 1, maximum: 16 })

/**
 * The blocks that Geyser endpoints stream. The endpoints come from the options or from `GEYSER_URL`. Blocks that they
 * do not have, or not in time, are read from the nodes as `makeBlockFeed` does, and so are single blocks.
 */
export const makeGeyserFeed = Effect.fnUntraced(function* <Message, Block extends BlockHead>(
  { geyser, geyserWorker, ...options }: GeyserFeedOptions,
  unpack: (message: Message) => Block
) {
  const endpoints = yield* geyserEndpoints(geyser)
  const { poll } = { ...(yield* blockSettings), ...options.blocks }
  const patience = geyser?.patience ?? (yield* geyserPatience)
  const commitment = geyserCommitment((yield* rpcSettings(options)).commitment)
  const race = geyser?.race ?? (yield* geyserRace)
  const decoders = geyser?.decoders ?? (yield* geyserDecoders)
  const slots = yield* makeGeyserSlots<Message>({
    worker: geyserWorker,
    endpoints,
    commitment,
    patience,
    poll,
    race,
    decoders
  })
  return yield* makeBlockFeed(options, unpack, slots)
})
