import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Latch, Layer } from "effect"
import * as SourceMonitor from "../../src/operations/SourceMonitor.ts"
import { AccountBus } from "../../src/storage/bus/AccountBus.ts"
import * as AccountBusValkey from "../../src/storage/valkey/AccountBusValkey.ts"
import { Valkey } from "../../src/storage/valkey/Valkey.ts"
import { emptied, isAvailable, server, sharedServer } from "../support/valkey.ts"
import { clockOf, holding, until } from "../chain/accounts/accounts.ts"
import { chainFeedContract } from "../chain/accounts/chainFeedContract.ts"
import {
  A,
  B,
  C,
  CHAIN,
  followerOf,
  memoryBus,
  scene,
  startChain,
  startFollower,
  startLeader
} from "../chain/bus/busScene.ts"

const contract = (name: string, busOf: Effect.Effect<Layer.Layer<AccountBus>>) =>
  chainFeedContract(
    name,
    Effect.fnUntraced(function* (accounts) {
      const node = yield* startChain(accounts)
      const bus = Context.get(yield* Layer.build(yield* busOf), AccountBus)
      const leader = Layer.effectDiscard(startLeader(node, bus))
      return Layer.merge(followerOf(node, Layer.succeed(AccountBus, bus)), leader)
    })
  )

contract("ChainFeedBus over memory", Effect.succeed(memoryBus()))

describe.runIf(isAvailable)("on a server", () => {
  const shared = sharedServer()
  contract(
    "ChainFeedBus over Valkey",
    Effect.map(Valkey, () => AccountBusValkey.layer(shared().url)).pipe(
      Effect.provide(emptied(shared).pipe(Layer.provide(SourceMonitor.layer)))
    )
  )
})

describe("writes over the bus", () => {
  it.live("of one slot arrive together with their slot, and an older write after a newer one changes nothing", () =>
    scene(
      Effect.fnUntraced(function* ({ bus, node }) {
        const { reader } = yield* startFollower(node, bus, [A, B])
        node.write(101, holding(A, [1]), holding(B, [1]))
        yield* until("A is written", () => reader.bytes(A)?.[0] === 1)
        assert.deepStrictEqual(
          reader.writes.map(({ accounts, slot }) => [slot, Array.from(accounts.keys())]),
          [[101, [A, B]]]
        )
        assert.deepStrictEqual(reader.known.get(A), holding(A, [1], 101))
        node.write(105, holding(A, [5]))
        yield* until("A is written again", () => reader.bytes(A)?.[0] === 5)
        node.tell(103, A, {
          data: ["Aw==", "base64"],
          executable: false,
          lamports: 5,
          owner: holding(A, []).owner,
          space: 1
        })
        node.write(106, holding(B, [6]))
        yield* until("B is written", () => reader.bytes(B)?.[0] === 6)
        assert.deepStrictEqual(reader.bytes(A), [5])
        node.close(107, A)
        yield* until("A is gone", () => reader.known.get(A) === null)
      })
    )
  )

  it.live("reach each process for its own accounts, and the node is followed for all of them", () =>
    scene(
      Effect.fnUntraced(function* ({ bus, node }) {
        const one = yield* startFollower(node, bus, [A, B])
        const other = yield* startFollower(node, bus, [B, C])
        node.write(101, holding(A, [1]), holding(B, [1]), holding(C, [1]))
        yield* until("all is written", () => one.reader.bytes(B)?.[0] === 1 && other.reader.bytes(C)?.[0] === 1)
        assert.deepStrictEqual(
          one.reader.writes.flatMap(({ accounts }) => Array.from(accounts.keys())),
          [A, B]
        )
        assert.deepStrictEqual(
          other.reader.writes.flatMap(({ accounts }) => Array.from(accounts.keys())),
          [B, C]
        )
        assert.strictEqual(node.connections, 1)
        yield* one.feed.unwatch([A, B])
        // The lease changes when the next account is added.
        yield* one.feed.watch([C])
        yield* until("A is not followed any more", () => !node.followed().has(A))
        assert.isTrue(node.followed().has(B))
      })
    )
  )

  it.live("end with a lease that is not renewed", () =>
    scene(
      Effect.fnUntraced(function* ({ bus, node }) {
        yield* bus.lease(CHAIN, { owner: "gone", revision: 1, accounts: new Uint8Array(32).fill(2) })
        yield* until("B is followed", () => node.followed().has(B))
        yield* until("B is not followed any more", () => !node.followed().has(B))
      }),
      memoryBus(300)
    )
  )

  it.live("are replaced by a new read when the lease has ended in the meantime", () =>
    scene(
      Effect.fnUntraced(function* ({ bus, node }) {
        const owners: Array<string> = []
        const noting = AccountBus.of({
          ...bus,
          lease: (chain, lease) =>
            Effect.andThen(
              Effect.sync(() => owners.push(lease.owner)),
              bus.lease(chain, lease)
            )
        })
        const { feed, reader } = yield* startFollower(node, noting, [A])
        yield* bus.release(CHAIN, owners[0] ?? "")
        yield* until("A is not followed any more", () => !node.followed().has(A))
        node.write(101, holding(A, [1]))
        yield* until("A is read", () => reader.bytes(A)?.[0] === 1)
        yield* feed.watch([B])
        yield* until("the feed is live", () => feed.freshness().state === "live" && reader.known.has(B))
        node.write(102, holding(A, [2]))
        yield* until("A is written", () => reader.bytes(A)?.[0] === 2)
      })
    )
  )
})

