/** The parts of a service on this machine: a chain, PostgreSQL, Valkey or Redis 7, and one process for each role. */
import { Effect, Redacted, Schedule } from "effect"
import { spawn, spawnSync } from "node:child_process"
import { mkdirSync } from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import { external, issueUnlimited, keyStore, service } from "../chaos/service.ts"

const freePort = Effect.callback<number>((resume) => {
  const server = createServer().listen(0, "127.0.0.1", () => {
    const address = server.address()
    server.close(() => resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0)))
  })
})

/** A Valkey, else a Redis, without a disk; it ends with the scope. */
export const valkey = Effect.gen(function* () {
  const binary = ["valkey-server", "redis-server"].find((name) => spawnSync(name, ["--version"]).status === 0)
  if (binary === undefined) {
    return yield* Effect.die(new Error("Neither valkey-server nor redis-server is installed."))
  }
  const port = yield* freePort
  const args = ["--port", `${port}`, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
  const child = yield* Effect.acquireRelease(
    Effect.sync(() => spawn(binary, args, { stdio: ["ignore", "pipe", "ignore"], cwd: "/tmp" })),
    (started) => Effect.sync(() => started.kill("SIGKILL"))
  )
  yield* Effect.callback<void>((resume) => {
    child.stdout.on("data", (chunk) => String(chunk).includes("Ready to accept") && resume(Effect.void))
  })
  return `redis://127.0.0.1:${port}`
})

/** Roles of the processes. */
export const PROCESSES = ["ingest", "ingest", "api", "api", "live", "keeper"] as const
export type PartRole = (typeof PROCESSES)[number]

/** Starts the engines in this folder, and then a process for each role in turn. The chain is that of the node. */
export const startParts = Effect.fnUntraced(function* (
  folder: string,
  settings: Readonly<Record<string, string>>,
  roles: ReadonlyArray<PartRole> = PROCESSES
) {
  const database = yield* external(folder)
  const shared = {
    ...settings,
    DATABASE_URL: database.url,
    VALKEY_URL: yield* valkey,
    DATABASE_POOL_SIZE: "4",
    // The node is on this machine.
    DISCOVERY_RATE: "500",
    KEY_ENVIRONMENT: "test"
  }
  const start = (role: PartRole, i: number) => {
    const own = join(folder, `${role}-${i}`)
    mkdirSync(own)
    return Effect.map(service(own, { ...shared, DATA_DIR: own, ROLE: role }), (running) => ({ role, ...running }))
  }
  const [firstRole = "ingest", ...others] = roles
  // The first makes the schema.
  const first = yield* start(firstRole, 0)
  const rest = yield* Effect.forEach(others, (role, i) => start(role, i + 1), { concurrency: 2 })
  const processes = [first, ...rest]
  const { secret } = yield* issueUnlimited("cluster").pipe(
    Effect.provide(keyStore(database.url)),
    Effect.retry(Schedule.recurs(5)),
    Effect.orDie
  )
  return { database, processes, secret: Redacted.value(secret) }
})
