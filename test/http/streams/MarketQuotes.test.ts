/** Quotes of the market socket: the ticks of a quote stream, through a real socket. */
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { TestClock } from "effect/testing"
import { SOL, USDC } from "../../../src/domain/Address.ts"
import { MarketControlFrame, MarketDataFrame } from "../../../src/api/schemas/MarketFrame.ts"
import { call, keyOf, running } from "../../support/http.ts"
import { type Arrived, connectTo, type LiveClient } from "../../support/live.ts"
import { COLD, engineOver, LONELY, makeMarket, TOKEN, UNSEARCHED } from "../../support/market.ts"
import { openStream, until } from "../../support/sse.ts"

const decode = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Union([MarketDataFrame, MarketControlFrame])))
const market = makeMarket()
const keys = "abcdef".split("").map((letter) => keyOf(letter))

/** Lets time pass while the chain goes on being heard. */
const advance = (ms: number) =>
  Effect.suspend(() => {
    market.fresh = { ...market.fresh, heardAtMs: (market.fresh.heardAtMs ?? 0) + ms }
    return TestClock.adjust(ms)
  })

const opened = Effect.fnUntraced(function* (key: string) {
  const client = yield* connectTo(String((yield* call("/api/v1/market/realtime/session", { key })).json("wsUrl")))
  yield* until("the first frame", () => client.texts.length > 0)
  return client
})

const of = (client: LiveClient, id: string): ReadonlyArray<Arrived> =>
  client.frames().filter((frame) => frame["id"] === id)

const heard = (client: LiveClient, id: string, count: number) =>
  until(`${count} frames of ${id}, got ${client.texts.join("\n")}`, () => of(client, id).length >= count)

const pair = { channel: "quote", inputMint: TOKEN, outputMint: SOL, amount: "1000000", intervalMs: 250 }

const subscribe = Effect.fnUntraced(function* (client: LiveClient, id: string, terms: object = {}) {
  client.ws.send(JSON.stringify({ op: "subscribe", id, ...pair, ...terms }))
  yield* heard(client, id, 1)
})

const remaining = (key: string) =>
  Effect.map(call("/api/v1/account/key", { key }), (answer) => Number(answer.json("data.budgets.quote.remaining")))

