import { NodeHttpClient } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as EvmCandlesHttp from "../../../src/market/reads/EvmCandlesHttp.ts"
import { EvmCandleSource } from "../../../src/simulator/venues/EvmCandleSource.ts"
import { MONDAY } from "../../market/tape/tape.ts"
import { type Answer, call, keyOf } from "../../support/http.ts"
import { reading, setSecond } from "../../support/reads.ts"

const source = EvmCandleSource.layer({ ailment: { warmingMs: 0 } })

const client = Layer.unwrap(Effect.map(EvmCandleSource, ({ url }) => EvmCandlesHttp.layer(url))).pipe(
  Layer.provide(NodeHttpClient.layerUndici),
  Layer.orDie
)

const service = Layer.unwrap(
  Effect.map(Layer.build(source), (context) => {
    const built = Layer.succeedContext(context)
    const keys = "ab".split("").map((letter) => keyOf(letter))
    return Layer.merge(reading({ evm: client.pipe(Layer.provide(built)), world: { keys } }), built)
  })
)

type Query = Record<string, string>

const chart = Effect.fnUntraced(function* (query: Query = {}, at = 0, key = "a") {
  const { tokens } = yield* EvmCandleSource
  const token = tokens.filter(({ chain }) => chain === "base")[at]
  return yield* call(
    `/api/v1/market/chart/${token?.address ?? ""}?${new URLSearchParams({ chain: "base", ...query })}`,
    { key }
  )
})

/**
 * Lets a request run that waits on the clock, a second at a time. Gives the answer and how many seconds went by, some of them
 * perhaps before it began to wait.
 */
const inTime = Effect.fnUntraced(function* <R>(request: Effect.Effect<Answer, never, R>) {
  const fiber = yield* Effect.forkChild(request, { startImmediately: true })
  for (let seconds = 0; seconds < 60; seconds++) {
    // Real sockets need real time between two steps of the clock.
    yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 30)))
    if (fiber.pollUnsafe() !== undefined) {
      return { answer: yield* Fiber.join(fiber), seconds }
    }
    yield* TestClock.adjust("1 second")
  }
  return yield* Effect.die("the request never ended")
})

const code = (answer: Answer) => `${answer.status} ${String(answer.json("error.code"))}`

