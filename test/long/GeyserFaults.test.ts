import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Context, Duration, Effect, Layer, References, Schedule, Stream } from "effect"
import { layer as monitorLayer, SourceMonitor } from "../../src/operations/SourceMonitor.ts"
import type { GeyserNode } from "../../src/simulator/node/GeyserNode.ts"
import { Simulator } from "../../src/simulator/Simulator.ts"
import type { BlockEvent } from "../../src/chain/blocks/BlockFeed.ts"
import type { GeyserFeedOptions } from "../../src/chain/geyser/BlockFeedGeyser.ts"
import { decodeBlock } from "../../src/chain/decoding/decodeBlock.ts"
import type { TradeBlock } from "../../src/chain/decoding/TradeBlock.ts"
import { TradeBlocks } from "../../src/chain/decoding/TradeBlocks.ts"
import { at, call } from "../simulator/node/client.ts"
import { until } from "../chain/accounts/accounts.ts"
import { movable } from "../support/clock.ts"
import { plain } from "../chain/decoding/plainTransactions.ts"

const KILLS = 20
const full = { encoding: "json", maxSupportedTransactionVersion: 0, rewards: false }
const services = Layer.mergeAll(NodeHttpClient.layerUndici, Layer.succeed(References.MinimumLogLevel, "None"))
const simulated = Simulator.layer({ seed: "geyser", speed: 0, swapsPerSecond: 20, startUnixMs: 1_790_000_000_000 })
/** So long that no test waits for it. What is missing until then must arrive over the stream. */
const patient = Duration.minutes(10)

/** The events after the newest slot, collected as they arrive. */
const collecting = Effect.fnUntraced(function* (options: Partial<GeyserFeedOptions>) {
  const { rpcUrl } = yield* Simulator
  const after = Number(at(yield* call(rpcUrl, "getSlot"), "result"))
  const blocks = { concurrency: 2, poll: Duration.millis(20), tries: 1_000 }
  const layer = TradeBlocks.layerGeyser({ rpcUrl, retries: 0, blocks, ...options })
  const feed = Context.get(yield* Layer.build(layer.pipe(Layer.provideMerge(services))), TradeBlocks)
  const events: Array<BlockEvent<TradeBlock>> = []
  yield* feed.follow(after).pipe(
    Stream.runForEach((event) => Effect.sync(() => events.push(event))),
    Effect.forkScoped
  )
  const last = () => {
    const event = events.at(-1)
    return event?._tag === "Block" ? event.block.slot : after
  }
  return { after, events, feed, last }
})

/** The events of endpoints that are raced, and their states. */
const racing = Effect.fnUntraced(function* (geysers: ReadonlyArray<GeyserNode>, patience: Duration.Duration) {
  const monitor = Context.get(yield* Layer.build(monitorLayer), SourceMonitor)
  const url = geysers.map((geyser) => geyser.url).join(",")
  const collected = yield* collecting({ geyser: { url, patience, race: 2 } }).pipe(
    Effect.provideService(SourceMonitor, monitor)
  )
  return { ...collected, monitor, stateOf: (place: number) => monitor.stateOf(`geyser_${place + 1}`, 0) }
})

/** Compares every block up to the newest with the node's answer. No block is missing and none arrives twice. */
const isComplete = Effect.fnUntraced(function* (events: ReadonlyArray<BlockEvent<TradeBlock>>, after: number) {
  const { rpcUrl } = yield* Simulator
  const listed: unknown = at(yield* call(rpcUrl, "getBlocks", after + 1), "result")
  assert.deepStrictEqual(
    events.map((event) => (event._tag === "Block" ? event.block.slot : event)),
    listed
  )
  for (const event of events) {
    if (event._tag === "Block") {
      const { block } = event
      const answer = at(yield* call(rpcUrl, "getBlock", block.slot, full), "result")
      assert.deepStrictEqual({ ...block, transactions: plain(block.transactions) }, decodeBlock(block.slot, answer))
    }
  }
})

const newestSlot = Effect.gen(function* () {
  const { rpcUrl } = yield* Simulator
  return Number(at(yield* call(rpcUrl, "getSlot"), "result"))
})

