import { assert, it, layer } from "@effect/vitest"
import { Clock, Effect, Layer, Schedule, Stream } from "effect"
import { HttpServer } from "effect/http"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ChainFeed } from "../../../src/chain/ChainFeed.ts"
import type { Moment } from "../../../src/chain/recording/recordEntry.ts"
import { RecordWriter } from "../../../src/chain/recording/RecordWriter.ts"
import { ReplayPace } from "../../../src/chain/recording/ReplayPace.ts"
import * as Replay from "../../../src/chain/recording/Replay.ts"
import { replayRoutes } from "../../../src/chain/recording/replayRoutes.ts"
import { TradeBlocks } from "../../../src/chain/decoding/TradeBlocks.ts"
import { serve } from "../../../src/operations/AdminServer.ts"
import { at, holding, readFeed, until } from "../accounts/accounts.ts"

const START_MS = 1_790_000_000_000
const account = at(1)

const momentOf = (slot: number): Moment => ({
  slot,
  heardAtMs: START_MS + slot * 400,
  state: "live",
  epoch: 3,
  unixTimestamp: 1_790_000_000
})

/** Slots 10 to 60: the account has the number of its slot. */
const record = Effect.fnUntraced(function* (folder: string) {
  const writer = new RecordWriter({ folder, run: "a", bounds: { mostBytes: 1e9, keptMs: 1e9 } })
  writer.setGenesis("the chain")
  writer.watch([account])
  for (let slot = 10; slot <= 60; slot++) {
    const accounts = new Map([[account, holding(account, [slot], slot)]])
    writer.take({ _tag: "Writes", slot, accounts }, momentOf(slot))
    yield* Effect.promise(() => writer.flush(momentOf(slot)))
  }
})

const world = Layer.unwrap(
  Effect.gen(function* () {
    const folder = yield* Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "fathom-pace-"))),
      (made) => Effect.sync(() => rmSync(made, { recursive: true }))
    )
    yield* record(folder)
    const opened = yield* Replay.openReplay({ folder, from: 20, to: null, speed: null, isStepping: true })
    return Layer.mergeAll(Replay.layer, serve({ host: "127.0.0.1", port: 0 }, replayRoutes)).pipe(
      Layer.provideMerge([Layer.succeed(Replay.CurrentReplay, opened), Layer.succeed(Clock.Clock, opened.clock)])
    )
  })
)

/** Waits until the replay says that it is paused. Returns what it says then. */
const paused = Effect.suspend(() => send()).pipe(
  Effect.repeat({ until: ({ isPaused }) => isPaused === true, schedule: Schedule.spaced("1 millis") })
)

const send = (body?: unknown) =>
  HttpServer.addressFormattedWith((url) =>
    Effect.promise(async () => {
      const response = await fetch(`${url}/replay`, {
        method: body === undefined ? "GET" : "POST",
        headers: { "content-type": "application/json" },
        ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) })
      })
      const answer: Record<string, unknown> = { status: response.status, ...((await response.json()) as object) }
      return answer
    })
  )

layer(world, { excludeTestServices: true })("a replay that is told how far to go", (it) => {
  it.effect("waits after its first slot, steps, seeks forward, pauses, and goes on to its end", () =>
    Effect.gen(function* () {
      const feed = yield* ChainFeed
      const reader = yield* readFeed(feed)
      yield* feed.watch([account])
      yield* (yield* TradeBlocks).follow(0).pipe(Stream.runDrain, Effect.forkScoped)
      const newest = () => reader.bytes(account)?.[0]
      yield* until("the first state", () => newest() === 20)

      assert.deepInclude(yield* paused, { status: 200, slot: 20, from: 20, to: null, isPaused: true, speed: "max" })
      yield* send({ action: "step" })
      yield* until("one more slot", () => newest() === 21)
      yield* send({ action: "step", slots: 3 })
      yield* until("three more slots", () => newest() === 24)
      assert.deepInclude(yield* paused, { slot: 24, isPaused: true })

      yield* send({ action: "seek", slot: 40 })
      yield* until("a later slot", () => newest() === 40)
      assert.deepInclude(yield* paused, { slot: 40, isPaused: true })

      assert.deepInclude(yield* send({ action: "speed", speed: 100 }), { speed: 100 })
      yield* send({ action: "resume" })
      yield* until("some slots", () => (newest() ?? 0) > 41)
      const { ["slot"]: slot } = yield* send({ action: "pause" })
      yield* send({ action: "speed", speed: "max" })
      assert.isAtMost(newest() ?? 0, Number(slot))
      yield* send({ action: "resume" })
      yield* until("the end", () => newest() === 60)
      yield* send({ action: "pause" })
      assert.deepInclude(yield* paused, { slot: 60 })
    })
  )

  it.effect("takes no orders from a page in a browser", () =>
    HttpServer.addressFormattedWith((url) =>
      Effect.promise(async () => {
        const body = JSON.stringify({ action: "step" })
        const json = { "content-type": "application/json" }
        for (const headers of [{ "content-type": "text/plain" }, { ...json, origin: "https://page.example" }]) {
          const answer = await fetch(`${url}/replay`, { method: "POST", headers, body })
          assert.strictEqual(answer.status, 403)
        }
      })
    )
  )

  it.effect("refuses to go back, and names what it understands", () =>
    Effect.gen(function* () {
      const back = yield* send({ action: "seek", slot: 15 })
      assert.strictEqual(back.status, 400)
      assert.include(JSON.stringify(back), "only goes forward")
      for (const body of [{ action: "stop" }, { action: "step", slots: 0 }, "{", { action: "speed", speed: 1000 }]) {
        const answer = yield* send(body)
        assert.strictEqual(answer.status, 400)
        assert.include(JSON.stringify(answer), "pause")
      }
    })
  )
})

it.effect("a replay is paused once its last slot is played, not before", () =>
  Effect.gen(function* () {
    const pace = new ReplayPace(10, { isStepping: true, speed: null })
    pace.seek(12)
    yield* pace.reach(12)
    assert.deepStrictEqual([pace.slot, pace.isPaused], [12, false])
    yield* Effect.forkScoped(pace.reach(13), { startImmediately: true })
    assert.isTrue(pace.isPaused)
    pace.step(5)
    assert.isFalse(pace.isPaused)
    pace.end()
    assert.isTrue(pace.isPaused)
    pace.resume()
    assert.isFalse(pace.isPaused)
  }).pipe(Effect.scoped)
)
