import { type Config, Effect, Layer, Redacted } from "effect"
import type { HttpClient } from "effect/http"
import { ChainFeed } from "../accounts/ChainFeed.ts"
import { makeChainFeed } from "../accounts/makeChainFeed.ts"
import type { WriteSource } from "../accounts/WriteSource.ts"
import { AccountRelay } from "../bus/AccountRelay.ts"
import { blockCommitment } from "../Commitment.ts"
import type { NodeChoice } from "../rpc/NodeChoice.ts"
import { type RpcOptions, rpcSettings } from "../rpc/rpcSettings.ts"
import { geyserCommitment } from "./geyserCommitment.ts"
import type { openGeyserAccounts } from "./geyserAccounts.ts"
import { type GeyserEndpoint, geyserEndpoints, type GeyserOptions } from "./geyserSettings.ts"

/** Settings of a feed with a stream. */
export interface GeyserAccountFeedOptions extends RpcOptions {
  readonly geyser?: GeyserOptions | undefined
}

/** Writes from one of the endpoints, each stream from where the one before stopped, as far as the endpoint has it. */
const streamedWrites =
  (endpoints: ReadonlyArray<GeyserEndpoint>, open: typeof openGeyserAccounts) =>
  (choice: NodeChoice): WriteSource<never> => {
    let place = 0
    let streams = 0
    let isOutOfRange = false
    const target = () => {
      const endpoint = endpoints[place % endpoints.length]
      return {
        host: endpoint?.host ?? "",
        url: endpoint === undefined ? "" : Redacted.value(endpoint.url),
        token: endpoint === undefined || endpoint.token === null ? null : Redacted.value(endpoint.token)
      }
    }
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
          return open({ target: target(), stream: streams, commitment: streamed, from, timeout, onOutOfRange }, state)
        }),
      others: () => (endpoints.length > 1 ? choice.nodes : []),
      host: () => target().host,
      leave: () => {
        // The same endpoint is asked for what it has.
        place += isOutOfRange ? 0 : 1
      }
    }
  }

const make = Effect.fnUntraced(function* ({ geyser, ...options }: GeyserAccountFeedOptions) {
  const endpoints = yield* geyserEndpoints(geyser)
  const settings = yield* rpcSettings(options)
  const { openGeyserAccounts: open } = yield* Effect.promise(() => import("./geyserAccounts.ts"))
  // A stream has every slot of the commitment and no write of slots that may be rolled back.
  const streamed = { ...settings, commitment: blockCommitment(settings.commitment) }
  const relay = (yield* AccountRelay)?.writes
  return yield* makeChainFeed(streamed, streamedWrites(endpoints, open), { tellsSlots: true, relay })
})

/**
 * The writes that the Geyser endpoints at `GEYSER_URL`, or those of the options, stream, one endpoint at a time, over the state
 * read from the nodes at `SOLANA_RPC_URL`. Builds at once, and connects as soon as both can be reached.
 */
export const layer = (
  options: GeyserAccountFeedOptions = {}
): Layer.Layer<ChainFeed, Config.ConfigError, HttpClient.HttpClient> => Layer.effect(ChainFeed, make(options))
