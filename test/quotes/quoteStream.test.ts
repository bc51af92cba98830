import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber, Schema } from "effect"
import { TestClock } from "effect/testing"
import { LimiterUnavailable } from "../../src/api/schemas/Budget.ts"
import { CloseFrame, ErrorFrame, OpenFrame, QuoteFrame, ThrottledFrame } from "../../src/api/schemas/QuoteStream.ts"
import { at } from "./toyChain.ts"
import { closing, meterOf, noRoute, quoteOf, run, stale, start, START, story, unsupported } from "./toyStream.ts"

const brokenAtOnce = () => {
  throw new Error("broken")
}

describe("a quote stream", () => {
  it.effect("prices on a fixed grid, then closes with the totals", () =>
    Effect.gen(function* () {
      const { frames, spent } = yield* run({ answers: [quoteOf(101n), quoteOf(101n), quoteOf(102n)] })
      assert.deepStrictEqual(story(frames), ["open", "quote 0", "quote 1", "quote 2", "quote 3", "quote 4", "close"])
      assert.deepStrictEqual(
        frames.map(({ data }) => data.seq),
        [0, 1, 2, 3, 4, 5, 6]
      )
      assert.deepStrictEqual(
        frames.map(({ data }) => data.atMs - START),
        [0, 0, 1000, 2000, 3000, 4000, 5000]
      )
      assert.deepStrictEqual(
        frames.flatMap((frame) => (frame.event === "quote" ? [frame.data.changed] : [])),
        [["first"], ["outAmount"], [], ["outAmount"], []]
      )
      assert.deepInclude(frames[0]?.data, { endsAtMs: START + 5000, costPerTick: 1, intervalMs: 1000 })
      assert.deepStrictEqual(closing(frames), {
        streamId: "str_1",
        seq: 6,
        atMs: START + 5000,
        reason: "completed",
        ticks: 5,
        emitted: 5,
        suppressed: 0,
        errors: 0,
        throttledTicks: 0,
        skippedTicks: 0,
        unitsCharged: 5,
        lastQuoteAtMs: START
      })
      assert.strictEqual(spent.units, 4)
    })
  )

  it.effect("sends frames of the shapes the contract declares", () =>
    Effect.gen(function* () {
      const shapes = {
        open: OpenFrame,
        quote: QuoteFrame,
        error: ErrorFrame,
        throttled: ThrottledFrame,
        close: CloseFrame
      }
      const { frames } = yield* run({ answers: [stale, quoteOf(5n)], units: 2 })
      assert.deepStrictEqual(story(frames), [
        "open",
        "quote 0",
        "error 1",
        "quote 2",
        "quote 3",
        "throttled 4",
        "close"
      ])
      for (const { event, data } of frames) {
        assert.isTrue(Schema.is(shapes[event])(data), event)
      }
    })
  )

  it.effect("sends only changes when asked to, and charges every tick", () =>
    Effect.gen(function* () {
      const { frames, spent } = yield* run({
        answers: [quoteOf(100n), quoteOf(100n, at(2)), quoteOf(100n, at(2)), quoteOf(100n, at(2), true)],
        terms: { changesOnly: true }
      })
      assert.deepStrictEqual(story(frames), ["open", "quote 0", "quote 2", "quote 4", "close"])
      assert.deepStrictEqual(
        frames.flatMap((frame) => (frame.event === "quote" ? [frame.data.changed] : [])),
        [["first"], ["route"], ["clamped"]]
      )
      assert.deepInclude(closing(frames), { ticks: 5, emitted: 3, suppressed: 2, unitsCharged: 5 })
      assert.strictEqual(spent.units, 4)
    })
  )

  it.effect("goes on after an error, and refunds the unit when the fault is ours", () =>
    Effect.gen(function* () {
      const { frames, spent } = yield* run({ answers: [stale, noRoute, "defect", quoteOf(5n)] })
      const errors = frames.flatMap((frame) => (frame.event === "error" ? [frame.data] : []))
      assert.deepStrictEqual(
        errors.map(({ error, retryable }) => [error.code, retryable]),
        [
          ["state_stale", true],
          ["no_route", true],
          ["internal_error", true]
        ]
      )
      assert.strictEqual(new Set(errors.map(({ requestId }) => requestId)).size, 3)
      assert.strictEqual(errors[0]?.error.message, "The chain was last heard 12000 ms ago, at slot 7.")
      assert.deepInclude(closing(frames), { reason: "completed", ticks: 5, emitted: 2, errors: 3, unitsCharged: 3 })
      assert.strictEqual(spent.units, 2)
    })
  )

  it.effect("ends at an error that will not go away", () =>
    Effect.gen(function* () {
      const { frames, spent } = yield* run({ answers: [unsupported] })
      assert.deepStrictEqual(story(frames), ["open", "quote 0", "error 1", "close"])
      assert.deepInclude(closing(frames), { reason: "failed", errors: 1, unitsCharged: 1 })
      assert.strictEqual(spent.units, 0)
    })
  )

  it.effect("ends after thirty errors in a row, not before", () =>
    Effect.gen(function* () {
      const failing = { durationSeconds: 60 }
      const { frames } = yield* run({ answers: [noRoute], terms: failing })
      assert.deepInclude(closing(frames), { reason: "failed", errors: 30, ticks: 31 })
      const almost = Array.from({ length: 29 }, () => noRoute)
      const saved = yield* run({ answers: [...almost, quoteOf(1n), ...almost, quoteOf(1n)], terms: failing })
      assert.deepInclude(closing(saved.frames), { reason: "completed", errors: 58 })
    })
  )

  it.effect("reports a spent budget once, with the next tick", () =>
    Effect.gen(function* () {
      const { frames } = yield* run({ answers: [quoteOf(5n)], units: 1 })
      assert.deepStrictEqual(story(frames), ["open", "quote 0", "quote 1", "throttled 2", "close"])
      assert.deepInclude(frames[3]?.data, {
        limit: 300,
        remaining: 0,
        resetAtMs: START + 3500,
        retryAfterMs: 1500,
        nextTickAtMs: START + 4000
      })
      assert.deepInclude(closing(frames), { ticks: 2, throttledTicks: 3, unitsCharged: 2 })
    })
  )

  it.effect("reports it again once a tick was admitted in between", () =>
    Effect.gen(function* () {
      let asked = 0
      const { meter } = meterOf(300)
      const empty = meterOf(0).meter
      const { frames } = yield* run({
        answers: [quoteOf(5n)],
        meter: { ...meter, admit: (clock) => (asked++ % 2 === 0 ? empty.admit(clock) : meter.admit(clock)) }
      })
      assert.deepStrictEqual(story(frames), [
        "open",
        "quote 0",
        "throttled 1",
        "quote 2",
        "throttled 3",
        "quote 4",
        "close"
      ])
    })
  )

  it.effect("prices nothing while admission cannot be decided", () =>
    Effect.gen(function* () {
      const { frames } = yield* run({
        answers: ["defect"],
        meter: { ...meterOf(1).meter, admit: () => Effect.fail(new LimiterUnavailable({ cause: "down" })) }
      })
      assert.deepInclude(closing(frames), { ticks: 5, errors: 4, unitsCharged: 1 })
      assert.deepInclude(frames[2]?.data, { retryable: true })
    })
  )

  it.effect("ends with the defect of a charge that throws at once", () =>
    Effect.gen(function* () {
      const { fiber } = yield* start({ answers: [quoteOf(5n)], meter: { ...meterOf(1).meter, admit: brokenAtOnce } })
      yield* TestClock.adjust("10 seconds")
      const exit = yield* Fiber.await(fiber)
      assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
    })
  )

  it.effect("skips grid points that have passed, and never queues them", () =>
    Effect.gen(function* () {
      const { frames, spent } = yield* run({ answers: [{ slowMs: 2500 }, quoteOf(7n)] })
      assert.deepStrictEqual(story(frames), ["open", "quote 0", "quote 1", "quote 4", "close"])
      assert.deepStrictEqual(
        frames.map(({ data }) => data.atMs - START),
        [0, 0, 3500, 4000, 5000]
      )
      assert.strictEqual(spent.units, 2)
      assert.deepInclude(closing(frames), { ticks: 3, skippedTicks: 2, throttledTicks: 0, unitsCharged: 3 })
    })
  )

  it.effect("counts every grid point once: started, throttled or skipped", () =>
    Effect.gen(function* () {
      for (const slowMs of [0, 900, 1050, 1900, 3950, 9000]) {
        const { frames } = yield* run({ answers: [{ slowMs }], units: 3 })
        const { skippedTicks = 0, throttledTicks = 0, ticks = 0 } = closing(frames) ?? {}
        assert.strictEqual(ticks + throttledTicks + skippedTicks, 5, `${slowMs}`)
      }
    })
  )

  it.effect("ends when its reader has no room left, with the close frame last", () =>
    Effect.gen(function* () {
      const { frames } = yield* run({ answers: [quoteOf(5n)], room: 3 })
      assert.deepStrictEqual(story(frames), ["open", "quote 0", "quote 1", "close"])
      assert.deepInclude(closing(frames), { reason: "slow_consumer", seq: 3 })
    })
  )

  it.effect("sends nothing after it was closed from outside", () =>
    Effect.gen(function* () {
      const { fiber, frames, session } = yield* start({ answers: [quoteOf(5n)] })
      yield* TestClock.adjust(1500)
      session.close("key_revoked", START + 1500)
      session.close("completed", START + 1600)
      yield* TestClock.adjust(10_000)
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(story(frames), ["open", "quote 0", "quote 1", "close"])
      assert.deepInclude(closing(frames), { reason: "key_revoked", atMs: START + 1500 })
    })
  )
})
