import { assert, describe, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Schema } from "effect"
import { TestClock } from "effect/testing"
import { CallerLimits } from "../../../src/access/CallerLimits.ts"
import { RateLimiter } from "../../../src/access/RateLimiter.ts"
import { WalletSummaryAnswer } from "../../../src/api/Wallets.ts"
import type { Address } from "../../../src/domain/Address.ts"
import { LimiterUnavailable } from "../../../src/api/schemas/Budget.ts"
import { WalletIndexUnavailable } from "../../../src/wallets/WalletIndex.ts"
import { WalletReader } from "../../../src/wallets/WalletReader.ts"
import { call, keyOf, running } from "../../support/http.ts"
import { UNKNOWN_WALLET, recordOf } from "../../wallets/identities.ts"
import { readerOver } from "../../wallets/readers.ts"
import { MINT, OTHER, tradeOf, usd, WALLET, walletOf } from "../../wallets/trades.ts"

const PATH = "/api/v1/wallets/summary"
const JSON_TYPE = { "content-type": "application/json" }

const ask = (body: unknown, options: Parameters<typeof call>[1] = {}) =>
  call(PATH, { method: "POST", body: JSON.stringify(body), headers: JSON_TYPE, ...options })
const summaryOf = (wallets: ReadonlyArray<string>, key = "a") => ask({ wallets }, { key })

const codeFor = (key: string | null) =>
  Effect.map(ask({ wallets: [WALLET] }, { key }), ({ json, status }) => [status, json("error.code")])

const many = (count: number): ReadonlyArray<Address> => Array.from({ length: count }, (_, n) => walletOf(n))

const trades = {
  [WALLET]: [
    tradeOf({ slot: 2, side: "sell", amount: 4_000_000n, volumeUsdNanos: usd(8) }),
    tradeOf({ slot: 1, amount: 10_000_000n, volumeUsdNanos: usd(10) })
  ]
}
const reader = readerOver({
  trades,
  marks: { [MINT]: 3n },
  identities: [recordOf({ wallet: OTHER, labels: ["Other"] })]
})

const gone = () => Effect.fail(new WalletIndexUnavailable({ cause: new Error("gone") }))

const readsNothing: WalletReader["Service"] = {
  rowsOf: () => Effect.die("a defect"),
  tagsOf: () => Effect.die("a defect"),
  positionsOf: () => Effect.die("a defect"),
  balancesOf: () => Effect.die("a defect"),
  unitsAt: () => Effect.die("a defect"),
  fundingOf: () => Effect.die("a defect"),
  relatedOf: () => Effect.die("a defect"),
  lotsOf: () => Effect.die("a defect"),
  performanceOf: () => Effect.die("a defect"),
  tradesOf: () => Effect.die("a defect"),
  transfersOf: () => Effect.die("a defect"),
  pnlHistoryOf: () => Effect.die("a defect")
}

const decodeAnswer = Schema.decodeEffect(Schema.fromJsonString(WalletSummaryAnswer), { onExcessProperty: "error" })