layer(running({ keys, engine: engineOver(market) }))("the channel quote of the market socket", (it) => {
  it.effect("has the first tick as its snapshot, and the later ones of its grid, each for a unit of quotes", () =>
    Effect.gen(function* () {
      const client = yield* opened("a")
      const before = yield* remaining("a")
      yield* subscribe(client, "q", { outputDecimals: 9 })
      for (const count of [2, 3]) {
        yield* advance(250)
        yield* heard(client, "q", count)
      }
      assert.strictEqual(before - (yield* remaining("a")), 3)
      const frames = of(client, "q")
      assert.deepStrictEqual(
        frames.map(({ data, seq, type }) => [type, seq, Object(data).tick]),
        [
          ["snapshot", 0, 0],
          ["quote", 1, 1],
          ["quote", 2, 2]
        ]
      )
      client.texts.forEach((text) => decode(text))
      client.ws.send(JSON.stringify({ op: "unsubscribe", id: "q" }))
      yield* heard(client, "q", 4)
      assert.deepInclude(of(client, "q")[3], { type: "ended", code: "unsubscribed" })
      const left = yield* remaining("a")
      yield* advance(1000)
      assert.strictEqual(yield* remaining("a"), left)
    })
  )

  it.effect("gives the quotes of the event stream", () =>
    Effect.gen(function* () {
      const client = yield* opened("b")
      yield* subscribe(client, "q", { slippageBps: 70 })
      const query = new URLSearchParams({ inputMint: TOKEN, outputMint: SOL, amount: "1000000", slippageBps: "70" })
      const stream = yield* openStream(`/api/v1/spot/quote/stream?${query}`, "b")
      yield* until("the first quote", () => stream.frames().length >= 2)
      const named = { requestId: "", engineTimeMs: 0 }
      const [own, other] = [of(client, "q")[0]?.["data"], stream.frames()[1]?.data]
      assert.deepStrictEqual({ ...Object(own).quote, ...named }, { ...Object(other)["quote"], ...named })
    })
  )

  it.effect("ends the ticks with the connection, and resumes with a gap", () =>
    Effect.gen(function* () {
      const client = yield* opened("c")
      yield* subscribe(client, "q")
      const streamId = client.frames()[0]?.["streamId"]
      const closed = new Promise((resolve) => client.ws.once("close", resolve))
      client.ws.close(1000)
      yield* Effect.promise(() => closed)
      const again = yield* opened("c")
      yield* subscribe(again, "q", { resume: { streamId, seq: 0 } })
      assert.deepInclude(of(again, "q")[0], { type: "snapshot", seq: 0, resumed: false })
      assert.deepInclude(Object(of(again, "q")[0]?.["gap"]), { reason: "expired" })
      again.ws.send(JSON.stringify({ op: "unsubscribe", id: "q" }))
      yield* heard(again, "q", 2)
      const left = yield* remaining("c")
      yield* advance(1000)
      assert.strictEqual(yield* remaining("c"), left)
    })
  )

  it.effect("sends one frame when the budget is spent, and goes on when it is not", () =>
    Effect.gen(function* () {
      const client = yield* opened("d")
      const ids = Array.from({ length: 75 }, (_, n) => `q${n}`)
      yield* Effect.forEach(ids, (id) => subscribe(client, id), { discard: true })
      for (const count of [2, 3, 4, 5]) {
        yield* advance(250)
        yield* Effect.forEach(ids, (id) => heard(client, id, count), { discard: true })
      }
      assert.strictEqual(yield* remaining("d"), 0)
      const [throttled] = of(client, "q0").slice(-1)
      assert.deepInclude(throttled, { type: "quote_throttled", seq: 4 })
      assert.deepInclude(Object(throttled?.["data"]), { tick: 4, limit: 300, remaining: 0, retryAfterMs: 59_000 })
      yield* advance(59_000)
      yield* Effect.forEach(ids, (id) => heard(client, id, 6), { discard: true })
      const goneOn = of(client, "q0")[5]
      assert.deepInclude(goneOn, { type: "quote", seq: 5 })
      assert.strictEqual(Object(goneOn?.["data"]).tick, 240)
      client.texts.forEach((text) => decode(text))
    })
  )

  it.effect(
    "ends with the reason where the first tick has no price, and costs nothing where the service is at fault",
    () =>
      Effect.gen(function* () {
        const client = yield* opened("e")
        const before = yield* remaining("e")
        yield* subscribe(client, "lonely", { inputMint: LONELY })
        yield* subscribe(client, "cold", { inputMint: COLD })
        yield* subscribe(client, "unsearched", { inputMint: UNSEARCHED })
        yield* subscribe(client, "same", { outputMint: TOKEN })
        yield* subscribe(client, "none", { amount: "0" })
        yield* subscribe(client, "fast", { intervalMs: 249 })
        yield* subscribe(client, "unserved", { outputMint: USDC })
        const answers = ["lonely", "cold", "unsearched", "same", "none", "fast", "unserved"].map(
          (id) => of(client, id)[0]
        )
        assert.deepStrictEqual(
          answers.map((frame) => [frame?.type, frame?.["code"], frame?.["field"]]),
          [
            ["ended", "no_route", undefined],
            ["ended", "state_cold", undefined],
            ["ended", "data_unavailable", undefined],
            ["error", "invalid_message", "outputMint"],
            ["error", "invalid_message", "amount"],
            ["error", "invalid_message", "intervalMs"],
            ["ended", "route_not_supported", undefined]
          ]
        )
        assert.strictEqual(before - (yield* remaining("e")), 1)
        client.texts.forEach((text) => decode(text))
      })
  )

  it.effect("ends after thirty failures in a row, with a frame for each", () =>
    Effect.gen(function* () {
      const client = yield* opened("f")
      yield* subscribe(client, "q")
      const { pools } = market
      market.pools = []
      for (let n = 1; n <= 30; n++) {
        yield* advance(250)
        yield* heard(client, "q", n + 1)
      }
      yield* heard(client, "q", 32)
      market.pools = pools
      const types = of(client, "q").map(({ type }) => type)
      assert.deepStrictEqual(types, ["snapshot", ...Array.from({ length: 30 }, () => "quote_error"), "ended"])
      assert.deepInclude(of(client, "q")[31], { code: "no_route" })
      client.texts.forEach((text) => decode(text))
    })
  )
})
