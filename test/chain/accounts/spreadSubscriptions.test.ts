import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { SOL } from "../../../src/domain/Address.ts"
import { ChainFeed } from "../../../src/chain/ChainFeed.ts"
import { CLOCK } from "../../../src/chain/clockSysvar.ts"
import type { FakeNode } from "../../support/FakeNode.ts"
import { clockOf, holding, manyAddresses, readFeed, type Reader, until } from "./accounts.ts"
import { feedOf, nodeWith } from "./feedScene.ts"

const many = manyAddresses(25)

/** A feed of 25 accounts and the clock, with ten subscriptions for each connection. */
const spread = <A, E, R>(
  body: (scene: {
    readonly node: FakeNode
    readonly feed: ChainFeed["Service"]
    readonly reader: Reader
  }) => Effect.Effect<A, E, R>
) =>
  Effect.gen(function* () {
    const node = yield* nodeWith(many.map((address) => holding(address, [0])))
    yield* Effect.gen(function* () {
      const feed = yield* ChainFeed
      const reader = yield* readFeed(feed)
      yield* feed.watch(many)
      yield* until("all are emitted", () => reader.known.size === many.length && feed.freshness().state === "live")
      yield* body({ node, feed, reader })
    }).pipe(Effect.provide(feedOf(node, { subscriptions: 10, timeout: Duration.seconds(2) })))
  })

/** Accounts of the connection at this index. The clock is followed on each connection. */
const own = (node: FakeNode, place: number) =>
  new Set((node.shares()[place] ?? []).filter((address) => address !== CLOCK))

const clockAt = (slot: number) => clockOf(7, 1_700_000_000 + slot, slot)

/** The accounts that were read, one after the other. */
const readsOf = (node: FakeNode) =>
  node.callsOf("getMultipleAccounts").flatMap(({ params }) => (Array.isArray(params[0]) ? params[0].map(String) : []))

/** Begins a slot and waits until it is received. */
const begin = (node: FakeNode, feed: ChainFeed["Service"], slot: number) => {
  node.begin(slot)
  return until("the slot is heard", () => feed.clock().slot === slot)
}

const sizes = (node: FakeNode) => node.shares().map(({ length }) => length)

describe("accounts beyond the bound of a connection", () => {
  it.live("are followed on further connections, each on one of them", () =>
    spread(
      Effect.fnUntraced(function* ({ node, reader }) {
        assert.deepStrictEqual(sizes(node), [10, 10, 8])
        assert.strictEqual(node.followed().size, 26)
        node.write(101, ...many.map((address) => holding(address, [1])))
        yield* until("all are written", () => many.every((address) => reader.bytes(address)?.[0] === 1))
        assert.strictEqual(reader.writes.length, 1)
        assert.strictEqual(reader.snapshots.length, 1)
      })
    )
  )

  it.live("leave a connection that is no longer needed", () =>
    spread(
      Effect.fnUntraced(function* ({ feed, node }) {
        const last = node.shares()[2] ?? []
        yield* feed.unwatch(many.filter((address) => last.includes(address)))
        yield* until("two are left", () => node.shares().length === 2)
        yield* until("the feed is live", () => feed.freshness().state === "live")
        assert.deepStrictEqual(sizes(node), [10, 10])
      })
    )
  )
})

describe("the loss of one connection", () => {
  it.live.each(["cut", "silence"] as const)("loses only its share, which is followed elsewhere and read: %s", (how) =>
    spread(
      Effect.fnUntraced(function* ({ feed, node, reader }) {
        const lost = own(node, 1)
        const reads = node.callsOf("getMultipleAccounts").length
        node.lose(1, how)
        // Missed by this share, but not by the others.
        node.write(130, ...many.map((address) => holding(address, [1])))
        const last = how === "silence" ? 160 : 131
        for (let slot = 131; slot < last; slot++) {
          node.begin(slot)
          yield* until("the slot is heard", () => feed.clock().slot === slot)
        }
        yield* until("all are known", () => many.every((address) => reader.bytes(address)?.[0] === 1))
        yield* until("the feed is live", () => feed.freshness().state === "live")
        assert.strictEqual(node.followed().size, 26)
        const read = node
          .callsOf("getMultipleAccounts")
          .slice(reads)
          .flatMap(({ params }) => (Array.isArray(params[0]) ? params[0].map(String) : []))
        assert.deepStrictEqual(new Set(read), lost)
        sizes(node).forEach((size) => assert.isAtMost(size, 10))
      })
    )
  )

  it.live("counts as the loss of the node when it was the last one: everything is followed and read again", () =>
    spread(
      Effect.fnUntraced(function* ({ feed, node, reader }) {
        node.drop()
        yield* until("none is left", () => node.shares().length === 0)
        node.put(clockOf(7, 1_700_000_000, 140), ...many.map((address) => holding(address, [1])))
        node.slot = 140
        yield* until("all are known", () => many.every((address) => reader.bytes(address)?.[0] === 1))
        yield* until("the feed is live", () => feed.freshness().state === "live")
        assert.deepStrictEqual(sizes(node), [10, 10, 8])
      })
    )
  )
})

