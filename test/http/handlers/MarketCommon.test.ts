import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { RateLimiter } from "../../../src/access/RateLimiter.ts"
import { LimiterUnavailable } from "../../../src/api/schemas/Budget.ts"
import { Tape } from "../../../src/market/tape/Tape.ts"
import { mintOf, MONDAY, walletOf } from "../../market/tape/tape.ts"
import { call, keyOf } from "../../support/http.ts"
import { block, makeBooks, reading, setSecond } from "../../support/reads.ts"
import { at } from "../../support/views.ts"

const TOKEN = mintOf(1)

const paths = [
  `/api/v1/market/chart/${TOKEN}`,
  "/api/v1/market/lighthouse",
  "/api/v1/market/overview",
  "/api/v1/market/movement?rank=trades&window=5m",
  "/api/v1/market/discovery?stage=trending&window=5m",
  `/api/v1/tokens/solana/${TOKEN}/top-traders`
]

/** Those that name tokens, and so read the book of tokens, which here can be made to throw. */
const naming = paths.filter((path) => !/lighthouse|overview/u.test(path))

const books = makeBooks()
const keys = [
  keyOf("a"),
  keyOf("d", { disabledAtMs: 0 }),
  keyOf("i", { ipPolicy: ["10.0.0.0/8"] }),
  keyOf("s", { scopes: ["alerts.read"] }),
  keyOf("j"),
  keyOf("q")
]

const answerOf = (path: string, options?: Parameters<typeof call>[1]) =>
  Effect.map(call(path, options), (answer) => {
    assert.strictEqual(answer.json("requestId"), answer.headers.get("x-request-id"))
    if (answer.status === 429 || answer.status === 503) {
      assert.match(answer.headers.get("retry-after") ?? "", /^[1-9][0-9]*$/u)
    }
    return `${answer.status} ${String(answer.json("error.code"))}`
  })

const nameOf = (path: string) => (path.split("?")[0] ?? "").replace(TOKEN, "{token}")

/** The traders of a token in its statistics and in its newest candle, each by the basis that the answer names. */
const countsOf = Effect.fnUntraced(function* (token: string) {
  const stats = yield* call(`/api/v1/tokens/solana/${token}/stats`, { key: "j" })
  const chart = yield* call(`/api/v1/market/chart/${token}`, { key: "j" })
  return {
    [String(stats.json("meta.tradersBasis"))]: stats.json("data.windows.0.traders.value"),
    [String(chart.json("meta.tradersBasis"))]: chart.json("data.bars.0.traders")
  }
})

