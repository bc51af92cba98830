import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Context, Effect, Fiber, Layer, Schedule } from "effect"
import { fork } from "node:child_process"
import { fileURLToPath } from "node:url"
import { RateLimiter } from "../../src/access/RateLimiter.ts"
import * as RateLimiterValkey from "../../src/access/RateLimiterValkey.ts"
import { DEFAULT_PLAN } from "../../src/api/schemas/Plan.ts"
import * as Readings from "../../src/operations/Readings.ts"
import * as SourceMonitor from "../../src/operations/SourceMonitor.ts"
import { Valkey } from "../../src/storage/valkey/Valkey.ts"
import * as ValkeyRedis from "../../src/storage/valkey/ValkeyRedis.ts"
import { until } from "../support/sse.ts"
import { client, emptied, isAvailable, server, sharedServer } from "../support/valkey.ts"
import { rateLimiterContract } from "../access/rateLimiterContract.ts"

const key = { id: "k", plan: DEFAULT_PLAN }
const rest = (cost: number) => ({ key, budget: "rest" as const, cost })
const SPENDER = fileURLToPath(new URL("../support/budgetSpender.ts", import.meta.url))

/** Runs the process to its end. */
const spender = (url: string) =>
  Effect.callback<number | null>((resume) => {
    const child = fork(SPENDER, [url], { execArgv: [], env: { BUDGET_STORE_DOWN: "refuse" } })
    child.once("exit", (code) => resume(Effect.succeed(code)))
    return Effect.sync(() => child.kill("SIGKILL"))
  })

/** The client closes a connection that is silent for this long. */
const SILENT_MS = 10_000

/** The limiter of one process. */
const limiterOn = (valkey: Layer.Layer<Valkey>) =>
  Effect.map(Layer.build(Layer.fresh(RateLimiterValkey.layer).pipe(Layer.provide(valkey))), (context) =>
    Context.get(context, RateLimiter)
  )

/** The most times, in order, that lie within less than `windowUs` of each other. */
const fullestWindow = (times: ReadonlyArray<number>, windowUs: number): number => {
  let [most, first] = [0, 0]
  times.forEach((time, i) => {
    while (time - (times[first] ?? 0) >= windowUs) {
      first++
    }
    most = Math.max(most, i - first + 1)
  })
  return most
}

describe.runIf(isAvailable)("RateLimiterValkey", () => {
  const shared = sharedServer()

  rateLimiterContract("RateLimiterValkey.layer", RateLimiterValkey.layer.pipe(Layer.provide(emptied(shared))))

  it.effect("admits the limit over two processes, and refunds what the other process has charged", () =>
    Effect.gen(function* () {
      const first = yield* limiterOn(emptied(shared))
      const second = yield* limiterOn(client(shared().url))
      const charge = yield* first.admit(rest(100))
      yield* second.admit(rest(20))
      assert.deepInclude(yield* Effect.flip(first.admit(rest(1))), { _tag: "BudgetExceeded", fitsAtMs: 60_000 })
      assert.strictEqual((yield* second.refund(charge)).remaining, 100)
      assert.strictEqual((yield* first.peek(key, "rest")).remaining, 100)
    }).pipe(Effect.scoped)
  )

  it.live("admits 120 in the fullest window of a minute over four processes, through several windows", () =>
    Effect.gen(function* () {
      const { send } = yield* Valkey
      const codes = yield* Effect.all(
        Array.from({ length: 4 }, () => spender(shared().url)),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(codes, [0, 0, 0, 0])
      const times = (yield* send("HVALS", "test:admitted")) as ReadonlyArray<string>
      assert.strictEqual(
        fullestWindow(
          times.map(Number).toSorted((a, b) => a - b),
          60_000_000
        ),
        DEFAULT_PLAN.rest
      )
      assert.isAbove(times.length, 2 * DEFAULT_PLAN.rest)
      assert.isAtMost(Number(yield* send("PTTL", "fathom:{k}:rest")), 60_001)
    }).pipe(Effect.provide(emptied(shared)))
  )
})

/** A limiter with its connection, settings and health, on a server of the test's own. */
const process = (env: Record<string, string> = {}) =>
  Effect.map(server, (own) => ({
    own,
    layer: RateLimiterValkey.layer.pipe(
      Layer.provideMerge(ValkeyRedis.layer(own.url)),
      Layer.provideMerge(Layer.merge(Readings.layer, SourceMonitor.layer)),
      Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env })))
    )
  }))

const decidedAlone = Effect.map(
  Readings.Readings,
  ({ collect }) => collect(0).find(({ name }) => name === "fathom_budget_local_decisions_total")?.samples[0]?.value
)

const status = Effect.map(SourceMonitor.SourceMonitor, (monitor) => monitor.stateOf("valkey", Date.now())?.status)

