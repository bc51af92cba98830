/** `watchTracker` against the sockets of the service. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { createClient } from "../../src/client/createClient.ts"
import { FathomError } from "../../src/client/FathomError.ts"
import type { TrackerEvent } from "../../src/client/TrackerMemory.ts"
import { watchTracker, type WatchOptions } from "../../src/client/watchTracker.ts"
import { Listening } from "../../src/http/server/NodeServer.ts"
import { keyOf, secretOf } from "../support/http.ts"
import { happen, liveService, trackAll } from "../support/live.ts"
import { until } from "../support/sse.ts"
import { blockOf, walletOf } from "../wallets/tracker/liveScene.ts"

const A = walletOf(1)
const keys = Array.from("abcd", (letter) => keyOf(letter, { accountId: letter, scopes: ["tracker.read"] }))

/** A subscriber until it is aborted. Its sockets can be cut. */
const listening = Effect.fnUntraced(function* (key: string, options: WatchOptions = {}) {
  const { url } = yield* Listening
  const sockets: Array<WebSocket> = []
  const events: Array<TrackerEvent> = []
  const ended: { with?: unknown } = {}
  const webSocket = (address: string) => {
    const socket = new WebSocket(address)
    sockets.push(socket)
    return socket
  }
  const client = createClient({ baseUrl: url, key: secretOf(key) })
  const listen = async () => {
    for await (const event of watchTracker(client, { webSocket, ...options })) {
      events.push(event)
    }
  }
  listen().then(
    () => (ended.with = null),
    (failure: unknown) => (ended.with = failure)
  )
  const types = () => events.map((event) => ("seq" in event ? `${event.seq} ${event.type}` : event.type))
  return { sockets, events, types, ended }
})

layer(liveService({ keys }))("watchTracker, against the service", (it) => {
  it.effect("delivers a snapshot, then the trades of the wallets", () =>
    Effect.gen(function* () {
      yield* trackAll([A], "a")
      const { events, types } = yield* listening("a")
      yield* until("the snapshot", () => events.length === 1)
      yield* happen(blockOf(1, [{ wallet: A, after: 2_000_000n }]))
      yield* until("the trade", () => events.length === 3)
      yield* TestClock.adjust("1 second")
      yield* until("the figures", () => events.length === 5)
      assert.deepStrictEqual(types(), ["0 snapshot", "1 trade", "2 balance_update", "3 pnl", "4 pnl_summary"])
      assert.strictEqual(events[1]?.type === "trade" && events[1].amount, 2_000_000n)
    })
  )

  it.effect("resumes after its connection was cut, and loses and repeats no trade", () =>
    Effect.gen(function* () {
      yield* trackAll([A], "b")
      const { sockets, events, types } = yield* listening("b")
      yield* until("the snapshot", () => events.length === 1)
      yield* happen(blockOf(11, [{ wallet: A }]))
      yield* until("the first trade", () => types().includes("1 trade"))
      const before = events.length
      sockets[0]?.close(4000)
      yield* until("the close", () => sockets[0]?.readyState === WebSocket.CLOSED)
      yield* happen(blockOf(12, [{ wallet: A }]))
      yield* until("the second trade", () => types().filter((type) => type.endsWith(" trade")).length === 2)
      yield* happen(blockOf(13, [{ wallet: A }]))
      yield* until("the third trade", () => types().filter((type) => type.endsWith(" trade")).length === 3)
      assert.lengthOf(sockets, 2)
      const [snapshot] = events.slice(before)
      assert.deepInclude(snapshot, { type: "snapshot", reason: "resume", resumed: true, gap: null })
      const ids = events.flatMap((event) => (event.type === "trade" ? [event.eventId] : []))
      assert.strictEqual(new Set(ids).size, 3)
      const numbers = events.flatMap((event) => ("seq" in event && event.type !== "snapshot" ? [event.seq] : []))
      assert.deepStrictEqual(
        numbers,
        numbers.map((_, n) => n + 1)
      )
    })
  )

  it.effect("ends with the reason of its signal", () =>
    Effect.gen(function* () {
      yield* trackAll([A], "c")
      const controller = new AbortController()
      const { ended, sockets, events } = yield* listening("c", { signal: controller.signal })
      yield* until("the snapshot", () => events.length === 1)
      const reason = new Error("enough")
      controller.abort(reason)
      yield* until("the end", () => "with" in ended)
      assert.strictEqual(ended.with, reason)
      yield* until("the socket closes", () => sockets[0]?.readyState === WebSocket.CLOSED)
    })
  )

  it.effect("throws at once when no wallets are tracked", () =>
    Effect.gen(function* () {
      const { ended } = yield* listening("d")
      yield* until("the end", () => "with" in ended)
      assert.instanceOf(ended.with, FathomError)
      assert.strictEqual(ended.with.code, "no_tracked_wallets")
    })
  )
})
