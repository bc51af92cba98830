/** The engine of ClickHouse in a process of its own behind a small HTTP front. */
import { Effect } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

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

/** An engine that can be killed, started again on its port with its data, and frozen. */
export interface TestEngine {
  readonly url: string
  readonly folder: string
  readonly kill: Effect.Effect<void>
  readonly start: Effect.Effect<void>
  readonly freeze: Effect.Effect<void>
  readonly thaw: Effect.Effect<void>
}

/** Starts the engine of a folder without data, with a configuration made for its own folder where one is given. It ends with the scope. */
export const startEngine = Effect.fnUntraced(function* (
  engineFolder: string,
  configOf: ((folder: string) => string) | null = null
) {
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
