import { assert, describe, it } from "@effect/vitest"
import { Clock, Duration, Effect, Schema } from "effect"
import { TestClock } from "effect/testing"
import { BLOCKS_KEPT, SLOT_MS } from "../../src/simulator/chain/Bank.ts"
import { catchUp, livePast, readerPace, readsFirst, slotsBetween, slotsOf } from "../../src/simulator/traders/past.ts"
import { Simulator } from "../../src/simulator/Simulator.ts"
import { newMarket } from "../simulator/chain/chains.ts"
import { at, call } from "../simulator/node/client.ts"

const START_MS = 1_790_000_000_000
const HOURS = 0.05
const MOST = 5_000

const Slots = Schema.Array(Schema.Int)
const decodeSlots = Schema.decodeUnknownSync(Slots)

const slotsFrom = (url: string, from: number) =>
  Effect.map(call(url, "getBlocksWithLimit", from, MOST), (answer) => decodeSlots(at(answer, "result")))
const numberOf = (url: string, method: string, ...params: ReadonlyArray<unknown>) =>
  Effect.map(call(url, method, ...params), (answer) => Number(at(answer, "result")))

const withPast = Simulator.layer({ seed: "past", speed: 0, startUnixMs: START_MS, history: HOURS, swapsPerSecond: 1 })

describe("the past of a chain", () => {
  it.effect("reaches from the requested start up to now, and can be read", () =>
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
      const again = Simulator.layer({
        seed: "past",
        speed: 0,
        startUnixMs: START_MS,
        history: HOURS,
        swapsPerSecond: 1
      })
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

  it.live("passes in an instant once the chain runs, and the present follows it", () =>
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
    }).pipe(
      Effect.provide(Simulator.layer({ seed: "running", speed: 1, history: 0.005, swapsPerSecond: 1 })),
      Effect.timeout("1 minute")
    )
  )
})

describe("slotsBetween", () => {
  it.effect.prop(
    "never reaches past the end, and never takes longer steps than before",
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

describe("the present of a chain", () => {
  it("trades as densely as its past, early and late", () => {
    const { bank, market } = newMarket("density", 0.2)
    const begun = bank.newest().next
    const live = begun + slotsOf(2)
    const counts = { early: 0, late: 0, live: 0 }
    for (const { slot, transactions } of livePast(bank, market, live)) {
      const swaps = transactions.reduce((sum, { swaps }) => sum + swaps.length, 0)
      counts[slot < begun + slotsOf(1) ? "early" : "late"] += swaps
    }
    for (let slots = 0; slots < slotsOf(0.5); slots++) {
      counts.live += market.advance().transactions.reduce((sum, { swaps }) => sum + swaps.length, 0)
    }
    const perSecond = [counts.early / 3600, counts.late / 3600, counts.live / 1800]
    perSecond.forEach((rate) => assert.isTrue(rate > 0.13 && rate < 0.3, JSON.stringify(perSecond)))
  })
})

describe("the pace of a past", () => {
  it("leaves the node to reads of accounts first, for a while", () => {
    let readMs: number | null = null
    const isBusy = readsFirst(() => readMs)
    assert.deepStrictEqual([0, 999, 1_000].map(isBusy), [true, true, false])
    readMs = 1_100
    assert.deepStrictEqual([1_200, 1_599, 1_600].map(isBusy), [true, true, false])
    readMs = 29_900
    assert.deepStrictEqual([29_999, 30_000].map(isBusy), [true, false])
  })

  it.effect("makes one block for each publication next to reads, and many without reads", () =>
    Effect.gen(function* () {
      const { bank, market } = newMarket("busy", 0.2)
      const past = livePast(bank, market, bank.newest().next + slotsOf(2))
      let isRead = true
      let published = 0
      const height = () => bank.newest().height
      const begun = height()
      const pace = { mustWait: () => false, isBusy: () => isRead }
      yield* Effect.forkChild(catchUp(past, () => published++, pace))
      yield* TestClock.adjust("1 second")
      assert.isAtLeast(published, 15)
      assert.isAtMost(height() - begun, published + 1)
      isRead = false
      // The clock stands still while blocks are made, so the first slice makes all of them.
      yield* TestClock.adjust("1 second")
      assert.strictEqual(past.next().done, true)
      assert.isAbove(height() - begun, 100)
    })
  )

  it.effect(
    "takes most of its thread where that runs behind the service, and publishes at most five times a second",
    () =>
      Effect.gen(function* () {
        const { bank, market } = newMarket("pace", 0.2)
        let nowMs = 0
        const published: Array<number> = []
        // Making a block takes a millisecond of this clock.
        const past = (function* () {
          for (const block of livePast(bank, market, bank.newest().next + slotsOf(2))) {
            nowMs++
            yield block
          }
        })()
        const clock = {
          ...(yield* Clock.Clock),
          currentTimeMillisUnsafe: () => nowMs,
          sleep: (duration: Duration.Duration) =>
            Effect.sync(() => {
              nowMs += Duration.toMillis(duration)
            })
        }
        const begun = bank.newest().height
        const pace = { mustWait: () => false, isBusy: () => false }
        yield* catchUp(past, () => published.push(nowMs), pace).pipe(Effect.provideService(Clock.Clock, clock))
        const made = bank.newest().height - begun
        const pauses = published.slice(1, -1).map((atMs, i) => atMs - (published[i] ?? 0))
        assert.isAbove(pauses.length, 1)
        assert.isAtLeast(Math.min(...pauses), 200)
        assert.isAtMost(nowMs, made * (process.platform === "linux" ? 1.25 : 4.1))
      })
  )

  it("waits for a reader that is far behind, removes what was read, and goes on without a reader", () => {
    const { bank, market } = newMarket("reader", 0.2)
    bank.keep(Number.POSITIVE_INFINITY)
    const mustWait = readerPace(bank)
    assert.isFalse(mustWait(0))
    const slots = Array.from({ length: 200 }, () => {
      bank.skip(99)
      return market.advance().slot
    })
    const isKept = (index: number) => bank.block(slots[index] ?? 0) !== undefined
    assert.isTrue(mustWait(1_000))
    assert.isFalse(mustWait(60_000))
    bank.noteRead(slots[150] ?? 0)
    assert.isFalse(mustWait(61_000))
    assert.deepStrictEqual([90, 140, 151].map(isKept), [false, true, true])
  })
})
