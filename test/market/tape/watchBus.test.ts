import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import { watchBus } from "../../../src/market/tape/watchBus.ts"
import { SourceMonitor } from "../../../src/operations/SourceMonitor.ts"
import * as Monitor from "../../../src/operations/SourceMonitor.ts"
import { makeMemoryBlocks } from "../../../src/storage/bus/BlockBus.ts"
import { BusUnavailable } from "../../../src/storage/bus/busLog.ts"

const block = (slot: number) => ({ after: slot - 1, slot, body: slot })
const OOM = "OOM command not allowed when used memory > 'maxmemory'."

/** A watched bus whose server can be full, and silent. */
const watched = Effect.gen(function* () {
  const inner = makeMemoryBlocks<number>({ keptMs: 3_600_000 })
  const server = { isFull: false, heardAtMs: 0 }
  const { failed, ...own } = yield* watchBus({
    ...inner,
    heardAtMs: () => server.heardAtMs,
    append: (chain, entry) =>
      server.isFull ? Effect.fail(new BusUnavailable({ cause: new Error(OOM) })) : inner.append(chain, entry)
  })
  const pass = (ms: number, isHeard = true) =>
    Effect.andThen(
      TestClock.adjust(ms),
      Effect.sync(() => {
        server.heardAtMs += isHeard ? ms : 0
      })
    )
  const status = Effect.clockWith((clock) => Effect.sync(() => own.state(clock.currentTimeMillisUnsafe()).status))
  return { inner, server, pass, status, bus: own.bus, state: own.state, failed }
})

describe("watchBus", () => {
  it.effect("is stale from the first append that a full server refuses, with its words, until one succeeds", () =>
    Effect.gen(function* () {
      const { bus, failed, server, status } = yield* watched
      const { history } = yield* SourceMonitor
      yield* bus.append("a", block(1))
      assert.strictEqual(yield* status, "known")
      server.isFull = true
      assert.strictEqual((yield* Effect.flip(bus.append("a", block(2))))._tag, "BusUnavailable")
      // The server still answers reads.
      assert.strictEqual(yield* status, "stale")
      assert.strictEqual(history("bus", "stale", 0).lastError?.detail, OOM)
      assert.strictEqual(failed(), 1)
      server.isFull = false
      yield* bus.append("a", block(2))
      assert.strictEqual(yield* status, "known")
      assert.strictEqual(failed(), 1)
    }).pipe(Effect.provide(Monitor.layer))
  )

  it.effect("is known again when another process appends", () =>
    Effect.gen(function* () {
      const { bus, inner, server, status } = yield* watched
      yield* bus.append("a", block(1))
      server.isFull = true
      yield* Effect.flip(bus.append("a", block(2)))
      const reading = yield* Effect.forkChild(Stream.runHead(bus.follow("a", 1)), { startImmediately: true })
      yield* inner.append("a", block(2))
      yield* Fiber.join(reading)
      assert.strictEqual(yield* status, "known")
    })
  )

  it.effect("is stale at a reader while nobody appends, though the server answers", () =>
    Effect.gen(function* () {
      const { bus, inner, pass, state, status } = yield* watched
      yield* inner.append("a", block(1))
      yield* Stream.runHead(bus.follow("a", 0))
      yield* pass(30_000)
      assert.strictEqual(yield* status, "known")
      yield* pass(1)
      assert.deepStrictEqual(state(30_001), { observedAtMs: 0, status: "stale", reason: "source_gap" })
      yield* inner.append("a", block(2))
      yield* Stream.runHead(bus.follow("a", 1))
      assert.strictEqual(yield* status, "known")
    })
  )

  it.effect("is stale once the server has not answered for more than 5 s", () =>
    Effect.gen(function* () {
      const { bus, pass, status } = yield* watched
      yield* bus.append("a", block(1))
      yield* pass(5000, false)
      assert.strictEqual(yield* status, "known")
      yield* pass(1, false)
      assert.strictEqual(yield* status, "stale")
    })
  )
})
