import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { ChainFeed } from "../../src/chain/ChainFeed.ts"
import { at, holding, readFeed, until } from "../chain/accounts/accounts.ts"
import { A, B, C, feedOf, json, nodeWith, scene } from "../chain/accounts/feedScene.ts"

describe("a connection that is lost", () => {
  it.live("is replaced by a new one: everything is followed and read again, and emitted in one snapshot", () =>
    scene(
      Effect.fnUntraced(function* ({ feed, node, reader }) {
        const states: Array<string> = []
        yield* Effect.sync(() => {
          const { state } = feed.freshness()
          if (states.at(-1) !== state) {
            states.push(state)
          }
        }).pipe(Effect.andThen(Effect.sleep("1 millis")), Effect.forever, Effect.forkScoped)
        node.beforeAnswer = () => Effect.sleep("50 millis")
        node.drop()
        // Missed, because no client is connected.
        yield* until("the node has no client", () => node.followed().size === 0)
        node.write(110, holding(A, [1]), holding(B, [1]))
        yield* until("the feed is live again", () => reader.snapshots.length === 2 && states.at(-1) === "live")

        assert.deepStrictEqual(Array.from(reader.snapshots[1]?.snapshot.accounts.keys() ?? []).toSorted(), [A, B])
        assert.deepStrictEqual([reader.bytes(A), reader.bytes(B)], [[1], [1]])
        assert.deepStrictEqual(states, ["live", "down", "reloading", "live"])
        assert.isTrue(node.followed().has(A))
        assert.strictEqual(node.connections, 2)
      })
    )
  )

  it.live("is not live again before what the gap missed is read", () =>
    scene(
      Effect.fnUntraced(function* ({ feed, node, reader }) {
        node.frozen = true
        node.drop()
        yield* until("it is connected again", () => node.connections === 2 && node.followed().has(B))
        node.write(110, holding(A, [1]))
        node.begin(111)
        yield* until("what was missed is read again", () => feed.freshness().state === "reloading")
        assert.strictEqual(feed.freshness().slot, 100)
        assert.strictEqual(reader.writes.length, 0)

        node.frozen = false
        yield* until("it is live", () => feed.freshness().state === "live")
        assert.deepStrictEqual(reader.bytes(A), [1])
      }),
      { timeout: Duration.millis(200) }
    )
  )

  it.live("may also be one that has fallen silent", () =>
    scene(
      Effect.fnUntraced(function* ({ feed, node }) {
        node.mute = true
        yield* until("it is connected anew", () => node.connections === 2)
        node.mute = false
        // A slot that arrives while a connection is being made is not received on it.
        let slot = 120
        yield* until("it is live", () => {
          node.begin(slot++)
          return feed.freshness().state === "live"
        })
      }),
      { watchdog: Duration.millis(300), timeout: Duration.millis(300) }
    )
  )

  it.live("is kept while slots arrive", () =>
    scene(
      Effect.fnUntraced(function* ({ feed, node }) {
        for (let slot = 101; slot < 121; slot++) {
          node.begin(slot)
          yield* Effect.sleep("50 millis")
        }
        assert.strictEqual(node.connections, 1)
        assert.strictEqual(feed.freshness().slot, 120)
      }),
      { watchdog: Duration.millis(800) }
    )
  )

  it.live("reports when its silence began", () =>
    scene(
      Effect.fnUntraced(function* ({ feed, node }) {
        node.begin(150)
        yield* until("the slot is heard", () => feed.freshness().slot === 150)
        const heardAtMs = feed.freshness().heardAtMs
        // A slot that is not new does not end the silence.
        node.begin(149)
        node.begin(150)
        yield* Effect.sleep("50 millis")
        assert.deepInclude(feed.freshness(), { slot: 150, heardAtMs, state: "live" })
      })
    )
  )

  it.live("is retried until the node is there", () =>
    Effect.gen(function* () {
      const node = yield* nodeWith([holding(A, [0])])
      node.mute = true
      yield* Effect.gen(function* () {
        const feed = yield* ChainFeed
        assert.deepInclude(feed.freshness(), { slot: 0, heardAtMs: null, state: "down" })
        const reader = yield* readFeed(feed)
        yield* feed.watch([A])
        yield* until("a second attempt is made", () => node.connections >= 2)
        assert.strictEqual(feed.freshness().state, "down")
        node.mute = false
        yield* until("A is emitted", () => reader.known.has(A))
        yield* until("the feed is live", () => feed.freshness().state === "live")
      }).pipe(Effect.provide(feedOf(node, { timeout: Duration.millis(100) })))
    })
  )
})

