/** The engine of ClickHouse for tests. */
import { Effect, Exit, Layer, Scope } from "effect"
import { join } from "node:path"
import { afterAll, beforeAll } from "vitest"
import type { ClickHouse } from "../../../src/storage/clickhouse/ClickHouse.ts"
import * as ClickHouseHttp from "../../../src/storage/clickhouse/ClickHouseHttp.ts"
import { isInstalled } from "../../../scripts/cluster/engineFolder.ts"
import { startEngine, type TestEngine } from "./engineProcess.ts"

/** The folder of the engine, which `npm run test:clickhouse` installs outside of the lock; empty in other runs. */
export const engineFolder = process.env["FATHOM_CHDB"] ?? ""

/** True with the engine: `describe.runIf(isAvailable)`. */
export const isAvailable = engineFolder !== "" && isInstalled(engineFolder)

if (!isAvailable) {
  process.stdout.write(
    "No ClickHouse engine: its tests are skipped. npm run test:clickhouse installs it and runs them.\n"
  )
}

/** A running engine without data. */
export const engine: Effect.Effect<TestEngine, never, Scope.Scope> = startEngine(engineFolder)

const diskOf = (folder: string, name: string) => `<${name}><path>${join(folder, name)}/</path></${name}>`
const volumeOf = (name: string) => `<${name}><disk>${name}</disk></${name}>`

/** Two disks in the folder of an engine, and tables that have a volume of each: `hot` and `cold`. */
const tiers = (folder: string): string => `<clickhouse>
  <storage_configuration>
    <disks>${diskOf(folder, "hot")}${diskOf(folder, "cold")}</disks>
    <policies><tiered><volumes>${volumeOf("hot")}${volumeOf("cold")}</volumes></tiered></policies>
  </storage_configuration>
  <merge_tree><storage_policy>tiered</storage_policy></merge_tree>
</clickhouse>`

/** An engine whose tables have the volumes `hot` and `cold`. */
export const tieredEngine: Effect.Effect<TestEngine, never, Scope.Scope> = startEngine(engineFolder, tiers)

/** One engine for the tests of a file: call it at the top of a `describe.runIf(isAvailable)`. */
export const sharedEngine = (made: typeof engine = engine): (() => TestEngine) => {
  const scope = Effect.runSync(Scope.make())
  let started: TestEngine | undefined
  beforeAll(async () => {
    started = await Effect.runPromise(Scope.provide(made, scope))
  })
  afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))
  return () => {
    if (started === undefined) {
      throw new Error("the engine starts before the first test")
    }
    return started
  }
}

/** The client of a process. */
export const client = (engine: () => TestEngine): Layer.Layer<ClickHouse> =>
  Layer.unwrap(Effect.sync(() => ClickHouseHttp.layer(engine().url)))
