/** The nodes that blocks are read from: one at a time, the next one when it fails, lags, or serves another chain. */
import { Clock, Duration, Effect, Latch } from "effect"
import { monotonicMs } from "../../domain/loopTime.ts"
import { noteFailure } from "../../operations/SourceMonitor.ts"
import type { ChainClock } from "../../domain/OnChainAccount.ts"
import { ChainUnavailable } from "../ChainUnavailable.ts"
import { CLOCK, readClock } from "../clockSysvar.ts"
import type { NodeChoice } from "../rpc/NodeChoice.ts"
import { COMPARED_EVERY, compareWithOthers, genesisOf, LAG_SLOTS, ownSlot } from "../rpc/nodeLag.ts"
import { Patience } from "../rpc/Patience.ts"
import { isOfNode } from "../rpc/rpcHttp.ts"
import type { RpcNode } from "../rpc/rpcSettings.ts"
import type { SolanaRpc } from "../rpc/SolanaRpc.ts"
import type { BlockProgress } from "./followBlocks.ts"

/** How often the chain and the clock of a node are read again. */
const CHECKED_FOR_MS = 10_000
/** The first deadline of a call when there is another node. With the pause, failing over takes three seconds. */
const FIRST_DEADLINE = Duration.seconds(2)

const unreachable = (detail: string) => new ChainUnavailable({ reason: "unreachable", detail })

/** The chain's own time as the node has it; null when the node has none. */
const clockOf = (rpc: SolanaRpc["Service"]): Effect.Effect<ChainClock | null> =>
  rpc.getAccountInfo(CLOCK).pipe(
    Effect.map(({ account }) => (account === null ? null : readClock(account.data))),
    Effect.orElseSucceed(() => null)
  )

/** Calls to the node in use. */
export class BlockNodes {
  /** Opened when the nodes serve another chain. */
  readonly replaced: Latch.Latch = Latch.makeUnsafe(false)
  readonly #choice: NodeChoice
  readonly #rpcOf: (node: RpcNode) => SolanaRpc["Service"]
  readonly #progress: BlockProgress
  readonly #checkedAtMs = new Map<RpcNode, number>()
  #clock: ChainClock | null = null
  #isReplaced = false
  /** Small answers say nothing about how long a block takes, so blocks have deadlines of their own. */
  readonly #patience = { calls: new Patience(FIRST_DEADLINE), reads: new Patience(FIRST_DEADLINE) }

  constructor(choice: NodeChoice, rpcOf: (node: RpcNode) => SolanaRpc["Service"], progress: BlockProgress) {
    this.#choice = choice
    this.#rpcOf = rpcOf
    this.#progress = progress
  }

  /** The chain's own time at the node in use, some seconds old; null when it is not known. */
  get clock(): ChainClock | null {
    return this.#clock
  }

  get host(): string {
    return this.#choice.current.host
  }

  /** Begins to follow. After the chain was replaced, the progress starts over. */
  begin(): void {
    if (this.#isReplaced) {
      this.#isReplaced = false
      this.replaced.closeUnsafe()
      this.#progress.startAnew()
    }
  }

  /** Calls the node in use once it was found to serve the known chain. When it fails, the next node is chosen. */
  call<A>(ask: (rpc: SolanaRpc["Service"]) => Effect.Effect<A, ChainUnavailable>): Effect.Effect<A, ChainUnavailable> {
    return this.#ask(ask, this.#patience.calls, Duration.infinity)
  }

  /** Reads a block from the node in use, known by its place in the list of nodes, like `call`. */
  read<A>(
    ask: (node: number) => Effect.Effect<A, ChainUnavailable>,
    limit: Duration.Duration
  ): Effect.Effect<A, ChainUnavailable> {
    return this.#ask((_, node) => ask(this.#choice.nodes.indexOf(node)), this.#patience.reads, limit)
  }

