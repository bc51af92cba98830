/** Gaps of a process that follows the bus: which accounts it reads again, and how long until it is live. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Logger, References, Stream } from "effect"
import type { ChainFeed } from "../../../src/chain/ChainFeed.ts"
import { decodeMessage, VERSION } from "../../../src/chain/bus/accountMessage.ts"
import { AccountBus } from "../../../src/storage/bus/AccountBus.ts"
import type { ReadEntry } from "../../../src/storage/bus/busLog.ts"
import { holding, until } from "../accounts/accounts.ts"
import { A, B, memoryBus, scene, startChain, startFollower, startLeader } from "./busScene.ts"

/** The slot up to which an entry has all writes. */
const slotOf = ({ body }: ReadEntry) => decodeMessage(body, () => undefined).slot

describe("an account with a write that is lost on the way to the bus", () => {
  it.live("is read again, and no other account is", () =>
    scene(
      Effect.fnUntraced(function* ({ bus, node }) {
        const { feed, reader } = yield* startFollower(node, bus, [A, B])
        yield* until("the feed is live", () => feed.freshness().state === "live")
        const before = node.callsOf("getMultipleAccounts").length
        node.slot = 101
        node.put(holding(A, [1], 101))
        node.tell(101, A, "no account")
        yield* until("A is read", () => reader.bytes(A)?.[0] === 1)
        yield* until("the feed is live", () => feed.freshness().state === "live")
        const reads = node.callsOf("getMultipleAccounts").slice(before)
        assert.isFalse(JSON.stringify(reads.map(({ params }) => params)).includes(B))
        node.write(102, holding(A, [2]), holding(B, [2]))
        yield* until("both are written", () => reader.bytes(A)?.[0] === 2 && reader.bytes(B)?.[0] === 2)
      })
    )
  )
})

