import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { ChainFeed } from "../../../src/chain/ChainFeed.ts"
import { CLOCK } from "../../../src/chain/clockSysvar.ts"
import { startNode } from "../../support/FakeNode.ts"
import { clockOf, holding, manyAddresses, readFeed, until } from "./accounts.ts"
import { chainFeedContract } from "./chainFeedContract.ts"
import { A, B, C, feedOf, json, nodeWith, scene } from "./feedScene.ts"

chainFeedContract(
  "ChainFeedRpc",
  Effect.fnUntraced(function* (accounts) {
    const node = yield* Effect.orDie(startNode)
    node.put(...accounts)
    return feedOf(node)
  })
)

describe("writes from a node", () => {
  it.live("reach the reader with the slot in which they were written", () =>
    scene(
      Effect.fnUntraced(function* ({ node, reader }) {
        node.write(101, holding(A, [1]))
        yield* until("A is written", () => reader.bytes(A)?.[0] === 1)

        assert.strictEqual(reader.known.get(A)?.slot, 101)
        assert.strictEqual(reader.writes[0]?.slot, 101)
      })
    )
  )

  it.live("of one slot arrive together, and apart from the next slot", () =>
    scene(
      Effect.fnUntraced(function* ({ node, reader }) {
        node.write(101, holding(A, [1]), holding(B, [1]))
        node.write(102, holding(A, [2]), holding(B, [2]))
        node.write(103, holding(A, [3]))
        yield* until("all is emitted", () => reader.bytes(A)?.[0] === 3)

        assert.deepStrictEqual(
          reader.writes.map(({ slot, accounts }) => [slot, accounts.size]),
          [
            [101, 2],
            [102, 2],
            [103, 1]
          ]
        )
      })
    )
  )

  it.live("do not wait for quiet once the node reports their slot as final", () =>
    scene(
      Effect.fnUntraced(function* ({ node, reader }) {
        // All within one turn, so quiet cannot be noticed before the next write arrives.
        node.write(101, holding(A, [1]))
        node.begin(102, 101)
        node.write(101, holding(B, [1]))
        yield* until("B is written", () => reader.bytes(B)?.[0] === 1)

        assert.deepStrictEqual(
          reader.writes.map(({ slot, accounts }) => [slot, Array.from(accounts.keys())]),
          [
            [101, [A]],
            [101, [B]]
          ]
        )
      })
    )
  )

  it.live("at commitment processed are emitted as soon as the next slot begins", () =>
    scene(
      Effect.fnUntraced(function* ({ node, reader }) {
        node.write(101, holding(A, [1]))
        node.begin(102)
        node.write(101, holding(B, [1]))
        yield* until("B is written", () => reader.bytes(B)?.[0] === 1)

        assert.deepStrictEqual(
          reader.writes.map(({ slot }) => slot),
          [101, 101]
        )
      }),
      { commitment: "processed" }
    )
  )

  it.live("of a block that the chain dropped do not last at commitment processed", () =>
    scene(
      Effect.fnUntraced(function* ({ node, reader }) {
        node.write(101, holding(A, [1]), holding(B, [1]))
        node.begin(102)
        yield* until("slot 101 is emitted", () => reader.bytes(A)?.[0] === 1 && reader.bytes(B)?.[0] === 1)
        node.write(102, holding(A, [2]))
        node.begin(103)
        yield* until("slot 102 is emitted", () => reader.bytes(A)?.[0] === 2)
        // Another block replaces 102 and 103. The node has A as it was.
        node.slot = 104
        node.put(holding(A, [1]))
        node.begin(104, 72, 101)
        node.begin(105)
        yield* until("A is read again", () => reader.bytes(A)?.[0] === 1)
        // A write of the dropped block that comes late.
        node.tell(103, B, json(holding(B, [3])))
        node.write(105, holding(A, [5]))
        node.begin(106)
        yield* until("slot 105 is emitted", () => reader.bytes(A)?.[0] === 5)
        yield* until("B is as the node has it", () => reader.bytes(B)?.[0] === 1)
      }),
      { commitment: "processed" }
    )
  )

  it.live("that come late never overwrite newer ones, but make the feed read the account again", () =>
    scene(
      Effect.fnUntraced(function* ({ node, reader }) {
        node.write(105, holding(A, [5]))
        yield* until("A is written", () => reader.bytes(A)?.[0] === 5)
        const reads = node.callsOf("getMultipleAccounts").length
        node.tell(103, A, json(holding(A, [3])))
        yield* until("A is read again", () => node.callsOf("getMultipleAccounts").length > reads)
        yield* until("A is emitted again", () => reader.snapshots.length === 2)

        assert.deepStrictEqual(reader.bytes(A), [5])
      })
    )
  )

  it.live("that come twice are emitted once", () =>
    scene(
      Effect.fnUntraced(function* ({ node, reader }) {
        node.write(101, holding(A, [1]))
        yield* until("A is written", () => reader.bytes(A)?.[0] === 1)
        node.write(101, holding(A, [1]))
        node.write(102, holding(B, [2]))
        yield* until("B is written", () => reader.bytes(B)?.[0] === 2)

        assert.deepStrictEqual(
          reader.writes.map(({ slot }) => slot),
          [101, 102]
        )
      })
    )
  )

  it.live("report that an account ceased to exist, and that it exists again", () =>
    scene(
      Effect.fnUntraced(function* ({ node, reader }) {
        node.close(101, A)
        yield* until("A is gone", () => reader.known.get(A) === null)
        node.write(104, holding(A, [4]))
        yield* until("A is back", () => reader.bytes(A)?.[0] === 4)
      })
    )
  )

  it.live("report an account that did not exist when it was watched", () =>
    scene(
      Effect.fnUntraced(function* ({ feed, node, reader }) {
        yield* feed.watch([C])
        yield* until("C is known not to exist", () => reader.known.get(C) === null)
        node.write(101, holding(C, [1]))
        yield* until("C is written", () => reader.bytes(C)?.[0] === 1)
      })
    )
  )

  it.live("are no longer followed once the account is unwatched", () =>
    scene(
      Effect.fnUntraced(function* ({ feed, node, reader }) {
        yield* feed.unwatch([A])
        yield* until("the node is notified", () => !node.followed().has(A))
        node.write(101, holding(A, [1]), holding(B, [1]))
        yield* until("B is written", () => reader.bytes(B)?.[0] === 1)

        assert.deepStrictEqual(reader.bytes(A), [0])
      })
    )
  )
})