describe("POST /api/v1/wallets/summary", () => {
  const keys = [
    keyOf("a"),
    keyOf("b"),
    keyOf("c"),
    keyOf("d"),
    keyOf("n", { scopes: ["alerts.read"] }),
    keyOf("x", { disabledAtMs: 1 })
  ]
  layer(running({ wallets: reader, keys }))((it) => {
    it.effect("answers a row for each wallet, in the order asked for, and nothing else", () =>
      Effect.gen(function* () {
        const answer = yield* summaryOf([UNKNOWN_WALLET, WALLET, OTHER])
        assert.strictEqual(answer.status, 200)
        assert.strictEqual(answer.headers.get("cache-control"), "no-store")
        assert.strictEqual(answer.headers.get("x-ratelimit-budget"), "rest")
        assert.strictEqual(answer.headers.get("x-ratelimit-cost"), "1")
        const { data, source } = yield* decodeAnswer(answer.text)
        assert.strictEqual(source, "local")
        assert.isFalse(data.complete)
        assert.deepStrictEqual(
          data.wallets.map(({ identity, status, summary, wallet }) => [
            wallet,
            status,
            identity?.labels,
            summary?.wallet.total
          ]),
          [
            [UNKNOWN_WALLET, "unavailable", undefined, undefined],
            [WALLET, "partial", undefined, "16"],
            [OTHER, "partial", ["Other"], undefined]
          ]
        )
        assert.deepStrictEqual(Object.keys(Object(answer.json("data.wallets.0"))), [
          "wallet",
          "status",
          "reason",
          "identity",
          "summary",
          "backfill"
        ])
        assert.isNull(answer.json("data.wallets.0.identity"))
        assert.isNull(answer.json("data.wallets.0.summary"))
      })
    )

    const refused: ReadonlyArray<readonly [string, unknown, string, string]> = [
      ["no wallets", {}, "wallets", "missing"],
      ["an empty list", { wallets: [] }, "wallets", "out_of_range"],
      ["a hundred and one", { wallets: many(101) }, "wallets", "too_long"],
      ["a wallet twice", { wallets: [WALLET, OTHER, WALLET] }, "wallets", "duplicate"],
      ["a malformed address", { wallets: [WALLET, "0xabc"] }, "wallets.1", "format"],
      ["a wallet that is no text", { wallets: [7] }, "wallets.0", "type"],
      ["wallets that are no list", { wallets: WALLET }, "wallets", "type"],
      ["a field it does not know", { wallets: [WALLET], chain: "solana" }, "chain", "unknown"]
    ]
    it.effect.each(refused)("refuses %s", ([, body, field, issue]) =>
      Effect.gen(function* () {
        const answer = yield* ask(body, { key: "b" })
        assert.strictEqual(answer.status, 400)
        assert.strictEqual(answer.json("error.code"), "invalid_request")
        assert.deepStrictEqual(answer.json("error.details"), [{ in: "body", field, issue }])
      })
    )

    it.effect("takes a hundred wallets", () =>
      Effect.gen(function* () {
        const answer = yield* summaryOf(many(100), "b")
        assert.strictEqual(answer.status, 200)
        assert.strictEqual((yield* decodeAnswer(answer.text)).data.wallets.length, 100)
      })
    )

    it.effect("takes no query, no other method, no other content and no larger body", () =>
      Effect.gen(function* () {
        const body = JSON.stringify({ wallets: [WALLET] })
        const query = yield* call(`${PATH}?window=24h`, { method: "POST", body, headers: JSON_TYPE, key: "c" })
        assert.strictEqual(query.status, 400)
        assert.deepStrictEqual(query.json("error.details"), [{ in: "query", field: "window", issue: "unknown" }])
        const twice = yield* call(PATH, {
          method: "POST",
          body: `{"wallets":["${WALLET}"],"wallets":["${OTHER}"]}`,
          headers: JSON_TYPE,
          key: "c"
        })
        assert.deepStrictEqual(twice.json("error.details"), [{ in: "body", field: "wallets", issue: "duplicate" }])
        const get = yield* call(PATH, { key: "c" })
        assert.deepStrictEqual([get.status, get.json("error.code")], [405, "method_not_allowed"])
        assert.strictEqual(get.headers.get("allow"), "POST, OPTIONS")
        const text = yield* ask({ wallets: [WALLET] }, { headers: { "content-type": "text/plain" }, key: "c" })
        assert.deepStrictEqual([text.status, text.json("error.code")], [415, "unsupported_media_type"])
        const large = { method: "POST", headers: JSON_TYPE, key: "c", body: body + " ".repeat(8193 - body.length) }
        const tooLarge = yield* call(PATH, large)
        assert.deepStrictEqual([tooLarge.status, tooLarge.json("error.code")], [413, "body_too_large"])
        const fits = yield* call(PATH, { ...large, body: large.body.slice(0, 8192) })
        assert.strictEqual(fits.status, 200)
        const long = yield* call(`${PATH}?${"a".repeat(8200)}`, { method: "POST", body, headers: JSON_TYPE, key: "c" })
        assert.deepStrictEqual([long.status, long.json("error.code")], [414, "uri_too_long"])
      })
    )

    it.effect("is for keys that may read market data", () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* codeFor(null), [401, "missing_api_key"])
        assert.deepStrictEqual(yield* codeFor("z"), [401, "invalid_api_key"])
        assert.deepStrictEqual(yield* codeFor("n"), [403, "missing_scope"])
        assert.deepStrictEqual(yield* codeFor("x"), [403, "key_disabled"])
      })
    )

    it.effect("lets a caller start sixty a minute, and reports in every header when the next one fits", () =>
      Effect.gen(function* () {
        yield* Effect.repeat(summaryOf([WALLET], "d"), { times: 29 })
        yield* TestClock.adjust("10 seconds")
        yield* Effect.repeat(summaryOf([WALLET], "d"), { times: 29 })
        const answer = yield* summaryOf([WALLET], "d")
        assert.deepStrictEqual([answer.status, answer.json("error.code")], [429, "rate_limited"])
        assert.deepStrictEqual(answer.json("error.details"), [
          { in: "header", field: "wallet-batch", issue: "out_of_range" }
        ])
        assert.strictEqual(answer.headers.get("retry-after"), "50")
        assert.strictEqual(answer.headers.get("ratelimit"), '"rest";r=60;t=50')
        assert.strictEqual(answer.headers.get("x-ratelimit-reset"), "60")
        assert.strictEqual(answer.headers.get("x-ratelimit-cost"), "0")
        yield* TestClock.adjust("50 seconds")
        assert.strictEqual((yield* summaryOf([WALLET], "d")).status, 200)
      })
    )
  })
})

