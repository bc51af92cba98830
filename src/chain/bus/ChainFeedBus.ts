import { type Config, Effect, Layer } from "effect"
import type { HttpClient } from "effect/http"
import { randomBase62, SecretSource } from "../../domain/randomText.ts"
import { AccountBus } from "../../storage/bus/AccountBus.ts"
import { ChainFeed } from "../ChainFeed.ts"
import { makeChainFeed } from "../accounts/makeChainFeed.ts"
import { type RpcOptions, rpcSettings } from "../rpc/rpcSettings.ts"
import { busWrites } from "./busWrites.ts"

const OWNER_LENGTH = 16

/**
 * Follows the writes that the process which reads the chain appends to the bus. Accounts are read from the nodes at
 * `SOLANA_RPC_URL`. While the bus cannot be reached, or no process fills it, the accounts are polled from the nodes
 * once a second. Builds at once. `host` names the bus in logs and probes.
 */
export const layer = (
  host: string,
  options: RpcOptions = {}
): Layer.Layer<ChainFeed, Config.ConfigError, HttpClient.HttpClient | AccountBus> =>
  Layer.effect(
    ChainFeed,
    Effect.gen(function* () {
      const settings = yield* rpcSettings(options)
      const owner = randomBase62(OWNER_LENGTH, yield* SecretSource)
      const { release, source } = busWrites({ bus: yield* AccountBus, host, owner })
      yield* Effect.addFinalizer(() => release)
      return yield* makeChainFeed(settings, source, { reportsSlots: true })
    })
  )
