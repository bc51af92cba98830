/** Five thousand malformed frames on the sockets of the tracker and of the market, and their streams across a restart. */
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Exit, Layer, Scope } from "effect"
import { HttpServerResponse } from "effect/http"
import { TestClock } from "effect/testing"
import { MARKET_REALTIME_PATH } from "../../../src/api/MarketRealtime.ts"
import { REALTIME_PATH } from "../../../src/api/Tracker.ts"
import { DEFAULT_PLAN } from "../../../src/api/schemas/Plan.ts"
import { layer as readings, Readings } from "../../../src/operations/Readings.ts"
import { Drain } from "../../../src/http/Drain.ts"
import { Listening, serve } from "../../../src/http/server/NodeServer.ts"
import { liveSockets } from "../../../src/http/streams/LiveSocket.ts"
import { marketSocket } from "../../../src/http/streams/marketSocket.ts"
import { trackerSocket } from "../../../src/http/streams/trackerSocket.ts"
import { QuoteTicks } from "../../../src/quotes/QuoteTicks.ts"
import { MarketSessions } from "../../../src/live/market/MarketSessions.ts"
import { MarketTickets } from "../../../src/live/market/MarketTickets.ts"
import { LiveSessions } from "../../../src/wallets/tracker/LiveSessions.ts"
import { Tickets } from "../../../src/wallets/tracker/Tickets.ts"
import { mintOf, seededRandom, walletOf } from "../../market/tape/tape.ts"
import { capabilities, keyOf } from "../../support/http.ts"
import { connectTo, type LiveClient } from "../../support/live.ts"
import { until } from "../../support/sse.ts"

const MINT = mintOf(1)
/** Messages of which the tenth ends a connection. */
const FAULTS = 10
const KEPT_MS = 120_000

const service = Layer.effect(
  Listening,
  Effect.flatMap(Effect.flatMap(Effect.all([trackerSocket, marketSocket]), liveSockets), (upgrade) =>
    serve(Effect.succeed(HttpServerResponse.empty({ status: 404 })), { upgrade })
  )
).pipe(
  Layer.provideMerge([LiveSessions.layer, MarketSessions.layer]),
  Layer.provideMerge([QuoteTicks.layer, Drain.layer]),
  Layer.provideMerge(capabilities({ keys: [keyOf("a", { accountId: "a" })] })),
  Layer.provideMerge(readings),
  Layer.orDie
)

let streams = 0
const grant = () => ({
  keyId: "key_a",
  session: null,
  accountId: "a",
  control: true,
  streamId: `str_${++streams}`,
  sockets: 10_000
})

/** The kinds of sockets: how each is opened, and messages that it does not take. */
const kinds = {
  market: {
    path: MARKET_REALTIME_PATH,
    ticket: MarketTickets.use((tickets) => tickets.issue({ ...grant(), plan: DEFAULT_PLAN })),
    // Open while the malformed ones come: it ends with its connection.
    first: JSON.stringify({ op: "subscribe", id: "kept", channel: "freshness" }),
    codes: new Set(["invalid_message", "unknown_subscription", "duplicate_subscription"]),
    messages: (n: number): ReadonlyArray<unknown> => [
      { op: "subscribe", id: "kept", channel: "freshness" },
      { op: "subscribe", id: `s${n}`, channel: "price", mint: "0".repeat(n % 50) },
      { op: "subscribe", id: `s${n}`, channel: "candles", mint: MINT, resolution: n },
      { op: "subscribe", id: `s${n}`, channel: "trades", mint: MINT, minUsd: -n },
      { op: "subscribe", id: `s${n}`, channel: "price", mint: MINT, resume: { streamId: n, seq: n } },
      { op: "unsubscribe", id: `none${n}` },
      { op: "resume", streamId: `str_${n}`, seq: n }
    ]
  },
  tracker: {
    path: REALTIME_PATH,
    ticket: Tickets.use((tickets) => tickets.issue({ ...grant(), wallets: [walletOf(1)], group: null })),
    first: null,
    codes: new Set(["invalid_message", "resume_too_late"]),
    messages: (n: number): ReadonlyArray<unknown> => [
      { op: "subscribe", id: `s${n}`, channel: "price", mint: MINT },
      { op: "resume" },
      { op: "resume", streamId: n, seq: n },
      { op: "resume", streamId: `str_${n}`, seq: -1 - n },
      { op: "resume", streamId: `str_${n}`, seq: n + 0.5 },
      { op: "resume", streamId: "x".repeat(100), seq: n, more: n }
    ]
  }
} as const

