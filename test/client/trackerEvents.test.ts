import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Queue, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import { FathomError, clientError } from "../../src/client/FathomError.ts"
import { afterClose, pauseMs } from "../../src/client/reconnect.ts"
import type { TrackerEvent } from "../../src/client/TrackerMemory.ts"
import { trackerEvents } from "../../src/client/trackerEvents.ts"
import { heartbeat, ScriptedTracker, snapshot, trade } from "./scriptedTracker.ts"

const settle = TestClock.adjust(0)

/** A subscriber of a scripted tracker. */
const listening = (control = false) =>
  Effect.gen(function* () {
    const tracker = new ScriptedTracker()
    const delivered: Array<TrackerEvent> = []
    const events = trackerEvents({ session: tracker.session, control })
    const fiber = yield* events.pipe(
      Stream.runForEach((event) => Effect.sync(() => delivered.push(event))),
      Effect.result,
      Effect.provide(tracker.layer),
      Effect.forkChild
    )
    yield* settle
    /** Sends these frames over the newest socket. */
    const say = (...frames: ReadonlyArray<object>) => {
      tracker.latest.open()
      for (const frame of frames) {
        tracker.latest.say(frame)
      }
      return settle
    }
    const end = (code: number) => {
      tracker.latest.end(code)
      return settle
    }
    const types = () => delivered.map((event) => ("seq" in event ? `${event.type} ${event.seq}` : event.type))
    return { tracker, delivered, types, say, end, fiber }
  })

const failureOf = (fiber: Fiber.Fiber<{ readonly _tag: string; readonly failure?: unknown }>) =>
  Effect.map(Fiber.join(fiber), (result) => {
    assert.instanceOf(result.failure, FathomError)
    return result.failure.code
  })