describe("entries that a process misses", () => {
  it.live("are a gap: accounts are read again", () => {
    const lost = { isLosing: false }
    return scene(
      Effect.fnUntraced(function* ({ bus, node }) {
        const { feed, reader } = yield* startFollower(node, bus, [A, B])
        lost.isLosing = true
        node.write(101, holding(A, [1]))
        yield* until("the chain goes on", () => node.callsOf("getMultipleAccounts").length > 0)
        node.write(102, holding(B, [2]))
        yield* until("both are read", () => reader.bytes(A)?.[0] === 1 && reader.bytes(B)?.[0] === 2)
        lost.isLosing = false
        yield* until("the feed is live", () => feed.freshness().state === "live")
      }),
      memoryBus(),
      (bus) => {
        let count = 0
        return {
          // The bus loses every other entry.
          append: (chain, entry) => (lost.isLosing && count++ % 2 === 0 ? Effect.void : bus.append(chain, entry))
        }
      }
    )
  })

  it.live("keep the feed from being live while they wait", () =>
    scene(
      Effect.fnUntraced(function* ({ bus, node }) {
        const pages = { hasMore: false }
        const slow = AccountBus.of({
          ...bus,
          follow: (chain, after) =>
            Stream.map(bus.follow(chain, after), ({ entries }) => ({ entries, hasMore: pages.hasMore }))
        })
        const { feed } = yield* startFollower(node, slow, [A])
        yield* until("the feed is live", () => feed.freshness().state === "live")
        pages.hasMore = true
        yield* until("entries wait", () => feed.freshness().state === "loading")
        pages.hasMore = false
        yield* until("the feed is live again", () => feed.freshness().state === "live")
      })
    )
  )

  it.live("make the feed live with the last of them when they arrive all at once", () =>
    scene(
      Effect.fnUntraced(function* ({ bus, node }) {
        const own: { isHeld: boolean; feed: ChainFeed["Service"] | null } = { isHeld: false, feed: null }
        const waiting: Array<ReadEntry> = []
        const states: Array<string | undefined> = []
        const slots: Array<number | undefined> = []
        /** Notes the state of the feed when the entry is applied, and the entry's own slot. */
        const noting = (entry: ReadEntry): ReadEntry => ({
          ...entry,
          get body() {
            states.push(own.feed?.freshness().state)
            slots.push(own.feed?.freshness().slot)
            return entry.body
          }
        })
        const stood = AccountBus.of({
          ...bus,
          // As after a pause of the process.
          follow: (chain, after) =>
            Stream.map(bus.follow(chain, after), ({ entries }) => {
              waiting.push(...entries.map(noting))
              return { entries: own.isHeld ? [] : waiting.splice(0), hasMore: false }
            })
        })
        const { feed, reader } = yield* startFollower(node, stood, [A])
        yield* until("the feed is live", () => feed.freshness().state === "live")
        own.isHeld = true
        own.feed = feed
        for (let slot = 101; waiting.length < 5; slot++) {
          const before = waiting.length
          node.write(slot, holding(A, [slot]))
          yield* until("its entry waits", () => waiting.length > before)
        }
        const applied = waiting.map(slotOf)
        assert.isAtLeast(new Set(applied).size, 3)
        states.length = 0
        slots.length = 0
        own.isHeld = false
        node.write(120, holding(A, [120]))
        yield* until("the last is written", () => reader.bytes(A)?.[0] === 120)
        assert.isAtLeast(states.length, 6)
        assert.deepStrictEqual(new Set(states.slice(0, 6)), new Set(["loading"]))
        // Each time, the slot of the previous entry.
        assert.deepStrictEqual(slots.slice(1, 6), applied.slice(0, 5))
        yield* until("the feed is live again", () => feed.freshness().state === "live")
      })
    )
  )

  it.live("leave the feed live at the applied slot when they are of one slot", () =>
    scene(
      Effect.fnUntraced(function* ({ bus, node }) {
        const own: { feed: ChainFeed["Service"] | null } = { feed: null }
        const seen: Array<readonly [state: string | undefined, before: number, slot: number | undefined]> = []
        let before = 0
        const noting = (entry: ReadEntry): ReadEntry => ({
          ...entry,
          get body() {
            seen.push([own.feed?.freshness().state, before, own.feed?.freshness().slot])
            before = slotOf(entry)
            return entry.body
          }
        })
        const busy = AccountBus.of({
          ...bus,
          // As after a moment in which the process was busy.
          follow: (chain, after) =>
            Stream.map(bus.follow(chain, after), ({ entries, hasMore }) => ({
              entries: entries.flatMap((entry) => [
                noting(entry),
                noting({ ...entry, place: entry.place + 1, isAfterGap: false })
              ]),
              hasMore
            }))
        })
        const { feed, reader } = yield* startFollower(node, busy, [A])
        yield* until("the feed is live", () => feed.freshness().state === "live")
        own.feed = feed
        seen.length = 0
        for (let slot = 101; slot < 106; slot++) {
          node.write(slot, holding(A, [slot]))
          yield* until("A is written", () => reader.bytes(A)?.[0] === slot)
        }
        assert.isAtLeast(seen.length, 10)
        for (const [state, applied, slot] of seen) {
          assert.deepStrictEqual([state, slot], ["live", applied])
        }
      })
    )
  )

  it.live("of a version that it cannot read leave the accounts to be read from the node", () => {
    const release = { isNext: false }
    return scene(
      Effect.fnUntraced(function* ({ bus, node }) {
        const { feed, reader } = yield* startFollower(node, bus, [A])
        release.isNext = true
        yield* until("the bus cannot be read", () => feed.freshness().state === "down")
        node.slot = 130
        node.put(holding(A, [3], 130))
        yield* until("A is read", () => reader.bytes(A)?.[0] === 3)
        assert.strictEqual(feed.freshness().state, "polling")
        release.isNext = false
        yield* until("the feed is live", () => feed.freshness().state === "live")
      }),
      memoryBus(),
      (bus) => ({
        append: (chain, entry) =>
          bus.append(
            chain,
            release.isNext ? { ...entry, body: Uint8Array.from([VERSION + 1, ...entry.body.subarray(1)]) } : entry
          )
      })
    )
  })

  it.live("because no process fills the bus leave the accounts to be read from the node", () =>
    Effect.gen(function* () {
      const node = yield* startChain([holding(A, [0])])
      yield* Effect.gen(function* () {
        const bus = Context.get(yield* Layer.build(memoryBus()), AccountBus)
        const { feed, reader } = yield* startFollower(node, bus, [A])
        assert.strictEqual(feed.freshness().state, "polling")
        yield* startLeader(node, bus)
        yield* until("the feed is live", () => feed.freshness().state === "live")
        node.write(101, holding(A, [1]))
        yield* until("A is written", () => reader.bytes(A)?.[0] === 1)
      }).pipe(Effect.scoped)
    }).pipe(Effect.scoped)
  )
})

describe("an account that the process which fills the bus does not follow yet", () => {
  it.live("does not count as refused by the node, which was not asked", () =>
    scene(
      Effect.fnUntraced(function* ({ bus, node }) {
        const messages: Array<string> = []
        const logger = Logger.make(({ message }) => void messages.push(JSON.stringify(message)))
        const logged = Layer.mergeAll(Logger.layer([logger]), Layer.succeed(References.MinimumLogLevel, "Warn"))
        yield* startFollower(node, bus, [A], logged)
        const text = "the process that fills the bus"
        yield* until("it is logged", () => messages.some((each) => each.includes(text)))
        assert.isFalse(messages.some((each) => each.includes("refused")))
      }),
      memoryBus(),
      // The process that fills the bus does not see the leases.
      () => ({ leases: () => Effect.succeed(new Map()) })
    )
  )
})
