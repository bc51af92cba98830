import { Config, Duration, Effect } from "effect"
import { durationSetting } from "../../domain/countSetting.ts"
import type { BlockHead } from "../blocks/BlockFeed.ts"
import { type BlockFeedOptions, blockSettings, makeBlockFeed } from "../blocks/BlockFeedRpc.ts"
import { rpcSettings } from "../rpc/rpcSettings.ts"
import { geyserCommitment } from "./geyserCommitment.ts"
import { makeGeyserSlots } from "./GeyserSlots.ts"
import { geyserEndpoints, type GeyserOptions } from "./geyserSettings.ts"

/** Settings of a block feed with a stream. */
export interface GeyserFeedOptions extends BlockFeedOptions {
  readonly geyser?: (GeyserOptions & { readonly patience?: Duration.Duration | undefined }) | undefined
  /** The module that the thread of the stream runs. It calls `serveGeyser` with a decoder. */
  readonly geyserWorker: URL
}

/** How long a slot may take to become whole before a node is asked: `GEYSER_PATIENCE` (5 s). */
export const geyserPatience: Config.Config<Duration.Duration> = durationSetting("GEYSER_PATIENCE").pipe(
  Config.withDefault(Duration.seconds(5))
)

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
  const slots = yield* makeGeyserSlots<Message>({ worker: geyserWorker, endpoints, commitment, patience, poll })
  return yield* makeBlockFeed(options, unpack, slots)
})
