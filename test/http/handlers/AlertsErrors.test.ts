import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SOL, USDC } from "../../../src/domain/Address.ts"
import { USDT } from "../../../src/domain/stables.ts"
import { Idempotency } from "../../../src/access/Idempotency.ts"
import { RateLimiter } from "../../../src/access/RateLimiter.ts"
import { AlertStore } from "../../../src/alerts/AlertStore.ts"
import { AlertStoreUnavailable } from "../../../src/api/schemas/Alert.ts"
import { LimiterUnavailable } from "../../../src/api/schemas/Budget.ts"
import { IdempotencyUnavailable } from "../../../src/domain/Idempotency.ts"
import { itemsOf, make, read, remove, send, serving, wanted } from "../../alerts/http.ts"
import { settle } from "../../alerts/world.ts"
import { MONDAY, walletOf } from "../../market/tape/tape.ts"
import { type Answer, call } from "../../support/http.ts"
import * as MemoryAlerts from "../../support/memoryAlerts.ts"

const DAY_MS = 86_400_000

/** Status and code, after checking what every refusal has. */
const codeOf = (answer: Answer): string => {
  assert.strictEqual(answer.json("requestId"), answer.headers.get("x-request-id"))
  if (answer.status === 429 || answer.status === 503) {
    assert.match(answer.headers.get("retry-after") ?? "", /^[1-9][0-9]*$/u)
  }
  return `${answer.status} ${String(answer.json("error.code"))}`
}

const refused = <E, R>(asking: Effect.Effect<Answer, E, R>) => Effect.map(asking, codeOf)

/** Which fields are wrong, and how. */
const faultsOf = (answer: Answer): ReadonlyArray<string> => {
  assert.strictEqual(codeOf(answer), "400 invalid_request")
  const details = answer.json("error.details")
  return Array.isArray(details) ? details.map(({ field, issue, in: where }) => `${where} ${field} ${issue}`) : []
}

/** Every call there is, with a key of choice. */
const calls: Record<string, (key: string) => ReturnType<typeof read>> = {
  "GET /alerts": (key) => read("", key),
  "POST /alerts": (key) => send("POST", "", wanted, { key }),
  "GET /alerts/events": (key) => read("/events", key),
  "GET /alerts/{id}": (key) => read("/al_x", key),
  "PATCH /alerts/{id}": (key) => send("PATCH", "/al_x", { note: null }, { key }),
  "DELETE /alerts/{id}": (key) => remove("al_x", key)
}

const condition = (other: object) => ({ ...wanted, condition: { ...wanted.condition, ...other } })
const walletTrade = {
  wallet: walletOf(1),
  condition: { metric: "wallet_trade_usd", operator: "at_least", threshold: "500" }
}
const change = { metric: "change_pct", operator: "rises_by", threshold: "5", windowSeconds: 300 }

