/** Two processes that write one chain in a database. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Layer, Schema, Stream } from "effect"
import { SqlClient } from "effect/sql"
import type { StoredSnapshot } from "../../../src/market/model/StoredSnapshot.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"
import { storesOf, storesOn } from "../../support/marketStores.ts"
import { storedBlock } from "../history/storedBlock.ts"

const sqlOf = (address: TestDatabase.TestAddress) =>
  Effect.map(Layer.build(TestDatabase.connect(address)), (context) => Context.get(context, SqlClient.SqlClient))

const counts = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ rows: Schema.Number })))

describe.runIf(TestDatabase.isAvailable)("stored trades", () => {
  it.live("from two writers have one count of repairs, so that each writer can keep a snapshot", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const chain = { genesis: "two writers", isSandbox: false }
      const one = yield* storesOf(storesOn(TestDatabase.connect(address)))
      const other = yield* storesOf(storesOn(TestDatabase.connect(address)))
      yield* one.blocks.open(chain)
      yield* one.blocks.append([storedBlock(7), storedBlock(9)])
      yield* other.blocks.open(chain)
      yield* other.blocks.repair({ batches: [storedBlock(8)], gap: null, first: null, found: [], repriced: [] })
      yield* one.blocks.append([storedBlock(10)])
      const { repairs = 0, slot = 0 } = (yield* one.blocks.progress) ?? {}
      assert.strictEqual(repairs, 1)
      const state = { slot, timeMs: 0, repairs, layout: "layout" }
      assert.isNotNull(yield* one.snapshots.keep({ state, size: 0, parts: Stream.empty }))
    })
  )

  it.live("keep no part of a failed snapshot, and no snapshot whose parts another writer has deleted", () =>
    Effect.gen(function* () {
      const address = yield* TestDatabase.create
      const chain = { genesis: "parts", isSandbox: false }
      const one = yield* storesOf(storesOn(TestDatabase.connect(address)))
      const other = yield* storesOf(storesOn(TestDatabase.connect(address)))
      yield* one.blocks.open(chain)
      yield* one.blocks.append([storedBlock(7)])
      yield* other.blocks.open(chain)
      const sql = yield* sqlOf(address)
      const parts = Effect.flatMap(sql`select count(*)::int as rows from market_snapshot_parts`, counts)
      const state = { slot: 1007, timeMs: 0, repairs: 0, layout: "layout" }
      const part = Stream.make(Uint8Array.of(1))
      const failing = Stream.concat(part, Stream.die("the memory is gone"))
      yield* Effect.exit(one.snapshots.keep({ state, size: 1, parts: failing }))
      assert.deepStrictEqual(yield* parts, [{ rows: 0 }])
      const otherKept = yield* Deferred.make<StoredSnapshot | null>()
      const meanwhile = Effect.flatMap(other.snapshots.keep({ state, size: 1, parts: part }), (kept) =>
        Effect.as(Deferred.succeed(otherKept, kept), Uint8Array.of(2))
      )
      const cut = Stream.concat(part, Stream.fromEffect(Effect.orDie(meanwhile)))
      assert.isNull(yield* one.snapshots.keep({ state, size: 2, parts: cut }))
      assert.deepStrictEqual(yield* one.snapshots.newest, yield* Deferred.await(otherKept))
      assert.deepStrictEqual(yield* parts, [{ rows: 1 }])
    })
  )
})