describe("trackerEvents", () => {
  it.effect("delivers frames in order, with amounts as bigint", () =>
    Effect.gen(function* () {
      const { say, delivered, types } = yield* listening()
      yield* say(snapshot(0), trade(1), trade(2))
      assert.deepStrictEqual(types(), ["snapshot 0", "trade 1", "trade 2"])
      assert.strictEqual(delivered[1]?.type === "trade" && delivered[1].amount, 2_000_000_000_000_000_000_000n)
    })
  )

  it.effect("resumes the stream where it stopped, and delivers no trade twice", () =>
    Effect.gen(function* () {
      const { end, say, tracker, types } = yield* listening()
      yield* say(snapshot(0), trade(1))
      assert.deepStrictEqual(tracker.latest.heard, [])
      yield* end(1012)
      yield* say(snapshot(4, { reason: "resume", resumed: true }), trade(1), trade(2), trade(3), trade(5))
      assert.deepStrictEqual(tracker.latest.heard, [{ op: "resume", streamId: "str_1", seq: 1 }])
      assert.deepStrictEqual(types(), ["snapshot 0", "trade 1", "snapshot 4", "trade 2", "trade 3", "trade 5"])
      assert.strictEqual(tracker.sessions, 2)
    })
  )

  it.effect("delivers nothing of a new stream before the old one is resumed", () =>
    Effect.gen(function* () {
      const { end, say, types } = yield* listening()
      yield* say(snapshot(0), trade(1))
      yield* end(1012)
      const begun = { streamId: "str_2" }
      yield* say(snapshot(0, begun), trade(1, "b"), snapshot(1, { reason: "resume", resumed: true }), trade(2))
      assert.deepStrictEqual(types(), ["snapshot 0", "trade 1", "snapshot 1", "trade 2"])
    })
  )

  it.effect("reconnects when the service does not answer the resumption", () =>
    Effect.gen(function* () {
      const { end, say, tracker, types } = yield* listening()
      yield* say(snapshot(0), trade(1))
      for (const other of [heartbeat(0), { type: "error", code: "resume_too_late", message: "", sentAtMs: 1 }]) {
        yield* end(1012)
        const before = tracker.sockets.length
        yield* say(snapshot(0, { streamId: "str_2" }), other)
        assert.strictEqual(tracker.latest.closedWith, 1000)
        yield* TestClock.adjust("2 seconds")
        assert.strictEqual(tracker.sockets.length, before + 1)
      }
      yield* say(snapshot(1, { reason: "resume", resumed: true }), trade(2))
      assert.deepStrictEqual(types(), ["snapshot 0", "trade 1", "snapshot 1", "trade 2"])
    })
  )

  it.effect("delivers a gap when the stream is a new one, and known trades only once", () =>
    Effect.gen(function* () {
      const { end, say, delivered, types } = yield* listening()
      yield* say(snapshot(0), trade(1, "a"))
      yield* end(1001)
      const gap = { fromMs: 5, toMs: 9, reason: "expired" }
      yield* say(snapshot(0, { streamId: "str_2", reason: "resume", gap }), trade(1, "a"), trade(2, "b"))
      assert.deepStrictEqual(types().slice(2), ["snapshot 0", "gap", "trade 2"])
      assert.deepStrictEqual(delivered[3], { type: "gap", fromMs: 5, toMs: 9, reason: "expired" })
    })
  )

  it.effect("delivers missing frame numbers as a gap", () =>
    Effect.gen(function* () {
      const { say, types } = yield* listening()
      yield* say(snapshot(0), trade(1), trade(3))
      assert.deepStrictEqual(types(), ["snapshot 0", "trade 1", "gap", "trade 3"])
    })
  )

  it.effect("delivers control frames on request", () =>
    Effect.gen(function* () {
      const curious = yield* listening(true)
      yield* curious.say(snapshot(0), heartbeat(0))
      assert.deepStrictEqual(curious.types(), ["snapshot 0", "heartbeat 0"])
      const other = yield* listening()
      yield* other.say(snapshot(0), heartbeat(0), trade(1))
      assert.deepStrictEqual(other.types(), ["snapshot 0", "trade 1"])
    })
  )

  it.effect("closes a silent connection and reconnects", () =>
    Effect.gen(function* () {
      const { say, tracker } = yield* listening()
      yield* say(snapshot(0))
      for (let beats = 0; beats < 5; beats++) {
        yield* TestClock.adjust("49 seconds")
        yield* say(heartbeat(0))
      }
      assert.isNull(tracker.latest.closedWith)
      yield* TestClock.adjust("51 seconds")
      assert.strictEqual(tracker.sockets[0]?.closedWith, 1000)
      assert.strictEqual(tracker.sockets.length, 2)
    })
  )

  it.effect("reconnects at once when its ticket was rejected", () =>
    Effect.gen(function* () {
      const { end, tracker } = yield* listening()
      for (let times = 1; times < 5; times++) {
        yield* end(4401)
        assert.strictEqual(tracker.sockets.length, times + 1)
      }
    })
  )

  it.effect(
    "waits longer and longer while nothing answers, up to thirty seconds, and starts over after an answer",
    () =>
      Effect.gen(function* () {
        const { end, say, tracker } = yield* listening()
        for (let times = 0; times < 12; times++) {
          yield* end(1006)
          yield* TestClock.adjust("30 seconds")
        }
        assert.strictEqual(tracker.sockets.length, 13)
        yield* say(snapshot(0))
        yield* end(1006)
        yield* TestClock.adjust("500 millis")
        assert.strictEqual(tracker.sockets.length, 14)
      })
  )

  it.effect("waits as long as a rejected session asks", () =>
    Effect.gen(function* () {
      const { end, tracker } = yield* listening()
      tracker.refusals.push(
        new FathomError({
          status: 429,
          code: "rate_limited",
          message: "",
          requestId: null,
          retryAfterMs: 20_000,
          details: []
        }),
        clientError("connection_lost", "")
      )
      yield* end(4401)
      assert.strictEqual(tracker.sessions, 2)
      yield* TestClock.adjust("19 seconds")
      assert.strictEqual(tracker.sessions, 2)
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual(tracker.sockets.length, 2)
    })
  )

  it.effect.each([1008, 1009, 4403, 4409])("fails for good after code %d", (code) =>
    Effect.gen(function* () {
      const { end, fiber } = yield* listening()
      yield* end(code)
      assert.strictEqual(yield* failureOf(fiber), "tracker_closed")
    })
  )

  it.effect("fails when a session is rejected permanently or has no wallets", () =>
    Effect.gen(function* () {
      const refused = yield* listening()
      refused.tracker.refusals.push(clientError("invalid_answer", "", { status: 403 }))
      yield* refused.end(4401)
      assert.strictEqual(yield* failureOf(refused.fiber), "invalid_answer")
      const empty = yield* listening()
      empty.tracker.wsUrl = ""
      yield* empty.end(4401)
      assert.strictEqual(yield* failureOf(empty.fiber), "no_tracked_wallets")
    })
  )

  it.effect("ends when the service closes normally", () =>
    Effect.gen(function* () {
      const { end, fiber, say, types } = yield* listening()
      yield* say(snapshot(0))
      yield* end(1000)
      assert.strictEqual((yield* Fiber.join(fiber))._tag, "Success")
      assert.deepStrictEqual(types(), ["snapshot 0"])
    })
  )

  it.effect("closes the socket when the subscriber is gone", () =>
    Effect.gen(function* () {
      const { fiber, say, tracker } = yield* listening()
      yield* say(snapshot(0))
      yield* Fiber.interrupt(fiber)
      assert.strictEqual(tracker.latest.closedWith, 1000)
    })
  )

  it.effect("disconnects a subscriber that does not keep up, and lets it resume later", () =>
    Effect.gen(function* () {
      const tracker = new ScriptedTracker()
      const turns = yield* Queue.unbounded<void>()
      const delivered: Array<TrackerEvent> = []
      yield* trackerEvents({ session: tracker.session }).pipe(
        Stream.runForEach((event) => Effect.map(Queue.take(turns), () => delivered.push(event))),
        Effect.provide(tracker.layer),
        Effect.forkChild
      )
      yield* settle
      tracker.latest.say(snapshot(0))
      yield* settle
      for (let seq = 1; seq <= 1002; seq++) {
        tracker.latest.say(trade(seq))
      }
      assert.strictEqual(tracker.sockets[0]?.closedWith, 1000)
      yield* Effect.forEach(Array.from({ length: 1100 }), () => Queue.offer(turns, undefined), { discard: true })
      for (let turns = 0; turns < 5000 && delivered.length < 1001; turns++) {
        yield* Effect.yieldNow
      }
      yield* TestClock.adjust("1 second")
      assert.strictEqual(tracker.sockets.length, 2)
      tracker.latest.open()
      const [{ seq } = { seq: 0 }] = tracker.latest.heard.map((op) => Schema.decodeUnknownSync(Resume)(op))
      assert.strictEqual(delivered.length, seq + 1)
      assert.isAtLeast(seq, 1000)
    })
  )
})

const Resume = Schema.Struct({ op: Schema.Literal("resume"), streamId: Schema.String, seq: Schema.Int })

describe("the pause before another connection", () => {
  const given = {
    failures: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2000 })),
    jitter: Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 0.999 }))
  }

  it.effect.prop("lies between zero and its ceiling", given, ({ jitter, failures }) =>
    Effect.sync(() => {
      const pause = pauseMs(failures, jitter)
      assert.isAtLeast(pause, 0)
      assert.isAtMost(pause, Math.min(30_000, 500 * 2 ** failures))
    })
  )

  it("follows every other close code", () => {
    assert.strictEqual(afterClose(1006), "after-a-pause")
    assert.strictEqual(afterClose(1013), "after-a-pause")
    assert.strictEqual(afterClose(4429), "after-a-pause")
    assert.strictEqual(afterClose(4999), "after-a-pause")
  })
})
