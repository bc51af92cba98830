import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { TestClock } from "effect/testing"
import { COMMAND_LINE } from "../../../src/api/schemas/KeyAudit.ts"
import { KeyStore } from "../../../src/access/KeyStore.ts"
import { MarketControlFrame, MarketDataFrame } from "../../../src/api/schemas/MarketFrame.ts"
import { Market } from "../../../src/market/tape/Market.ts"
import { Tape } from "../../../src/market/tape/Tape.ts"
import { address, mintOf, MONDAY, walletOf } from "../../market/tape/tape.ts"
import { call, keyOf } from "../../support/http.ts"
import { type Arrived, closing, connectTo, type LiveClient } from "../../support/live.ts"
import { block, makeBooks, minted, reading, setSecond } from "../../support/reads.ts"
import { until } from "../../support/sse.ts"
import { at, DOLLAR } from "../../support/views.ts"

const TOKEN = mintOf(1)
const OTHER = mintOf(2)
const POOL = address(5, 1)
const PATH = "/api/v1/market/realtime"

const books = makeBooks()
books.tokens.set(TOKEN, minted(1_000_000n, 6))
books.tokens.set(OTHER, minted(1_000_000n, 6))

const keys = ["a", "b", "c", "d", "e"].map((letter) => keyOf(letter))
const decode = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Union([MarketDataFrame, MarketControlFrame])))

const sessionOf = Effect.fnUntraced(function* (key: string) {
  return String((yield* call(`${PATH}/session`, { key })).json("wsUrl"))
})

/** A client of a new session, with what was sent to one of its subscriptions. */
const opened = Effect.fnUntraced(function* (key = "a") {
  const client = yield* connectTo(yield* sessionOf(key))
  yield* until("the first frame", () => client.texts.length > 0)
  return client
})

const of = (client: LiveClient, id: string): ReadonlyArray<Arrived> =>
  client.frames().filter((frame) => frame["id"] === id)

const heard = (client: LiveClient, id: string, count: number) =>
  until(`${count} frames of ${id}, got ${client.texts.join("\n")}`, () => of(client, id).length >= count)

/** Subscribes and waits for the answer. */
const subscribe = Effect.fnUntraced(function* (client: LiveClient, id: string, terms: object) {
  client.ws.send(JSON.stringify({ op: "subscribe", id, ...terms }))
  yield* heard(client, id, 1)
})

const apply = (second: number, ...trades: ReadonlyArray<Parameters<typeof at>[1]>) =>
  Effect.andThen(
    setSecond(second),
    Tape.use((tape) =>
      tape.apply(block(second, { trades: trades.map((given, index) => at(second, { mint: TOKEN, index, ...given })) }))
    )
  )

const types = (frames: ReadonlyArray<Arrived>) => frames.map(({ type }) => type)

