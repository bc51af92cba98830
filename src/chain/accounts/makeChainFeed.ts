import { Clock, Duration, Effect, Latch, Metric, Random, Schedule } from "effect"
import type { Address } from "../../domain/Address.ts"
import { ChainFeed } from "../ChainFeed.ts"
import { ChainUnavailable } from "../ChainUnavailable.ts"
import { ChainState } from "./ChainState.ts"
import { followChain, settleWhenQuiet } from "./followChain.ts"
import { makeOutbox } from "./outbox.ts"
import { keepRunning } from "../../operations/keepRunning.ts"
import { noteFailure } from "../../operations/SourceMonitor.ts"
import { NodeChoice } from "../rpc/NodeChoice.ts"
import { Patience } from "../rpc/Patience.ts"
import { pollWhileAway } from "./pollChain.ts"
import type { RpcNode, RpcSettings } from "../rpc/rpcSettings.ts"
import type { Relay } from "./AccountRelay.ts"
import { AccountBuffer } from "./AccountBuffer.ts"
import type { SolanaRpc } from "../rpc/SolanaRpc.ts"
import { makeSolanaRpc } from "../rpc/SolanaRpcHttp.ts"
import type { LostConnection, WriteSource } from "./WriteSource.ts"

const lossCount = Metric.counter("fathom_chain_losses_total", {
  description: "Connections to the node that were lost or not made.",
  incremental: true
})

/** The first deadline of a connection's reads when there is another node. */
const READ_DEADLINE = Duration.millis(1500)
const FIRST_PAUSE = Duration.millis(250)
const LONGEST_PAUSE = Duration.seconds(1)

/** Pauses between failed attempts: a quarter of a second, doubling up to a second. */
const pauses = Schedule.exponential(FIRST_PAUSE).pipe(
  Schedule.modifyDelay(({ duration }) => Effect.succeed(Duration.min(duration, LONGEST_PAUSE))),
  Schedule.jittered
)

/** The RPC client of each node. */
const makeReads = Effect.fnUntraced(function* (settings: RpcSettings, choice: NodeChoice) {
  const reads = new Map<RpcNode, SolanaRpc["Service"]>()
  const make = (node: RpcNode) => makeSolanaRpc(settings, { node: () => node, hasOthers: choice.hasOthers })
  const first = yield* make(choice.current)
  for (const node of choice.nodes) {
    reads.set(node, node === choice.current ? first : yield* make(node))
  }
  return (node: RpcNode) => reads.get(node) ?? first
})

/** Logs the end of each silence of the chain. */
const logResumptions = (state: ChainState): Effect.Effect<never> =>
  Effect.suspend(() => {
    state.heard.resumed.closeUnsafe()
    return state.heard.resumed.await
  }).pipe(
    Effect.andThen(
      Effect.suspend(() => Effect.logInfo("The chain goes on", { node: state.nodes.node, slot: state.heard.slot }))
    ),
    Effect.forever
  )

