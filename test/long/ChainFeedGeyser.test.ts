import { assert, describe, it } from "@effect/vitest"
import { Context, Duration, Effect, Layer } from "effect"
import type { Address } from "../../src/domain/Address.ts"
import { ChainFeed } from "../../src/chain/ChainFeed.ts"
import { layer } from "../../src/chain/geyser/ChainFeedGeyser.ts"
import { holding, readFeed, until } from "../chain/accounts/accounts.ts"
import { chainFeedContract } from "../chain/accounts/chainFeedContract.ts"
import { advancing, simulatedNode } from "../chain/accounts/nodeScene.ts"
import { A, B, feedOf, scene, scriptedChain, services } from "../chain/geyser/geyserScene.ts"

chainFeedContract(
  "ChainFeedGeyser",
  Effect.fnUntraced(function* (accounts) {
    return feedOf(yield* scriptedChain(accounts))
  })
)

describe("writes from a Geyser", () => {
  it.live("of one slot arrive together, and apart from the next slot", () =>
    scene(
      Effect.fnUntraced(function* ({ chain, reader }) {
        chain.write(101, holding(A, [1]), holding(B, [1]))
        chain.write(102, holding(A, [2]), holding(B, [2]))
        chain.write(103, holding(A, [3]))
        yield* until("all is emitted", () => reader.bytes(A)?.[0] === 3)
        assert.deepStrictEqual(
          reader.writes.map(({ slot, accounts }) => [slot, Array.from(accounts.keys())]),
          [
            [101, [A, B]],
            [102, [A, B]],
            [103, [A]]
          ]
        )
        assert.deepStrictEqual(reader.known.get(A), holding(A, [3], 103))
      })
    )
  )

  it.live.each([{ reorder: false }, { reorder: true }])(
    "count by their version within a slot, in any order and when repeated: %j",
    ({ reorder }) =>
      scene(
        Effect.fnUntraced(function* ({ chain, reader }) {
          const reads = chain.node.callsOf("getMultipleAccounts").length
          for (let slot = 101; slot < 120; slot++) {
            chain.write(slot, holding(A, [slot]), holding(B, [slot]))
          }
          yield* until("all is emitted", () => reader.bytes(A)?.[0] === 119)
          for (const { slot, accounts } of reader.writes) {
            accounts.forEach((account) => assert.strictEqual(account?.data[0], slot))
          }
          assert.strictEqual(reader.writes.length, 19)
          assert.strictEqual(chain.node.callsOf("getMultipleAccounts").length, reads)
        }),
        { ailments: [{ staleWrites: true, duplicates: true, reorder }] }
      )
  )

  it.live("report that an account ceased to exist, and that it exists again", () =>
    scene(
      Effect.fnUntraced(function* ({ chain, reader }) {
        chain.close(101, holding(A, [0]))
        yield* until("A is gone", () => reader.known.get(A) === null)
        chain.write(102, holding(A, [4]))
        yield* until("A is back", () => reader.bytes(A)?.[0] === 4)
      })
    )
  )

  it.live("are followed at the configured commitment", () =>
    scene(
      Effect.fnUntraced(function* ({ chain, feed, geyser, reader }) {
        assert.strictEqual(feed.commitment, "finalized")
        chain.write(101, holding(A, [1]))
        yield* until("A is written", () => reader.bytes(A)?.[0] === 1)
        assert.deepStrictEqual(geyser.commitments(), [2])
      }),
      { commitment: "finalized" }
    )
  )

  it.live("end when the account is unwatched", () =>
    scene(
      Effect.fnUntraced(function* ({ chain, feed, geyser, reader }) {
        yield* feed.unwatch([A])
        yield* until("the request leaves it out", () => !geyser.followed().has(A))
        assert.isTrue(geyser.followed().has(B))
        chain.write(101, holding(A, [1]), holding(B, [1]))
        yield* until("B is written", () => reader.bytes(B)?.[0] === 1)
        assert.deepStrictEqual(reader.bytes(A), [0])
      })
    )
  )
})

