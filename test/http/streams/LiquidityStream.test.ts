/** Changes of liquidity on the market socket and as events, over the store and blocks that are not stored yet. */
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { LiquidityStreamEvent } from "../../../src/api/MarketStreams.ts"
import { MarketControlFrame, MarketDataFrame } from "../../../src/api/schemas/MarketFrame.ts"
import type { LiquidityChange } from "../../../src/api/schemas/LiquidityEvent.ts"
import { SOL } from "../../../src/domain/Address.ts"
import { Tape } from "../../../src/market/tape/Tape.ts"
import { makeMemoryStores } from "../../../src/testing/MemoryStores.ts"
import { address, mintOf, walletOf } from "../../market/tape/tape.ts"
import { call, keyOf, secretOf } from "../../support/http.ts"
import { connectTo, type LiveClient } from "../../support/live.ts"
import { replaced } from "../../support/marketStores.ts"
import { block, makeBooks, minted, reading, setSecond } from "../../support/reads.ts"
import { openStream, type OpenStream, until } from "../../support/sse.ts"
import { at } from "../../support/views.ts"

const [TOKEN, OTHER, NOWHERE] = [mintOf(1), mintOf(2), mintOf(3)]
const [POOL, SECOND_POOL] = [address(5, 1), address(5, 2)]
const STREAM = "/api/v1/market/liquidity/stream"

const books = makeBooks()
books.tokens.set(TOKEN, minted(1_000_000n, 6))
books.tokens.set(NOWHERE, { _tag: "NoToken", observation: { slot: 1, observedAtMs: 1000 } })

const memory = makeMemoryStores()
/** Runs while the store is read, before it answers. */
const whileRead = { meanwhile: Effect.void as Effect.Effect<void, never, never> }
const stored = replaced(memory, {
  trades: {
    liquidityOf: (request) =>
      Effect.tap(memory.trades.liquidityOf(request), () => Effect.suspend(() => whileRead.meanwhile))
  }
})

const change = (given: Partial<LiquidityChange> = {}): LiquidityChange => ({
  signature: "s",
  index: 1024,
  kind: "added",
  pool: POOL,
  dex: "raydium-cpmm",
  provider: walletOf(3),
  sides: [
    { mint: TOKEN, amount: 2n ** 64n - 1n, decimals: 6 },
    { mint: SOL, amount: 5n, decimals: 9 }
  ],
  opens: false,
  includesFees: false,
  ...given
})

const batchOf = (second: number, liquidity: ReadonlyArray<LiquidityChange>) =>
  block(second, { trades: [at(second, { signature: `t${second}`, mint: TOKEN, pool: POOL })], liquidity })

const apply = Effect.fnUntraced(function* (second: number, ...liquidity: ReadonlyArray<LiquidityChange>) {
  const tape = yield* Tape
  yield* setSecond(second)
  yield* tape.apply(batchOf(second, liquidity))
})

/** Stores a block that was applied before. */
const store = (second: number, ...liquidity: ReadonlyArray<LiquidityChange>) =>
  Effect.orDie(memory.blocks.append([batchOf(second, liquidity)]))

const decode = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Union([MarketDataFrame, MarketControlFrame])))

const connected = Effect.gen(function* () {
  const session = yield* call("/api/v1/market/realtime/session", { key: "a" })
  const client = yield* connectTo(String(session.json("wsUrl")))
  yield* until("the first frame", () => client.texts.length > 0)
  return client
})

const of = (client: LiveClient, id: string) => client.frames().filter((frame) => frame["id"] === id)
const subscribe = (client: LiveClient, id: string, terms: object) =>
  client.ws.send(JSON.stringify({ op: "subscribe", id, channel: "liquidity", ...terms }))
const heard = (client: LiveClient, id: string, count: number) =>
  until(`${count} frames of ${id}, got ${client.texts.join("\n")}`, () => of(client, id).length >= count)
const slots = (events: ReadonlyArray<{ readonly slot: number }>) => events.map(({ slot }) => slot - 1000)

const eventsOf = (stream: OpenStream) =>
  stream
    .text()
    .split("\n\n")
    .slice(0, -1)
    .filter((part) => part.includes("event: "))
    .map((part) =>
      Object.fromEntries(part.split("\n").map((line) => [line.split(": ")[0], line.slice(line.indexOf(": ") + 2)]))
    )

