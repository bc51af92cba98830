import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Queue, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import { framesOf } from "../../src/client/quoteFrames.ts"
import { FathomError } from "../../src/client/FathomError.ts"

const base = (seq: number) => ({ streamId: "str_1", seq, atMs: 1 })
const error = { ...base(0), tick: 0, error: { code: "no_route", message: "Küche 🍳" }, requestId: "r", retryable: true }
const close = {
  ...base(1),
  reason: "completed",
  ticks: 1,
  emitted: 0,
  suppressed: 0,
  errors: 1,
  throttledTicks: 0,
  skippedTicks: 0,
  unitsCharged: 1,
  lastQuoteAtMs: null
}

const sent = (event: string, data: object, eol = "\n") =>
  [`id: str_1:0`, `event: ${event}`, `data: ${JSON.stringify(data)}`, "", ""].join(eol)

const utf8 = new TextEncoder()
const textOf = (eol: string) =>
  `retry: 3000${eol}${eol}: hb${eol}${eol}${sent("error", error, eol)}: hb${eol}${eol}${sent("close", close, eol)}`

const read = (chunks: ReadonlyArray<Uint8Array>) =>
  Stream.runCollect(framesOf(Stream.fromIterable(chunks).pipe(Stream.rechunk(1))))

/** The bytes, cut at these places. */
const cutAt = (bytes: Uint8Array, places: ReadonlyArray<number>) => {
  const edges = [0, ...places.map((place) => place % bytes.length).toSorted((a, b) => a - b), bytes.length]
  return edges.slice(1).map((end, i) => bytes.slice(edges[i], end))
}

describe("the frames of a stream", () => {
  it.effect.prop(
    "are the same wherever the bytes are cut, and however lines end",
    {
      places: Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 5000 }))),
      eol: Schema.Literals(["\n", "\r\n", "\r"])
    },
    ({ eol, places }) =>
      Effect.gen(function* () {
        const frames = yield* read(cutAt(utf8.encode(textOf(eol)), places))
        assert.deepStrictEqual(
          frames.map(({ data, event }): unknown => [event, data]),
          [
            ["error", error],
            ["close", close]
          ]
        )
      })
  )

  it.effect("are the same byte by byte", () =>
    Effect.gen(function* () {
      const bytes = utf8.encode(textOf("\r\n"))
      const frames = yield* read(Array.from(bytes, (byte) => Uint8Array.of(byte)))
      assert.deepStrictEqual(
        frames.map(({ event }) => event),
        ["error", "close"]
      )
    })
  )

  it.effect("fail when the bytes end before the last frame", () =>
    Effect.gen(function* () {
      const failure = yield* Effect.flip(read([utf8.encode(sent("error", error))]))
      assert.strictEqual(failure.code, "stream_broken")
    })
  )

  it.effect("fail at a frame that the contract does not know", () =>
    Effect.gen(function* () {
      const failure = yield* Effect.flip(read([utf8.encode(sent("quote", { seq: 0 }))]))
      assert.strictEqual(failure.code, "invalid_answer")
    })
  )

  it.effect("fail at a frame that never ends", () =>
    Effect.gen(function* () {
      const failure = yield* Effect.flip(read([utf8.encode(`data: ${"x".repeat(2 ** 20)}`)]))
      assert.strictEqual(failure.code, "invalid_answer")
    })
  )
})

describe("the silence timeout of a stream", () => {
  const watched = Effect.gen(function* () {
    const bytes = yield* Queue.unbounded<Uint8Array>()
    const fiber = yield* Effect.forkChild(Effect.result(Stream.runCollect(framesOf(Stream.fromQueue(bytes)))))
    return { fiber, say: (text: string) => Queue.offer(bytes, utf8.encode(text)) }
  })

  it.effect("restarts with each heartbeat, and fails after two and a half missing ones", () =>
    Effect.gen(function* () {
      const { fiber, say } = yield* watched
      for (let beats = 0; beats < 10; beats++) {
        yield* say(": hb\n\n")
        yield* TestClock.adjust("49 seconds")
      }
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("1 second")
      const result = yield* Fiber.join(fiber)
      assert.isTrue(result._tag === "Failure" && result.failure instanceof FathomError)
      assert.strictEqual(result._tag === "Failure" && result.failure.code, "stream_silent")
    })
  )
})
