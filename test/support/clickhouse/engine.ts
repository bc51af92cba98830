/** The engine of ClickHouse for tests, in a process of its own behind a small HTTP front. */
import { Effect, Exit, Layer, Scope } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll } from "vitest"
import type { ClickHouse } from "../../../src/storage/clickhouse/ClickHouse.ts"
import * as ClickHouseHttp from "../../../src/storage/clickhouse/ClickHouseHttp.ts"

/** The folder of the engine, which `npm run test:clickhouse` installs outside of the lock; empty in other runs. */
export const engineFolder = process.env["FATHOM_CHDB"] ?? ""

/** True with the engine: `describe.runIf(isAvailable)`. */
export const isAvailable = engineFolder !== "" && existsSync(join(engineFolder, "node_modules", "chdb", "package.json"))

if (!isAvailable) {
  process.stdout.write(
    "No ClickHouse engine: its tests are skipped. npm run test:clickhouse installs it and runs them.\n"
  )
}

const listening = (child: ChildProcess) =>
  Effect.callback<number>((resume) => {
    child.stdout?.on("data", (chunk) => {
      const [, port] = /ready (\d+)/u.exec(String(chunk)) ?? []
      return port !== undefined && resume(Effect.succeed(Number(port)))
    })
    child.once("exit", (code) => resume(Effect.die(new Error(`the engine ended with ${code}`))))
  })

const stopped = (child: ChildProcess) =>
  Effect.callback<void>((resume) => {
    if (child.exitCode !== null || child.signalCode !== null) {
      return resume(Effect.void)
    }
    child.once("exit", () => resume(Effect.void))
    child.kill("SIGKILL")
  })

/** An engine that a test can kill, start again on its port with its data, and freeze. */
export interface TestEngine {
  readonly url: string
  readonly folder: string
  readonly kill: Effect.Effect<void>
  readonly start: Effect.Effect<void>
  readonly freeze: Effect.Effect<void>
  readonly thaw: Effect.Effect<void>
}

/** A running engine without data, with a configuration made for its folder where one is given. */
const engineOf = Effect.fnUntraced(function* (configOf: ((folder: string) => string) | null) {
  const folder = mkdtempSync(join(tmpdir(), "fathom-clickhouse-"))
  const config = join(folder, "config.xml")
  if (configOf !== null) {
    writeFileSync(config, configOf(folder))
  }
  let [child, port]: [ChildProcess | undefined, number] = [undefined, 0]
  const kill = Effect.suspend(() => (child === undefined ? Effect.void : stopped(child)))
  const start = Effect.suspend(() => {
    const front = join(import.meta.dirname, "front.mjs")
    const given = configOf === null ? [] : [config]
    child = spawn(process.execPath, [front, engineFolder, folder, String(port), ...given], {
      stdio: ["ignore", "pipe", "inherit"]
    })
    return Effect.map(listening(child), (found) => {
      port = found
    })
  })
  yield* Effect.addFinalizer(() =>
    Effect.andThen(
      kill,
      Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
    )
  )
  yield* start
  return {
    url: `http://127.0.0.1:${port}/fathom`,
    folder,
    kill,
    start,
    freeze: Effect.sync(() => child?.kill("SIGSTOP")),
    thaw: Effect.sync(() => child?.kill("SIGCONT"))
  } satisfies TestEngine
})

/** A running engine without data. */
export const engine: Effect.Effect<TestEngine, never, Scope.Scope> = engineOf(null)

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
export const tieredEngine: Effect.Effect<TestEngine, never, Scope.Scope> = engineOf(tiers)

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

/** Rows of a query on the engine, beside any client of a store. */
export const ask = (engine: TestEngine, query: string): Effect.Effect<ReadonlyArray<ReadonlyArray<unknown>>> =>
  Effect.promise(async () => {
    const answer = await fetch(engine.url, { method: "POST", body: `${query} FORMAT JSONCompactEachRow` })
    const text = await answer.text()
    if (!answer.ok) {
      throw new Error(text)
    }
    return text
      .split("\n")
      .filter((line) => line.length > 0)
      .map((line) => JSON.parse(line))
  })

/** The client of a process. */
export const client = (engine: () => TestEngine): Layer.Layer<ClickHouse> =>
  Layer.unwrap(Effect.sync(() => ClickHouseHttp.layer(engine().url)))
