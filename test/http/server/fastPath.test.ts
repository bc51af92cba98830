import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { UnknownToken } from "../../../src/api/schemas/Token.ts"
import { DEFAULT_PLAN } from "../../../src/api/schemas/Plan.ts"
import { KeyStore } from "../../../src/access/KeyStore.ts"
import { withClock } from "../../../src/domain/loopTime.ts"
import * as MemoryKeys from "../../support/memoryKeys.ts"
import { RateLimiter } from "../../../src/access/RateLimiter.ts"
import { SOL } from "../../../src/domain/Address.ts"
import { Tape } from "../../../src/market/tape/Tape.ts"
import { RiskReader } from "../../../src/tokens/risk/RiskReader.ts"
import { TokenReader } from "../../../src/tokens/TokenReader.ts"
import { mintOf } from "../../market/tape/tape.ts"
import { block, makeBooks, reading, setSecond } from "../../support/reads.ts"
import { at } from "../../support/views.ts"
import { exchange, keyOf, running, secretOf } from "../../support/http.ts"
import { COLD, engineOver, LONELY, makeMarket, type Market, ODD, SHALLOW, TOKEN } from "../../support/market.ts"

const { pools, ...rest } = makeMarket()
let priced = 0
/** A market that counts how often its pools are priced. */
const market: Market = {
  ...rest,
  get pools() {
    priced++
    return pools
  }
}

/** Limits of which the quote budget of the key `e` is spent. */
const limiter = Layer.effect(
  RateLimiter,
  Effect.gen(function* () {
    const limits = Context.get(yield* Layer.build(RateLimiter.layerMemory), RateLimiter)
    yield* Effect.orDie(limits.admit({ key: { id: "key_e", plan: DEFAULT_PLAN }, budget: "quote", cost: 300 }))
    return limits
  })
)

const world = running({
  keys: [
    keyOf("a"),
    keyOf("b", { scopes: ["perps.read"] }),
    keyOf("c", { ipPolicy: ["127.0.0.0/8", "::1/128"] }),
    keyOf("d", { disabledAtMs: 1 }),
    keyOf("e")
  ],
  limiter,
  engine: engineOver(market)
})

/** Header lines in which two answers to the same request may differ. */
const volatile: ReadonlyArray<readonly [RegExp, string]> = [
  [/^(?:date|keep-alive): .*$/gimu, ""],
  [/[0-9a-f]{8}-[0-9a-f-]{27}/giu, "id"],
  [/"(engineTimeMs|quotedAtMs|stateAgeMs)":[0-9.]+/gu, '"$1":0'],
  [/^(x-ratelimit-(?:remaining|reset)): [0-9]+$/gimu, "$1: n"],
  [/^ratelimit: "(\w+)";r=[0-9]+;t=[0-9]+$/gimu, 'ratelimit: "$1"'],
  // A second may pass between two answers.
  [/^(retry-after): (?:5[0-9]|60)$/gimu, "$1: n"],
  [/^content-length: [0-9]+$/gimu, "content-length: n"]
]

const steady = (answer: string) => {
  const settled = volatile.reduce((text, [pattern, replacement]) => text.replace(pattern, replacement), answer)
  const [head = "", body = ""] = settled.split("\r\n\r\n")
  return { head: head.toLowerCase().split("\r\n").filter(Boolean).toSorted(), body }
}

const ask = (target: string, headers: ReadonlyArray<string>) =>
  exchange([`GET ${target} HTTP/1.1`, "Host: h", "Connection: close", ...headers, "", ""].join("\r\n"))

const path = "/api/v1/spot/quote"
const query = `inputMint=${TOKEN}&outputMint=${SOL}&amount=1000000000`
const bearer = (key: string) => `Authorization: Bearer ${secretOf(key)}`

