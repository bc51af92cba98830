/** Budgets over a server that answers late, as on a busy machine. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, ConfigProvider, Context, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { KeyedBudget } from "../../src/access/KeyedBudget.ts"
import { RateLimiter } from "../../src/access/RateLimiter.ts"
import * as RateLimiterValkey from "../../src/access/RateLimiterValkey.ts"
import { DEFAULT_PLAN } from "../../src/api/schemas/Plan.ts"
import { monotonicMs } from "../../src/domain/loopTime.ts"
import * as Readings from "../../src/operations/Readings.ts"
import type { LogRequest } from "../../src/storage/valkey/SharedLogs.ts"
import { Valkey } from "../../src/storage/valkey/Valkey.ts"

const WINDOW_MS = 60_000
const PROCESSES = 4
const key = { id: "k", plan: DEFAULT_PLAN }
const request = { key, budget: "rest" as const, cost: 1 }
/** A server that has not answered for this long counts as away. */
const LOST_MS = 2000

/** A server that decides a call when it is sent, and answers after `delayMs`. */
const makeServer = () => {
  const budget = new KeyedBudget({ limit: DEFAULT_PLAN.rest, windowMs: WINDOW_MS })
  const seqs = new Map<number, number>()
  const server = { delayMs: 0, late: 0, refunds: 0, decidedMs: 0 }
  const decide = (operation: string, seq: number, requests: ReadonlyArray<LogRequest>, nowMs: number) => {
    if (operation === "refund") {
      server.refunds++
      // A refund of a late answer runs in real time.
      budget.refund(key.id, seqs.get(seq) ?? 0, server.decidedMs)
      return [1, 0, 0, 0]
    }
    server.decidedMs = nowMs
    const decision = operation === "admit" ? budget.admit(key.id, requests[0]?.cost ?? 0, nowMs) : null
    if (decision?._tag === "Admitted") {
      seqs.set(seq, decision.seq)
    }
    const { remaining, resetInMs } = budget.peek(key.id, nowMs)
    const fitsInMs = decision?._tag === "Refused" ? decision.fitsInMs : 0
    return [decision?._tag === "Refused" ? 0 : 1, remaining, resetInMs * 1000, fitsInMs * 1000]
  }
  const valkey = Layer.succeed(Valkey, {
    eval:
      () =>
      (...params: ReadonlyArray<unknown>) =>
        Effect.flatMap(Clock.Clock, (clock) => {
          const [operation, seq, requests] = params as [string, number, ReadonlyArray<LogRequest>]
          return Effect.delay(
            Effect.succeed(decide(operation, seq, requests, monotonicMs(clock)) as never),
            server.delayMs
          )
        }),
    send: () => Effect.succeed(null),
    noteLate: () => {
      server.late++
    },
    isUp: () => true,
    contacts: () => 1,
    processes: () => PROCESSES
  })
  return { server, budget, valkey }
}

/** The limiter of a process with the default settings, and the number of its decisions alone. */
const processOn = (valkey: Layer.Layer<Valkey>) =>
  Effect.gen(function* () {
    const context = yield* Layer.build(
      Layer.fresh(RateLimiterValkey.layer).pipe(
        Layer.provide([valkey, ConfigProvider.layer(ConfigProvider.fromEnv({ env: {} }))]),
        Layer.provideMerge(Layer.fresh(Readings.layer))
      )
    )
    const { collect } = Context.get(context, Readings.Readings)
    const alone = () =>
      collect(0).find(({ name }) => name === "fathom_budget_local_decisions_total")?.samples[0]?.value ?? null
    return { limiter: Context.get(context, RateLimiter), alone }
  })

const isAdmitted = Effect.match({ onFailure: () => false, onSuccess: () => true })

describe("budgets over a server that answers late", () => {
  it.effect.each([0, 51, 600, LOST_MS - 1])("admit exactly the limit over four processes after %i ms", (delayMs) =>
    Effect.gen(function* () {
      const { server, valkey } = makeServer()
      server.delayMs = delayMs
      const processes = yield* Effect.forEach(Array.from({ length: PROCESSES }), () => processOn(valkey))
      const spending = yield* Effect.forkChild(
        Effect.forEach(
          processes.flatMap(({ limiter }) => Array.from({ length: 50 }, () => limiter)),
          (limiter) => isAdmitted(limiter.admit(request)),
          { concurrency: "unbounded" }
        ),
        { startImmediately: true }
      )
      yield* TestClock.adjust(LOST_MS)
      assert.lengthOf((yield* Fiber.join(spending)).filter(Boolean), DEFAULT_PLAN.rest)
      assert.deepStrictEqual(
        processes.map(({ alone }) => alone()),
        [0, 0, 0, 0]
      )
    }).pipe(Effect.scoped)
  )

  it.effect("count a request that a process admitted alone, once the lost answer comes after all", () =>
    Effect.gen(function* () {
      const { budget, server, valkey } = makeServer()
      server.delayMs = LOST_MS + 500
      const { alone, limiter } = yield* processOn(valkey)
      const share = DEFAULT_PLAN.rest / PROCESSES
      const spending = yield* Effect.forkChild(
        Effect.forEach(Array.from({ length: share + 10 }), () => isAdmitted(limiter.admit(request)), {
          concurrency: "unbounded"
        }),
        { startImmediately: true }
      )
      yield* TestClock.adjust(LOST_MS)
      assert.lengthOf((yield* Fiber.join(spending)).filter(Boolean), share)
      assert.strictEqual(alone(), share + 10)
      yield* TestClock.adjust(6000)
      // The ten that were refused are refunded, and no other.
      assert.strictEqual(server.refunds, 10)
      const nowMs = monotonicMs(yield* Clock.Clock)
      assert.strictEqual(budget.peek(key.id, nowMs).remaining, DEFAULT_PLAN.rest - share)
    }).pipe(Effect.scoped)
  )
})