  #ask<A>(
    ask: (rpc: SolanaRpc["Service"], node: RpcNode) => Effect.Effect<A, ChainUnavailable>,
    patience: Patience,
    limit: Duration.Duration
  ): Effect.Effect<A, ChainUnavailable> {
    return Effect.suspend(() => {
      const node = this.#choice.current
      return this.#check(node, patience).pipe(
        Effect.andThen(Effect.timed(ask(this.#rpcOf(node), node).pipe(this.#withDeadline(patience, limit)))),
        Effect.map(([took, answer]) => {
          patience.answered(took)
          return answer
        }),
        Effect.tapError((failure) => (isOfNode(failure) ? this.#leave(node, failure, patience) : Effect.void))
      )
    })
  }

  /** The newest slot, from a node that has not fallen behind. */
  newest(): Effect.Effect<number, ChainUnavailable> {
    return this.call((rpc) => rpc.getSlot()).pipe(
      Effect.tap((slot) => {
        if (slot + LAG_SLOTS >= this.#progress.head) {
          return Effect.void
        }
        // The node may serve another chain, which the next call finds out.
        const node = this.#choice.current
        this.#checkedAtMs.delete(node)
        const failure = unreachable(`${node.host} is at slot ${slot}, behind ${this.#progress.head}`)
        return this.#choice.hasOthers ? Effect.andThen(this.#leave(node, failure), failure) : Effect.void
      })
    )
  }

  /** Leaves a node that falls behind the others although it answers. Runs beside following; never ends. */
  get watchLag(): Effect.Effect<never> {
    const compare = Effect.suspend(() => {
      const node = this.#choice.current
      const others = this.#choice.nodes.filter((other) => other !== node)
      // The own progress does not count: a reader that is behind would blame each node in turn.
      const compared = { host: node.host, slot: ownSlot(this.#rpcOf(node)) }
      return Effect.catch(compareWithOthers(this.#choice, this.#rpcOf, others, compared), (failure) =>
        this.#leave(node, failure)
      )
    })
    return this.#choice.hasOthers ? Effect.forever(Effect.andThen(Effect.sleep(COMPARED_EVERY), compare)) : Effect.never
  }

  readonly #withDeadline =
    (patience: Patience, limit: Duration.Duration) =>
    <A>(call: Effect.Effect<A, ChainUnavailable>): Effect.Effect<A, ChainUnavailable> => {
      if (!this.#choice.hasOthers) {
        return call
      }
      return Effect.timeoutOrElse(call, {
        duration: Duration.min(limit, patience.limit),
        orElse: () => Effect.fail(new ChainUnavailable({ reason: "timeout", detail: "no answer" }))
      })
    }

  #leave(node: RpcNode, { detail, reason }: ChainUnavailable, patience: Patience | null = null): Effect.Effect<void> {
    this.#checkedAtMs.delete(node)
    if (!this.#choice.leave(node)) {
      return Effect.void
    }
    // Calls that were in flight together count once.
    if (reason === "timeout") {
      patience?.lengthen()
    }
    return Effect.andThen(
      Effect.logWarning("Blocks are read from another node", { node: node.host, reason, detail, next: this.host }),
      noteFailure("block_feed", `${node.host}: ${reason}, ${detail}`)
    )
  }

  #check(node: RpcNode, patience: Patience): Effect.Effect<void, ChainUnavailable> {
    return Effect.gen({ self: this }, function* () {
      const nowMs = monotonicMs(yield* Clock.Clock)
      const isRecent = nowMs - (this.#checkedAtMs.get(node) ?? Number.NEGATIVE_INFINITY) < CHECKED_FOR_MS
      if (isRecent && this.#choice.isUpToDate(node)) {
        return
      }
      const rpc = this.#rpcOf(node)
      const genesis = yield* this.#withDeadline(patience, Duration.infinity)(genesisOf(rpc))
      const verdict = this.#choice.identify(node, genesis)
      if (verdict === "replaced") {
        yield* Effect.logWarning("The node serves another chain: blocks start over", { node: node.host, genesis })
        this.#isReplaced = true
        this.replaced.openUnsafe()
      }
      if (verdict !== "same") {
        return yield* unreachable(`${node.host} serves another chain: ${genesis}`)
      }
      this.#clock = yield* clockOf(rpc)
      this.#checkedAtMs.set(node, nowMs)
    })
  }
}