describe.runIf(isAvailable)("RateLimiterValkey while Valkey is away", () => {
  it.live("shares the budget after a start in which the process itself stood still for longer than it waits", () =>
    Effect.gen(function* () {
      const { layer } = yield* process()
      const starting = yield* Effect.forkChild(Layer.build(layer), { startImmediately: true })
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2500)
      const context = yield* Fiber.join(starting)
      const admitted = yield* Context.get(context, RateLimiter).admit(rest(1))
      assert.deepStrictEqual([admitted.limit, admitted.seq > 0], [DEFAULT_PLAN.rest, true])
      assert.strictEqual(yield* Effect.provide(decidedAlone, context), 0)
    }).pipe(Effect.scoped)
  )

  it.live(
    "shares the budget after the process itself stood still for longer than Valkey may",
    () =>
      Effect.gen(function* () {
        const { layer } = yield* process()
        const context = yield* Layer.build(layer)
        const { admit } = Context.get(context, RateLimiter)
        const beganMs = performance.now()
        // The last answer came during the wait, so the connection is silent since then.
        yield* Effect.sleep("700 millis")
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3500)
        const charges = yield* Effect.forEach([1, 2, 3, 4, 5], () => Effect.andThen(Effect.sleep(20), admit(rest(1))))
        const alone = yield* Effect.provide(decidedAlone, context)
        return { tookMs: performance.now() - beganMs, charges, alone }
      }).pipe(
        Effect.scoped,
        // On a busy machine it may have stood still for longer than a connection may be silent, which is another case.
        Effect.repeat({ while: ({ tookMs }) => tookMs >= SILENT_MS }),
        Effect.map(({ alone, charges }) => {
          assert.isTrue(charges.every(({ limit, seq }) => limit === DEFAULT_PLAN.rest && seq > 0))
          assert.strictEqual(alone, 0)
        })
      ),
    120_000
  )

  it.live("admits an equal share by itself, and the shared budget again afterwards", () =>
    Effect.gen(function* () {
      const { layer, own } = yield* process()
      yield* Effect.gen(function* () {
        const [limiter, valkey] = [yield* RateLimiter, yield* Valkey]
        // Another process, which is only counted.
        yield* Layer.build(ValkeyRedis.layer(own.url).pipe(Layer.provide(SourceMonitor.layer), Layer.fresh))
        yield* until("two processes", () => valkey.processes() === 2)
        assert.strictEqual((yield* limiter.admit(rest(1))).remaining, 119)
        assert.deepStrictEqual([yield* decidedAlone, yield* status], [0, "known"])
        yield* own.kill
        yield* until("away", () => !valkey.isUp())
        const charge = yield* limiter.admit(rest(60))
        assert.deepInclude(charge, { limit: 60, remaining: 0 })
        assert.strictEqual((yield* Effect.flip(limiter.admit(rest(1))))._tag, "BudgetExceeded")
        assert.strictEqual((yield* limiter.refund(charge)).remaining, 60)
        assert.strictEqual((yield* limiter.peek(key, "quote")).remaining, 150)
        assert.deepStrictEqual([yield* decidedAlone, yield* status], [2, "stale"])
        yield* own.start
        yield* until("back", () => valkey.isUp())
        assert.strictEqual((yield* limiter.admit(rest(1))).remaining, 119)
        assert.deepStrictEqual([yield* decidedAlone, yield* status], [2, "known"])
      }).pipe(Effect.provide(layer))
    }).pipe(Effect.scoped)
  )

  it.live("refuses every decision with BUDGET_STORE_DOWN=refuse", () =>
    Effect.gen(function* () {
      const { layer, own } = yield* process({ BUDGET_STORE_DOWN: "refuse" })
      yield* Effect.gen(function* () {
        const [limiter, valkey] = [yield* RateLimiter, yield* Valkey]
        const charge = yield* limiter.admit(rest(1))
        yield* own.kill
        yield* until("away", () => !valkey.isUp())
        for (const decision of [limiter.admit(rest(1)), limiter.refund(charge), limiter.peek(key, "rest")]) {
          assert.strictEqual((yield* Effect.flip(decision))._tag, "LimiterUnavailable")
        }
        assert.strictEqual(yield* decidedAlone, 0)
      }).pipe(Effect.provide(layer))
    }).pipe(Effect.scoped)
  )

  it.live("gives a frozen server up, and refunds what that server admits later", () =>
    Effect.gen(function* () {
      const { layer, own } = yield* process({ BUDGET_STORE_DOWN: "refuse" })
      yield* Effect.gen(function* () {
        const [limiter, valkey] = [yield* RateLimiter, yield* Valkey]
        yield* own.freeze
        assert.strictEqual((yield* Effect.flip(limiter.admit(rest(50))))._tag, "LimiterUnavailable")
        assert.isFalse(valkey.isUp())
        yield* own.thaw
        const remaining = Effect.orElseSucceed(
          Effect.map(limiter.peek(key, "rest"), (state) => state.remaining),
          () => null
        )
        yield* remaining.pipe(
          Effect.repeat({ until: (units) => units === 120, schedule: Schedule.spaced("5 millis"), times: 2000 })
        )
        assert.strictEqual(yield* remaining, 120)
      }).pipe(Effect.provide(layer))
    }).pipe(Effect.scoped)
  )

  it.live("starts without a server, and shares once there is one", () =>
    Effect.gen(function* () {
      const { layer, own } = yield* process()
      yield* own.kill
      yield* Effect.gen(function* () {
        const [limiter, valkey] = [yield* RateLimiter, yield* Valkey]
        assert.deepStrictEqual([yield* status, (yield* limiter.admit(rest(1))).remaining], ["unavailable", 119])
        assert.strictEqual(yield* decidedAlone, 1)
        yield* own.start
        yield* until("reached", () => valkey.isUp())
        yield* limiter.admit(rest(1))
        assert.strictEqual(yield* decidedAlone, 1)
      }).pipe(Effect.provide(layer))
    }).pipe(Effect.scoped)
  )
})
