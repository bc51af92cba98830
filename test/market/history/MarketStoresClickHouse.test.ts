import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Exit, Layer, Scope } from "effect"
import * as MarketStoresClickHouse from "../../../src/market/history/MarketStoresClickHouse.ts"
import { client, isAvailable, sharedEngine } from "../../support/clickhouse/engine.ts"
import { ask } from "../../support/clickhouse/engineProcess.ts"
import { storesOf } from "../../support/marketStores.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"
import { barParity } from "../tape/barParity.ts"
import { MONDAY } from "../tape/tape.ts"
import { marketStoresContract } from "./marketStoresContract.ts"
import { storedBlock } from "./storedBlock.ts"

/** A block with two trades. */
const block = (second: number) => storedBlock(second, [{}, {}])

describe.runIf(isAvailable && TestDatabase.isAvailable)("the contract", () => {
  const engine = sharedEngine()
  const settings = Layer.unwrap(
    Effect.sync(() =>
      ConfigProvider.layer(
        ConfigProvider.fromUnknown({
          CLICKHOUSE_TRADES_KEPT: "20000 days",
          CLICKHOUSE_SPOOL: `${engine().folder}/spool`
        })
      )
    )
  )
  const store = MarketStoresClickHouse.layer.pipe(Layer.provide([TestDatabase.layer, client(engine), settings]))
  marketStoresContract("MarketStoresClickHouse.layer", store)
  barParity(store, 1)

  it.live(
    "a process that starts after trades were lost reads them again, and candles that had counted them count them once",
    () =>
      Effect.gen(function* () {
        const address = yield* TestDatabase.create
        const database = TestDatabase.connect(address)
        const chain = { genesis: "lossy", isSandbox: false }
        const process = Effect.fnUntraced(function* (name: string) {
          const scope = yield* Scope.fork(yield* Effect.scope)
          const own = Layer.unwrap(
            Effect.sync(() =>
              ConfigProvider.layer(
                ConfigProvider.fromUnknown({
                  CLICKHOUSE_TRADES_KEPT: "20000 days",
                  CLICKHOUSE_SPOOL: `${engine().folder}/${name}`
                })
              )
            )
          )
          const layer = MarketStoresClickHouse.layer.pipe(Layer.provide([database, client(engine), own]))
          const { blocks } = yield* Scope.provide(storesOf(layer), scope)
          yield* blocks.open(chain, "sole")
          return { blocks, end: Scope.close(scope, Exit.void) }
        })
        const first = yield* process("first")
        yield* Effect.forEach([1, 2, 70, 3700], (second) => first.blocks.append([block(second)]))
        yield* first.end
        yield* Effect.ignoreCause(ask(engine(), "DELETE FROM trades WHERE chain = 'lossy' AND slot > 1002"))
        // The last insert that is left has not reached every view.
        yield* Effect.ignoreCause(ask(engine(), "DELETE FROM wallet_trades WHERE chain = 'lossy' AND slot > 1001"))
        yield* Effect.ignoreCause(ask(engine(), "DELETE FROM hour_bars WHERE chain = 'lossy'"))

        const { blocks } = yield* process("second")
        yield* blocks.append([block(3800)])
        const gaps = (yield* blocks.progress)?.gaps.map(({ fromSlot, toSlot }) => [fromSlot, toSlot])
        assert.deepStrictEqual(gaps, [[1003, 4799]])
        const again = { repriced: [], first: null, found: [] }
        yield* blocks.repair({ ...again, batches: [block(3700)], gap: { fromSlot: 1003, left: [] } })
        yield* blocks.repair({ ...again, batches: [block(70)], gap: { fromSlot: 1003, left: [] } })
        for (const table of ["minute_bars", "hour_bars", "day_bars"]) {
          const counted = `SELECT toUInt32(sum(trades)) FROM ${table} WHERE chain = 'lossy' AND at < toDateTime(${MONDAY + 86_400})`
          assert.deepStrictEqual([table, yield* ask(engine(), counted)], [table, [[10]]])
        }
        const ofWallets = "SELECT toUInt32(uniqExact((slot, place))) FROM wallet_trades WHERE chain = 'lossy'"
        assert.deepStrictEqual(yield* ask(engine(), ofWallets), [[10]])
      }).pipe(Effect.scoped),
    120_000
  )
})
