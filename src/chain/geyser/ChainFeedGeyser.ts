import { type Config, Effect, Layer } from "effect"
import type { HttpClient } from "effect/http"
import { ChainFeed } from "../ChainFeed.ts"
import { makeChainFeed } from "../accounts/makeChainFeed.ts"
import type { WriteSource } from "../accounts/WriteSource.ts"
import { AccountRelay } from "../accounts/AccountRelay.ts"
import { blockCommitment } from "../Commitment.ts"
import type { NodeChoice } from "../rpc/NodeChoice.ts"
import { type RpcOptions, rpcSettings } from "../rpc/rpcSettings.ts"
import { geyserCommitment } from "./geyserCommitment.ts"
import { AccountThread } from "./AccountThread.ts"
import { openGeyserAccounts } from "./geyserAccounts.ts"
import { type GeyserEndpoint, geyserEndpoints, type GeyserOptions, targetAt } from "./geyserSettings.ts"

/** Settings of a feed with a stream. */
export interface GeyserAccountFeedOptions extends RpcOptions {
  readonly geyser?: GeyserOptions | undefined
}

/** Writes from one endpoint at a time. Each stream starts where the previous one stopped, if it can. */
const streamedWrites =
  (endpoints: ReadonlyArray<GeyserEndpoint>, thread: AccountThread["Service"]) =>
  (choice: NodeChoice): WriteSource<never> => {
    let place = 0
    let streams = 0
    let isOutOfRange = false
    const target = () => targetAt(endpoints, place)
    return {
      open: (_, state, { commitment, timeout }) =>
        Effect.suspend(() => {
          const from = isOutOfRange ? null : state.replayFrom
          isOutOfRange = false
          const onOutOfRange = () => {
            isOutOfRange = true
          }
          const streamed = geyserCommitment(commitment)
          streams += 1
          const options = { target: target(), stream: streams, commitment: streamed, from, timeout, onOutOfRange }
          return Effect.provideService(openGeyserAccounts(options, state), AccountThread, thread)
        }),
      others: () => (endpoints.length > 1 ? choice.nodes : []),
      host: () => target().host,
      leave: () => {
        // Ask the same endpoint again, for the slots that it has.
        place += isOutOfRange ? 0 : 1
      }
    }
  }

const make = Effect.fnUntraced(function* ({ geyser, ...options }: GeyserAccountFeedOptions) {
  const endpoints = yield* geyserEndpoints(geyser)
  const settings = yield* rpcSettings(options)
  // A stream has every slot at the commitment, and no write of a slot that may be rolled back.
  const streamed = { ...settings, commitment: blockCommitment(settings.commitment) }
  const relay = (yield* AccountRelay)?.writes
  return yield* makeChainFeed(streamed, streamedWrites(endpoints, yield* AccountThread), { reportsSlots: true, relay })
})

/**
 * Follows the writes that Geyser endpoints stream, one endpoint at a time. The endpoints come from the options or from
 * `GEYSER_URL`. Accounts are read from the nodes at `SOLANA_RPC_URL`. Builds at once, and connects as soon as both can
 * be reached.
 */
export const layer = (
  options: GeyserAccountFeedOptions = {}
): Layer.Layer<ChainFeed, Config.ConfigError, HttpClient.HttpClient> =>
  Layer.effect(ChainFeed, make(options)).pipe(Layer.provide(AccountThread.layer))