type Kind = keyof typeof kinds

/** A message that no socket takes, in a frame that is well formed. */
const malformed = (kind: Kind, roll: () => number): string | Buffer => {
  const n = Math.floor(roll() * 1_000_000)
  const own = kinds[kind].messages(n)
  const all: ReadonlyArray<unknown> = [
    ...own,
    ...own,
    Buffer.from([n & 255, (n >> 8) & 255]),
    "",
    "{".repeat(1 + (n % 900)),
    `{"op":"ping","id":"${n}"`,
    "\0".repeat(1 + (n % 40)),
    n,
    null,
    [n],
    { op: n },
    { op: `op${n}` },
    { op: "ping", id: { n } },
    { __proto__: null, op: "constructor" }
  ]
  const chosen = all[Math.floor(roll() * all.length)]
  return typeof chosen === "string" || Buffer.isBuffer(chosen) ? chosen : JSON.stringify(chosen)
}

/** A frame with a zero mask, as bytes: its first byte, its payload, and the length that it claims. */
const frame = (first: number, payload: Buffer, claims = payload.length, mask = 0x80): Buffer =>
  Buffer.concat([Buffer.from([first, mask | Math.min(claims, 125), ...(mask === 0 ? [] : [0, 0, 0, 0])]), payload])

/** Bytes that are no frame of RFC 6455, with the codes that may close their connection. */
const broken = (roll: () => number): readonly [Buffer, ReadonlyArray<number>] => {
  const some = Buffer.from("x".repeat(Math.floor(roll() * 100)))
  const all: ReadonlyArray<readonly [Buffer, ReadonlyArray<number>]> = [
    // Reserved bits, unknown opcodes, no mask, a continuation of nothing, and a ping in pieces.
    [frame(0x81 | (0x10 << Math.floor(roll() * 3)), some), [1002]],
    [frame(0x83 + Math.floor(roll() * 5), some), [1002]],
    [frame(0x8b + Math.floor(roll() * 5), some), [1002]],
    [frame(0x81, some, some.length, 0), [1002]],
    [frame(0x80, some), [1002]],
    [frame(0x09, some), [1002]],
    // A close without a whole code, and with one that may not be sent.
    [frame(0x88, Buffer.from([3])), [1002]],
    [frame(0x88, Buffer.from([3, 0xed])), [1002]],
    // Text that is not UTF-8, and a message of which the length alone is too much.
    [frame(0x81, Buffer.from([0xc3, 0x28])), [1007]],
    [Buffer.from([0x81, 0xfe, 0xff, 0xff, 0, 0, 0, 0]), [1009]],
    [Buffer.from([0x81, 0xff, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]), [1009]],
    [Buffer.from([0x81, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0]), [1009]]
  ]
  return all[Math.floor(roll() * all.length)] ?? [some, []]
}

const open = Effect.fnUntraced(function* (kind: Kind) {
  const { first, path, ticket } = kinds[kind]
  const { url } = yield* Listening
  const { ticket: text } = yield* ticket
  const client = yield* connectTo(`${url.replace("http", "ws")}${path}?ticket=${text}`)
  yield* until("the first frame", () => client.texts.length > 0)
  if (first !== null) {
    client.ws.send(first)
    yield* until("the snapshot", () => client.texts.length > 1)
  }
  return client
})

/** Writes bytes past the library, which makes no malformed frame. */
const writeRaw = ({ ws }: LiveClient, bytes: Buffer): void => {
  Object(Reflect.get(ws, "_socket")).write(bytes)
}

/** Reads a number that the service reports of itself. */
const gauges = Effect.map(
  Effect.service(Readings),
  ({ collect }) =>
    (name: string) =>
      collect(0).find((reading) => reading.name === name)?.samples[0]?.value
)

