/** Event streams of the market through real sockets: the frames of the market socket, its charges, its ends. */
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { TestClock } from "effect/testing"
import { connect } from "node:net"
import { createClient } from "../../../src/client/createClient.ts"
import { CandlesEvent, TradesEvent } from "../../../src/api/MarketStreams.ts"
import { KeyStore } from "../../../src/access/KeyStore.ts"
import { COMMAND_LINE } from "../../../src/api/schemas/KeyAudit.ts"
import { Listening } from "../../../src/http/server/NodeServer.ts"
import { Tape } from "../../../src/market/tape/Tape.ts"
import { address, mintOf } from "../../market/tape/tape.ts"
import { call, keyOf, secretOf } from "../../support/http.ts"
import { block, makeBooks, minted, reading, setSecond } from "../../support/reads.ts"
import { openStream, type OpenStream, until } from "../../support/sse.ts"
import { at, DOLLAR } from "../../support/views.ts"

const TOKEN = mintOf(1)
const OTHER = mintOf(2)
const POOL = address(5, 1)
const NOWHERE = address(9, 9)
const TRADES = "/api/v1/market/trades/stream"
const CANDLES = "/api/v1/market/candles/stream"

const books = makeBooks()
books.tokens.set(TOKEN, minted(1_000_000n, 6))
books.tokens.set(OTHER, minted(1_000_000n, 6))
const keys = "abcdefgh".split("").map((letter) => keyOf(letter))

interface Event {
  readonly id?: string
  readonly event: string
  readonly data: string
}

/** Every event of a stream, the unnumbered ones among them. */
const eventsOf = (stream: OpenStream): ReadonlyArray<Event> =>
  stream
    .text()
    .split("\n\n")
    .slice(0, -1)
    .filter((part) => part.includes("event: "))
    .map((part) =>
      Object.fromEntries(part.split("\n").map((line) => [line.split(": ")[0], line.slice(line.indexOf(": ") + 2)]))
    )

const names = (stream: OpenStream) => eventsOf(stream).map(({ event }) => event)

const heard = (stream: OpenStream, count: number) =>
  until(`${count} events, got ${stream.text()}`, () => eventsOf(stream).length >= count)

const closed = Effect.fnUntraced(function* (stream: OpenStream) {
  yield* until(`the end of ${stream.text()}`, stream.ended)
  return JSON.parse(eventsOf(stream).at(-1)?.data ?? "{}")
})

const bearer = (letter: string, more: object = {}) => ({ authorization: `Bearer ${secretOf(letter)}`, ...more })

const apply = (second: number, ...trades: ReadonlyArray<Parameters<typeof at>[1]>) =>
  Effect.andThen(
    setSecond(second),
    Tape.use((tape) =>
      tape.apply(block(second, { trades: trades.map((given, index) => at(second, { mint: TOKEN, index, ...given })) }))
    )
  )

const left = (key: string) =>
  Effect.map(call("/api/v1/account/key", { key }), (answer) => Number(answer.json("data.budgets.rest.remaining")))

const codeOf = (stream: OpenStream) => `${stream.status} ${JSON.parse(stream.text()).error.code}`

const field = (stream: OpenStream) => JSON.parse(stream.text()).error.details?.[0]?.field