describe("two batches of wallets at a time", () => {
  const gate = Deferred.makeUnsafe<void>()
  const waiting = { reads: 0 }
  const slow = Layer.succeed(WalletReader, {
    ...readsNothing,
    rowsOf: () => {
      waiting.reads++
      return Effect.as(Deferred.await(gate), { complete: true, wallets: [] })
    }
  })

  layer(running({ wallets: slow, keys: [keyOf("a"), keyOf("b")] }))((it) => {
    it.effect("are all that a caller may have, and the third is rejected with consistent headers", () =>
      Effect.gen(function* () {
        const ended = yield* Effect.forkChild(
          Effect.all([summaryOf([WALLET]), summaryOf([WALLET]), summaryOf([WALLET], "b")], { concurrency: 3 })
        )
        while (waiting.reads < 3) {
          yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
        }
        const third = yield* summaryOf([WALLET])
        assert.strictEqual(third.status, 429)
        assert.strictEqual(third.headers.get("retry-after"), "1")
        assert.strictEqual(third.headers.get("ratelimit"), '"rest";r=118;t=1')
        yield* Deferred.succeed(gate, undefined)
        const answers = yield* Fiber.join(ended)
        assert.deepStrictEqual(
          answers.map(({ status }) => status),
          [200, 200, 200]
        )
        assert.strictEqual((yield* summaryOf([WALLET])).status, 200)
      })
    )
  })
})

describe("wallets that cannot be read", () => {
  layer(running({ wallets: readerOver({ index: gone }) }))((it) => {
    it.effect("are a 503 that costs nothing", () =>
      Effect.gen(function* () {
        const answer = yield* summaryOf([WALLET])
        assert.deepStrictEqual([answer.status, answer.json("error.code")], [503, "data_unavailable"])
        assert.strictEqual(answer.headers.get("retry-after"), "1")
        assert.strictEqual(answer.headers.get("x-ratelimit-remaining"), "120")
      })
    )
  })

  layer(running({ wallets: Layer.succeed(WalletReader, readsNothing) }))((it) => {
    it.effect("are a 500 for a defect", () =>
      Effect.gen(function* () {
        const answer = yield* summaryOf([WALLET])
        assert.deepStrictEqual([answer.status, answer.json("error.code")], [500, "internal_error"])
      })
    )
  })

  const down = Effect.fail(new LimiterUnavailable({ cause: "down" }))
  const limiter = Layer.succeed(RateLimiter, {
    isImmediate: true,
    admit: () => down,
    refund: () => down,
    peek: () => down
  })
  const limits = Layer.succeed(CallerLimits, { take: () => down, count: () => down })
  layer(running({ wallets: reader, limits }))((it) => {
    it.effect("because places cannot be counted are a 503 that costs nothing", () =>
      Effect.gen(function* () {
        const answer = yield* summaryOf([WALLET])
        assert.deepStrictEqual([answer.status, answer.json("error.code")], [503, "limiter_unavailable"])
        assert.strictEqual(answer.headers.get("x-ratelimit-remaining"), "120")
      })
    )
  })

  layer(running({ wallets: reader, limiter }))((it) => {
    it.effect("because admission cannot be decided are a 503 of its own", () =>
      Effect.gen(function* () {
        const answer = yield* summaryOf([WALLET])
        assert.deepStrictEqual([answer.status, answer.json("error.code")], [503, "limiter_unavailable"])
      })
    )
  })
})