describe("a connection that lags", () => {
  it.live("is dropped although it goes on reporting older slots, and its accounts are read again", () =>
    spread(
      Effect.fnUntraced(function* ({ feed, node }) {
        const lost = own(node, 1)
        const reads = readsOf(node).length
        const release = node.hold(1)
        for (let slot = 101; node.connections < 4; slot++) {
          yield* begin(node, feed, slot)
          // It falls behind by one slot in two.
          release(slot % 2)
          assert.isBelow(slot, 200)
        }
        yield* until("its share is read", () => readsOf(node).length === reads + lost.size)
        assert.deepStrictEqual(new Set(readsOf(node).slice(reads)), lost)
        yield* until("the feed is live", () => feed.freshness().state === "live")
      })
    )
  )

  it.live("is not detected by one slot that is far ahead", () =>
    spread(
      Effect.fnUntraced(function* ({ feed, node }) {
        const release = node.hold(1)
        yield* begin(node, feed, 101)
        yield* begin(node, feed, 400)
        release()
        yield* begin(node, feed, 401)
        assert.deepStrictEqual([node.connections, node.shares().length, feed.freshness().state], [3, 3, "live"])
      })
    )
  )

  it.live("does not divide the writes of a slot", () =>
    spread(
      Effect.fnUntraced(function* ({ feed, node, reader }) {
        const writeAll = (slot: number) =>
          node.write(slot, clockAt(slot), ...many.map((address) => holding(address, [slot])))
        writeAll(101)
        yield* until("all are written", () => many.every((address) => reader.bytes(address)?.[0] === 101))
        const release = node.hold(1)
        writeAll(102)
        writeAll(103)
        yield* until("the slot is heard", () => feed.clock().slot === 103)
        assert.isBelow(feed.freshness().slot, 103)
        release()
        yield* until("all are written", () => many.every((address) => reader.bytes(address)?.[0] === 103))
        assert.deepStrictEqual(
          reader.writes.map(({ accounts, slot }) => [slot, accounts.size]),
          [101, 102, 103].map((slot) => [slot, many.length])
        )
      })
    )
  )

  it.live("holds up the writes of the others until it is dropped", () =>
    spread(
      Effect.fnUntraced(function* ({ feed, node, reader }) {
        const [written] = own(node, 0)
        const address = many.find((each) => each === written) ?? SOL
        node.write(101, clockAt(101))
        node.hold(1)
        for (let slot = 102; reader.bytes(address)?.[0] !== 102; slot++) {
          node.write(slot, clockAt(slot), ...(slot === 102 ? [holding(address, [102])] : []))
          yield* until("the slot is heard", () => feed.clock().slot === slot)
          assert.isBelow(slot, 200)
        }
        yield* until("its share is followed", () => node.connections === 4 && node.followed().size === 26)
      })
    )
  )
})

describe("a node that allows too few connections", () => {
  it.live("is asked for another one with growing pauses, while the other accounts are written", () =>
    Effect.gen(function* () {
      const node = yield* nodeWith(many.map((address) => holding(address, [0])))
      node.mostConnections = 2
      yield* Effect.gen(function* () {
        const feed = yield* ChainFeed
        const reader = yield* readFeed(feed)
        yield* feed.watch(many)
        yield* until("two shares are emitted", () => reader.known.size === 18 && feed.freshness().state === "live")
        for (let slot = 101; node.refusedConnections < 2; slot++) {
          node.write(slot, ...many.map((address) => holding(address, [slot % 256])))
          const written = node.followed().size - 1
          yield* until("they are written", () => reader.writes.at(-1)?.slot === slot)
          assert.strictEqual(reader.writes.at(-1)?.accounts.size, written)
          yield* Effect.sleep("100 millis")
        }
        // At once, and again after a second.
        assert.isAtLeast(reader.writes.length, 3)
        node.mostConnections = 3
        yield* until("all are emitted", () => reader.known.size === many.length)
        assert.deepStrictEqual(sizes(node), [10, 10, 8])
      }).pipe(Effect.provide(feedOf(node, { subscriptions: 10, timeout: Duration.seconds(2) })))
    })
  )
})