/** Invalid bodies and their errors. */
const bodies: ReadonlyArray<readonly [body: object, ...faults: ReadonlyArray<string>]> = [
  [{}, "body condition missing"],
  [{ condition: wanted.condition }, "body mint missing"],
  [{ ...wanted, mint: null }, "body mint missing"],
  [{ ...wanted, wallet: walletOf(1) }, "body wallet conflict"],
  [{ ...wanted, side: "buy" }, "body side conflict"],
  [{ ...walletTrade, wallet: undefined }, "body wallet missing"],
  [{ ...walletTrade, wallet: "no wallet" }, "body wallet format"],
  [{ ...walletTrade, side: "both" }, "body side type"],
  [{ ...walletTrade, fireNow: true }, "body fireNow conflict"],
  [
    { ...walletTrade, condition: { ...walletTrade.condition, operator: "crosses_above" } },
    "body condition.operator conflict"
  ],
  [{ ...walletTrade, condition: { ...walletTrade.condition, source: "median" } }, "body condition.source conflict"],
  [
    { ...walletTrade, condition: { ...walletTrade.condition, windowSeconds: 300 } },
    "body condition.windowSeconds conflict"
  ],
  [condition({ operator: "at_least" }), "body condition.operator conflict"],
  [{ ...wanted, mint: "no mint" }, "body mint format"],
  [{ ...wanted, chain: "base" }, "body chain type"],
  [{ ...wanted, colour: "red" }, "body colour unknown"],
  [condition({ colour: "red" }), "body condition.colour unknown"],
  [condition({ metric: "volume" }), "body condition.metric type"],
  [condition({ operator: "rises_by" }), "body condition.operator conflict"],
  [condition({ threshold: 10 }), "body condition.threshold type"],
  [condition({ threshold: "0" }), "body condition.threshold format"],
  [condition({ threshold: "-1" }), "body condition.threshold format"],
  [condition({ threshold: "1.50" }), "body condition.threshold format"],
  [condition({ threshold: "1e3" }), "body condition.threshold format"],
  [condition({ threshold: `1${"0".repeat(61)}` }), "body condition.threshold too_long"],
  [condition({ windowSeconds: 300 }), "body condition.windowSeconds conflict"],
  [{ ...wanted, condition: { ...change, windowSeconds: null } }, "body condition.windowSeconds missing"],
  [{ ...wanted, condition: { ...change, windowSeconds: 301 } }, "body condition.windowSeconds type"],
  [{ ...wanted, condition: { ...change, operator: "crosses_above" } }, "body condition.operator conflict"],
  [condition({ source: "last" }), "body condition.source type"],
  [{ ...wanted, condition: { ...change, source: "median" } }, "body condition.source conflict"],
  [{ ...wanted, mint: USDC, condition: change }, "body condition.metric conflict"],
  [condition({ metric: "volume_usd" }), "body condition.windowSeconds missing"],
  [{ ...wanted, condition: { ...change, metric: "volume_usd" } }, "body condition.operator conflict"],
  [condition({ metric: "liquidity_usd", windowSeconds: 300 }), "body condition.windowSeconds conflict"],
  [condition({ metric: "authority_changes" }), "body condition.windowSeconds missing"],
  [condition({ metric: "liquidity_drop_pct" }), "body condition.windowSeconds missing"],
  [condition({ metric: "liquidity_drop_pct", windowSeconds: 21_600 }), "body condition.windowSeconds conflict"],
  [condition({ metric: "volume_usd", windowSeconds: 600 }), "body condition.windowSeconds conflict"],
  [
    condition({ metric: "liquidity_drop_pct", windowSeconds: 600, threshold: "101" }),
    "body condition.threshold out_of_range"
  ],
  [condition({ metric: "top10_pct", threshold: "100.1" }), "body condition.threshold out_of_range"],
  [condition({ metric: "curve_progress_pct", threshold: "1000" }), "body condition.threshold out_of_range"],
  [
    { ...wanted, condition: { ...change, operator: "falls_by", threshold: "100" } },
    "body condition.threshold out_of_range"
  ],
  [condition({ metric: "top10_pct", source: "median" }), "body condition.source conflict"],
  [{ ...condition({ metric: "silent_seconds" }), mint: USDC }, "body condition.metric conflict"],
  [{ ...condition({ metric: "liquidity_usd" }), mint: SOL }, "body condition.metric conflict"],
  [{ ...condition({ metric: "liquidity_drop_pct", windowSeconds: 300 }), mint: SOL }, "body condition.metric conflict"],
  [{ ...condition({ metric: "top10_pct" }), mint: SOL }, "body condition.metric conflict"],
  [{ ...condition({ metric: "top10_pct" }), mint: USDT }, "body condition.metric conflict"],
  [{ ...wanted, fireNow: "yes" }, "body fireNow type"],
  [{ ...wanted, recurrence: "daily" }, "body recurrence type"],
  [{ ...wanted, cooldownSeconds: 300 }, "body cooldownSeconds conflict"],
  [{ ...wanted, recurrence: "repeat", cooldownSeconds: 59 }, "body cooldownSeconds out_of_range"],
  [{ ...wanted, recurrence: "repeat", cooldownSeconds: 86_401 }, "body cooldownSeconds out_of_range"],
  [{ ...wanted, recurrence: "repeat", cooldownSeconds: 60.5 }, "body cooldownSeconds type"],
  [{ ...wanted, expiresAtMs: MONDAY * 1000 }, "body expiresAtMs out_of_range"],
  [{ ...wanted, expiresAtMs: MONDAY * 1000 + 90 * DAY_MS + 1 }, "body expiresAtMs out_of_range"],
  [{ ...wanted, note: "" }, "body note out_of_range"],
  [{ ...wanted, note: "x".repeat(201) }, "body note too_long"],
  [{ ...wanted, note: "nul \u0000" }, "body note format"]
]

const plain = { headers: { "content-type": "text/plain" } }

