import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import { FathomError } from "../../src/client/FathomError.ts"
import { marketEvents } from "../../src/client/marketEvents.ts"
import type { MarketEvent, MarketSubscription } from "../../src/client/MarketMemory.ts"
import type { Mint } from "../../src/domain/Address.ts"
import { ScriptedTracker } from "./scriptedTracker.ts"

const MINT = "B8nmkjxmcUjVxFe65rPx4vVYPhGFUHRZ63BHW8SRD6et" as Mint
const settle = TestClock.adjust(0)

/** A subscriber of a scripted market socket: prices of a token, and launches under the name `new`. */
const listening = Effect.fnUntraced(function* (
  subscriptions: ReadonlyArray<MarketSubscription> = [
    { channel: "price", mint: MINT },
    { channel: "launches", id: "new" }
  ]
) {
  const market = new ScriptedTracker()
  const delivered: Array<MarketEvent> = []
  const session = Effect.map(market.session, ({ wsUrl }) => ({
    wsUrl,
    expiresInSeconds: 60,
    ticketExpiresAtMs: 1,
    streamId: "unused"
  }))
  const fiber = yield* marketEvents({ session, subscriptions }).pipe(
    Stream.runForEach((event) => Effect.sync(() => delivered.push(event))),
    Effect.result,
    Effect.provide(market.layer),
    Effect.forkChild
  )
  yield* settle
  const say = (...frames: ReadonlyArray<object>) => {
    frames.forEach((frame) => market.latest.say({ sentAtMs: 1, ...frame }))
    return settle
  }
  /** Opens the newest connection as a stream with this name. */
  const open = (streamId: string) => {
    market.latest.open()
    return say({ type: "open", streamId, subscriptions: 100 })
  }
  const end = (code: number) => {
    market.latest.end(code)
    return settle
  }
  const told = () =>
    delivered.map((event) =>
      [event.type, event.id, ...("seq" in event ? [event.seq] : "reason" in event ? [event.reason] : [])].join(" ")
    )
  return { delivered, end, fiber, market, open, say, told }
})

const data = { mint: MINT, priceUsd: "1.5", priceSol: null, slot: 1, timeMs: 1 }
const price = (seq: number, more: object = {}) => ({ type: "price", id: "0", seq, data, ...more })
const snapshot = (seq: number, more: object = {}) => ({
  type: "snapshot",
  id: "0",
  seq,
  channel: "price",
  resumed: false,
  gap: null,
  data: { ...data, asOfSlot: 1 },
  ...more
})
const launches = { channel: "launches", id: "new", data: { launches: [], slot: 1 } }

describe("marketEvents", () => {
  it.effect("subscribes when the socket opens, and delivers the frames of each subscription", () =>
    Effect.gen(function* () {
      const { market, open, say, told } = yield* listening()
      yield* open("str_1")
      assert.deepStrictEqual(market.latest.heard, [
        { op: "subscribe", id: "0", channel: "price", mint: MINT },
        { op: "subscribe", id: "new", channel: "launches" }
      ])
      yield* say(snapshot(0), price(1), snapshot(0, launches), price(4, { skipped: 2 }))
      assert.deepStrictEqual(told(), ["snapshot 0 0", "price 0 1", "snapshot new 0", "price 0 4"])
    })
  )

  it.effect("resumes each subscription where it stopped, naming the stream it was read in", () =>
    Effect.gen(function* () {
      const { end, market, open, say, told } = yield* listening()
      yield* open("str_1")
      yield* say(snapshot(0), price(1), price(2), snapshot(0, launches))
      yield* end(1012)
      yield* open("str_2")
      const places = market.latest.heard.map((message) => (message as { readonly resume?: unknown }).resume)
      assert.deepStrictEqual(places, [
        { streamId: "str_1", seq: 2 },
        { streamId: "str_1", seq: 0 }
      ])
      yield* say(snapshot(2, { resumed: true }), price(3))
      yield* end(1012)
      yield* open("str_3")
      assert.deepStrictEqual(
        market.latest.heard.map((message) => (message as { readonly resume?: unknown }).resume),
        [
          { streamId: "str_2", seq: 3 },
          { streamId: "str_1", seq: 0 }
        ]
      )
      assert.deepStrictEqual(told(), [
        "snapshot 0 0",
        "price 0 1",
        "price 0 2",
        "snapshot new 0",
        "snapshot 0 2",
        "price 0 3"
      ])
    })
  )

  it.effect("delivers gaps of the service, gaps of a snapshot, and gaps from lost frames", () =>
    Effect.gen(function* () {
      const { open, say, told } = yield* listening()
      yield* open("str_1")
      const gap = { fromMs: null, toMs: 1 }
      yield* say(
        snapshot(0, { gap: { ...gap, reason: "unknown_stream" } }),
        { type: "gap", id: "0", seq: 1, data: { ...gap, reason: "source_gap" } },
        price(2),
        price(5)
      )
      assert.deepStrictEqual(told(), [
        "gap 0 unknown_stream",
        "snapshot 0 0",
        "gap 0 source_gap",
        "price 0 2",
        "gap 0 lost",
        "price 0 5"
      ])
    })
  )

  it.effect("requests a subscription again after a passing end, after the time the service names", () =>
    Effect.gen(function* () {
      const { market, open, say, told } = yield* listening()
      yield* open("str_1")
      yield* say(snapshot(0), { type: "ended", id: "0", code: "rate_limited", message: "-", retryAfterMs: 5000 })
      assert.lengthOf(market.latest.heard, 2)
      yield* TestClock.adjust("4999 millis")
      assert.lengthOf(market.latest.heard, 2)
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual(market.latest.heard.at(-1), {
        op: "subscribe",
        id: "0",
        channel: "price",
        mint: MINT,
        resume: { streamId: "str_1", seq: 0 }
      })
      assert.deepStrictEqual(told(), ["snapshot 0 0", "ended 0"])
    })
  )

  it.effect("ends once every subscription has ended", () =>
    Effect.gen(function* () {
      const { fiber, open, say, told } = yield* listening([{ channel: "price", mint: MINT }])
      yield* open("str_1")
      yield* say({ type: "ended", id: "0", code: "not_found", message: "-", retryAfterMs: null })
      assert.strictEqual((yield* Fiber.join(fiber))._tag, "Success")
      assert.deepStrictEqual(told(), ["ended 0"])
    })
  )

  it.effect("fails for a malformed subscription, and after a permanent close", () =>
    Effect.gen(function* () {
      const wrong = yield* listening()
      yield* wrong.open("str_1")
      yield* wrong.say({
        type: "error",
        code: "invalid_message",
        message: "mint is malformed.",
        id: "0",
        field: "mint"
      })
      const closed = yield* listening()
      yield* closed.open("str_1")
      yield* closed.end(4403)
      for (const [fiber, code] of [
        [wrong.fiber, "invalid_call"],
        [closed.fiber, "market_closed"]
      ] as const) {
        const result = yield* Fiber.join(fiber)
        assert.isTrue(
          result._tag === "Failure" && result.failure instanceof FathomError && result.failure.code === code
        )
      }
    })
  )

  it.effect("reconnects after silence", () =>
    Effect.gen(function* () {
      const { market, open, say } = yield* listening()
      yield* open("str_1")
      yield* say(snapshot(0), snapshot(0, launches))
      yield* TestClock.adjust("51 seconds")
      assert.isAbove(market.sockets.length, 1)
    })
  )
})