describe("a snapshot from a node", () => {
  it.live("has every write of its slot, even when its answers are of different slots", () =>
    Effect.gen(function* () {
      const many = manyAddresses(250)
      const node = yield* nodeWith(many.map((address) => holding(address, [0])))
      const last = many.at(-1) ?? A
      let answers = 0
      // Between one answer and the next a slot passes, in which an account of every answer is written.
      node.beforeAnswer = ({ method, params }) =>
        Effect.sync(() => {
          if (method === "getMultipleAccounts" && JSON.stringify(params).includes(last)) {
            answers++
            node.write(
              101,
              ...[many[0], many[120], last].flatMap((address) => (address ? [holding(address, [1])] : []))
            )
          }
        })
      yield* Effect.gen(function* () {
        const feed = yield* ChainFeed
        const reader = yield* readFeed(feed)
        yield* feed.watch(many)
        yield* until("all are emitted", () => reader.known.size === many.length)

        assert.strictEqual(answers, 1)
        assert.strictEqual(reader.snapshots.length, 1)
        assert.strictEqual(reader.snapshots[0]?.snapshot.slot, 101)
        for (const address of [many[0], many[120], last]) {
          assert.strictEqual(reader.snapshots[0]?.snapshot.accounts.get(address ?? A)?.data[0], 1)
        }
        assert.deepStrictEqual(
          node
            .callsOf("getMultipleAccounts")
            .map(({ params }) => (Array.isArray(params[0]) ? params[0].length : 0))
            .reduce((sum, length) => sum + length, 0),
          // The clock is read too.
          many.length + 1
        )
      }).pipe(Effect.provide(feedOf(node)))
    })
  )

  it.live("of a new connection is not older than the first slot whose writes arrive", () =>
    Effect.gen(function* () {
      const node = yield* startNode
      node.put(holding(A, [0]))
      yield* Effect.gen(function* () {
        const feed = yield* ChainFeed
        const reader = yield* readFeed(feed)
        yield* feed.watch([A])
        yield* until("A is followed", () => node.followed().has(A))
        // Reads go to a node that lags behind the one that is followed.
        node.tell(140, CLOCK, json(clockOf(7, 1)))
        yield* until("A is asked for", () => node.callsOf("getMultipleAccounts").length > 0)
        assert.isFalse(reader.known.has(A))
        node.slot = 140
        yield* until("A is emitted", () => reader.known.get(A)?.slot === 140)
      }).pipe(Effect.provide(feedOf(node)))
    })
  )

  it.live("is read after its accounts are followed, and is not older than what has arrived", () =>
    scene(
      Effect.fnUntraced(function* ({ feed, node, reader }) {
        node.write(140, holding(A, [4]))
        yield* until("A is written", () => reader.bytes(A)?.[0] === 4)
        // A lagging node behind the same address: at first its reads are of an older slot.
        node.slot = 120
        node.put(holding(C, [9], 120))
        yield* feed.watch([C])
        yield* until("a read was refused", () => node.callsOf("getMultipleAccounts").length >= 2)
        assert.isFalse(reader.known.has(C))
        node.slot = 141
        yield* until("C is emitted", () => reader.known.has(C))

        const order = node.calls.filter(({ params }) => JSON.stringify(params).includes(C)).map(({ method }) => method)
        assert.strictEqual(order[0], "accountSubscribe")
        assert.strictEqual(reader.known.get(C)?.slot, 141)
      })
    )
  )
})