/** Name, target, headers, and the status that both ways must have, so that two equal failures prove nothing. */
const requests: ReadonlyArray<readonly [string, string, ReadonlyArray<string>, number]> = [
  ["a plain quote", `${path}?${query}`, [bearer("a")], 200],
  ["every parameter", `${path}?${query}&outputDecimals=9&slippageBps=77&maxHops=2&directOnly=true`, [bearer("a")], 200],
  ["filters", `${path}?${query}&venues=raydium-cpmm,orca-whirlpool`, [bearer("a")], 200],
  ["whole tokens", `${path}?inputMint=${TOKEN}&outputMint=${SOL}&uiAmount=1.5&inputDecimals=6`, [bearer("a")], 200],
  ["an id of the caller's", `${path}?${query}`, [bearer("a"), "X-Client-Request-Id: order 7"], 200],
  ["an id that may not be echoed", `${path}?${query}`, [bearer("a"), `X-Client-Request-Id: ${"x".repeat(65)}`], 200],
  ["a scheme in lower case", `${path}?${query}`, [bearer("a").replace("Bearer", "bearer")], 200],
  ["escapes", `${path}?${query.replace("amount", "%61mount")}`, [bearer("a")], 200],
  ["a purchase", `${path}?inputMint=${SOL}&outputMint=${TOKEN}&amount=5`, [bearer("a")], 200],
  ["liquidity that ends", `${path}?${query.replace(TOKEN, SHALLOW)}`, [bearer("a")], 200],
  ["no route", `${path}?${query.replace(TOKEN, LONELY)}`, [bearer("a")], 404],
  ["a refused pool", `${path}?${query.replace(TOKEN, ODD)}`, [bearer("a")], 501],
  ["a cold mint", `${path}?${query.replace(TOKEN, COLD)}`, [bearer("a")], 503],
  ["an unknown parameter", `${path}?${query}&foo=1`, [bearer("a")], 400],
  ["a repeated parameter", `${path}?${query}&amount=1`, [bearer("a")], 400],
  ["a malformed amount", `${path}?${query.replace("1000000000", "0x10")}`, [bearer("a")], 400],
  ["a broken escape", `${path}?${query}&%zz=1`, [bearer("a")], 400],
  ["no query", path, [bearer("a")], 400],
  ["an empty query", `${path}?`, [bearer("a")], 400],
  ["no key", `${path}?${query}`, [], 401],
  ["an unknown key", `${path}?${query}`, ["Authorization: Bearer unknown"], 401],
  ["a key without the scope", `${path}?${query}`, [bearer("b")], 403],
  ["a key with an IP policy", `${path}?${query}`, [bearer("c")], 200],
  ["a disabled key", `${path}?${query}`, [bearer("d")], 403],
  ["a spent budget", `${path}?${query}`, [bearer("e")], 429],
  ["a spent budget and an id of the caller's", `${path}?${query}`, [bearer("e"), "X-Client-Request-Id: order 7"], 429],
  ["a spent budget and a malformed amount", `${path}?${query.replace("1000000000", "0x10")}`, [bearer("e")], 429],
  ["a spent budget and no query", path, [bearer("e")], 429],
  ["a spent budget and a cold mint", `${path}?${query.replace(TOKEN, COLD)}`, [bearer("e")], 429],
  ["the thousandth parameter", `${path}?${query}${"&".repeat(1001)}slippageBps=7`, [bearer("a")], 200],
  ["an unknown parameter after a thousand", `${path}?${query}${"&".repeat(1001)}foo=1`, [bearer("a")], 400],
  ["a repeated parameter after a thousand", `${path}?${query}${"&".repeat(1001)}amount=1`, [bearer("a")], 400],
  ["two keys", `${path}?${query}`, [bearer("a"), bearer("b")], 400],
  ["a semicolon before the query", `${path};a=1?${query}`, [bearer("a")], 404],
  ["a semicolon in place of the query", `${path};${query}`, [bearer("a")], 404],
  ["a fragment", `${path}#a?${query}`, [bearer("a")], 404],
  ["a semicolon in the query", `${path}?${query};slippageBps=7`, [bearer("a")], 400],
  ["a longer path", `${path}/x?${query}`, [bearer("a")], 404]
]