describe("a stream that ends", () => {
  it.live("is opened again where it stopped: after 20 ends no write is missing, and no account was read", () =>
    scene(
      Effect.fnUntraced(function* ({ chain, feed, geyser, reader }) {
        const reads = chain.node.callsOf("getMultipleAccounts").length
        for (let end = 1; end <= 20; end++) {
          yield* geyser.kill(end % 5)
          // Missed, in part or as a whole.
          chain.write(100 + 2 * end, holding(A, [end]), holding(B, [end]))
          yield* until("it is opened again", () => geyser.opened().length === end + 1)
          chain.write(101 + 2 * end)
          yield* until("the feed is live", () => feed.freshness().state === "live")
          assert.deepStrictEqual([reader.bytes(A), reader.bytes(B)], [[end], [end]])
        }
        assert.strictEqual(chain.node.callsOf("getMultipleAccounts").length, reads)
        assert.deepStrictEqual(geyser.opened().slice(0, 1), [null])
        assert.notInclude(geyser.opened().slice(1), null)
        const slots = reader.writes.map(({ slot }) => slot)
        assert.deepStrictEqual(
          slots,
          slots.toSorted((a, b) => a - b)
        )
      })
    )
  )

  it.live.each([
    { what: "whose slots the endpoint no longer has", ailment: { replaySlots: 3 }, streams: 3 },
    { what: "that the endpoint begins again at the newest slot", ailment: { ignoresFrom: true }, streams: 2 }
  ])("and $what is followed by a snapshot", ({ ailment, streams }) =>
    scene(
      Effect.fnUntraced(function* ({ chain, feed, geyser, reader }) {
        yield* geyser.kill(0)
        // Missed.
        chain.write(150, holding(A, [1]))
        for (let slot = 151; slot < 160; slot++) {
          chain.write(slot)
        }
        yield* until("it is opened again", () => geyser.opened().length === streams)
        yield* until("A is read", () => reader.bytes(A)?.[0] === 1)
        yield* until("the feed is live", () => feed.freshness().state === "live")
        assert.strictEqual(reader.snapshots.at(-1)?.snapshot.accounts.size, 2)
      }),
      { ailments: [ailment] }
    )
  )

  it.live.each([{ streams: "catching up" }, { streams: "silent" }] as const)(
    "or does not begin is left for the next endpoint: %j",
    (ailment) =>
      scene(
        Effect.fnUntraced(function* ({ chain, feed, geysers: [, second], reader }) {
          assert.strictEqual(feed.freshness().node, new URL(second?.url ?? "").host)
          assert.strictEqual(feed.freshness().readNode, new URL(chain.node.rpcUrl).host)
          chain.write(10_000, holding(A, [1]))
          yield* until("A is written", () => reader.bytes(A)?.[0] === 1)
        }),
        { ailments: [ailment, {}], advances: true, timeout: Duration.millis(300) }
      )
  )

  it.live("leaves the accounts to be read until it begins again", () =>
    scene(
      Effect.fnUntraced(function* ({ chain, feed, geyser, reader }) {
        yield* geyser.faults.set({ streams: "catching up" })
        yield* geyser.kill(0)
        chain.write(140, holding(A, [1]))
        yield* until("A is read", () => reader.bytes(A)?.[0] === 1)
        yield* until("the feed is polling", () => feed.freshness().state === "polling")
        assert.strictEqual(feed.freshness().node, new URL(chain.node.rpcUrl).host)
        yield* geyser.faults.clear
        let slot = 141
        chain.write(slot, holding(B, [2]))
        // The chain goes on at its own pace until the stream is followed.
        yield* Effect.sync(() => chain.write(++slot)).pipe(
          Effect.delay("400 millis"),
          Effect.forever,
          Effect.forkScoped
        )
        yield* until("the feed is live", () => feed.freshness().state === "live")
        assert.deepStrictEqual([reader.bytes(A), reader.bytes(B)], [[1], [2]])
      })
    )
  )

  it.live("goes on with what is streamed while no node answers", () =>
    scene(
      Effect.fnUntraced(function* ({ chain, feed, geyser, reader }) {
        chain.node.refusals.push(...Array.from({ length: 1000 }, () => ({ status: 503 })))
        yield* geyser.kill(1)
        chain.write(101, holding(A, [1]))
        chain.write(102, holding(B, [2]))
        yield* until("all is emitted", () => reader.bytes(A)?.[0] === 1 && reader.bytes(B)?.[0] === 2)
        chain.write(103)
        yield* until("the feed is live", () => feed.freshness().state === "live")
      })
    )
  )
})

describe("a simulated market", () => {
  it.live("has every account as the node has it, after streams that ended and with every fault of their updates", () =>
    Effect.gen(function* () {
      const chain = yield* simulatedNode("streamed")
      const geyser = yield* chain.addGeyser({ duplicates: true, staleWrites: true, reorder: true })
      yield* chain.advance(40)
      yield* advancing([chain])
      const feed = Context.get(
        yield* Layer.build(layer({ rpcUrl: chain.rpcUrl, geyser: { url: geyser.url } }).pipe(Layer.provide(services))),
        ChainFeed
      )
      const reader = yield* readFeed(feed)
      const pools = chain.pools().map(({ address }) => address)
      yield* feed.watch(pools)
      for (let end = 1; end <= 5; end++) {
        yield* until("the feed is live", () => feed.freshness().state === "live" && reader.known.size === pools.length)
        yield* geyser.kill(11 * end)
        yield* until("the stream is opened again", () => geyser.opened().length === end + 1)
      }
      yield* until("the feed is live", () => feed.freshness().state === "live")
      assert.notInclude(geyser.opened().slice(1), null)
      yield* chain.faults.set({ halted: true })
      const { accounts } = yield* feed.read(pools)
      const isSame = (address: Address) =>
        Buffer.from(accounts.get(address)?.data ?? []).equals(reader.known.get(address)?.data ?? Buffer.from("none"))
      yield* until("every account is as the node has it", () => pools.every(isSame))
    }).pipe(Effect.scoped)
  )
})