describe("a malformed message", () => {
  it.live.each([
    { what: "data that is not base64", value: { ...json(holding(A, [1])), data: ["*", "base64"] } },
    { what: "data of the wrong size", value: { ...json(holding(A, [1])), space: 99 } },
    { what: "no account", value: 7 },
    { what: "an owner that is no address", value: { ...json(holding(A, [1])), owner: "x" } }
  ])("as a write is dropped, and the account is read instead: $what", ({ value }) =>
    scene(
      Effect.fnUntraced(function* ({ feed, node, reader }) {
        node.put(holding(A, [1]))
        node.slot = 101
        node.tell(101, A, value)
        yield* until("A is read", () => reader.bytes(A)?.[0] === 1)
        yield* until("the feed is live", () => feed.freshness().state === "live")
        assert.strictEqual(node.connections, 1)
      })
    )
  )

  it.live("keeps the feed from being live while an account cannot be known", () =>
    scene(
      Effect.fnUntraced(function* ({ feed, node, reader }) {
        node.garbled.add(A)
        node.tell(101, A, "garbage")
        yield* until("the account is read again", () => feed.freshness().state === "reloading")
        node.write(102, holding(B, [2]))
        yield* Effect.sleep("50 millis")
        // Readers keep the accounts of one slot.
        assert.deepStrictEqual([feed.freshness().slot, reader.bytes(B)], [100, [0]])

        node.garbled.clear()
        yield* until("the feed is live", () => feed.freshness().state === "live")
        assert.deepStrictEqual(reader.bytes(B), [2])
      })
    )
  )

  it.live.each(["no JSON", "[]", "7", '{"method":"accountNotification"}', '{"id":9999,"result":1}', ""])(
    "as a frame is dropped: %j",
    (frame) =>
      scene(
        Effect.fnUntraced(function* ({ feed, node, reader }) {
          node.send(frame)
          node.write(101, holding(A, [1]))
          yield* until("A is written", () => reader.bytes(A)?.[0] === 1)
          assert.strictEqual(node.connections, 1)
          assert.strictEqual(feed.freshness().state, "live")
        })
      )
  )

  it.live("that is too large ends the connection", () =>
    scene(
      Effect.fnUntraced(function* ({ feed, node }) {
        node.send(" ".repeat(17 * 1024 * 1024))
        yield* until("it is connected anew", () => node.connections === 2)
        yield* until("the feed is live", () => feed.freshness().state === "live")
      })
    )
  )

  it.live("in a snapshot concerns one account only", () =>
    Effect.gen(function* () {
      const node = yield* nodeWith([holding(A, [0]), holding(B, [0])])
      node.garbled.add(A)
      yield* Effect.gen(function* () {
        const feed = yield* ChainFeed
        const reader = yield* readFeed(feed)
        yield* feed.watch([A, B])
        yield* until("B is emitted", () => reader.known.has(B))
        assert.isFalse(reader.known.has(A))
        assert.strictEqual(feed.freshness().state, "live")

        node.garbled.clear()
        yield* until("A is emitted", () => reader.known.has(A))
      }).pipe(Effect.provide(feedOf(node)))
    })
  )
})

describe("a node that refuses", () => {
  it.live("to follow an account is asked again, and other accounts are emitted in the meantime", () =>
    scene(
      Effect.fnUntraced(function* ({ feed, node, reader }) {
        node.put(holding(C, [0]), holding(at(4), [0]))
        node.barred.add(C)
        yield* feed.watch([C, at(4)])
        yield* until("the other is emitted", () => reader.known.has(at(4)))
        assert.isFalse(reader.known.has(C))

        node.barred.clear()
        yield* until("C is emitted", () => reader.known.has(C))
      })
    )
  )

  it.live("to answer is asked again over the same connection", () =>
    scene(
      Effect.fnUntraced(function* ({ feed, node, reader }) {
        node.put(holding(C, [0]))
        node.refusals.push({ status: 503 }, { status: 429 }, { status: 500 }, { status: 502 }, { status: 400 })
        yield* feed.watch([C])
        yield* until("C is emitted", () => reader.known.has(C))
        assert.strictEqual(node.connections, 1)
      })
    )
  )
})
