import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Stream } from "effect"
import { TestClock } from "effect/testing"
import { BlockNodes } from "../../../src/chain/blocks/blockNodes.ts"
import { BlockProgress, followBlocks } from "../../../src/chain/blocks/followBlocks.ts"
import { ChainUnavailable } from "../../../src/chain/ChainUnavailable.ts"
import { NodeChoice } from "../../../src/chain/rpc/NodeChoice.ts"
import { type RpcNode, rpcNode } from "../../../src/chain/rpc/rpcSettings.ts"
import type { SolanaRpc } from "../../../src/chain/rpc/SolanaRpc.ts"

const GENESIS = "EsUtxf9iambveeqnPHnEuzHvbxrXipLcMtwPgoBHwQuj"

/** A node at a slot. It does not answer while it is frozen. */
interface ScriptedNode {
  slot: number
  isFrozen: boolean
}

const unused = () => Effect.die("not called")

const rpcOf = (node: ScriptedNode): SolanaRpc["Service"] => {
  const answer = <A>(value: () => A): Effect.Effect<A, ChainUnavailable> =>
    Effect.suspend(() => (node.isFrozen ? Effect.never : Effect.sync(value)))
  return {
    getSlot: () => answer(() => node.slot),
    getGenesisHash: () => answer(() => GENESIS),
    getAccountInfo: () => Effect.fail(new ChainUnavailable({ reason: "invalid", detail: "no clock" })),
    getBlocksWithLimit: unused,
    getBlockhash: unused,
    getFirstAvailableBlock: unused,
    getHealth: unused,
    getMultipleAccounts: unused,
    getProgramAccounts: unused
  }
}

/**
 * Blocks of two nodes, followed from slot 100 on. Collects slots with the node that served them. A block takes so long
 * to read.
 */
const scene = Effect.fnUntraced(function* (readTakes: Duration.Input = Duration.zero) {
  const nodes: readonly [RpcNode, RpcNode] = [rpcNode("http://first:1"), rpcNode("http://second:2")]
  const [first, second]: readonly [ScriptedNode, ScriptedNode] = [
    { slot: 100, isFrozen: false },
    { slot: 100, isFrozen: false }
  ]
  const rpcs = [rpcOf(first), rpcOf(second)]
  const progress = new BlockProgress()
  const choice = new NodeChoice(nodes)
  let switches = 0
  const leave = choice.leave.bind(choice)
  choice.leave = (node) => {
    const isLeft = leave(node)
    switches += isLeft ? 1 : 0
    return isLeft
  }
  const blockNodes = new BlockNodes(choice, (node) => rpcs[nodes.indexOf(node)] ?? rpcOf(first), progress)
  const seen: Array<readonly [number, string]> = []
  const follow = followBlocks(
    {
      newest: blockNodes.newest(),
      list: () => Effect.succeed([]),
      firstAvailable: Effect.succeed(0),
      read: (slot) =>
        blockNodes.read(
          (node) =>
            rpcs[node]
              ?.getSlot()
              .pipe(Effect.delay(readTakes), Effect.as({ slot, parentSlot: slot - 1, blockTimeMs: 0 })) ?? unused(),
          Duration.seconds(20)
        )
    },
    progress,
    { concurrency: 2, catchUp: 1500, poll: Duration.millis(400), tries: 10 },
    null
  ).pipe(
    Stream.runForEach((event) =>
      Effect.sync(() => (event._tag === "Block" ? seen.push([event.block.slot, blockNodes.host]) : undefined))
    )
  )
  yield* Effect.forkScoped(Effect.raceFirst(follow, blockNodes.watchLag))
  /** Chains that are not halted advance by a slot every 400 ms. */
  const pass = (slots: number, advancing: ReadonlyArray<ScriptedNode> = [first, second]) =>
    Effect.repeat(
      Effect.suspend(() => {
        advancing.forEach((node) => (node.slot += 1))
        return TestClock.adjust("400 millis")
      }),
      { times: slots - 1 }
    )
  return { first, second, seen, pass, switches: () => switches }
})

describe("blocks of two nodes", () => {
  it.effect("come from the second within three seconds when the first stops answering", () =>
    Effect.gen(function* () {
      const { first, pass, seen } = yield* scene()
      yield* pass(5)
      assert.deepStrictEqual(seen.at(-1), [105, "first:1"])
      first.isFrozen = true
      yield* pass(7)
      assert.isAtLeast(seen.at(-1)?.[0] ?? 0, 111)
      assert.strictEqual(seen.at(-1)?.[1], "second:2")
      assert.deepStrictEqual(
        seen.map(([slot]) => slot),
        Array.from(seen, (_, index) => 101 + index)
      )
    })
  )

  it.effect("come from the second when the first falls behind but still answers", () =>
    Effect.gen(function* () {
      const { first, pass, second, seen } = yield* scene()
      yield* pass(5)
      yield* pass(16, [second])
      assert.deepStrictEqual(seen.at(-1), [105, "first:1"])
      yield* pass(6, [second])
      assert.strictEqual(seen.at(-1)?.[1], "second:2")
      assert.isAtLeast(seen.at(-1)?.[0] ?? 0, 126)
      assert.strictEqual(first.slot, 105)
    })
  )

  it.effect("come from the same node all the time while the reader is slower than the chain", () =>
    Effect.gen(function* () {
      const { pass, seen, switches } = yield* scene("1500 millis")
      yield* pass(200)
      assert.isBelow(seen.at(-1)?.[0] ?? 0, 220)
      assert.deepStrictEqual([switches(), seen.at(-1)?.[1]], [0, "first:1"])
    })
  )

  it.effect("come from the second when the first falls behind, although the reader is slower than both", () =>
    Effect.gen(function* () {
      const { pass, second, seen, switches } = yield* scene("1500 millis")
      yield* pass(50)
      yield* pass(30, [second])
      assert.deepStrictEqual([switches(), seen.at(-1)?.[1]], [1, "second:2"])
    })
  )

  it.effect("go on with longer deadlines when each block takes longer than the first deadline", () =>
    Effect.gen(function* () {
      const { pass, seen, switches } = yield* scene("2500 millis")
      yield* pass(200)
      assert.isAbove(seen.length, 20)
      assert.isBelow(switches(), 12)
    })
  )
})
