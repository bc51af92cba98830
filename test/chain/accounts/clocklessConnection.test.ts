/** A further connection on which the node refuses the clock. Its slots and late writes are all that is known. */
import { NodeHttpClient, NodeSocket } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Context, Duration, Effect, Layer, Logger, References } from "effect"
import { ChainFeed } from "../../../src/chain/ChainFeed.ts"
import * as ChainFeedRpc from "../../../src/chain/accounts/ChainFeedRpc.ts"
import { CLOCK } from "../../../src/chain/clockSysvar.ts"
import { SocketProgress } from "../../../src/chain/accounts/socketProgress.ts"
import { clockOf, holding, manyAddresses, readFeed, until } from "./accounts.ts"
import { nodeWith } from "./feedScene.ts"

const FIRST = 100

/** Two connections at the same slots. The second one has no clock. */
const scene = () => {
  const progress = new SocketProgress(() => 0)
  const [timed, clockless] = [progress.begin(), progress.begin()]
  progress.refuseClock(clockless)
  /** Delivers a slot on the first connection. The second one reports its own newest slot. */
  const pass = (slot: number, reported: number) => {
    progress.report(timed, slot + 1)
    progress.report(clockless, reported)
    progress.write(timed, slot, true)
  }
  for (let slot = FIRST; slot < FIRST + 30; slot++) {
    pass(slot, slot + 1)
    progress.write(clockless, slot, false)
  }
  return { clockless, pass, progress, timed }
}

describe("a connection without the clock", () => {
  it("is not late without writes as long as it reports slots", () => {
    const { clockless, pass, progress } = scene()
    for (let slot = 130; slot < 300; slot++) {
      pass(slot, slot + 1)
      assert.isFalse(progress.isLate(clockless))
      assert.strictEqual(progress.reached.slot, slot)
    }
  })

  it("holds up the others at the newest slot that it reports, and is late when that lasts", () => {
    const { clockless, pass, progress, timed } = scene()
    for (let slot = 130; slot < 136; slot++) {
      pass(slot, 130)
      assert.strictEqual(progress.reached.slot, 130)
    }
    let slot = 136
    while (!progress.isLate(clockless)) {
      pass(slot, slot - 6)
      assert.strictEqual(progress.reached.slot, slot - 6)
      assert.strictEqual(progress.slowest, clockless)
      slot += 1
      assert.isBelow(slot, 180)
    }
    assert.isAtLeast(slot, 160)
    assert.isFalse(progress.isLate(timed))
  })

  it("is late when its writes are, even if it reports slots in time", () => {
    const { clockless, pass, progress, timed } = scene()
    for (let slot = 130; slot < 150; slot++) {
      pass(slot, slot + 1)
    }
    progress.write(clockless, 147, false)
    assert.isFalse(progress.isLate(clockless))
    progress.write(clockless, 130, false)
    assert.deepStrictEqual([progress.isLate(clockless), progress.isLate(timed)], [true, false])
  })

  it("is like any other once it has the clock", () => {
    const { clockless, pass, progress } = scene()
    progress.write(clockless, 129, true)
    pass(130, 131)
    progress.write(clockless, 130, true)
    pass(131, 132)
    assert.strictEqual(progress.reached.slot, 130)
  })
})

it.live("a refused clock is warned of once, and the accounts are followed all the same", () =>
  Effect.gen(function* () {
    const many = manyAddresses(25)
    const node = yield* nodeWith(many.map((address) => holding(address, [0])))
    const warnings: Array<string> = []
    const logger = Logger.make(({ message }) => void warnings.push(JSON.stringify(message)))
    const layer = ChainFeedRpc.layer({
      rpcUrl: node.rpcUrl,
      wsUrl: node.wsUrl,
      watchdog: Duration.minutes(1),
      timeout: Duration.seconds(2),
      subscriptions: 10
    }).pipe(
      Layer.provide([
        NodeHttpClient.layerUndici,
        NodeSocket.layerWebSocketConstructor,
        Logger.layer([logger]),
        Layer.succeed(References.MinimumLogLevel, "Warn")
      ])
    )
    yield* Effect.gen(function* () {
      const feed = Context.get(yield* Layer.build(layer), ChainFeed)
      const reader = yield* readFeed(feed)
      yield* feed.watch(many.slice(0, 9))
      yield* until("the first connection is live", () => reader.known.size === 9 && feed.freshness().state === "live")
      node.barred.add(CLOCK)
      yield* feed.watch(many)
      yield* until("all are emitted", () => reader.known.size === 25 && feed.freshness().state === "live")
      assert.deepStrictEqual(
        node.shares().map((share) => [share.length, share.includes(CLOCK)]),
        [
          [10, true],
          [10, false],
          [6, false]
        ]
      )
      node.begin(102)
      node.write(101, clockOf(7, 1_700_000_001, 101), ...many.map((address) => holding(address, [1])))
      yield* until("all are written", () => many.every((address) => reader.bytes(address)?.[0] === 1))
      const refused = warnings.filter((each) => each.includes("clock"))
      assert.strictEqual(refused.length, 1)
      assert.include(refused[0] ?? "", "further connection")
    }).pipe(Effect.scoped)
  }).pipe(Effect.scoped)
)
