import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import type { Address } from "../../../src/domain/Address.ts"
import { addressFromBytes } from "../../../src/domain/Address.ts"
import { ProgramWrites, type ProgramFeed } from "../../../src/chain/geyser/ProgramWrites.ts"
import { layer } from "../../../src/chain/geyser/ProgramWritesGeyser.ts"
import { at, holding, until } from "../accounts/accounts.ts"
import type { GeyserAilment } from "../../../src/simulator/node/geyserSlots.ts"
import { scriptedChain, services } from "./geyserScene.ts"

const PROGRAM = at(90)
const pool = (n: number, data: ReadonlyArray<number>, owner: Address = PROGRAM) => ({ ...holding(at(n), data), owner })

/** A stream of the program's accounts that have three bytes and begin with a 7, and everything it has delivered. */
const follow = Effect.fnUntraced(function* (feed: ProgramFeed, from: number | null = null) {
  const seen: Array<readonly [number, Address, ReadonlyArray<number>]> = []
  const state = { slot: 0 }
  const fiber = yield* Effect.forkScoped(
    feed.follow([{ programId: PROGRAM, dataSize: 3, matches: [{ offset: 0, bytes: Uint8Array.of(7) }] }], from, {
      onWrite: ({ address, data, query, slot }) => {
        assert.strictEqual(query, 0)
        seen.push([slot, addressFromBytes(address), Array.from(data)])
      },
      onSlot: (slot) => (state.slot = Math.max(state.slot, slot))
    })
  )
  return { seen, state, fiber }
})

const withFeed = <E>(
  use: (scene: Effect.Success<ReturnType<typeof scriptedChain>>, feed: ProgramFeed) => Effect.Effect<void, E, never>,
  ailments?: ReadonlyArray<Partial<GeyserAilment>>
) =>
  Effect.gen(function* () {
    const scripted = yield* scriptedChain([], ailments)
    const geyser = { url: scripted.geysers.map(({ url }) => url).join(",") }
    const feed = yield* Effect.provide(ProgramWrites, layer({ rpcUrl: scripted.chain.node.rpcUrl, geyser }))
    assert.isNotNull(feed)
    if (feed !== null) {
      yield* use(scripted, feed)
    }
  }).pipe(Effect.provide(services), Effect.scoped)

describe("writes of a program from a Geyser", () => {
  it.live("come only from accounts with the requested size and bytes", () =>
    withFeed(({ chain }, feed) =>
      Effect.gen(function* () {
        const { seen, state } = yield* follow(feed)
        yield* until("the stream has begun", () => state.slot === 100)
        chain.write(101, pool(1, [7, 1, 1]), pool(2, [8, 1, 1]), pool(3, [7, 1]), pool(4, [7, 1, 1], at(91)))
        chain.write(102, pool(5, [7, 2, 2]))
        yield* until("the last slot has come", () => state.slot === 102 && seen.length >= 2)
        const known = new Map(seen.map(([slot, address, data]) => [address, [slot, data]]))
        assert.deepStrictEqual(
          known,
          new Map([
            [at(1), [101, [7, 1, 1]]],
            [at(5), [102, [7, 2, 2]]]
          ])
        )
      }).pipe(Effect.scoped)
    )
  )

  it.live("are repeated from a slot on, or refused when the source no longer has that slot", () =>
    withFeed(({ chain }, feed) =>
      Effect.gen(function* () {
        chain.write(101, pool(1, [7, 1, 1]))
        chain.write(102)
        const { seen, state } = yield* follow(feed, 101)
        yield* until("the past is repeated", () => state.slot === 102 && seen.length > 0)
        assert.deepStrictEqual(seen[0], [101, at(1), [7, 1, 1]])
        const late = yield* follow(feed, 20)
        const failure = yield* Effect.flip(Fiber.join(late.fiber))
        assert.strictEqual(failure._tag, "ReplayUnavailable")
      }).pipe(Effect.scoped)
    )
  )

  it.live("end with a failure when the stream is lost", () =>
    withFeed(({ geysers }, feed) =>
      Effect.gen(function* () {
        const { fiber, state } = yield* follow(feed)
        yield* until("the stream has begun", () => state.slot === 100)
        yield* Effect.forEach(geysers, ({ kill }) => kill(0))
        assert.strictEqual((yield* Effect.flip(Fiber.join(fiber)))._tag, "ChainUnavailable")
      }).pipe(Effect.scoped)
    )
  )

  it.live("come from the next endpoint after a silent one", () =>
    withFeed(
      ({ geysers: [silent] }, feed) =>
        Effect.gen(function* () {
          const clock = yield* TestClock.make()
          const { fiber } = yield* Effect.provideService(follow(feed), Clock.Clock, clock)
          yield* until("the silent one is asked", () => silent?.opened().length === 1)
          yield* clock.adjust("29 seconds")
          assert.isUndefined(fiber.pollUnsafe())
          yield* clock.adjust("3 seconds")
          const failure = yield* Effect.flip(Fiber.join(fiber))
          assert.strictEqual(failure._tag === "ChainUnavailable" && failure.reason, "timeout")
          const next = yield* follow(feed)
          yield* until("the next one streams", () => next.state.slot === 100)
        }).pipe(Effect.scoped),
      [{ streams: "silent" }, {}]
    )
  )

  it.live("come from the same endpoint again after their reader was interrupted", () =>
    withFeed(
      ({ geysers: [first] }, feed) =>
        Effect.gen(function* () {
          const { fiber, state } = yield* follow(feed)
          yield* until("the stream has begun", () => state.slot === 100)
          yield* Fiber.interrupt(fiber)
          const again = yield* follow(feed)
          yield* until("the stream has begun again", () => again.state.slot === 100)
          assert.strictEqual(first?.opened().length, 2)
        }).pipe(Effect.scoped),
      [{}, {}]
    )
  )
})