const remaining = (answer: string) => Number(/x-ratelimit-remaining: ([0-9]+)/iu.exec(answer)?.[1])

layer(world)("the fast path", (it) => {
  it.effect.each(requests)("answers %s as the default handler does", ([, target, headers, status]) =>
    Effect.gen(function* () {
      const fast = steady(yield* ask(target, headers))
      // A length makes it no plain request, so it takes the default handler.
      const standard = steady(yield* ask(target, [...headers, "Content-Length: 0"]))
      assert.deepStrictEqual(fast, standard)
      assert.isTrue(fast.head.some((line) => line.startsWith(`http/1.1 ${status}`)))
    })
  )

  it.effect("prices nothing for a key whose budget is spent, and charges nothing", () =>
    Effect.gen(function* () {
      const before = priced
      const rejected = yield* ask(`${path}?${query}`, [bearer("e")])
      assert.match(rejected, /^HTTP\/1\.1 429/u)
      assert.strictEqual(remaining(rejected), 0)
      assert.strictEqual(priced, before)
      yield* ask(`${path}?${query}`, [bearer("a")])
      assert.isAbove(priced, before)
    })
  )

  it.effect("charges one unit on either path", () =>
    Effect.gen(function* () {
      const fast = remaining(yield* ask(`${path}?${query}`, [bearer("a")]))
      const standard = remaining(yield* ask(`${path}?${query}`, [bearer("a"), "Content-Length: 0"]))
      const invalid = remaining(yield* ask(`${path}?${query}&foo=1`, [bearer("a")]))
      const cold = remaining(yield* ask(`${path}?${query.replace(TOKEN, COLD)}`, [bearer("a")]))
      assert.deepStrictEqual([standard, invalid, cold], [fast - 1, fast - 2, fast - 2])
    })
  )
})

const calls: Array<string> = []
/** Notes the call and decides in a later turn. */
const later = <A, E>(name: string, decision: Effect.Effect<A, E>) =>
  Effect.andThen(
    Effect.promise(async () => calls.push(name)),
    decision
  )

/** Budgets that are decided elsewhere: every answer comes in a later turn. */
const distant = Layer.effect(
  RateLimiter,
  Effect.map(Layer.build(RateLimiter.layerMemory), (context) => {
    const limits = Context.get(context, RateLimiter)
    return RateLimiter.of({
      isImmediate: false,
      admit: (request) => later("admit", limits.admit(request)),
      refund: (charge) => later("refund", limits.refund(charge)),
      peek: (key, budget) => later("peek", limits.peek(key, budget))
    })
  })
)

layer(running({ keys: [keyOf("a")], limiter: distant, engine: engineOver(market) }))("budgets elsewhere", (it) => {
  it.effect("are asked once for a quote", () =>
    Effect.gen(function* () {
      const answer = yield* ask(`${path}?${query}`, [bearer("a")])
      assert.match(answer, /^HTTP\/1\.1 200/u)
      assert.strictEqual(remaining(answer), 299)
      assert.deepStrictEqual(calls, ["admit"])
    })
  )
})

const mint = mintOf(1)
const books = makeBooks()

/** Reads whose answers are in memory. */
const reads = [
  `/api/v1/market/chart/${mint}?resolution=1m&limit=5`,
  "/api/v1/market/lighthouse",
  "/api/v1/market/overview?window=1h",
  "/api/v1/market/movement",
  "/api/v1/market/discovery",
  `/api/v1/tokens/solana/${mint}/stats`,
  `/api/v1/tokens/solana/${mint}/top-traders`
]