layer(service)("charts of EVM tokens", (it) => {
  it.effect("are folded exactly from finer candles", () =>
    Effect.gen(function* () {
      yield* setSecond(40_000)
      const window = { from: String(MONDAY - 86_400), to: String(MONDAY) }
      const fine = yield* chart({ ...window, resolution: "1m", limit: "1440" })
      const coarse = yield* chart({ ...window, resolution: "8h" })
      assert.strictEqual(fine.status, 200, fine.text)
      assert.strictEqual(coarse.json("data.bars.length"), 3)
      const minutes: ReadonlyArray<{ t: number; h: number; l: number }> = JSON.parse(fine.text).data.bars
      const bars: ReadonlyArray<{ t: number; h: number; l: number; n: null }> = JSON.parse(coarse.text).data.bars
      for (const { h, l, n, t } of bars) {
        const parts = minutes.filter((minute) => minute.t >= t && minute.t < t + 8 * 3_600_000)
        assert.isNull(n)
        assert.strictEqual(h, Math.max(...parts.map((part) => part.h)))
        assert.strictEqual(l, Math.min(...parts.map((part) => part.l)))
      }
      assert.isBelow(minutes.length, 1440, "quiet minutes have no bar")
      assert.strictEqual(fine.json("meta.chain"), "base")
      assert.strictEqual(fine.json("meta.status"), "known")
    })
  )

  it.effect("reach back 90 days and say so", () =>
    Effect.gen(function* () {
      const answer = yield* chart({ resolution: "1d", from: String(MONDAY - 200 * 86_400), to: String(MONDAY) })
      assert.strictEqual(answer.json("data.bars.length"), 90)
      assert.strictEqual(answer.json("meta.coverage.reason"), "range_clipped")
      assert.strictEqual(answer.json("meta.coverage.coveredFromMs"), (MONDAY - 90 * 86_400) * 1000)
      assert.strictEqual(answer.json("meta.coverage.requestedFromMs"), (MONDAY - 200 * 86_400) * 1000)
      assert.strictEqual(answer.json("meta.status"), "partial")
      const prevTo = Number(answer.json("meta.prevTo"))
      assert.strictEqual(prevTo, MONDAY - 90 * 86_400)
      const before = yield* chart({ resolution: "1d", from: String(MONDAY - 200 * 86_400), to: String(prevTo) })
      assert.strictEqual(before.json("meta.coverage.coveredFromMs"), (prevTo - 90 * 86_400) * 1000)
    })
  )

  it.effect("show market values with the supply of the source", () =>
    Effect.gen(function* () {
      const price = yield* chart({ limit: "1" }, 1)
      const value = yield* chart({ limit: "1", mode: "mcap" }, 1)
      assert.strictEqual(value.json("data.bars.0.c"), Number(price.json("data.bars.0.c")) * 1_000_000_000.5)
      assert.strictEqual(value.json("meta.supply.value"), "1000000000.5")
      const unknown = yield* chart({ mode: "mcap" }, 2)
      assert.strictEqual(unknown.json("meta.coverage.reason"), "supply_unknown")
    })
  )

  it.effect("answer 404 for tokens that the source does not know", () =>
    Effect.gen(function* () {
      const unknown = yield* call(`/api/v1/market/chart/0x${"0".repeat(40)}?chain=base`)
      assert.strictEqual(code(unknown), "404 token_not_found")
    })
  )

  it.effect("ask the caller to wait for a series that is being built, as long as the source says", () =>
    Effect.gen(function* () {
      const { requests, setAilment } = yield* EvmCandleSource
      yield* setAilment({ warmingMs: 3_000_000 })
      yield* TestClock.setTime((MONDAY + 40_000) * 1000)
      const before = requests()
      yield* setAilment({ warmingMs: 3000 })
      yield* TestClock.setTime((MONDAY + 100_000) * 1000)
      // Another chain: its series has not been asked for yet.
      const { tokens } = yield* EvmCandleSource
      const token = tokens.find(({ chain }) => chain === "bsc")
      const path = `/api/v1/market/chart/${token?.address ?? ""}?chain=bsc&limit=1`
      const { answer, seconds } = yield* inTime(call(path, { key: "b" }))
      assert.strictEqual(answer.status, 200, answer.text)
      assert.isAtLeast(seconds, 3)
      assert.strictEqual(requests() - before, 2)
    })
  )

  it.effect("do not wait past the deadline, and answer with Retry-After", () =>
    Effect.gen(function* () {
      const { setAilment, tokens } = yield* EvmCandleSource
      const path = (chain: string) =>
        `/api/v1/market/chart/${tokens.find((token) => token.chain === chain)?.address ?? ""}?chain=${chain}`
      yield* setAilment({ warmingMs: 20_000 })
      // The clock stands still, so a wait would never end.
      const answer = yield* call(path("polygon"), { key: "b" })
      assert.strictEqual(code(answer), "503 chart_warming")
      assert.strictEqual(answer.headers.get("retry-after"), "20")
      yield* setAilment({ warmingMs: 2000, answers: "dated" })
      assert.strictEqual(code(yield* call(path("arbitrum"), { key: "b" })), "503 chart_warming")
    })
  )

  it.effect("are unavailable while the source fails, sends malformed answers or does not answer", () =>
    Effect.gen(function* () {
      const { setAilment } = yield* EvmCandleSource
      yield* setAilment({ warmingMs: 0, answers: "500" })
      assert.strictEqual(code(yield* chart()), "503 data_unavailable")
      yield* setAilment({ answers: "malformed" })
      assert.strictEqual(code(yield* chart()), "503 data_unavailable")
      yield* setAilment({ answers: "frozen" })
      const { answer, seconds } = yield* inTime(chart())
      assert.strictEqual(code(answer), "503 data_unavailable")
      assert.isAtLeast(seconds, 8)
      yield* setAilment({ answers: "ok" })
      assert.strictEqual((yield* chart()).status, 200)
    })
  )
})
