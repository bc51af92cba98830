/** The index of pools while its stream, its snapshots or its database fail. */
import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Context, Effect, Layer, Queue } from "effect"
import { at } from "../toyChain.ts"
import { until } from "../../support/sse.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"
import { StreamedChain } from "./indexScene.ts"
import { keeper, lost, makeLaterClock, shows, stream, TOKEN } from "./keeperScene.ts"

describe.runIf(TestDatabase.isAvailable)("the index of pools with failures", { concurrent: true }, () => {
  it.live("is stale while no stream starts, however often one is opened, and known once a slot is stored", () =>
    Effect.gen(function* () {
      const chain = new StreamedChain()
      chain.pools.set(at(20), TOKEN)
      const { clock, later } = yield* makeLaterClock
      const kept = yield* Effect.provideService(keeper(chain, yield* TestDatabase.create), Clock.Clock, clock)
      const first = yield* stream(chain)
      first.listener.onSlot(100)
      yield* shows(kept, TOKEN, [at(20)], 100)
      yield* until("the index is kept up", () => kept.state()?.status === "known")
      later.byMs = 31_000
      yield* first.end(lost)
      const second = yield* stream(chain)
      assert.deepInclude(kept.state(), { status: "stale", reason: "source_stale", share: 1 })
      second.listener.onSlot(70)
      yield* until("the index is kept up again", () => kept.state()?.status === "known")
    }).pipe(Effect.scoped)
  )

  it.live("reads programs again when a stream starts after the requested slot", () =>
    Effect.gen(function* () {
      const chain = new StreamedChain()
      chain.pools.set(at(20), TOKEN)
      const kept = yield* keeper(chain, yield* TestDatabase.create)
      const first = yield* stream(chain)
      first.listener.onSlot(100)
      yield* shows(kept, TOKEN, [at(20)], 100)
      yield* first.end(lost)
      chain.pools.set(at(21), TOKEN)
      const second = yield* stream(chain)
      assert.strictEqual(second.from, 68)
      second.listener.onSlot(101)
      const third = yield* stream(chain)
      assert.isNull(third.from)
      assert.isNull(yield* kept.pools(TOKEN))
      third.listener.onSlot(102)
      yield* shows(kept, TOKEN, [at(20), at(21)], 102)
      assert.strictEqual(chain.queries.length, 2)
    }).pipe(Effect.scoped)
  )

  it.live("retries a program that cannot be stored after a while, and follows the stream meanwhile", () =>
    Effect.gen(function* () {
      const chain = new StreamedChain()
      chain.pools.set(at(20), TOKEN)
      const address = yield* TestDatabase.create
      const database = yield* Layer.build(TestDatabase.connect(address))
      const sql = Context.get(database, PgClient.PgClient)
      yield* sql`alter table indexed_programs add constraint never_whole check (not is_whole)`
      const { clock, later } = yield* makeLaterClock
      const kept = yield* Effect.provideService(keeper(chain, address), Clock.Clock, clock)
      const opened = yield* stream(chain)
      opened.listener.onSlot(100)
      yield* until("the snapshot is read", () => chain.queries.length === 1)
      chain.write(opened, 101, at(21), TOKEN)
      opened.listener.onSlot(101)
      const through = Effect.map(sql`select from indexed_programs where through = 101`, (rows) => rows.length === 1)
      yield* through.pipe(Effect.delay("50 millis"), Effect.repeat({ until: (isStored) => isStored }))
      assert.deepInclude(kept.state(), { status: "unavailable", slot: 101 })
      assert.strictEqual(chain.queries.length, 1)
      assert.strictEqual(yield* Queue.size(chain.opened), 0)
      yield* sql`alter table indexed_programs drop constraint never_whole`
      later.byMs = 5000
      yield* shows(kept, TOKEN, [at(20), at(21)], 101)
      assert.strictEqual(chain.queries.length, 2)
    }).pipe(Effect.scoped)
  )
})