/** Nothing is left of any connection, once streams can no longer be resumed. */
const nothingIsLeft = Effect.gen(function* () {
  yield* TestClock.adjust(KEPT_MS + 2000)
  const gauge = yield* gauges
  for (const prefix of ["fathom_market", "fathom_tracker"]) {
    assert.strictEqual(gauge(`${prefix}_sockets`), 0, prefix)
    assert.strictEqual(gauge(`${prefix}_streams`), 0, prefix)
    assert.strictEqual(gauge(`${prefix}_replay_bytes`), 0, prefix)
    assert.strictEqual(gauge(`${prefix}_unsent_bytes`), 0, prefix)
  }
})

const MESSAGES = 2200
const BROKEN = 300

layer(service)("malformed frames", (it) => {
  for (const kind of ["tracker", "market"] as const) {
    it.effect(`of the ${kind} are answered as documented, and leave nothing behind`, () =>
      Effect.gen(function* () {
        const roll = seededRandom(kind.length)
        const connection = Effect.gen(function* () {
          const client = yield* open(kind)
          const before = client.texts.length
          const sent = Array.from({ length: FAULTS }, () => malformed(kind, roll))
          sent.forEach((message) => client.ws.send(message))
          yield* until("the close", () => client.code() !== null)
          assert.strictEqual(client.code(), 1008)
          const errors = client
            .frames()
            .slice(before)
            .filter(({ type }) => type !== "snapshot")
          assert.lengthOf(errors, FAULTS)
          for (const [n, { code, message, type }] of errors.entries()) {
            assert.strictEqual(type, "error", String(sent[n]))
            assert.isTrue(kinds[kind].codes.has(String(code)), `${String(code)} for ${String(sent[n])}`)
            assert.isString(message)
          }
        })
        const breach = Effect.gen(function* () {
          const client = yield* open(kind)
          const [bytes, codes] = broken(roll)
          writeRaw(client, bytes)
          yield* until(`the close of ${bytes.toString("hex")}`, () => client.code() !== null)
          assert.include(codes, client.code() ?? 0, bytes.toString("hex"))
        })
        yield* Effect.replicateEffect(Effect.scoped(connection), MESSAGES / FAULTS, { concurrency: 20, discard: true })
        yield* Effect.replicateEffect(Effect.scoped(breach), BROKEN, { concurrency: 20, discard: true })
        const gauge = yield* gauges
        yield* until("the last close", () => gauge(`fathom_${kind}_sockets`) === 0)
        yield* nothingIsLeft
      })
    )
  }
})

describe("a stream from before a restart", () => {
  /** A service of its own; `end` is its end. */
  const start = Effect.gen(function* () {
    const scope = yield* Effect.acquireRelease(Scope.make(), (scope) => Scope.close(scope, Exit.void))
    const context = yield* Layer.buildWithScope(Layer.fresh(service), scope)
    return { context, end: Scope.close(scope, Exit.void) }
  })

  it.effect("is resumed with a gap, not in silence, on both sockets", () =>
    Effect.gen(function* () {
      const before = yield* start
      const tracker = yield* Effect.provideContext(open("tracker"), before.context)
      const market = yield* Effect.provideContext(open("market"), before.context)
      const places = [tracker, market].map((client) => String(client.frames()[0]?.["streamId"]))
      yield* before.end
      yield* until("the end of both", () => tracker.code() !== null && market.code() !== null)

      const after = yield* start
      const again = yield* Effect.provideContext(open("tracker"), after.context)
      again.ws.send(JSON.stringify({ op: "resume", streamId: places[0], seq: 0 }))
      yield* until("the snapshot", () => again.texts.length > 1)
      const gap = { reason: "unknown_stream" }
      assert.deepInclude(again.frames()[1], { type: "snapshot", reason: "resume", resumed: false })
      assert.deepInclude(again.frames()[1]?.["gap"], gap)

      const other = yield* Effect.provideContext(open("market"), after.context)
      const resume = { streamId: places[1], seq: 0 }
      other.ws.send(JSON.stringify({ op: "subscribe", id: "again", channel: "freshness", resume }))
      yield* until("the snapshot", () => other.texts.length > 2)
      assert.deepInclude(other.frames()[2], { type: "snapshot", id: "again", seq: 0, resumed: false })
      assert.deepInclude(other.frames()[2]?.["gap"], gap)
    })
  )
})
