import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { TestClock } from "effect/testing"
import { COMMAND_LINE } from "../../../src/api/schemas/KeyAudit.ts"
import { CallerLimits } from "../../../src/access/CallerLimits.ts"
import { KeyStore } from "../../../src/access/KeyStore.ts"
import { SOL, USDC } from "../../../src/domain/Address.ts"
import { LimiterUnavailable } from "../../../src/api/schemas/Budget.ts"
import { SpotQuote } from "../../../src/api/schemas/Quote.ts"
import { call, keyOf, running } from "../../support/http.ts"
import { COLD, engineOver, LONELY, makeMarket, ODD, TOKEN } from "../../support/market.ts"
import { openStream, type OpenStream, until } from "../../support/sse.ts"
import { constantProduct } from "../../quotes/toyChain.ts"

const path = (query: Record<string, string> = {}) =>
  `/api/v1/spot/quote/stream?${new URLSearchParams({ inputMint: TOKEN, outputMint: SOL, amount: "1000000", ...query })}`

const story = (stream: OpenStream) =>
  stream.frames().map(({ data, event }) => ("tick" in data ? `${event} ${String(data["tick"])}` : event))

const arrived = (stream: OpenStream, frames: number) =>
  until(`${frames} frames, got ${stream.text()}`, () => stream.frames().length >= frames)

const ended = (stream: OpenStream) => until(`the end of ${stream.text()}`, stream.ended)

const errorOf = (stream: OpenStream) => {
  const { error } = JSON.parse(stream.text())
  return `${stream.status} ${error.code}`
}

const remaining = (key: string) =>
  Effect.map(call("/api/v1/account/key", { key }), (answer) => answer.json("data.budgets.quote.remaining"))

const refusals: ReadonlyArray<readonly [string, Record<string, string>, string, string]> = [
  ["the same mint twice", { outputMint: TOKEN }, "outputMint", "conflict"],
  ["whole tokens", { uiAmount: "1" }, "uiAmount", "unknown"],
  ["an amount of zero", { amount: "0" }, "amount", "out_of_range"],
  ["an interval of 249 ms", { intervalMs: "249" }, "intervalMs", "out_of_range"],
  ["an interval of 60001 ms", { intervalMs: "60001" }, "intervalMs", "out_of_range"],
  ["no duration", { durationSeconds: "0" }, "durationSeconds", "out_of_range"],
  ["241 seconds", { durationSeconds: "241" }, "durationSeconds", "out_of_range"],
  ["a flag in another spelling", { changesOnly: "1" }, "changesOnly", "format"],
  ["venues", { venues: "pumpswap" }, "venues", "unknown"]
]

const market = makeMarket()
const keys = "abcdefghijklmnop"
  .split("")
  .map((letter) => keyOf(letter))
  .concat(keyOf("z", { scopes: ["tracker.read"] }))

/** Lets time pass while the chain goes on being heard. */
const advance = (ms: number) =>
  Effect.suspend(() => {
    market.fresh = { ...market.fresh, heardAtMs: (market.fresh.heardAtMs ?? 0) + ms }
    return TestClock.adjust(ms)
  })