layer(reading({ books, world: { keys: [keyOf("a"), keyOf("b", { scopes: ["perps.read"] })] } }))(
  "reads of the market",
  (it) => {
    it.effect("have the same bytes on either path", () =>
      Effect.gen(function* () {
        const tape = yield* Tape
        yield* setSecond(1000)
        yield* tape.apply(block(0))
        yield* tape.apply(block(1000, { trades: [at(1000)] }))
        for (const target of reads) {
          for (const [key, status] of [["a", 200] as const, ["b", 403] as const]) {
            const fast = steady(yield* ask(target, [bearer(key)]))
            const standard = steady(yield* ask(target, [bearer(key), "Content-Length: 0"]))
            assert.deepStrictEqual(fast, standard)
            assert.isTrue(fast.head.some((line) => line.startsWith(`http/1.1 ${status}`)))
          }
        }
      })
    )

    it.effect("refuse what their schemas refuse, on either path", () =>
      Effect.gen(function* () {
        for (const target of reads) {
          const wrong = `${target}${target.includes("?") ? "&" : "?"}foo=1`
          const fast = steady(yield* ask(wrong, [bearer("a")]))
          assert.deepStrictEqual(fast, steady(yield* ask(wrong, [bearer("a"), "Content-Length: 0"])))
          assert.isTrue(fast.head.some((line) => line.startsWith("http/1.1 400")))
        }
      })
    )
  }
)

let started = 0
const waiting = Effect.andThen(
  Effect.promise(async () => started++),
  Effect.fail(new UnknownToken({ mint }))
)
const unread = Effect.die("this test reads facts only")
const slowTokens = Layer.mergeAll(
  Layer.succeed(TokenReader, {
    decimalsOf: () => Effect.succeed(null),
    factsOf: () => waiting,
    liquidityOf: () => unread,
    holdersOf: () => unread,
    holderHistoryOf: () => unread,
    metadataOf: () => unread,
    poolOf: () => unread,
    pricesOf: () => unread
  }),
  Layer.succeed(RiskReader, { riskOf: () => unread })
)

layer(running({ keys: [keyOf("a"), keyOf("b")], tokens: slowTokens }))("a read that has to wait", (it) => {
  it.effect("is left to the default handler for a second, for its key alone", () =>
    Effect.gen(function* () {
      const target = `/api/v1/tokens/solana/${mint}`
      const first = yield* ask(target, [bearer("a")])
      assert.match(first, /^HTTP\/1\.1 404/u)
      // The fast path began it once, and the default handler once more.
      assert.strictEqual(started, 2)
      const second = yield* ask(target, [bearer("a")])
      assert.strictEqual(started, 3)
      assert.deepStrictEqual([remaining(first), remaining(second)], [119, 118])
      yield* ask(target, [bearer("b")])
      assert.strictEqual(started, 5)
      yield* TestClock.adjust("1 second")
      yield* ask(target, [bearer("a")])
      assert.strictEqual(started, 7)
    })
  )
})

/** Keys whose store fails as no store should. */
const brokenKeys = (broken: Partial<KeyStore["Service"]>) =>
  Layer.effect(
    KeyStore,
    Effect.map(Layer.build(MemoryKeys.layer({ keys: [keyOf("a")] })), (made) => ({
      ...Context.get(made, KeyStore),
      ...broken
    }))
  )
const quote = `/api/v1/spot/quote?inputMint=${TOKEN}&outputMint=${SOL}&amount=1000000000`
const boom = (): never => {
  throw new TypeError("boom")
}

layer(
  running({
    keyStore: brokenKeys({ authenticate: (_secret, clock) => withClock(clock, boom) }),
    engine: engineOver(market)
  })
)("a key store that throws", (it) => {
  it.effect("is a 503 on either path", () =>
    Effect.gen(function* () {
      for (const more of [[], ["Content-Length: 0"]]) {
        assert.match(yield* ask(quote, [bearer("a"), ...more]), /^HTTP\/1\.1 503/u)
      }
    })
  )
})

layer(running({ keyStore: brokenKeys({ usedFrom: boom }), engine: engineOver(market) }))("a defect of ours", (it) => {
  it.effect("is answered by the default handler", () =>
    Effect.gen(function* () {
      assert.match(yield* ask(quote, [bearer("a")]), /^HTTP\/1\.1 500/u)
    })
  )
})