layer(reading({ books, world: { keys } }))("every read of the market", (it) => {
  for (const path of paths) {
    it.effect(`${nameOf(path)} answers what every endpoint answers`, () =>
      Effect.gen(function* () {
        assert.strictEqual(yield* answerOf(path, { key: null }), "401 missing_api_key")
        assert.strictEqual(yield* answerOf(path, { key: "x" }), "401 invalid_api_key")
        assert.strictEqual(yield* answerOf(path, { key: "d" }), "403 key_disabled")
        assert.strictEqual(yield* answerOf(path, { key: "s" }), "403 missing_scope")
        assert.strictEqual(yield* answerOf(path, { key: "i" }), "403 ip_not_allowed")
        assert.strictEqual(yield* answerOf(path, { method: "POST" }), "405 method_not_allowed")
        const separator = path.includes("?") ? "&" : "?"
        assert.strictEqual(yield* answerOf(`${path}${separator}x=${"1".repeat(8192)}`), "414 uri_too_long")
        assert.strictEqual(yield* answerOf(`${path}${separator}x=1`), "400 invalid_request")
      })
    )
  }

  for (const path of naming) {
    it.effect(`${nameOf(path)} answers 500 when a reader has a bug`, () =>
      Effect.gen(function* () {
        const tape = yield* Tape
        yield* setSecond(1000)
        yield* tape.apply(block(0))
        yield* tape.apply(block(1000, { trades: [at(1000)] }))
        books.defect = new Error("a bug")
        assert.strictEqual(yield* answerOf(path), "500 internal_error")
        books.defect = undefined
      })
    )
  }

  it.effect("names the slot that it is of, also on later pages", () =>
    Effect.gen(function* () {
      const tape = yield* Tape
      const trades = [1, 2, 3].map((n) => at(2000, { mint: mintOf(n), index: n, wallet: walletOf(n) }))
      const others = [2, 3].map((n) => at(2000, { index: 10 + n, wallet: walletOf(n) }))
      yield* setSecond(2000)
      yield* tape.apply(block(1999))
      const launch = { event: "created", mint: TOKEN, launchpad: "pump-fun", pool: null } as const
      yield* tape.apply(block(2000, { trades: [...trades, ...others], launches: [launch] }))
      const slotted = [
        ...paths.map((path) => `${path}${path.includes("?") ? "&" : "?"}`),
        `/api/v1/tokens/solana/${TOKEN}/stats?`,
        `/api/v1/tokens/solana/${TOKEN}/trades?`,
        `/api/v1/tokens/solana/${TOKEN}/price?at=${MONDAY + 2000}&`,
        "/api/v1/launches?",
        "/api/v1/search?q=example&",
        `/api/v1/launches/${TOKEN}?`
      ].map((path) => path.slice(0, -1))
      for (const path of slotted) {
        const answer = yield* call(path, { key: "j" })
        assert.strictEqual(answer.json("meta.slot"), 3000, `${path} ${answer.text}`)
      }
      for (const path of [
        "/api/v1/market/movement?rank=trades&minLiquidityUsd=0&window=5m&limit=1",
        `/api/v1/tokens/solana/${TOKEN}/top-traders?limit=1`
      ]) {
        yield* setSecond(2000)
        const first = yield* call(path, { key: "j" })
        yield* tape.apply(block(2000, { slot: 3001 }))
        const cursor = first.json("nextCursor") ?? first.json("pagination.nextCursor")
        const next = yield* call(`${path}&cursor=${encodeURIComponent(String(cursor))}`, { key: "j" })
        assert.strictEqual(next.json("meta.slot"), first.json("meta.slot"), next.text)
        yield* setSecond(2003)
        assert.strictEqual((yield* call(path, { key: "j" })).json("meta.slot"), 3001)
      }
    })
  )

  it.effect("names which meaning of a trade it has, where one wallet has both in one transaction", () =>
    Effect.gen(function* () {
      const tape = yield* Tape
      const mint = mintOf(4)
      yield* setSecond(2100)
      const both = { mint, wallet: walletOf(9), signature: "one" }
      yield* tape.apply(
        block(2100, {
          trades: [
            at(2100, { ...both, role: "pool", index: 1, volumeUsdNanos: 29_103_910_000_000n }),
            at(2100, { ...both, role: "wallet", index: 2, volumeUsdNanos: 29_111_520_000_000n })
          ]
        })
      )
      const swaps = yield* call(`/api/v1/tokens/solana/${mint}/trades`, { key: "j" })
      assert.deepStrictEqual(
        [swaps.json("meta.tradeBasis"), swaps.json("data.0.volumeUsd"), swaps.json("data.0.isWhole")],
        ["pool_swaps", "29103.91", false],
        swaps.text
      )
      const nets = yield* call(`/api/v1/tokens/solana/${mint}/top-traders?window=1h`, { key: "j" })
      assert.deepStrictEqual([nets.json("meta.tradeBasis"), nets.json("data.0.boughtUsd")], ["net_trades", "29111.52"])
    })
  )

  it.effect("counts traders by the basis that it names, so that equal names mean equal counts", () =>
    Effect.gen(function* () {
      const tape = yield* Tape
      const [mint, hub] = [mintOf(5), mintOf(6)]
      yield* setSecond(2200)
      yield* tape.apply(block(2200))
      // A window of five minutes later.
      yield* setSecond(2560)
      const swap = (wallet: number, index: number) =>
        at(2560, { mint: hub, wallet: walletOf(wallet), signature: `s${index}`, role: "pool", index })
      const net = (wallet: number, index: number) =>
        at(2560, { mint, wallet: walletOf(wallet), signature: `n${index}`, role: "wallet", index })
      const whole = at(2560, { mint, wallet: walletOf(20), signature: "w", role: "both", index: 9 })
      // Two routes through the hub, three trades without a price here, and one trade that is both.
      yield* tape.apply(block(2560, { trades: [swap(21, 1), swap(22, 2), net(23, 3), net(24, 4), net(25, 5), whole] }))
      assert.deepStrictEqual(yield* countsOf(hub), { net_trades: "0", pool_swaps: 2 })
      assert.deepStrictEqual(yield* countsOf(mint), { net_trades: "4", pool_swaps: 1 })
      const rows = [
        "/api/v1/market/movement?rank=traders&minLiquidityUsd=0&window=5m&limit=100",
        "/api/v1/market/discovery?stage=trending&window=5m&limit=100"
      ]
      for (const path of rows) {
        const { text } = yield* call(path, { key: "j" })
        const { data, meta } = JSON.parse(text)
        assert.strictEqual(meta.tradersBasis, "net_trades")
        const row = data.find((each: { readonly token: { readonly address: string } }) => each.token.address === mint)
        assert.strictEqual(row?.traders.value, "4", text)
      }
      const [overview, lighthouse] = [
        yield* call("/api/v1/market/overview?window=5m", { key: "j" }),
        yield* call("/api/v1/market/lighthouse", { key: "j" })
      ]
      assert.strictEqual(overview.json("meta.tradersBasis"), lighthouse.json("meta.tradersBasis"))
    })
  )

  it.effect("costs one of the rest budget, and is refused together with the others once it is spent", () =>
    Effect.gen(function* () {
      const first = yield* call(paths[1] ?? "", { key: "q" })
      assert.strictEqual(first.headers.get("x-ratelimit-budget"), "rest")
      assert.strictEqual(first.headers.get("x-ratelimit-remaining"), "119")
      yield* Effect.forEach(Array.from({ length: 119 }), () => call(paths[1] ?? "", { key: "q" }), { concurrency: 8 })
      for (const path of paths) {
        assert.strictEqual(yield* answerOf(path, { key: "q" }), "429 rate_limited")
      }
    })
  )
})

const brokenLimiter = Layer.succeed(RateLimiter, {
  isImmediate: true,
  admit: () => Effect.fail(new LimiterUnavailable({ cause: "down" })),
  refund: () => Effect.fail(new LimiterUnavailable({ cause: "down" })),
  peek: () => Effect.fail(new LimiterUnavailable({ cause: "down" }))
})

layer(reading({ world: { limiter: brokenLimiter } }))("without a limiter", (it) => {
  for (const path of paths) {
    it.effect(`${nameOf(path)} admits no caller`, () =>
      Effect.gen(function* () {
        assert.strictEqual(yield* answerOf(path), "503 limiter_unavailable")
      })
    )
  }
})
