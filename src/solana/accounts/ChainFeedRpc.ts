import { Clock, type Config, Duration, Effect, Layer, Metric, Random, Schedule } from "effect"
import type { HttpClient } from "effect/http"
import type { Socket } from "effect/socket"
import type { Address } from "../../domain/Address.ts"
import { ChainFeed, ChainUnavailable } from "./ChainFeed.ts"
import { ChainState } from "./ChainState.ts"
import { followChain, settleWhenQuiet } from "./followChain.ts"
import { makeOutbox } from "../blocks/outbox.ts"
import { type RpcOptions, rpcSettings } from "../rpc/rpcSettings.ts"
import { SlotBuffer } from "./SlotBuffer.ts"
import { SolanaRpc } from "../rpc/SolanaRpc.ts"
import * as SolanaRpcHttp from "../rpc/SolanaRpcHttp.ts"

const lossCount = Metric.counter("chain_losses", {
  description: "Connections to the node that were lost or not made.",
  incremental: true
})

const FIRST_PAUSE = Duration.millis(250)
const LONGEST_PAUSE = Duration.seconds(15)

/** Between attempts that fail: a quarter of a second, then twice as long each time, up to fifteen seconds. */
const pauses = Schedule.exponential(FIRST_PAUSE).pipe(
  Schedule.modifyDelay(({ duration }) => Effect.succeed(Duration.min(duration, LONGEST_PAUSE))),
  Schedule.jittered
)

const make = Effect.fnUntraced(function* (options: RpcOptions) {
  const settings = yield* rpcSettings(options)
  const rpc = yield* SolanaRpc
  const time = yield* Clock.Clock
  const wanted = new Set<Address>()
  const buffer = new SlotBuffer((address) => !wanted.has(address))
  const outbox = yield* makeOutbox(settings.backlog, () => buffer.everything())
  const state = new ChainState({ buffer, outbox, wanted, commitment: settings.commitment, time })

  const followOnce = followChain(state, rpc, settings).pipe(
    Effect.scoped,
    Effect.catchDefect((defect) =>
      Effect.logError("Following the chain failed", defect).pipe(
        Effect.andThen(new ChainUnavailable({ reason: "invalid", detail: "a defect" }))
      )
    ),
    Effect.tapError(({ reason, detail }) =>
      Metric.update(lossCount, 1).pipe(Effect.andThen(Effect.logWarning("The chain was lost", { reason, detail })))
    ),
    // A connection that had worked starts the pauses anew.
    Effect.catch((error) => (state.takeWorked() ? Effect.void : Effect.fail(error)))
  )
  const breath = Effect.flatMap(Random.next, (share) => Effect.sleep(Duration.times(FIRST_PAUSE, share)))
  yield* followOnce.pipe(Effect.retry(pauses), Effect.andThen(breath), Effect.forever, Effect.forkScoped)
  yield* settleWhenQuiet(state).pipe(Effect.forkScoped)

  return ChainFeed.of({
    accountsOf: (query) => rpc.getProgramAccounts(query),
    read: (addresses) =>
      Effect.map(rpc.getMultipleAccounts(addresses), ({ states }) => ({
        slot: state.freshness().slot,
        accounts: new Map(Array.from(states, ([address, { account }]) => [address, account]))
      })),
    watch: (addresses) => Effect.sync(() => state.watch(addresses)),
    unwatch: (addresses) => Effect.sync(() => state.unwatch(addresses)),
    events: outbox.events,
    freshness: () => state.freshness(),
    clock: () => state.clock(),
    commitment: settings.commitment
  })
})

/**
 * The node at `SOLANA_RPC_URL` and `SOLANA_WS_URL`, or the one the options name. Builds at once, and connects as soon as
 * the node can be reached.
 */
export const layer = (
  options: RpcOptions = {}
): Layer.Layer<ChainFeed, Config.ConfigError, HttpClient.HttpClient | Socket.WebSocketConstructor> =>
  Layer.effect(ChainFeed, make(options)).pipe(Layer.provide(SolanaRpcHttp.layer(options)))
