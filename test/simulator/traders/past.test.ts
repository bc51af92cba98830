import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { BLOCKS_KEPT, SLOT_MS } from "../../../src/simulator/chain/Bank.ts"
import { slotsBetween } from "../../../src/simulator/traders/past.ts"
import { Simulator } from "../../../src/simulator/Simulator.ts"
import { at, call } from "../node/client.ts"

const START_MS = 1_790_000_000_000
const HOURS = 0.05
const MOST = 5_000

const Slots = Schema.Array(Schema.Int)
const decodeSlots = Schema.decodeUnknownSync(Slots)

const slotsFrom = (url: string, from: number) =>
  Effect.map(call(url, "getBlocksWithLimit", from, MOST), (answer) => decodeSlots(at(answer, "result")))
const numberOf = (url: string, method: string, ...params: ReadonlyArray<unknown>) =>
  Effect.map(call(url, method, ...params), (answer) => Number(at(answer, "result")))

const withPast = Simulator.layer({ seed: "past", speed: 0, startUnixMs: START_MS, history: HOURS })

describe("the past of a chain", () => {
  it.effect("reaches from as far back as asked for up to now, and can be read", () =>
    Effect.gen(function* () {
      const { pastSlots, rpcUrl } = yield* Simulator
      const slots = yield* slotsFrom(rpcUrl, 0)
      const [first = 0] = slots
      const last = slots.at(-1) ?? 0
      assert.strictEqual(pastSlots, (HOURS * 3_600_000) / SLOT_MS)
      assert.strictEqual(last - first, pastSlots - 1)
      assert.strictEqual(yield* numberOf(rpcUrl, "getSlot"), last)
      assert.strictEqual(yield* numberOf(rpcUrl, "getBlockTime", last), Math.floor((START_MS - SLOT_MS) / 1000))
      assert.strictEqual(yield* numberOf(rpcUrl, "getBlockTime", first), START_MS / 1000 - HOURS * 3600)
      assert.isBelow(slots.length, pastSlots)
    }).pipe(Effect.provide(withPast))
  )

  it.effect("is the same for the same seed", () =>
    Effect.gen(function* () {
      const digest = Effect.flatMap(Simulator, (simulator) => simulator.digest)
      const again = Simulator.layer({ seed: "past", speed: 0, startUnixMs: START_MS, history: HOURS })
      assert.strictEqual(yield* Effect.provide(digest, withPast), yield* Effect.provide(digest, again, { local: true }))
    })
  )

  it.effect("is cleaned up a few blocks at a time, until the usual number is left", () =>
    Effect.gen(function* () {
      const { advance, rpcUrl } = yield* Simulator
      const before = (yield* slotsFrom(rpcUrl, 0)).length
      yield* advance(1)
      assert.strictEqual((yield* slotsFrom(rpcUrl, 0)).length, Math.max(BLOCKS_KEPT, before + 1 - 5))
      yield* advance(30)
      assert.strictEqual((yield* slotsFrom(rpcUrl, 0)).length, BLOCKS_KEPT)
    }).pipe(Effect.provide(Simulator.layer({ speed: 0, startUnixMs: START_MS, history: 0.12, swapsPerSecond: 2 })))
  )

  it.live("goes by in an instant once the chain runs, and the present follows it", () =>
    Effect.gen(function* () {
      const { pastSlots, rpcUrl } = yield* Simulator
      const first = yield* numberOf(rpcUrl, "getFirstAvailableBlock")
      const present = first + pastSlots
      const slot = yield* numberOf(rpcUrl, "getSlot").pipe(
        Effect.tap(() => Effect.sleep("50 millis")),
        Effect.repeat({ until: (slot) => slot > present })
      )
      const timeMs = (yield* numberOf(rpcUrl, "getBlockTime", slot)) * 1000
      assert.isAbove(timeMs, Date.now() - 60_000)
    }).pipe(Effect.provide(Simulator.layer({ seed: "running", speed: 1, history: 0.02 })), Effect.timeout("15 seconds"))
  )
})

describe("slotsBetween", () => {
  it.effect.prop(
    "never reaches past the end, and never takes longer steps than it took before",
    [Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_000_000 }))],
    ([left]) =>
      Effect.sync(() => {
        const skipped = slotsBetween(left, 1_000_000)
        assert.isAtLeast(skipped, 0)
        assert.isBelow(skipped, left)
        assert.isAtMost(slotsBetween(left - 1, 1_000_000), skipped)
      })
  )
})