layer(running({ keys, engine: engineOver(market) }))("GET /api/v1/spot/quote/stream", (it) => {
  it.effect("opens, quotes on its grid and closes", () =>
    Effect.gen(function* () {
      const stream = yield* openStream(path({ intervalMs: "250", durationSeconds: "1", outputDecimals: "9" }), "a")
      assert.strictEqual(stream.status, 200)
      assert.strictEqual(stream.headers["content-type"], "text/event-stream")
      assert.strictEqual(stream.headers["cache-control"], "no-store")
      assert.strictEqual(stream.headers["x-ratelimit-budget"], "quote")
      yield* arrived(stream, 2)
      for (const frames of [3, 4, 5]) {
        yield* advance(250)
        yield* arrived(stream, frames)
      }
      yield* advance(250)
      yield* ended(stream)
      assert.isTrue(stream.text().startsWith("retry: 3000\n\nid: "))
      assert.deepStrictEqual(story(stream), ["open", "quote 0", "quote 1", "quote 2", "quote 3", "close"])
      const [open, first] = stream.frames()
      const streamId = open?.data["streamId"]
      assert.match(String(streamId), /^str_[0-9a-zA-Z]{1,60}$/u)
      assert.deepStrictEqual(
        stream.frames().map(({ data, id }) => [id, data["seq"]]),
        [0, 1, 2, 3, 4, 5].map((seq) => [`${String(streamId)}:${seq}`, seq])
      )
      assert.deepInclude(open?.data, {
        inputMint: TOKEN,
        amount: "1000000",
        outputDecimals: 9,
        slippageBps: 50,
        intervalMs: 250,
        durationSeconds: 1,
        changesOnly: false,
        costPerTick: 1
      })
      assert.deepInclude(open?.data["budget"], { limit: 300, remaining: 300 })
      assert.strictEqual(first?.data["budgetRemaining"], 299)
      const quote = yield* Schema.decodeUnknownEffect(SpotQuote)(first?.data["quote"])
      assert.deepStrictEqual(yield* Schema.encodeEffect(SpotQuote)(quote), first?.data["quote"])
      assert.deepInclude(stream.frames().at(-1)?.data, { reason: "completed", ticks: 4, emitted: 4, unitsCharged: 4 })
      assert.strictEqual(yield* remaining("a"), 296)
    })
  )

  it.effect("takes its defaults from the contract", () =>
    Effect.gen(function* () {
      const stream = yield* openStream(path(), "b")
      yield* arrived(stream, 2)
      stream.cut()
      assert.deepInclude(stream.frames()[0]?.data, {
        intervalMs: 2000,
        durationSeconds: 60,
        outputDecimals: null,
        changesOnly: false
      })
    })
  )

  it.effect("sends a comment every twenty seconds and goes on after an error", () =>
    Effect.gen(function* () {
      const stream = yield* openStream(path({ intervalMs: "15000", durationSeconds: "59", changesOnly: "true" }), "c")
      yield* arrived(stream, 2)
      market.fresh = { ...market.fresh, state: "loading" }
      yield* advance(15_000)
      yield* arrived(stream, 3)
      market.fresh = { ...market.fresh, state: "live" }
      yield* advance(5000)
      yield* until("a heartbeat", () => stream.text().endsWith("\n\n: hb\n\n"))
      yield* advance(10_000)
      market.pools = [constantProduct(TOKEN, TOKEN, SOL, [1_000_000_000n, 7_000_000_000n], { slot: 80 })]
      yield* advance(15_000)
      yield* arrived(stream, 4)
      yield* advance(14_000)
      yield* ended(stream)
      market.pools = makeMarket().pools
      assert.deepStrictEqual(story(stream), ["open", "quote 0", "error 1", "quote 3", "close"])
      const [, , failure, change, close] = stream.frames()
      assert.deepInclude(failure?.data, { retryable: true })
      assert.deepInclude(failure?.data["error"], { code: "state_stale" })
      assert.deepStrictEqual(change?.data["changed"], ["outAmount", "route"])
      assert.deepInclude(close?.data, { ticks: 4, emitted: 2, suppressed: 1, errors: 1, unitsCharged: 3 })
      assert.strictEqual(stream.text().split(": hb\n\n").length - 1, 2)
      assert.strictEqual(yield* remaining("c"), 297)
    })
  )

  it.effect("reports a spent budget, and resumes when the window rolls", () =>
    Effect.gen(function* () {
      for (let i = 0; i < 299; i++) {
        yield* call(`/api/v1/spot/quote?${path().split("?")[1] ?? ""}`, { key: "d" })
      }
      yield* advance(1000)
      const stream = yield* openStream(path({ intervalMs: "20000", durationSeconds: "100" }), "d")
      yield* arrived(stream, 2)
      yield* advance(20_000)
      yield* arrived(stream, 3)
      yield* advance(20_000)
      yield* advance(20_000)
      yield* arrived(stream, 4)
      stream.cut()
      assert.deepStrictEqual(story(stream), ["open", "quote 0", "throttled 1", "quote 3"])
      const [open, , throttled] = stream.frames()
      const openedAt = Number(open?.data["atMs"])
      assert.deepInclude(throttled?.data, {
        limit: 300,
        remaining: 0,
        resetAtMs: openedAt + 59_000,
        retryAfterMs: 39_000,
        nextTickAtMs: openedAt + 60_000
      })
    })
  )

  it.effect("refuses as ordinary JSON before the first byte, and opens nothing", () =>
    Effect.gen(function* () {
      for (const [query, expected] of [
        [{ inputMint: LONELY }, "404 no_route"],
        [{ outputMint: USDC }, "501 route_not_supported"],
        [{ inputMint: ODD }, "501 route_not_supported"],
        [{ inputMint: COLD }, "503 state_cold"]
      ] as const) {
        const stream = yield* openStream(path(query), "e")
        yield* ended(stream)
        assert.strictEqual(errorOf(stream), expected)
        assert.strictEqual(stream.headers["content-type"], "application/json")
      }
      market.fresh = { ...market.fresh, state: "loading" }
      const stale = yield* openStream(path(), "e")
      yield* ended(stale)
      market.fresh = { ...market.fresh, state: "live" }
      assert.strictEqual(errorOf(stale), "503 state_stale")
      assert.isDefined(stale.headers["retry-after"])
      // Only the 404 costs a unit.
      assert.strictEqual(yield* remaining("e"), 299)
    })
  )

  for (const [what, query, field, issue] of refusals) {
    it.effect(`refuses ${what} at ${field} as ${issue}`, () =>
      Effect.gen(function* () {
        const answer = yield* call(path(query), { key: "f" })
        assert.strictEqual(answer.status, 400, answer.text)
        assert.deepInclude([answer.json("error.details")].flat(), { in: "query", field, issue })
      })
    )
  }

  it.effect("needs a key with the scope md.read, and GET", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* call(path(), { key: null })).json("error.code"), "missing_api_key")
      assert.strictEqual((yield* call(path(), { key: "z" })).json("error.code"), "missing_scope")
      assert.strictEqual((yield* call(path(), { method: "POST" })).json("error.code"), "method_not_allowed")
    })
  )

  it.effect("lets a key have five streams, gives the place back when one is cut, and charges no refusal", () =>
    Effect.gen(function* () {
      const open = yield* Effect.replicateEffect(openStream(path({ intervalMs: "60000" }), "g"), 5)
      const sixth = yield* openStream(path(), "g")
      yield* ended(sixth)
      assert.strictEqual(errorOf(sixth), "429 rate_limited")
      assert.strictEqual(JSON.parse(sixth.text()).error.details[0].field, "stream")
      assert.isDefined(sixth.headers["retry-after"])
      assert.match(String(sixth.headers["ratelimit"]), new RegExp(`;t=${sixth.headers["retry-after"]}$`, "u"))
      assert.strictEqual(sixth.headers["x-ratelimit-cost"], "0")
      assert.strictEqual(yield* remaining("g"), 295)
      assert.strictEqual((yield* openStream(path(), "h")).status, 200)

      open[0]?.cut()
      let again = yield* openStream(path(), "g")
      for (let attempt = 0; attempt < 200 && again.status === 429; attempt++) {
        again = yield* openStream(path(), "g")
      }
      assert.strictEqual(again.status, 200)
      for (const stream of [...open, again]) {
        stream.cut()
      }
    })
  )

  it.effect("stops charging when the reader has gone", () =>
    Effect.gen(function* () {
      const stream = yield* openStream(path({ intervalMs: "1000" }), "i")
      yield* arrived(stream, 2)
      yield* advance(1000)
      yield* arrived(stream, 3)
      stream.cut()
      // The server hears of it on the socket; from then on no tick is charged.
      let before = yield* remaining("i")
      for (let quiet = 0; quiet < 3;) {
        yield* advance(1000)
        const now = yield* remaining("i")
        quiet = now === before ? quiet + 1 : 0
        before = now
      }
      assert.isAtLeast(Number(before), 290)
    })
  )

  it.effect("closes the streams of a key that is revoked or disabled, and no others", () =>
    Effect.gen(function* () {
      const store = yield* KeyStore
      const revoked = yield* openStream(path(), "j")
      const disabled = yield* openStream(path(), "k")
      const other = yield* openStream(path(), "l")
      yield* store.revoke("key_j", COMMAND_LINE)
      yield* store.disable("key_k", COMMAND_LINE)
      yield* ended(revoked)
      yield* ended(disabled)
      assert.deepInclude(revoked.frames().at(-1)?.data, { reason: "key_revoked", ticks: 1 })
      assert.deepInclude(disabled.frames().at(-1)?.data, { reason: "key_revoked" })
      assert.isFalse(other.ended())
      assert.deepStrictEqual(story(other), ["open", "quote 0"])
      other.cut()
    })
  )

  it.effect("closes as failed at an error that will not go away", () =>
    Effect.gen(function* () {
      const stream = yield* openStream(path({ intervalMs: "250", inputMint: TOKEN }), "m")
      yield* arrived(stream, 2)
      market.defect = new Error("a bug")
      for (let errors = 1; errors <= 30; errors++) {
        yield* advance(250)
        yield* arrived(stream, 2 + errors)
      }
      market.defect = undefined
      yield* ended(stream)
      assert.deepInclude(stream.frames().at(-1)?.data, { reason: "failed", errors: 30, unitsCharged: 1 })
      assert.deepInclude(stream.frames()[2]?.data["error"], { code: "internal_error" })
      assert.notInclude(stream.text(), "a bug")
    })
  )
})

const down = Effect.fail(new LimiterUnavailable({ cause: "down" }))
const limits = Layer.succeed(CallerLimits, { take: () => down, count: () => down })

layer(running({ keys, engine: engineOver(market), limits }))("a stream whose place cannot be counted", (it) => {
  it.effect("is a 503 that costs nothing", () =>
    Effect.gen(function* () {
      const answer = yield* call(path())
      assert.deepStrictEqual([answer.status, answer.json("error.code")], [503, "limiter_unavailable"])
      assert.strictEqual(answer.headers.get("x-ratelimit-remaining"), "300")
    })
  )
})