layer(reading({ books, world: { keys } }))("event streams of the market", (it) => {
  it.effect("send trades from their snapshot on, under ids of their own", () =>
    Effect.gen(function* () {
      yield* apply(0, { volumeUsdNanos: DOLLAR })
      const before = yield* left("a")
      const stream = yield* openStream(`${TRADES}?mint=${TOKEN}`, "a")
      assert.strictEqual(stream.status, 200, stream.text())
      assert.strictEqual(stream.headers["content-type"], "text/event-stream")
      assert.strictEqual(stream.headers["x-ratelimit-budget"], "rest")
      yield* heard(stream, 1)
      assert.strictEqual(before - (yield* left("a")), 1)
      yield* apply(1, { volumeUsdNanos: 2n * DOLLAR, pool: POOL }, { mint: OTHER })
      yield* heard(stream, 2)
      const ids = eventsOf(stream).map(({ id }) => String(id))
      assert.deepStrictEqual(names(stream), ["snapshot", "trade"])
      assert.match(ids[0] ?? "", /^str_\w{22}:0$/u)
      assert.strictEqual(ids[1], ids[0]?.replace(/0$/u, "1"))
      eventsOf(stream).forEach((event) => Schema.decodeUnknownSync(TradesEvent)(event))
      stream.cut()
      // Trades of the time without a connection follow on the next one.
      yield* apply(2, { volumeUsdNanos: 3n * DOLLAR, pool: POOL })
      const again = yield* openStream(`${TRADES}?mint=${TOKEN}`, bearer("a", { "last-event-id": ids[1] }))
      yield* heard(again, 2)
      assert.deepStrictEqual(
        eventsOf(again).map(({ data, event }) => [event, JSON.parse(data).seq]),
        [
          ["snapshot", 1],
          ["trade", 2]
        ]
      )
    })
  )

  it.effect("charge every minute, five units for all trades, and are refused where there is no room", () =>
    Effect.gen(function* () {
      const before = yield* left("b")
      const stream = yield* openStream(`${TRADES}?minUsd=1`, "b")
      yield* heard(stream, 1)
      assert.strictEqual(before - (yield* left("b")), 5)
      yield* TestClock.adjust("61 seconds")
      assert.strictEqual(yield* left("b"), before - 5)
      for (let n = 0; n < 113; n++) {
        yield* call("/api/v1/market/overview", { key: "b" })
      }
      const spent = yield* openStream(`${TRADES}?minUsd=1`, "b")
      yield* until("the answer", spent.ended)
      assert.strictEqual(codeOf(spent), "429 rate_limited")
      assert.isAbove(Number(spent.headers["retry-after"]), 0)
    })
  )

  it.effect("send candles as they change, and close at the time that was asked for", () =>
    Effect.gen(function* () {
      yield* apply(180, { priceUsd: 5 })
      const stream = yield* openStream(`${CANDLES}?mint=${TOKEN}&resolution=1m&durationSeconds=90`, "c")
      assert.strictEqual(stream.status, 200, stream.text())
      yield* heard(stream, 1)
      yield* TestClock.adjust("1 second")
      yield* apply(182, { priceUsd: 9 })
      yield* TestClock.adjust("1 second")
      yield* until("the high", () => eventsOf(stream).some(({ data }) => JSON.parse(data).data?.h === 9))
      yield* apply(241, { mint: OTHER })
      yield* TestClock.adjust("1 second")
      yield* until("the close", () => names(stream).includes("candle_closed"))
      yield* TestClock.adjust("60 seconds")
      assert.deepInclude(yield* closed(stream), { type: "close", reason: "completed", retryAfterMs: null })
      eventsOf(stream).forEach((event) => Schema.decodeUnknownSync(CandlesEvent)(event))
    })
  )

  it.effect("are events of the promise client", () =>
    Effect.gen(function* () {
      const { url } = yield* Listening
      const client = createClient({ baseUrl: url, key: secretOf("c") })
      const seen = yield* Effect.promise(async () => {
        for await (const event of client.marketStreams.trades({ query: { mint: TOKEN } })) {
          return event
        }
        return null
      })
      assert.strictEqual(seen?.event, "snapshot")
      assert.isTrue(seen?.event === "snapshot" && seen.data.data.trades.length > 0)
      assert.match(seen?.id ?? "", /^str_\w{22}:0$/u)
    })
  )

  it.effect("refuse what the socket refuses, before they begin", () =>
    Effect.gen(function* () {
      const paths = [
        TRADES,
        `${TRADES}?mint=${TOKEN}&pool=${POOL}`,
        `${TRADES}?minUsd=0`,
        `${TRADES}?mint=${TOKEN}&durationSeconds=0`,
        `${CANDLES}?mint=${TOKEN}`,
        `${CANDLES}?resolution=1m`,
        `${CANDLES}?mint=${TOKEN}&pool=${POOL}&resolution=1m`,
        `${CANDLES}?mint=${NOWHERE}&resolution=1m`,
        `${CANDLES}?pool=${NOWHERE}&resolution=1m`
      ]
      const answers = yield* Effect.forEach(paths, (path) => openStream(path, "d"))
      yield* Effect.forEach(answers, (stream) => until("the answer", stream.ended), { discard: true })
      assert.deepStrictEqual(
        answers.map((stream) => [codeOf(stream), field(stream)]),
        [
          ["400 invalid_request", "mint"],
          ["400 invalid_request", "pool"],
          ["400 invalid_request", "minUsd"],
          ["400 invalid_request", "durationSeconds"],
          ["400 invalid_request", "resolution"],
          ["400 invalid_request", "mint"],
          ["400 invalid_request", "pool"],
          ["503 data_unavailable", undefined],
          ["404 pool_not_found", undefined]
        ]
      )
      const malformed = yield* openStream(`${TRADES}?mint=${TOKEN}`, bearer("d", { "last-event-id": "7" }))
      yield* until("the answer", malformed.ended)
      assert.strictEqual(codeOf(malformed), "400 invalid_request")
      assert.strictEqual(field(malformed), "Last-Event-Id")
    })
  )

  it.effect("resume with a gap where the place is unknown", () =>
    Effect.gen(function* () {
      const stream = yield* openStream(`${TRADES}?mint=${TOKEN}`, bearer("e", { "last-event-id": "str_gone:7" }))
      yield* heard(stream, 1)
      const snapshot = JSON.parse(eventsOf(stream)[0]?.data ?? "")
      assert.deepInclude(snapshot, { type: "snapshot", seq: 0, resumed: false })
      assert.deepInclude(snapshot.gap, { reason: "unknown_stream" })
    })
  )

  it.effect("each take one of a key's five streams, and none of its sockets", () =>
    Effect.gen(function* () {
      const streams = yield* Effect.forEach([1, 2, 3, 4, 5], () => openStream(`${TRADES}?mint=${TOKEN}`, "f"))
      yield* Effect.forEach(streams, (stream) => heard(stream, 1), { discard: true })
      const sixth = yield* openStream(`${TRADES}?mint=${TOKEN}`, "f")
      yield* until("the answer", sixth.ended)
      assert.strictEqual(codeOf(sixth), "429 rate_limited")
      assert.isFalse(streams.some((stream) => stream.ended()))
      streams.forEach((stream) => stream.cut())
    })
  )

  it.effect("end with their key", () =>
    Effect.gen(function* () {
      const stream = yield* openStream(`${TRADES}?mint=${TOKEN}`, "g")
      yield* heard(stream, 1)
      yield* KeyStore.use((store) => store.revoke("key_g", COMMAND_LINE))
      assert.deepInclude(yield* closed(stream), { type: "close", reason: "key_revoked" })
    })
  )

  it.effect("end with slow_consumer for a reader that does not read", () =>
    Effect.gen(function* () {
      const { port } = yield* Listening
      const request = `GET ${TRADES}?mint=${OTHER} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${secretOf("h")}\r\n\r\n`
      const readers = [connect(port), connect(port)] as const
      const [stopped, reading] = readers
      let text = ""
      let bytes = 0
      for (const reader of readers) {
        reader.write(request)
        yield* Effect.promise(() => new Promise((resolve) => reader.once("data", resolve)))
      }
      stopped.pause()
      reading.on("data", ({ length }) => (bytes += length))
      const trades = Array.from({ length: 500 }, (_, index) => at(400, { mint: OTHER, index, volumeUsdNanos: DOLLAR }))
      // More than the buffers of both ends hold, in slots of one second: no time passes for the reader.
      for (let slot = 2000; slot < 2060; slot++) {
        const before = bytes
        yield* Tape.use((tape) => tape.apply(block(400, { slot, trades: trades.map((trade) => ({ ...trade, slot })) })))
        yield* until("the frames of a block", () => bytes > before)
      }
      stopped.on("data", (chunk) => (text += String(chunk)))
      stopped.resume()
      yield* until("the last event", () => text.includes("event: close"))
      assert.include(text, '"reason":"slow_consumer"')
      assert.notInclude(text.slice(text.indexOf("event: close")), "event: trade")
      assert.isBelow(text.length, bytes)
      readers.forEach((reader) => reader.destroy())
    })
  )
})