layer(reading({ books, world: { keys } }))("the market socket", (it) => {
  it.effect("opens once with a ticket, which is no ticket of the tracker", () =>
    Effect.gen(function* () {
      yield* apply(0, { volumeUsdNanos: DOLLAR })
      const url = yield* sessionOf("a")
      const client = yield* connectTo(url)
      yield* until("the first frame", () => client.texts.length > 0)
      assert.deepInclude(client.frames()[0], { type: "open", subscriptions: 100 })
      assert.strictEqual(yield* closing(yield* connectTo(url)), 4401)
      const other = (yield* sessionOf("a")).replace("/market/", "/tracker/")
      assert.strictEqual(yield* closing(yield* connectTo(other)), 4401)
    })
  )

  it.effect("sends trades by mint, pool, wallet and value: a snapshot, then each as it happens", () =>
    Effect.gen(function* () {
      const client = yield* opened("b")
      yield* subscribe(client, "mint", { channel: "trades", mint: TOKEN })
      yield* subscribe(client, "pool", { channel: "trades", pool: POOL })
      yield* subscribe(client, "wallet", { channel: "trades", wallet: walletOf(7) })
      yield* subscribe(client, "all", { channel: "trades", minUsd: "1.5" })
      assert.lengthOf(Object(of(client, "mint")[0]?.["data"]).trades, 1)
      yield* apply(
        1,
        { volumeUsdNanos: DOLLAR, pool: POOL },
        { volumeUsdNanos: 2n * DOLLAR, wallet: walletOf(7), role: "pool" },
        { mint: OTHER, volumeUsdNanos: 2n * DOLLAR },
        { volumeUsdNanos: 2n * DOLLAR, role: "wallet", wallet: walletOf(7) }
      )
      yield* heard(client, "all", 3)
      const seen = ["mint", "pool", "wallet", "all"].map((id) => of(client, id).map(({ seq }) => seq))
      assert.deepStrictEqual(seen, [
        [0, 1, 2],
        [0, 1],
        [0, 1],
        [0, 1, 2]
      ])
      client.texts.forEach((text) => decode(text))
    })
  )

  it.effect("names in every snapshot the slot that it is of", () =>
    Effect.gen(function* () {
      const client = yield* opened("b")
      const slot = (yield* Market).newestSlot()
      const channels = {
        trades: { mint: TOKEN },
        candles: { mint: TOKEN, resolution: "1m" },
        price: { mint: TOKEN },
        launches: {},
        graduations: {},
        movers: { window: "5m" }
      }
      for (const [channel, terms] of Object.entries(channels)) {
        yield* subscribe(client, channel, { channel, ...terms })
        const data = Object(of(client, channel)[0]?.["data"])
        assert.strictEqual(channel === "price" ? data.asOfSlot : data.slot, slot, channel)
      }
      client.texts.forEach((text) => decode(text))
    })
  )

  it.effect("sends a price at most four times a second, and always the last one", () =>
    Effect.gen(function* () {
      const client = yield* opened("b")
      yield* subscribe(client, "p", { channel: "price", mint: TOKEN })
      for (const priceUsd of [2, 3, 4]) {
        yield* apply(2, { priceUsd })
      }
      yield* heard(client, "p", 2)
      yield* TestClock.adjust("300 millis")
      yield* heard(client, "p", 3)
      const prices = of(client, "p").map(({ data }) => Object(data).priceUsd)
      assert.strictEqual(prices.at(-1), "4")
      assert.lengthOf(prices, 3)
      client.texts.forEach((text) => decode(text))
    })
  )

  it.effect("sends the open candle as it changes, and each closed one once and final", () =>
    Effect.gen(function* () {
      const client = yield* opened("c")
      yield* apply(60, { priceUsd: 5 })
      yield* subscribe(client, "c", { channel: "candles", mint: TOKEN, resolution: "1m" })
      yield* TestClock.adjust("1 second")
      yield* apply(62, { priceUsd: 9 })
      yield* TestClock.adjust("1 second")
      yield* until("the high", () => of(client, "c").some(({ data }) => Object(data).h === 9))
      // A block without a trade of the token ends its candle.
      yield* apply(121, { mint: OTHER })
      yield* TestClock.adjust("1 second")
      yield* until("the close", () => types(of(client, "c")).includes("candle_closed"))
      yield* apply(130, { priceUsd: 6 })
      yield* TestClock.adjust("1 second")
      yield* until("the next candle", () => of(client, "c").some(({ data }) => Object(data).c === 6))
      const closed = of(client, "c").filter(({ type }) => type === "candle_closed")
      assert.lengthOf(closed, 1)
      assert.deepInclude(closed[0]?.["data"], { t: (MONDAY + 60) * 1000, o: 5, h: 9, c: 9 })
      client.texts.forEach((text) => decode(text))
    })
  )

  it.effect("sends launches, graduations, rankings and freshness", () =>
    Effect.gen(function* () {
      const client = yield* opened("c")
      yield* subscribe(client, "l", { channel: "launches" })
      yield* subscribe(client, "g", { channel: "graduations" })
      yield* subscribe(client, "m", { channel: "movers", window: "5m", rank: "volume" })
      yield* subscribe(client, "f", { channel: "freshness" })
      yield* setSecond(140)
      const launch = { mint: OTHER, launchpad: "pump", pool: POOL }
      const launches = [{ event: "created", ...launch } as const, { event: "migrated", ...launch } as const]
      yield* Tape.use((tape) => tape.apply(block(140, { launches, trades: [at(140, { mint: OTHER })] })))
      yield* Effect.forEach(["l", "g"], (id) => heard(client, id, 2))
      yield* TestClock.adjust("6 seconds")
      yield* Effect.forEach(["m", "f"], (id) => heard(client, id, 2))
      assert.deepStrictEqual(
        ["l", "g", "m", "f"].map((id) => types(of(client, id)).at(1)),
        ["launch", "graduation", "movers", "freshness"]
      )
      client.texts.forEach((text) => decode(text))
    })
  )

  it.effect("sends the rows of a screen and their changes, for six units a minute", () =>
    Effect.gen(function* () {
      const client = yield* opened("e")
      yield* subscribe(client, "s", {
        channel: "screen",
        sort: { statistic: "idleMs", direction: "asc" },
        limit: 1
      })
      const first = Object(of(client, "s")[0]?.["data"])
      assert.lengthOf(first.rows, 1)
      const left = yield* call("/api/v1/account/key", { key: "e" })
      assert.strictEqual(Number(left.json("data.budgets.rest.remaining")), 120 - 6 - 1)
      const next = first.rows[0].token.address === TOKEN ? OTHER : TOKEN
      yield* apply(145, { mint: next })
      const entered = () =>
        of(client, "s")
          .slice(1)
          .find(({ data }) => Object(data).entered.length > 0)
      yield* until("the change", () => entered() !== undefined).pipe(
        Effect.raceFirst(
          Effect.forever(
            Effect.andThen(
              TestClock.adjust("1 second"),
              Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 20)))
            )
          )
        )
      )
      const change = Object(entered()?.["data"])
      assert.deepStrictEqual(
        [change.entered.map(({ token }: { token: { address: string } }) => token.address), change.left],
        [[next], [first.rows[0].token.address]]
      )
      client.texts.forEach((text) => decode(text))
    })
  )

  it.effect("reports blocks that were not read as a gap in the order of the frames", () =>
    Effect.gen(function* () {
      const client = yield* opened("c")
      yield* subscribe(client, "t", { channel: "trades", mint: TOKEN })
      yield* setSecond(150)
      yield* Tape.use((tape) => tape.apply(block(150, { afterGap: true, trades: [at(150, { mint: TOKEN })] })))
      yield* heard(client, "t", 3)
      assert.deepStrictEqual(types(of(client, "t")), ["snapshot", "gap", "trade"])
      assert.deepInclude(of(client, "t")[1]?.["data"], { reason: "source_gap", toMs: (MONDAY + 150) * 1000 })
    })
  )

  it.effect("reports blocks of another fork as a gap that begins before the first of them", () =>
    Effect.gen(function* () {
      const client = yield* opened("c")
      yield* subscribe(client, "t", { channel: "trades", mint: TOKEN })
      yield* setSecond(153)
      const { slot } = block(151)
      yield* Tape.use((tape) => tape.apply(block(151, {})))
      yield* Tape.use((tape) => tape.apply(block(152, {})))
      yield* Tape.use((tape) => tape.apply(block(153, { afterGap: true, forkedFrom: slot })))
      yield* heard(client, "t", 2)
      assert.deepStrictEqual(types(of(client, "t")), ["snapshot", "gap"])
      const gap = Object(of(client, "t")[1]?.["data"])
      assert.isAtMost(gap.fromMs, (MONDAY + 151) * 1000)
      assert.strictEqual(gap.toMs, (MONDAY + 153) * 1000)
      // The block that reported the next fork was lost.
      yield* setSecond(155)
      const earlierForks = [{ slot: block(154).slot, from: block(152).slot }]
      yield* Tape.use((tape) => tape.apply(block(155, { afterGap: true, earlierForks })))
      yield* heard(client, "t", 3)
      assert.isAtMost(Object(of(client, "t")[2]?.["data"]).fromMs, (MONDAY + 152) * 1000)
    })
  )

  it.effect("charges each minute to the rest budget, and refuses a subscription that it has no room for", () =>
    Effect.gen(function* () {
      const left = Effect.map(call("/api/v1/market/overview", { key: "d" }), ({ headers }) =>
        Number(headers.get("x-ratelimit-remaining"))
      )
      const client = yield* opened("d")
      const before = yield* left
      for (let n = 0; n < 12; n++) {
        yield* subscribe(client, `s${n}`, { channel: "trades", minUsd: "1" })
      }
      yield* subscribe(client, "free", { channel: "freshness" })
      assert.strictEqual(before - (yield* left), 12 * 5 + 1)
      yield* TestClock.adjust("70 seconds")
      // The first charges have left the window; the second minute is in it.
      assert.strictEqual(yield* left, 120 - 12 * 5 - 1)
      for (let n = 12; n < 24; n++) {
        yield* subscribe(client, `s${n}`, { channel: "trades", minUsd: "1" })
      }
      const ended = client.frames().filter(({ type }) => type === "ended")
      assert.deepStrictEqual(
        ended.map(({ code, id }) => [code, id]),
        [["rate_limited", "s23"]]
      )
      assert.isAbove(Number(ended[0]?.["retryAfterMs"]), 0)
      client.texts.forEach((text) => decode(text))
    })
  )

  it.effect("ends with its key", () =>
    Effect.gen(function* () {
      const client = yield* opened("e")
      yield* KeyStore.use((store) => store.revoke("key_e", COMMAND_LINE))
      assert.strictEqual(yield* closing(client), 4403)
    })
  )
})