layer(reading({ books, stored, world: { keys: [keyOf("a")] } }))("Changes of liquidity", (it) => {
  it.effect("come as frames of their mint or pool after the newest of the record", () =>
    Effect.gen(function* () {
      yield* memory.blocks.open({ genesis: "one", isSandbox: false })
      for (const second of [0, 1]) {
        yield* apply(second, change())
        yield* store(second, change())
      }
      const client = yield* connected
      subscribe(client, "mint", { mint: TOKEN })
      subscribe(client, "pool", { pool: POOL })
      subscribe(client, "removed", { mint: TOKEN, kind: "removed" })
      yield* Effect.forEach(["mint", "pool", "removed"], (id) => heard(client, id, 1))
      const snapshot = Object(of(client, "mint")[0]?.["data"])
      assert.deepStrictEqual([slots(snapshot.events), snapshot.slot], [[1, 0], 1001])
      yield* apply(
        2,
        change({ signature: "other", pool: SECOND_POOL, sides: [{ mint: OTHER, amount: 1n, decimals: 6 }] }),
        change({ signature: "taken", kind: "removed", pool: SECOND_POOL }),
        change({ signature: "given" })
      )
      yield* Effect.forEach(["mint", "pool", "removed"], (id) => heard(client, id, 2))
      yield* apply(3)
      const seen = (id: string) =>
        of(client, id)
          .slice(1)
          .map(({ data, type }) => [type, Object(data).signature])
      assert.deepStrictEqual(seen("mint"), [
        ["liquidity", "taken"],
        ["liquidity", "given"]
      ])
      assert.deepStrictEqual(seen("pool"), [["liquidity", "given"]])
      assert.deepStrictEqual(seen("removed"), [["liquidity", "taken"]])
      client.texts.forEach((text) => decode(text))
    })
  )

  it.effect("are in the snapshot once, although a block comes and is stored while the record is read", () =>
    Effect.gen(function* () {
      const services = yield* Effect.context<Tape>()
      const late = change({ signature: "late" })
      whileRead.meanwhile = Effect.provideContext(
        Effect.gen(function* () {
          whileRead.meanwhile = Effect.void
          yield* apply(4, late)
          yield* store(4, late)
        }),
        services
      )
      const client = yield* connected
      subscribe(client, "a", { mint: TOKEN })
      yield* heard(client, "a", 1)
      yield* apply(5, change({ signature: "next" }))
      yield* until("the next", () => client.texts.some((text) => text.includes('"next"')))
      const all = of(client, "a").flatMap(({ data, type }) => (type === "snapshot" ? Object(data).events : [data]))
      const signatures = all.map((event: { readonly signature: string }) => event.signature)
      assert.strictEqual(signatures.filter((one: string) => one === "late").length, 1)
      assert.strictEqual(signatures.filter((one: string) => one === "next").length, 1)
    })
  )

  it.effect("are refused for a token or pool that does not exist, and name a wrong field", () =>
    Effect.gen(function* () {
      const client = yield* connected
      subscribe(client, "none", { mint: NOWHERE })
      subscribe(client, "pool", { pool: address(9, 9) })
      subscribe(client, "both", { mint: TOKEN, pool: POOL })
      yield* Effect.forEach(["none", "pool", "both"], (id) => heard(client, id, 1))
      assert.deepInclude(of(client, "none")[0], { type: "ended", code: "not_found" })
      assert.deepInclude(of(client, "pool")[0], { type: "ended", code: "not_found" })
      assert.deepInclude(of(client, "both")[0], { type: "error", code: "invalid_message", field: "mint" })
      const paths = [
        `mint=${NOWHERE}`,
        `pool=${address(9, 9)}`,
        `mint=${TOKEN}&pool=${POOL}`,
        "",
        `mint=${TOKEN}&kind=x`
      ]
      const codes = yield* Effect.forEach(paths, (query) =>
        Effect.map(call(`${STREAM}?${query}`), (answer) => `${answer.status} ${String(answer.json("error.code"))}`)
      )
      assert.deepStrictEqual(codes, [
        "404 token_not_found",
        "404 pool_not_found",
        "400 invalid_request",
        "400 invalid_request",
        "400 invalid_request"
      ])
    })
  )

  it.effect("are events of a stream that resumes after its last event", () =>
    Effect.gen(function* () {
      const stream = yield* openStream(`${STREAM}?pool=${POOL}`, "a")
      yield* until("the snapshot", () => eventsOf(stream).length > 0)
      yield* apply(6, change({ signature: "six" }))
      yield* until("the event", () => eventsOf(stream).length > 1)
      eventsOf(stream).forEach((event) => Schema.decodeUnknownSync(LiquidityStreamEvent)(event))
      stream.cut()
      yield* apply(7, change({ signature: "seven" }))
      const again = yield* openStream(`${STREAM}?pool=${POOL}`, {
        authorization: `Bearer ${secretOf("a")}`,
        "last-event-id": String(eventsOf(stream)[1]?.["id"])
      })
      yield* until("the missed event", () => eventsOf(again).length > 1)
      assert.deepStrictEqual(
        eventsOf(again).map(({ data, event }) => [event, JSON.parse(data).seq, JSON.parse(data).data.signature]),
        [
          ["snapshot", 1, undefined],
          ["liquidity", 2, "seven"]
        ]
      )
    })
  )
})