describe("a change of the process that fills the bus", () => {
  it.live("is a gap: accounts are read again, and readers keep the state before it until they are", () =>
    scene(
      Effect.fnUntraced(function* ({ bus, leader, node }) {
        const { feed, reader } = yield* startFollower(node, bus, [A, B])
        yield* leader.end
        // Missed by both.
        node.slot = 110
        node.put(holding(A, [7], 110))
        const isHeld = Latch.makeUnsafe(false)
        node.beforeAnswer = ({ method }) => (method === "getMultipleAccounts" ? isHeld.await : Effect.void)
        yield* startLeader(node, bus)
        yield* until("the gap is known", () => feed.freshness().state === "reloading")
        assert.deepStrictEqual([feed.freshness().slot, reader.bytes(A)], [100, [0]])
        yield* isHeld.open
        yield* until("A is read", () => reader.bytes(A)?.[0] === 7)
        yield* until("the feed is live", () => feed.freshness().state === "live")
        node.write(111, holding(B, [8]))
        yield* until("B is written", () => reader.bytes(B)?.[0] === 8)
      })
    )
  )

  it.live("makes the bus refuse the old process, which goes on", () =>
    scene(
      Effect.fnUntraced(function* ({ bus, leader, node }) {
        const { feed, reader } = yield* startFollower(node, bus, [A])
        node.write(101, holding(A, [1]))
        // The bus may also refuse the new process, when the old one appends first. Another one tries then.
        const next = Effect.flatMap(startLeader(node, bus), ({ overtaken }) => overtaken)
        assert.strictEqual((yield* Effect.raceFirst(leader.overtaken, Effect.forever(next)))._tag, "AppendRefused")
        yield* until("A is written", () => reader.bytes(A)?.[0] === 1)
        yield* until("the feed is live", () => feed.freshness().state === "live")
        node.write(102, holding(A, [2]))
        yield* until("A is written again", () => reader.bytes(A)?.[0] === 2)
      })
    )
  )

  it.live("is a gap too when only its connection to the node changes", () =>
    scene(
      Effect.fnUntraced(function* ({ bus, node }) {
        const { feed, reader } = yield* startFollower(node, bus, [A])
        node.drop()
        node.slot = 120
        node.put(holding(A, [9], 120))
        yield* until("A is read", () => reader.bytes(A)?.[0] === 9)
        yield* until("the feed is live", () => feed.freshness().state === "live")
      })
    )
  )
})

describe.runIf(isAvailable)("a server that is away", () => {
  it.live(
    "leaves the accounts to be read from the node until it is back without its data",
    () =>
      Effect.gen(function* () {
        const own = yield* server
        const node = yield* startChain([holding(A, [0])])
        yield* Effect.gen(function* () {
          const connect = Effect.map(Layer.build(Layer.fresh(AccountBusValkey.layer(own.url))), (built) =>
            Context.get(built, AccountBus)
          )
          yield* startLeader(node, yield* connect)
          const { feed, reader } = yield* startFollower(node, yield* connect, [A])
          yield* until("the feed is live", () => feed.freshness().state === "live")
          yield* own.kill
          node.write(101, holding(A, [1]))
          yield* until("A is read", () => reader.bytes(A)?.[0] === 1)
          assert.strictEqual(feed.freshness().state, "polling")
          yield* own.start
          // The chain goes on at its own pace until the bus is followed.
          yield* Effect.sync(() => node.write(++node.slot, clockOf(7, 1_700_000_000, node.slot))).pipe(
            Effect.delay("400 millis"),
            Effect.forever,
            Effect.forkScoped
          )
          yield* until("the feed is live again", () => feed.freshness().state === "live")
          node.write(++node.slot, holding(A, [2], node.slot))
          yield* until("A is written", () => reader.bytes(A)?.[0] === 2)
        }).pipe(Effect.scoped)
      }).pipe(Effect.scoped),
    30_000
  )
})
