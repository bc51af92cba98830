/** Stores of a test on the engine of ClickHouse, each with a chain, a database and a spool. */
import { ConfigProvider, Effect, Layer, type Scope, Stream } from "effect"
import * as MarketStoresClickHouse from "../../../src/market/history/MarketStoresClickHouse.ts"
import * as ClickHouseHttp from "../../../src/storage/clickhouse/ClickHouseHttp.ts"
import * as TestDatabase from "../TestDatabase.ts"
import { ask, type TestEngine } from "./engineProcess.ts"
import { type MarketStores } from "../../../src/market/model/MarketStores.ts"
import { storesFrom } from "../marketStores.ts"

/** A chain of a test, with the engine, a database and a spool. */
export interface Place {
  readonly engine: TestEngine
  readonly address: TestDatabase.TestAddress
  readonly chain: { readonly genesis: string; readonly isSandbox: boolean }
}

export const placeOf = (engine: TestEngine, genesis: string) =>
  Effect.map(TestDatabase.create, (address): Place => ({ engine, address, chain: { genesis, isSandbox: false } }))

/** A row of the chain of a test. */
export const rowOf = ({ chain, engine }: Place, columns: string, table: string) =>
  Effect.map(ask(engine, `SELECT ${columns} FROM ${table} WHERE chain = '${chain.genesis}'`), ([row]) => row)

/** A store as a process has it; it ends with the scope. */
export const storeOf = (
  { address, chain, engine: { folder, url } }: Place,
  scope: Scope.Scope,
  given: Record<string, string> = {}
) => {
  const settings = ConfigProvider.layer(
    ConfigProvider.fromUnknown({
      CLICKHOUSE_TRADES_KEPT: "20000 days",
      CLICKHOUSE_SPOOL: `${folder}/${chain.genesis}`,
      CLICKHOUSE_SPOOL_MIB: "16",
      ...given
    })
  )
  const layer = MarketStoresClickHouse.layer.pipe(
    Layer.provide([TestDatabase.connect(address), ClickHouseHttp.layer(url), settings])
  )
  return Effect.map(Layer.buildWithScope(layer, scope), storesFrom)
}

/** Every stored block with trades or launches. */
export const stored = ({ blocks }: MarketStores) =>
  Effect.map(Stream.runCollect(blocks.since({ second: 0, after: 0, most: 1_000_000 })), (found) => Array.from(found))

/** The answer once nothing waits any more. */
export const eventually = <A, E>(effect: Effect.Effect<A, E>) =>
  Effect.eventually(effect).pipe(Effect.timeout("30 seconds"))