/** A feed that follows accounts through the source and reads them from the nodes. Builds at once. */
export const makeChainFeed = Effect.fnUntraced(function* <R>(
  settings: RpcSettings,
  sourceOf: (choice: NodeChoice, rpcOf: (node: RpcNode) => SolanaRpc["Service"]) => WriteSource<R>,
  { relay, reportsSlots = false }: { readonly reportsSlots?: boolean; readonly relay?: Relay | undefined } = {}
) {
  const choice = new NodeChoice(settings.nodes)
  const rpcOf = yield* makeReads(settings, choice)
  const source = sourceOf(choice, rpcOf)
  const patience = new Patience(READ_DEADLINE)
  const time = yield* Clock.Clock
  const wanted = new Set<Address>()
  const buffer = new AccountBuffer((address) => !wanted.has(address))
  const outbox = yield* makeOutbox(settings.backlog, () => buffer.everything())
  const state = new ChainState({ buffer, outbox, wanted, commitment: settings.commitment, time, reportsSlots, relay })
  /** The node that was admitted last. */
  const used: { node: RpcNode | null } = { node: null }
  const isUsed = Latch.makeUnsafe(false)

  const onUse = (node: RpcNode, host: string, message: string) =>
    Effect.suspend(() => {
      const isQuiet = used.node === null || state.heard.isSilent
      used.node = node
      state.nodes = { node: host, readNode: node.host }
      isUsed.openUnsafe()
      // Quiet in the log when nothing is wrong: the first connection, and a node at the slot of a halted chain, are no
      // news.
      return (isQuiet ? Effect.logDebug : Effect.logInfo)(message, { node: host })
    })

  const followOnce = Effect.suspend(() => {
    const node = choice.current
    const wasSilent = state.heard.isSilent
    const host = source.host(node)
    const inUse = onUse(node, host, "The chain is followed")
    const chosen = { node, source, rpc: rpcOf(node), rpcOf, choice, patience, onUse: inUse }
    return followChain(state, chosen, settings).pipe(
      Effect.scoped,
      Effect.catchDefect((defect) =>
        Effect.logError("Following the chain failed", defect).pipe(
          Effect.andThen(
            Effect.fail<LostConnection>({
              of: "writes",
              error: new ChainUnavailable({ reason: "invalid", detail: "a defect" })
            })
          )
        )
      ),
      Effect.tapError(({ of, error: { reason, detail } }) => {
        const failed = of === "writes" ? host : node.host
        if (of === "writes") {
          source.leave(node)
        } else {
          choice.leave(node)
        }
        const next = of === "writes" ? source.host(choice.current) : choice.current.host
        // One warning for one silence, however often the node is connected to meanwhile.
        const isKnown = wasSilent && state.heard.isSilent && reason === "timeout"
        return Effect.andThen(
          Metric.update(lossCount, 1),
          Effect.andThen(
            (isKnown ? Effect.logDebug : Effect.logWarning)("The chain was lost", {
              node: failed,
              reason,
              detail,
              next
            }),
            noteFailure("chain", `${failed}: ${reason}, ${detail}`)
          )
        )
      }),
      // After a connection that worked, the pauses start from the shortest again.
      Effect.catch((error) => (state.takeWasLive() ? Effect.void : Effect.fail(error)))
    )
  })
  const randomPause = Effect.flatMap(Random.next, (share) => Effect.sleep(Duration.times(FIRST_PAUSE, share)))
  yield* followOnce.pipe(
    Effect.retry(pauses),
    Effect.andThen(randomPause),
    Effect.forever,
    keepRunning("Following the chain", "chain"),
    Effect.forkScoped
  )
  yield* logResumptions(state).pipe(keepRunning("Logging that the chain goes on"), Effect.forkScoped)
  yield* settleWhenQuiet(state).pipe(keepRunning("Emitting the writes of a slot"), Effect.forkScoped)
  const onPoll = (node: RpcNode) => onUse(node, node.host, "Reading the accounts over HTTP until they can be followed")
  yield* pollWhileAway(state, { choice, rpcOf, onUse: onPoll }).pipe(
    keepRunning("Polling the accounts"),
    Effect.forkScoped
  )

  /** The client of the node in use. Waits for the first node. */
  const rpcInUse = isUsed.await.pipe(
    Effect.timeoutOrElse({
      duration: settings.timeout,
      orElse: () => Effect.fail(new ChainUnavailable({ reason: "unreachable", detail: "no node is in use" }))
    }),
    Effect.map(() => rpcOf(used.node ?? choice.current))
  )

  return ChainFeed.of({
    accountsOf: (query) => Effect.flatMap(rpcInUse, (rpc) => rpc.getProgramAccounts(query)),
    read: (addresses, dataSlice) =>
      Effect.flatMap(rpcInUse, (rpc) =>
        Effect.map(rpc.getMultipleAccounts(addresses, dataSlice && { dataSlice }), ({ states }) => ({
          slot: state.freshness().slot,
          accounts: new Map(Array.from(states, ([address, { account }]) => [address, account]))
        }))
      ),
    watch: (addresses) => Effect.sync(() => state.watch(addresses)),
    unwatch: (addresses) => Effect.sync(() => state.unwatch(addresses)),
    events: outbox.events,
    freshness: () => state.freshness(),
    clock: () => state.clock(),
    commitment: settings.commitment
  })
})
