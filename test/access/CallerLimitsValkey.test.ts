import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Context, Effect, Exit, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import { CallerLimits } from "../../src/access/CallerLimits.ts"
import * as CallerLimitsValkey from "../../src/access/CallerLimitsValkey.ts"
import { WalletBatch } from "../../src/access/WalletBatch.ts"
import { Valkey } from "../../src/storage/valkey/Valkey.ts"
import * as ValkeyRedis from "../../src/storage/valkey/ValkeyRedis.ts"
import { until } from "../support/sse.ts"
import { client, emptied, isAvailable, server, sharedServer } from "../support/valkey.ts"
import { walletBatchContract } from "./walletBatchContract.ts"

const places = { kind: "streams", caller: "key_a", limit: 2 }
const KEY = "fathom:{key_a}:streams:places"

const over = <E>(valkey: Layer.Layer<Valkey, E>) =>
  CallerLimitsValkey.layer.pipe(Layer.provideMerge(valkey), Layer.fresh)

const limitsOf = (context: Context.Context<CallerLimits>) => Context.get(context, CallerLimits)

describe.runIf(isAvailable)("CallerLimitsValkey", () => {
  const shared = sharedServer()
  walletBatchContract("WalletBatch.layer over Valkey", WalletBatch.layer.pipe(Layer.provide(over(emptied(shared)))))

  it.effect("counts the places of a caller over two processes", () =>
    Effect.gen(function* () {
      const first = limitsOf(yield* Layer.build(over(emptied(shared))))
      const second = limitsOf(yield* Layer.build(over(client(shared().url))))
      const stream = yield* Scope.make()
      yield* Scope.provide(first.take(places), stream)
      yield* second.take(places)
      assert.strictEqual((yield* Effect.flip(second.take(places)))._tag, "NoPlace")
      yield* second.take({ ...places, caller: "key_b" })
      yield* Scope.close(stream, Exit.void)
      yield* second.take(places)
      assert.strictEqual((yield* Effect.flip(first.take(places)))._tag, "NoPlace")
      assert.strictEqual((yield* Effect.flip(first.take({ ...places, caller: "key_c", limit: 0 })))._tag, "NoPlace")
    }).pipe(Effect.scoped)
  )

  const soon = Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 5)))

  it.effect("renews the places of a living process, and frees the places of a killed one within 15 seconds", () =>
    Effect.gen(function* () {
      const context = yield* Layer.build(over(emptied(shared)))
      const { send } = Context.get(context, Valkey)
      const life = yield* Scope.make()
      const killed = limitsOf(yield* Layer.buildWithScope(over(client(shared().url)), life))
      // The scope of these places is never closed: a killed process gives nothing back.
      const lost = yield* Scope.make()
      yield* Scope.provide(Effect.andThen(killed.take(places), killed.take(places)), lost)
      let ends = 0
      const score = Effect.map(send("ZRANGE", KEY, "0", "0", "WITHSCORES"), (found) =>
        Number(JSON.stringify(found).match(/(\d+)"?\]*$/u)?.[1])
      )
      for (let renewals = 0; renewals < 4; renewals++) {
        // The clock stands still while a renewal is under way. It moves again in case the process was not asleep yet.
        const renewed = yield* TestClock.adjust("5 seconds").pipe(
          Effect.andThen(Effect.repeat(Effect.andThen(soon, score), { until: (at) => at > ends, times: 200 })),
          Effect.repeat({ until: (at) => at > ends, times: 2 })
        )
        yield* Effect.repeat(soon, { times: 5 })
        assert.isAbove(renewed, ends)
        ends = renewed
      }
      assert.strictEqual((yield* Effect.flip(limitsOf(context).take(places)))._tag, "NoPlace")
      yield* Scope.close(life, Exit.void)
      yield* TestClock.setTime(ends - 1)
      assert.strictEqual((yield* Effect.flip(limitsOf(context).take(places)))._tag, "NoPlace")
      yield* TestClock.adjust("1 millis")
      yield* limitsOf(context).take(places)
    }).pipe(Effect.scoped)
  )

  it.live("gives each process its share while Valkey is away", () =>
    Effect.gen(function* () {
      const own = yield* server
      const context = yield* Layer.build(over(ValkeyRedis.layer(own.url)))
      const valkey = Context.get(context, Valkey)
      yield* Layer.build(Layer.fresh(ValkeyRedis.layer(own.url)))
      yield* until("two processes", () => valkey.processes() === 2)
      yield* own.kill
      yield* until("away", () => !valkey.isUp())
      const limits = limitsOf(context)
      yield* limits.take({ ...places, limit: 5 })
      yield* limits.take({ ...places, limit: 5 })
      assert.strictEqual((yield* Effect.flip(limits.take({ ...places, limit: 5 })))._tag, "NoPlace")
      const start = limits.count({ kind: "sessions", caller: "key_a", limit: 3, windowMs: 60_000 })
      yield* start
      assert.strictEqual((yield* Effect.flip(start))._tag, "TooOften")
    }).pipe(Effect.scoped)
  )

  it.live("refuses while Valkey is away with BUDGET_STORE_DOWN=refuse", () =>
    Effect.gen(function* () {
      const own = yield* server
      const context = yield* Layer.build(over(ValkeyRedis.layer(own.url)))
      yield* own.kill
      yield* until("away", () => !Context.get(context, Valkey).isUp())
      const limits = limitsOf(context)
      assert.strictEqual((yield* Effect.flip(limits.take(places)))._tag, "LimiterUnavailable")
      const start = limits.count({ ...places, windowMs: 60_000 })
      assert.strictEqual((yield* Effect.flip(start))._tag, "LimiterUnavailable")
    }).pipe(
      Effect.scoped,
      Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env: { BUDGET_STORE_DOWN: "refuse" } })))
    )
  )
})
