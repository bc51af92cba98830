import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { DEFAULT_PLAN } from "../../../src/api/schemas/Plan.ts"
import * as SourceMonitor from "../../../src/operations/SourceMonitor.ts"
import type { SourceState } from "../../../src/operations/SourceMonitor.ts"
import type { Freshness } from "../../../src/chain/ChainFeed.ts"
import { noteStates } from "../../../src/http/handlers/sources.ts"
import { call, feed, keyOf, running, secretOf } from "../../support/http.ts"
import { buildPages } from "../../support/pages.ts"

buildPages()

layer(running({ settings: { publicUrl: "https://api.example.org" } }))("GET /api/v1", (it) => {
  it.effect("describes the service without a key, at its public address", () =>
    Effect.gen(function* () {
      const answer = yield* call("/api/v1", { key: null })
      assert.strictEqual(answer.status, 200)
      assert.deepStrictEqual(JSON.parse(answer.text), {
        name: "fathom",
        version: "v1",
        status: "beta",
        docsUrl: "https://api.example.org/docs",
        openapiUrl: "https://api.example.org/openapi.json",
        changelogUrl: "https://api.example.org/changelog",
        serverTimeMs: yield* Clock.currentTimeMillis
      })
      assert.isFalse(answer.headers.has("cache-control"))
    })
  )
})