describe("blocks of a Geyser", { concurrent: true }, () => {
  it.live.each([1, 3])("are complete after 20 kills, without reading a node, with %d decoders", (decoders) =>
    Effect.gen(function* () {
      const { addGeyser, advance, faults } = yield* Simulator
      const geyser = yield* addGeyser({ duplicates: true })
      const { after, events, last } = yield* collecting({ geyser: { url: geyser.url, patience: patient, decoders } })
      yield* until("the stream is open", () => geyser.opened().length === 1)
      yield* faults.set({ http: "503" })
      for (let kill = 1; kill <= KILLS; kill++) {
        // Within the first slot, after a different number of its updates each time.
        yield* geyser.kill((kill * 7) % 13)
        yield* faults.skipSlots(kill % 3)
        yield* advance(2)
        yield* until("the stream is opened again", () => geyser.opened().length === kill + 1)
      }
      yield* faults.clear
      const newest = yield* newestSlot
      yield* until("all is read", () => last() === newest)
      yield* isComplete(events, after)
    }).pipe(Effect.scoped, Effect.provide(simulated))
  )

  it.live(
    "of a decoder that hangs are read, although the reader waits for them alone",
    () =>
      Effect.gen(function* () {
        const { addGeyser, advance } = yield* Simulator
        const geyser = yield* addGeyser()
        const { after, events, last } = yield* collecting({
          geyser: { url: geyser.url, patience: patient, decoders: 2 },
          geyserWorker: new URL("../support/hangingGeyser.ts", import.meta.url)
        })
        yield* until("the stream is open", () => geyser.opened().length === 1)
        yield* advance(7)
        yield* Effect.sync(last).pipe(
          Effect.repeat({ until: (slot) => slot === after + 7, schedule: Schedule.spaced("50 millis") })
        )
        yield* isComplete(events, after)
      }).pipe(Effect.scoped, Effect.provide(simulated)),
    120_000
  )

  it.live("that decoder threads cannot decode, or have when they end, are read from a node", () =>
    Effect.gen(function* () {
      const { addGeyser, advance } = yield* Simulator
      const geyser = yield* addGeyser()
      const monitor = Context.get(yield* Layer.build(monitorLayer), SourceMonitor)
      const { after, events, feed, last } = yield* collecting({
        geyser: { url: geyser.url, patience: patient, decoders: 2 },
        geyserWorker: new URL("../support/mortalGeyser.ts", import.meta.url)
      }).pipe(Effect.provideService(SourceMonitor, monitor))
      yield* until("the stream is open", () => geyser.opened().length === 1)
      for (let slots = 7; slots <= 28; slots += 7) {
        yield* advance(7)
        yield* until("all is read", () => last() === after + slots)
      }
      yield* isComplete(events, after)
      assert.strictEqual(feed.freshness().node, new URL(geyser.url).host)
      assert.strictEqual(monitor.history("block_feed", "known", 0).lastError?.detail, "decoder: ended with 3")
      assert.strictEqual(geyser.opened().length, 1)
    }).pipe(Effect.scoped, Effect.provide(simulated))
  )

  it.live("that are not whole, or out of range, are read from a node", () =>
    Effect.gen(function* () {
      const { addGeyser, advance } = yield* Simulator
      const geyser = yield* addGeyser({
        reorder: true,
        missingHeadEvery: 3,
        missingTransactionEvery: 4,
        replaySlots: 2
      })
      const { after, events, last } = yield* collecting({
        geyser: { url: geyser.url, patience: Duration.millis(200) }
      })
      yield* until("the stream is open", () => geyser.opened().length === 1)
      yield* advance(12)
      yield* geyser.kill(0)
      yield* advance(12)
      const newest = yield* newestSlot
      yield* until("all is read", () => last() === newest)
      yield* isComplete(events, after)
    }).pipe(Effect.scoped, Effect.provide(simulated))
  )

  it.live("come from the next endpoint while the first one catches up", () =>
    Effect.gen(function* () {
      const { addGeyser, advance, faults } = yield* Simulator
      const [first, second] = [yield* addGeyser({ streams: "catching up" }), yield* addGeyser()]
      const { after, events, feed, last } = yield* collecting({
        geyser: { url: `${first.url},${second.url}`, token: ",secret", patience: patient }
      })
      yield* until("the second is asked", () => second.opened().length > 0)
      yield* faults.set({ http: "503" })
      yield* advance(5)
      yield* until("all is read", () => last() === after + 5)
      assert.strictEqual(feed.freshness().node, new URL(second.url).host)
      yield* faults.clear
      yield* isComplete(events, after)
    }).pipe(Effect.scoped, Effect.provide(simulated))
  )

  it.live("have the configured commitment", () =>
    Effect.gen(function* () {
      const { addGeyser, advance, faults } = yield* Simulator
      const geyser = yield* addGeyser()
      const { after, events, last } = yield* collecting({
        commitment: "finalized",
        geyser: { url: geyser.url, patience: patient }
      })
      yield* until("the stream is open", () => geyser.opened().length === 1)
      assert.deepStrictEqual(geyser.commitments(), [2])
      yield* faults.set({ http: "503" })
      yield* advance(3)
      yield* until("all is read", () => last() === after + 3)
      yield* faults.clear
      yield* isComplete(events, after)
    }).pipe(Effect.scoped, Effect.provide(simulated))
  )

  it.live("are read from a node while no update arrives", () =>
    Effect.gen(function* () {
      const { addGeyser, advance, rpcUrl } = yield* Simulator
      const geyser = yield* addGeyser({ streams: "silent" })
      const { after, events, feed, last } = yield* collecting({
        geyser: { url: geyser.url, patience: Duration.millis(100) }
      })
      yield* advance(5)
      yield* until("all is read", () => last() === after + 5)
      yield* isComplete(events, after)
      assert.strictEqual(feed.freshness().node, new URL(rpcUrl).host)
    }).pipe(Effect.scoped, Effect.provide(simulated))
  )

  it.live("are read from a node while no update arrives, even after the wall clock was set back", () =>
    Effect.gen(function* () {
      const { addGeyser, advance } = yield* Simulator
      const geyser = yield* addGeyser()
      const clock = yield* movable
      const { after, events, last } = yield* collecting({
        geyser: { url: geyser.url, patience: Duration.seconds(1) }
      }).pipe(Effect.provideService(Clock.Clock, clock))
      yield* until("the stream is open", () => geyser.opened().length > 0)
      yield* advance(1)
      yield* until("the first is read", () => last() === after + 1)
      yield* geyser.faults.set({ streams: "silent" })
      clock.shift(-3_600_000)
      yield* advance(5)
      yield* until("all is read", () => last() === after + 6)
      yield* isComplete(events, after)
    }).pipe(Effect.scoped, Effect.provide(simulated))
  )

  it.live(
    "of two raced endpoints are complete while one is slow, repeats itself and dies, without reading a node",
    () =>
      Effect.gen(function* () {
        const { addGeyser, advance, faults } = yield* Simulator
        const [first, second] = [
          yield* addGeyser({ duplicates: true, reorder: true }),
          yield* addGeyser({ lag: Duration.hours(1) })
        ]
        const { after, events, feed, last, stateOf } = yield* racing([first, second], patient)
        yield* until("both are open", () => first.opened().length === 1 && second.opened().length === 1)
        yield* faults.set({ http: "503" })
        yield* advance(10)
        yield* until("all is read while the second is slow", () => last() === after + 10)
        yield* second.faults.set({ lag: Duration.zero })
        yield* first.faults.set({ streams: "catching up" })
        yield* first.kill(3)
        yield* advance(10)
        yield* until("all is read while the first is away", () => last() === after + 20)
        assert.strictEqual(feed.freshness().node, new URL(second.url).host)
        yield* until("the first is stale", () => stateOf(0)?.status === "stale")
        assert.strictEqual(stateOf(1)?.status, "known")
        yield* first.faults.clear
        yield* until("the first is back", () => first.opened().length > 1)
        yield* advance(3)
        yield* until("the first has caught up", () => stateOf(0)?.status === "known")
        yield* faults.clear
        yield* until("all is read", () => last() === after + 23)
        yield* isComplete(events, after)
      }).pipe(Effect.scoped, Effect.provide(simulated))
  )

  it.live("of two raced endpoints come from the one that the node agrees with", () =>
    Effect.gen(function* () {
      const { addGeyser, advance } = yield* Simulator
      // Its slots are never whole, so it cannot win before the first dispute.
      const [forked, honest] = [yield* addGeyser({ forks: true, missingTransactionEvery: 1 }), yield* addGeyser()]
      const { after, events, last, monitor, stateOf } = yield* racing([forked, honest], patient)
      yield* until("both are open", () => forked.opened().length === 1 && honest.opened().length === 1)
      yield* advance(1)
      yield* until("the fork is seen", () => stateOf(0)?.status === "stale")
      assert.include(monitor.history("geyser_1", "stale", 0).lastError?.detail, "another block in slot")
      // From here on it is first: the other one is late.
      yield* forked.faults.set({ missingTransactionEvery: 0 })
      yield* honest.faults.set({ lag: Duration.millis(20) })
      yield* advance(5)
      yield* until("all is read", () => last() === after + 6)
      assert.strictEqual(stateOf(1)?.status, "known")
      yield* forked.faults.set({ forks: false })
      yield* advance(20)
      yield* until("it is followed again", () => stateOf(0)?.status === "known")
      yield* until("all is read", () => last() === after + 26)
      yield* isComplete(events, after)
    }).pipe(Effect.scoped, Effect.provide(simulated))
  )

  it.live("of two raced endpoints come from the one that had a fork once the other one is away", () =>
    Effect.gen(function* () {
      const { addGeyser, advance } = yield* Simulator
      const [forked, honest] = [yield* addGeyser({ forks: true, missingTransactionEvery: 1 }), yield* addGeyser()]
      const { after, events, feed, last, stateOf } = yield* racing([forked, honest], Duration.seconds(1))
      yield* until("both are open", () => forked.opened().length > 0 && honest.opened().length > 0)
      yield* advance(1)
      yield* until("the fork is seen", () => stateOf(0)?.status === "stale")
      yield* until("the first is read", () => last() === after + 1)
      yield* honest.faults.set({ streams: "catching up" })
      yield* honest.kill(0)
      yield* forked.faults.set({ forks: false, missingTransactionEvery: 0 })
      let slots = 1
      yield* Effect.gen(function* () {
        yield* advance(5)
        slots += 5
        yield* until("all is read", () => last() === after + slots)
      }).pipe(Effect.repeat({ until: () => feed.freshness().node === new URL(forked.url).host }))
      assert.strictEqual(stateOf(0)?.status, "known")
      assert.strictEqual(stateOf(1)?.status, "stale")
      yield* isComplete(events, after)
    }).pipe(Effect.scoped, Effect.provide(simulated))
  )

  it.live("of two raced endpoints are a gap when a fork was emitted before the node could tell", () =>
    Effect.gen(function* () {
      const { addGeyser, advance } = yield* Simulator
      const [forked, honest] = [yield* addGeyser({ forks: true }), yield* addGeyser({ lag: Duration.hours(1) })]
      const { after, events, last, stateOf } = yield* racing([forked, honest], patient)
      yield* until("both are open", () => forked.opened().length === 1 && honest.opened().length === 1)
      yield* advance(2)
      yield* until("the fork is emitted", () => last() === after + 2)
      yield* honest.faults.set({ lag: Duration.zero })
      yield* advance(1)
      yield* until("the fork is seen", () => stateOf(0)?.status === "stale")
      yield* advance(3)
      yield* until("all is read", () => last() === after + 6)
      const gap = events.find((event) => event._tag === "Gap")
      if (gap === undefined) {
        // On a busy machine the honest hash may come before the fork's third slot is emitted.
        return yield* Effect.fail("the third slot was not emitted")
      }
      assert.deepInclude(gap, { from: after + 3, reason: "forked" })
      const at = events.findIndex((event) => event._tag === "Block" && event.block.slot === after + 2)
      assert.isAbove(
        events.findIndex((event) => event === gap),
        at
      )
    }).pipe(Effect.scoped, Effect.provide(simulated), Effect.retry({ times: 3 }))
  )
})