describe("a reader that is too slow", () => {
  it.live("loses no state, because one snapshot replaces its queued events", () =>
    Effect.gen(function* () {
      const node = yield* nodeWith([holding(A, [0]), holding(B, [0])])
      yield* Effect.gen(function* () {
        const feed = yield* ChainFeed
        yield* feed.watch([A, B])
        yield* until("the node is followed", () => node.followed().has(B) && feed.freshness().state === "live")
        for (let i = 1; i <= 20; i++) {
          node.write(100 + i, holding(i % 2 === 0 ? A : B, [i]))
        }
        node.write(130, holding(B, [30]))
        yield* until("the backlog has overflown", () => feed.freshness().state === "loading")
        yield* until("the last write is heard", () => feed.freshness().slot === 130)
        yield* Effect.sleep("100 millis")

        const reader = yield* readFeed(feed)
        yield* until("B is up to date", () => reader.bytes(B)?.[0] === 30)
        assert.deepStrictEqual(reader.bytes(A), [20])
        assert.isAtMost(reader.events.length, 4)
        assert.strictEqual(feed.freshness().state, "live")
      }).pipe(Effect.provide(feedOf(node, { backlog: 4 })))
    })
  )
})

describe("thousands of accounts", () => {
  it.live("are followed, and emitted in one snapshot", () =>
    Effect.gen(function* () {
      const many = manyAddresses(3000)
      const node = yield* nodeWith(many.map((address, i) => holding(address, [i & 255])))
      yield* Effect.gen(function* () {
        const feed = yield* ChainFeed
        const reader = yield* readFeed(feed)
        yield* feed.watch(many)
        yield* until("all are emitted", () => reader.known.size === many.length)
        assert.strictEqual(reader.snapshots.length, 1)
        yield* until("all are followed", () => node.followed().size === many.length + 1)
        assert.isAtMost(node.callsOf("getMultipleAccounts").length, 32)
      }).pipe(Effect.provide(feedOf(node)))
    })
  )
})

it.live("a feed that is closed disconnects from its node", () =>
  Effect.gen(function* () {
    const node = yield* nodeWith([holding(A, [0])])
    yield* Effect.gen(function* () {
      const feed = yield* ChainFeed
      yield* feed.watch([A])
      yield* feed.events.pipe(Stream.take(1), Stream.runDrain)
    }).pipe(Effect.provide(feedOf(node)))
    yield* until("no client is connected", () => node.followed().size === 0)
    assert.strictEqual(node.connections, 1)
  })
)
