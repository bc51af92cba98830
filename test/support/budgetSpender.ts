/** A process that spends one unit after another of one key until the server's clock has passed three windows: `budgetSpender.ts URL`. */
import { Effect, Layer } from "effect"
import { RateLimiter } from "../../src/access/RateLimiter.ts"
import * as RateLimiterValkey from "../../src/access/RateLimiterValkey.ts"
import { DEFAULT_PLAN } from "../../src/api/schemas/Plan.ts"
import { Valkey } from "../../src/storage/valkey/Valkey.ts"
import * as ValkeyRedis from "../../src/storage/valkey/ValkeyRedis.ts"

const WINDOWS = 3
const CLOCK = "test:clock"

/** Every call moves the clock of the server by 50 ms, and the time of each admission is kept, unless its answer was late and it was given back. */
const rewritten = (lua: string): string =>
  lua
    .replace(
      "local op, seq = ARGV[1], ARGV[2]",
      (read) => `${read} if op == 'refund' then redis.call('HDEL', 'test:admitted', seq) end`
    )
    .replace(
      "local t = redis.call('TIME')",
      `local us = redis.call('INCRBY', '${CLOCK}', 50000) local t = { math.floor(us / 1000000), us % 1000000 }`
    )
    .replace(
      "redis.call('ZADD', log, text(now), seq",
      (add) => `redis.call('HSET', 'test:admitted', seq, text(now)) ${add}`
    )

const valkey = Layer.effect(
  Valkey,
  Effect.map(Valkey, (valkey) => ({
    ...valkey,
    eval: (script) => valkey.eval({ ...script, lua: rewritten(script.lua) })
  }))
)

const spend = Effect.gen(function* () {
  const limiter = yield* RateLimiter
  const { send } = yield* Valkey
  const key = { id: "k", plan: DEFAULT_PLAN }
  // A process that was not answered in time asks again.
  const passed = Effect.orElseSucceed(
    Effect.map(send("GET", CLOCK), (us) => Number(us) > WINDOWS * 60_000_000),
    () => false
  )
  const once = Effect.exit(limiter.admit({ key, budget: "rest", cost: 1 }))
  while (!(yield* passed)) {
    yield* Effect.andThen(Effect.replicateEffect(once, 20, { discard: true }), Effect.yieldNow)
  }
})

const url = process.argv[2] ?? ""
await Effect.runPromise(
  Effect.provide(spend, RateLimiterValkey.layer.pipe(Layer.provideMerge(valkey), Layer.provide(ValkeyRedis.layer(url))))
)