const patches: ReadonlyArray<readonly [body: object, fault: string]> = [
  [{ mint: wanted.mint }, "body mint unknown"],
  [{ condition: { metric: "price_sol" } }, "body condition.metric unknown"],
  [{ condition: { threshold: "0" } }, "body condition.threshold format"],
  [{ status: "triggered" }, "body status type"],
  [{ cooldownSeconds: 60 }, "body cooldownSeconds conflict"],
  [{ expiresAtMs: 1 }, "body expiresAtMs out_of_range"],
  [{ note: "x".repeat(201) }, "body note too_long"]
]

const queries: ReadonlyArray<readonly [query: string, fault: string]> = [
  ["?status=gone", "query status format"],
  ["?mint=x", "query mint format"],
  ["?limit=0", "query limit out_of_range"],
  ["?limit=101", "query limit out_of_range"],
  ["?colour=red", "query colour unknown"],
  ["?limit=1&limit=2", "query limit repeated"],
  ["/events?sinceMs=yesterday", "query sinceMs format"],
  ["/events?alertId=a%20b", "query alertId format"],
  ["/events?status=active", "query status unknown"]
]

layer(serving())("requests for alerts", (it) => {
  for (const [name, ask] of Object.entries(calls)) {
    it.effect(`${name} is for keys that may`, () =>
      Effect.gen(function* () {
        const lacking = name.startsWith("GET") ? "w" : "r"
        const answer = yield* ask(lacking)
        assert.strictEqual(codeOf(answer), "403 missing_scope")
        const scope = name.startsWith("GET") ? "alerts.read" : "alerts.write"
        assert.deepStrictEqual(answer.json("error.details"), [{ in: "header", field: scope, issue: "missing" }])
        assert.strictEqual(yield* refused(ask("m")), "403 missing_scope")
        assert.strictEqual(yield* refused(ask("d")), "403 key_disabled")
        assert.strictEqual(yield* refused(ask("i")), "403 ip_not_allowed")
        assert.strictEqual(yield* refused(ask("x")), "401 invalid_api_key")
      })
    )
  }

  it.effect("are refused without a key, by other methods and when they are too long", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* refused(call("/api/v1/alerts", { key: null })), "401 missing_api_key")
      const put = yield* call("/api/v1/alerts", { method: "PUT" })
      assert.strictEqual(codeOf(put), "405 method_not_allowed")
      assert.sameMembers((put.headers.get("allow") ?? "").split(", "), ["GET", "HEAD", "OPTIONS", "POST"])
      assert.strictEqual(yield* refused(call("/api/v1/alerts/al_x", { method: "POST" })), "405 method_not_allowed")
      assert.strictEqual(yield* refused(read(`?x=${"1".repeat(8192)}`)), "414 uri_too_long")
    })
  )

  it.effect("say which field of a body is wrong, and how", () =>
    Effect.gen(function* () {
      for (const [body, ...faults] of bodies) {
        assert.deepStrictEqual(faultsOf(yield* send("POST", "", body)), faults, JSON.stringify(body).slice(0, 200))
      }
      assert.deepStrictEqual(itemsOf((yield* read("")).text), [])
    })
  )

  it.effect("name the change that cannot be made, and change nothing", () =>
    Effect.gen(function* () {
      const id = yield* make(wanted, "b")
      for (const [body, fault] of patches) {
        const answer = yield* send("PATCH", `/${id}`, { note: "half", ...body }, { key: "b" })
        assert.deepStrictEqual(faultsOf(answer), [fault], JSON.stringify(body).slice(0, 200))
      }
      assert.isNull((yield* read(`/${id}`, "b")).json("data.note"))
    })
  )

  it.effect("say which parameter is wrong", () =>
    Effect.gen(function* () {
      for (const [query, fault] of queries) {
        assert.deepStrictEqual(faultsOf(yield* read(query)), [fault], query)
      }
      assert.strictEqual(yield* refused(read("?cursor=nonsense")), "400 invalid_cursor")
      assert.strictEqual(yield* refused(read("/events?cursor=nonsense")), "400 invalid_cursor")
      assert.deepStrictEqual(faultsOf(yield* read("/al_x?colour=red")), ["query colour unknown"])
    })
  )

  it.effect("need a JSON body of at most 8 KiB", () =>
    Effect.gen(function* () {
      for (const [method, path] of [["POST", ""] as const, ["PATCH", "/al_x"] as const]) {
        const large = JSON.stringify({ note: "x".repeat(8192) })
        assert.strictEqual(yield* refused(send(method, path, large)), "413 body_too_large")
        assert.strictEqual(yield* refused(send(method, path, wanted, plain)), "415 unsupported_media_type")
        assert.deepStrictEqual(faultsOf(yield* send(method, path, "{")), ["body  format"])
        assert.deepStrictEqual(faultsOf(yield* send(method, path, '{"note":"a","note":"b"}')), ["body note duplicate"])
      }
    })
  )

  it.effect("need at least one field in a change", () =>
    Effect.gen(function* () {
      const id = yield* make(wanted)
      for (const body of [{}, { condition: {} }]) {
        assert.deepStrictEqual(faultsOf(yield* send("PATCH", `/${id}`, body)), ["body  missing"])
      }
    })
  )

  it.effect("answer 404 for an alert that does not exist", () =>
    Effect.gen(function* () {
      for (const id of ["al_none", "x", "al_%00", "%F0%9F%A6%A6"]) {
        assert.strictEqual(yield* refused(read(`/${id}`)), "404 alert_not_found", id)
        assert.strictEqual(yield* refused(send("PATCH", `/${id}`, { note: null })), "404 alert_not_found", id)
        assert.strictEqual(yield* refused(remove(id)), "404 alert_not_found", id)
      }
    })
  )

  it.effect("answer 409 for the hundred and first alert, until one is final or removed", () =>
    Effect.gen(function* () {
      const ids = yield* Effect.forEach(Array.from({ length: 100 }), () => make(wanted, "f"), { concurrency: 8 })
      const over = yield* send("POST", "", wanted, { key: "f" })
      assert.strictEqual(codeOf(over), "409 limit_reached")
      yield* remove(ids[0] ?? "", "f")
      assert.strictEqual((yield* send("POST", "", wanted, { key: "f" })).status, 201)
    })
  )

  it.effect("answer 429 once the budget is spent", () =>
    Effect.gen(function* () {
      yield* Effect.forEach(Array.from({ length: 120 }), () => read("/events", "q"), { concurrency: 8 })
      for (const ask of Object.values(calls)) {
        assert.strictEqual(yield* refused(ask("q")), "429 rate_limited")
      }
    })
  )
})