layer(running())("the documents", (it) => {
  it.effect("are at the described URLs, on the base URL of the caller", () =>
    Effect.gen(function* () {
      const answer = yield* call("/api/v1", { key: null })
      for (const name of ["docsUrl", "openapiUrl", "changelogUrl"]) {
        const { pathname, protocol } = new URL(String(answer.json(name)))
        assert.strictEqual(protocol, "http:")
        const document = yield* call(pathname, { key: null })
        assert.strictEqual(document.status, 200, pathname)
        assert.isAbove(document.text.length, 100)
      }
    })
  )

  it.effect("load nothing from elsewhere", () =>
    Effect.gen(function* () {
      const { text } = yield* call("/docs", { key: null })
      assert.notMatch(text, /<(?:script|link|img)[^>]+(?:src|href)="?https?:/u)
    })
  )
})

let fresh: Freshness = { slot: 0, heardAtMs: null, state: "loading" }

layer(running({ feed: feed(() => fresh) }))("GET /freshness", (it) => {
  const states: ReadonlyArray<readonly [Freshness["state"], boolean, string]> = [
    ["loading", false, "unavailable"],
    ["live", true, "known"],
    ["loading", true, "partial"],
    ["down", true, "stale"],
    ["recorded", true, "known"]
  ]
  for (const [state, isHeard, status] of states) {
    it.effect(`answers ${status} for a feed that is ${state} and ${isHeard ? "was heard" : "was never heard"}`, () =>
      Effect.gen(function* () {
        // Past the second that the last answer is kept.
        yield* TestClock.adjust("2 seconds")
        const heardAtMs = (yield* Clock.currentTimeMillis) - 400
        fresh = { slot: 1, heardAtMs: isHeard ? heardAtMs : null, state }
        for (const path of ["/freshness", "/api/v1/freshness"]) {
          const answer = yield* call(path, { key: null })
          assert.strictEqual(answer.status, 200, answer.text)
          const expected = {
            source: "chain",
            slot: 1,
            observedAtMs: isHeard ? heardAtMs : null,
            lagMs: isHeard ? 400 : null,
            status
          }
          assert.deepStrictEqual(answer.json("data"), [expected])
          assert.strictEqual(answer.json("meta.requestId"), answer.headers.get("x-request-id"))
        }
      })
    )
  }

  it.effect("names the node in use, by its host alone, and that it is only polled", () =>
    Effect.gen(function* () {
      yield* TestClock.adjust("2 seconds")
      fresh = { slot: 2, heardAtMs: yield* Clock.currentTimeMillis, state: "polling", node: "two.test:8899" }
      const answer = yield* call("/freshness", { key: null })
      assert.strictEqual(answer.json("data.0.node"), "two.test:8899")
      assert.strictEqual(answer.json("data.0.status"), "partial")
      const ready = yield* call("/readyz", { key: null })
      assert.strictEqual(ready.status, 200, ready.text)
      assert.deepStrictEqual(JSON.parse(ready.text), { status: "ok", lagging: [], node: "two.test:8899" })
    })
  )

  it.effect("gives the time since the chain was lost, once it had been followed", () =>
    Effect.gen(function* () {
      yield* TestClock.adjust("2 seconds")
      fresh = { slot: 2, heardAtMs: (yield* Clock.currentTimeMillis) - 95_000, state: "down" }
      const lost = yield* call("/readyz", { key: null })
      assert.strictEqual(lost.status, 503)
      assert.include(lost.text, "The chain was lost 95 s ago.")
      fresh = { slot: 0, heardAtMs: null, state: "loading" }
      assert.include((yield* call("/readyz", { key: null })).text, "not live yet")
    })
  )

  it.effect("says that the chain is silent while quotes are refused as stale, whatever the state of the feed", () =>
    Effect.gen(function* () {
      const readyAfter = Effect.fnUntraced(function* (state: Freshness["state"], silentMs: number) {
        yield* TestClock.adjust("20 seconds")
        fresh = { slot: 2, heardAtMs: (yield* Clock.currentTimeMillis) - silentMs, state }
        const ready = yield* call("/readyz", { key: null })
        return [ready.status, ready.json("lagging.0.source") ?? ready.json("error.message")]
      })
      assert.deepStrictEqual(yield* readyAfter("polling", 10_000), [200, undefined])
      assert.deepStrictEqual(yield* readyAfter("polling", 11_000), [503, "The chain has been silent for 11 s."])
      assert.deepStrictEqual(yield* readyAfter("live", 11_000), [503, "The chain has been silent for 11 s."])
      // Quotes go on for a while after the chain was lost, but not while accounts are read again.
      assert.deepStrictEqual(yield* readyAfter("down", 9_000), [200, "chain"])
      assert.deepStrictEqual(yield* readyAfter("down", 11_000), [503, "The chain was lost 11 s ago."])
      assert.deepStrictEqual(yield* readyAfter("loading", 1_000), [503, "The chain was lost 1 s ago."])
      assert.deepStrictEqual(yield* readyAfter("recorded", 3_600_000), [200, undefined])
    })
  )

  it.effect("is asked of the feed at most once in 100 ms", () =>
    Effect.gen(function* () {
      yield* TestClock.adjust("2 seconds")
      fresh = { slot: 1, heardAtMs: 1, state: "live" }
      const first = yield* call("/freshness", { key: null })
      fresh = { slot: 2, heardAtMs: 2, state: "live" }
      yield* TestClock.adjust("90 millis")
      const second = yield* call("/freshness", { key: null })
      assert.deepStrictEqual(second.json("data"), first.json("data"))
      yield* TestClock.adjust("20 millis")
      const third = yield* call("/freshness", { key: null })
      assert.strictEqual(third.json("data.0.observedAtMs"), 2)
    })
  )

  it.effect("goes on when the wall clock is set back by an hour", () =>
    Effect.gen(function* () {
      const hour = 3_600_000
      yield* TestClock.adjust("2 hours")
      const nowMs = yield* Clock.currentTimeMillis
      fresh = { slot: 1, heardAtMs: nowMs, state: "live" }
      yield* call("/freshness", { key: null })
      yield* TestClock.setTime(nowMs - hour)
      yield* TestClock.adjust("2 seconds")
      fresh = { slot: 2, heardAtMs: nowMs - hour + 1_900, state: "live" }
      const later = yield* call("/freshness", { key: null })
      assert.strictEqual(later.json("data.0.observedAtMs"), nowMs - hour + 1_900)
      assert.strictEqual(later.json("data.0.lagMs"), 100)
    })
  )
})

let trades: SourceState = { observedAtMs: null, status: "unavailable" }

const reporting = Layer.effectDiscard(
  Effect.gen(function* () {
    const monitor = yield* SourceMonitor.SourceMonitor
    yield* monitor.report("trades", () => trades)
    yield* monitor.report("blocks", (nowMs) => ({
      observedAtMs: nowMs,
      status: "known",
      node: "node:8899",
      estimatedTimes: 3
    }))
    yield* monitor.report("database", (nowMs) => ({ observedAtMs: nowMs, status: "known" }))
  })
)

layer(running().pipe(Layer.provideMerge(reporting), Layer.provide(SourceMonitor.layer)))("a store that lags", (it) => {
  it.effect("shows in /freshness, and in /readyz without taking traffic away", () =>
    Effect.gen(function* () {
      yield* TestClock.adjust("2 seconds")
      const nowMs = yield* Clock.currentTimeMillis
      trades = { observedAtMs: nowMs - 700, status: "stale" }
      const { text } = yield* call("/freshness", { key: null })
      const lagging = { source: "trades", observedAtMs: nowMs - 700, lagMs: 700, status: "stale" }
      assert.deepStrictEqual(JSON.parse(text).data.slice(1), [
        { source: "blocks", observedAtMs: nowMs, lagMs: 0, status: "known", node: "node:8899", estimatedTimes: 3 },
        { source: "database", observedAtMs: nowMs, lagMs: 0, status: "known" },
        lagging
      ])
      const ready = yield* call("/readyz", { key: null })
      assert.strictEqual(ready.status, 200)
      assert.deepStrictEqual(JSON.parse(ready.text), { status: "ok", lagging: [lagging] })
      // A service that no request has needed is not behind.
      trades = { observedAtMs: null, failedAtMs: null, status: "unavailable", reason: "not_captured" }
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual((yield* call("/readyz", { key: null })).json("lagging"), [])
      assert.strictEqual((yield* call("/freshness", { key: null })).json("data.3.failedAtMs"), null)
      trades = { observedAtMs: nowMs + 2000, status: "known" }
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual((yield* call("/readyz", { key: null })).json("lagging"), [])
    })
  )
})

const noted = noteStates.pipe(Layer.provide(feed(() => fresh)))

let ailing: SourceState = { observedAtMs: 0, status: "known" }

const withPast = Layer.effectDiscard(
  Effect.gen(function* () {
    yield* (yield* SourceMonitor.SourceMonitor).report("trades", () => ailing)
    yield* SourceMonitor.noteFailure("chain", new Error("wss://node.test:8900/?api-key=hunter2 closed"))
  })
)

layer(running({ feed: feed(() => fresh) }).pipe(Layer.provideMerge(withPast), Layer.provideMerge(SourceMonitor.layer)))(
  "GET /readyz?verbose",
  (it) => {
    it.effect("lists every part with its state, since when, and its last error", () =>
      Effect.gen(function* () {
        const nowMs = yield* Clock.currentTimeMillis
        fresh = { slot: 2, heardAtMs: nowMs, state: "live" }
        ailing = { observedAtMs: nowMs, status: "known" }
        const chain = {
          part: "chain",
          status: "known",
          sinceMs: nowMs,
          lastError: { atMs: 0, detail: "wss://node.test:8900 closed" }
        }
        const trades = { part: "trades", status: "known", sinceMs: nowMs, lastError: null }
        for (const path of ["/readyz?verbose", "/readyz?verbose=true"]) {
          assert.deepStrictEqual((yield* call(path, { key: null })).json("parts"), [chain, trades])
        }
        yield* TestClock.adjust("5 seconds")
        ailing = { observedAtMs: nowMs, status: "stale" }
        yield* SourceMonitor.noteFailure("trades", "full disk")
        const stale = { status: "stale", sinceMs: nowMs + 5000, lastError: { atMs: nowMs + 5000, detail: "full disk" } }
        assert.deepStrictEqual((yield* call("/readyz?verbose", { key: null })).json("parts.1"), { ...trades, ...stale })
        yield* TestClock.adjust("5 seconds")
        assert.deepStrictEqual((yield* call("/readyz?verbose", { key: null })).json("parts.1"), { ...trades, ...stale })
      })
    )

    it.effect("names the parts that are not current in the message of a 503", () =>
      Effect.gen(function* () {
        fresh = { slot: 2, heardAtMs: (yield* Clock.currentTimeMillis) - 13_000, state: "down" }
        const { status, text } = yield* call("/readyz?verbose", { key: null })
        assert.strictEqual(status, 503)
        assert.match(
          text,
          /The chain was lost 13 s ago\. Not current: chain: stale since \S+ \(\S+: wss:\/\/node\.test:8900 closed\)/u
        )
      })
    )

    it.effect("shows no parts without it, and refuses other values and parameters", () =>
      Effect.gen(function* () {
        fresh = { slot: 2, heardAtMs: yield* Clock.currentTimeMillis, state: "live" }
        for (const path of ["/readyz", "/readyz?verbose=false"]) {
          assert.isUndefined((yield* call(path, { key: null })).json("parts"))
        }
        for (const path of ["/readyz?verbose=2", "/readyz?verbos"]) {
          assert.strictEqual((yield* call(path, { key: null })).status, 400)
        }
      })
    )
  }
)

layer(running({ feed: feed(() => fresh) }).pipe(Layer.provideMerge(noted), Layer.provideMerge(SourceMonitor.layer)))(
  "changes of state",
  (it) => {
    it.effect("make the chain stale once quotes are refused, although accounts are polled", () =>
      Effect.gen(function* () {
        for (const [silentMs, status] of [
          [10_000, "partial"],
          [11_000, "stale"]
        ] as const) {
          yield* TestClock.adjust("20 seconds")
          const nowMs = yield* Clock.currentTimeMillis
          fresh = { slot: 2, heardAtMs: nowMs - silentMs, state: "polling" }
          assert.strictEqual((yield* SourceMonitor.SourceMonitor).stateOf("chain", nowMs)?.status, status)
          assert.strictEqual((yield* call("/freshness", { key: null })).json("data.0.status"), status)
        }
      })
    )

    it.effect("are recorded every second, however seldom they are requested", () =>
      Effect.gen(function* () {
        yield* TestClock.adjust("1 second")
        fresh = { slot: 2, heardAtMs: null, state: "loading" }
        yield* TestClock.adjust("1 second")
        const sinceMs = yield* Clock.currentTimeMillis
        yield* TestClock.adjust("9 seconds")
        const { history } = yield* SourceMonitor.SourceMonitor
        assert.strictEqual(history("chain", "unavailable", sinceMs + 9000).sinceMs, sinceMs)
      })
    )
  }
)

layer(running({ keys: [keyOf("a", { scopes: ["perps.read"] })] }))("GET /api/v1/account/key", (it) => {
  it.effect("describes any key, free of charge", () =>
    Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      const first = yield* call("/api/v1/account/key")
      const answer = yield* call("/api/v1/account/key")
      assert.strictEqual(answer.status, 200, answer.text)
      assert.deepStrictEqual(answer.json("data"), {
        id: "key_a",
        name: "key a",
        lastFour: secretOf("a").slice(-4),
        scopes: ["perps.read"],
        createdAtMs: now,
        lastUsedAtMs: now,
        expiresAtMs: null,
        plan: DEFAULT_PLAN,
        budgets: {
          rest: { limit: 120, remaining: 120, resetAtMs: now },
          quote: { limit: 300, remaining: 300, resetAtMs: now }
        }
      })
      assert.strictEqual(answer.json("meta.executionAuthority"), "none")
      assert.notStrictEqual(answer.json("meta.requestId"), first.json("meta.requestId"))
      assert.strictEqual(answer.headers.get("cache-control"), "no-store")
      assert.isFalse(answer.headers.has("x-ratelimit-limit"))
      assert.notInclude(answer.text, secretOf("a"))
    })
  )
})
