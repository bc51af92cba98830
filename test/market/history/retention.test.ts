import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import type { StoredBatch } from "../../../src/market/model/StoredBatch.ts"
import { isAvailable, sharedEngine, tieredEngine } from "../../support/clickhouse/engine.ts"
import { ask } from "../../support/clickhouse/engineProcess.ts"
import { eventually, placeOf, rowOf, stored, storeOf } from "../../support/clickhouse/places.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"
import { trade, walletOf } from "../tape/tape.ts"
import { storedBlock } from "./storedBlock.ts"

const blocks = (from: number, to: number): ReadonlyArray<StoredBatch> =>
  Array.from({ length: to - from }, (_, at) => storedBlock(from + at, [{ wallet: walletOf((from + at) % 3) }, {}]))

describe.runIf(isAvailable && TestDatabase.isAvailable)("the tables of ClickHouse", () => {
  const engine = sharedEngine()

  it.live("keep trades for the configured time, and the candles of hours for good", () =>
    Effect.gen(function* () {
      const here = yield* placeOf(engine(), "kept")
      const store = yield* storeOf(here, yield* Effect.scope, { CLICKHOUSE_TRADES_KEPT: "3 days" })
      yield* store.blocks.open(here.chain)
      const nowMs = yield* Clock.currentTimeMillis
      const aged = (slot: number, days: number): StoredBatch => {
        const timeMs = nowMs - days * 86_400_000
        return { slot, timeMs, trades: [trade({ slot, timeMs })], launches: [], afterGap: false }
      }
      yield* store.blocks.append([aged(1, 9), aged(2, 5), aged(3, 1)])
      for (const table of ["trades", "wallet_trades"]) {
        yield* ask(here.engine, `OPTIMIZE TABLE ${table} FINAL`)
        assert.deepStrictEqual(yield* rowOf(here, "groupArray(slot)", table), [[3]], table)
      }
      yield* ask(here.engine, "OPTIMIZE TABLE hour_bars FINAL")
      assert.deepStrictEqual(yield* rowOf(here, "sum(trades)", "hour_bars"), [3])
      assert.strictEqual(store.candles.keptSeconds("1s"), 3 * 86_400)
    }).pipe(Effect.scoped)
  )

  it.live("keep trades for good once the setting asks for it", () =>
    Effect.gen(function* () {
      const here = yield* placeOf(engine(), "always")
      const rules = Effect.map(
        ask(here.engine, "SELECT engine_full LIKE '% TTL %' FROM system.tables WHERE name = 'trades'"),
        ([row]) => row?.[0]
      )
      for (const [kept, expected] of [
        ["3 days", 1],
        ["30000 days", 0],
        ["30000 days", 0]
      ] as const) {
        const store = yield* storeOf(here, yield* Effect.scope, {
          CLICKHOUSE_TRADES_KEPT: kept,
          CLICKHOUSE_SPOOL: `${here.engine.folder}/always-${kept}-${Math.random()}`
        })
        yield* store.blocks.open(here.chain)
        yield* eventually(stored(store))
        assert.strictEqual(yield* rules, expected)
      }
    }).pipe(Effect.scoped)
  )

  it.live("stay unchanged when the server has no volume of that name, and blocks wait on disk", () =>
    Effect.gen(function* () {
      const here = yield* placeOf(engine(), "volume")
      const store = yield* storeOf(here, yield* Effect.scope, { CLICKHOUSE_COLD_VOLUME: "absent" })
      yield* store.blocks.open(here.chain)
      yield* store.blocks.append(blocks(0, 2))
      assert.strictEqual((yield* store.blocks.progress)?.slot, 1001)
      const { cause } = yield* Effect.flip(stored(store))
      assert.include(String(cause), "wait on disk")
      assert.deepStrictEqual(yield* rowOf(here, "count()", "trades"), [0])
    }).pipe(Effect.scoped)
  )
})

describe.runIf(isAvailable && TestDatabase.isAvailable)("the volumes of ClickHouse", () => {
  const engine = sharedEngine(tieredEngine)

  it.live("hold trades and minute candles by their age, and both volumes are read", () =>
    Effect.gen(function* () {
      const here = yield* placeOf(engine(), "cold")
      const settings = { CLICKHOUSE_COLD_VOLUME: "cold", CLICKHOUSE_COLD_AFTER: "7 days" }
      const store = yield* storeOf(here, yield* Effect.scope, settings)
      yield* store.blocks.open(here.chain)
      const nowMs = yield* Clock.currentTimeMillis
      const aged = (slot: number, days: number): StoredBatch => {
        const timeMs = nowMs - days * 86_400_000
        return { slot, timeMs, trades: [trade({ slot, timeMs })], launches: [], afterGap: false }
      }
      const all = [aged(1, 40), aged(2, 20), aged(3, 0)]
      yield* store.blocks.append(all)
      for (const table of ["trades", "wallet_trades", "minute_bars"]) {
        const parts = yield* ask(
          here.engine,
          `SELECT disk_name, toUInt32(sum(rows)) FROM system.parts WHERE active AND table = '${table}' GROUP BY disk_name`
        )
        assert.sameDeepMembers(Array.from(parts), [
          ["cold", 2],
          ["hot", 1]
        ])
      }
      const hours = yield* ask(
        here.engine,
        "SELECT DISTINCT disk_name FROM system.parts WHERE active AND table = 'hour_bars'"
      )
      assert.deepStrictEqual(hours, [["hot"]])
      assert.deepStrictEqual(yield* stored(store), all)
      assert.lengthOf(yield* store.trades.ofWallet(walletOf(1), 9), 3)
      // Without the setting, trades stay where they are inserted.
      const without = yield* storeOf({ ...here, chain: { ...here.chain, genesis: "hot" } }, yield* Effect.scope)
      yield* without.blocks.open({ genesis: "hot", isSandbox: false })
      yield* without.blocks.append([aged(4, 30)])
      const parts = yield* ask(
        here.engine,
        "SELECT DISTINCT disk_name FROM system.parts WHERE active AND table = 'trades' AND partition LIKE '%hot%'"
      )
      assert.deepStrictEqual(parts, [["hot"]])
    }).pipe(Effect.scoped)
  )
})