const storeOf = (change: (store: AlertStore["Service"]) => Partial<AlertStore["Service"]>) =>
  Layer.effect(
    AlertStore,
    Effect.map(AlertStore, (store) => AlertStore.of({ ...store, ...change(store) }))
  ).pipe(Layer.provide(MemoryAlerts.layer))

const unavailable = Effect.fail(new AlertStoreUnavailable({ cause: "away" }))

const storeAway = storeOf(() => ({
  create: () => unavailable,
  find: () => unavailable,
  page: () => unavailable,
  change: () => unavailable,
  remove: () => unavailable,
  events: () => unavailable
}))

const bug = () => Effect.die(new Error("a bug"))
const storeBroken = storeOf(() => ({ create: bug, find: bug, page: bug, change: bug, remove: bug, events: bug }))

const down = Effect.fail(new LimiterUnavailable({ cause: "down" }))
const noLimiter = Layer.succeed(RateLimiter, {
  isImmediate: true,
  admit: () => down,
  refund: () => down,
  peek: () => down
})
const named = { headers: { "idempotency-key": "one-and-only" } }
const noNames = Layer.succeed(Idempotency, {
  begin: () => Effect.fail(new IdempotencyUnavailable({ cause: "away" }))
})

/** Calls every endpoint and expects the same answer. */
const all = (expected: string) =>
  Effect.gen(function* () {
    for (const [name, ask] of Object.entries(calls)) {
      assert.strictEqual(yield* refused(ask("a")), expected, name)
    }
    yield* settle
  })

describe("every call", () => {
  it.effect("answers 503 while the store is unavailable", () =>
    all("503 data_unavailable").pipe(Effect.provide(serving({ store: storeAway })))
  )

  it.effect("answers 500 when the store has a bug", () =>
    all("500 internal_error").pipe(Effect.provide(serving({ store: storeBroken })))
  )

  it.effect("answers 503 when admission cannot be decided", () =>
    all("503 limiter_unavailable").pipe(Effect.provide(serving({ world: { limiter: noLimiter } })))
  )

  it.effect("is not carried out when its idempotency key cannot be stored", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* refused(send("POST", "", wanted, named)), "503 data_unavailable")
      assert.deepStrictEqual(itemsOf((yield* read("")).text), [])
    }).pipe(Effect.provide(serving({ world: { idempotency: noNames } })))
  )
})
