/** The parts of a service on this machine: a chain, PostgreSQL, Valkey or Redis 7, and one process for each role. */
import { Effect, Redacted, Schedule } from "effect"
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { mkdirSync } from "node:fs"
import { connect, createServer } from "node:net"
import { join } from "node:path"
import * as Processes from "../../src/storage/processes.ts"
import { external, HERE, issueUnlimited, keyStore, service } from "../chaos/service.ts"
import { startProxy } from "./proxy.ts"

const freePort = Effect.callback<number>((resume) => {
  const server = createServer().listen(0, "127.0.0.1", () => {
    const address = server.address()
    server.close(() => resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0)))
  })
})

/** A server of the Redis protocol that can be killed, and started on its port without its data. */
export interface ValkeyServer {
  readonly port: number
  readonly kill: Effect.Effect<void>
  readonly start: Effect.Effect<void>
  /** Sends one command, its words without spaces, and returns the first line of the reply. */
  readonly send: (...words: ReadonlyArray<string>) => Effect.Effect<string>
}

/** Sends a command as a line of text, which these servers take too. */
const sendLine = (port: number, line: string) =>
  Effect.callback<string>((resume) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(`${line}\r\n`))
    let reply = ""
    socket.on("data", (chunk) => {
      reply += String(chunk)
      if (reply.includes("\r\n")) {
        socket.destroy()
        resume(Effect.succeed(reply.split("\r\n")[0] ?? ""))
      }
    })
    socket.on("error", (cause) => resume(Effect.die(cause)))
  })

/** The server that is installed, Valkey before Redis; null where there is neither. */
export const valkeyBinary = (): string | null =>
  ["valkey-server", "redis-server"].find((name) => spawnSync(name, ["--version"]).status === 0) ?? null

/** A Valkey, else a Redis, without a disk; it ends with the scope. */
export const startValkey = Effect.gen(function* () {
  const binary = valkeyBinary()
  if (binary === null) {
    return yield* Effect.die(new Error("Neither valkey-server nor redis-server is installed."))
  }
  const port = yield* freePort
  const args = ["--port", `${port}`, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
  const state: { child: ChildProcess | null } = { child: null }
  const kill = Effect.suspend(() => {
    const { child } = state
    child?.kill("SIGKILL")
    return child === null ? Effect.void : Processes.ended(child)
  })
  const start = Effect.callback<void>((resume) => {
    const child = spawn(binary, args, { stdio: ["ignore", "pipe", "ignore"], cwd: "/tmp" })
    state.child = child
    child.stdout.on("data", (chunk) => String(chunk).includes("Ready to accept") && resume(Effect.void))
    child.once("exit", (code) => resume(Effect.die(new Error(`${binary} ended with ${code}`))))
  })
  yield* Effect.acquireRelease(start, () => kill)
  const send = (...words: ReadonlyArray<string>) => sendLine(port, words.join(" "))
  return { port, kill, start, send } satisfies ValkeyServer
})

/** Roles of the processes. */
export const PROCESSES = ["ingest", "ingest", "api", "api", "live", "keeper"] as const
export type PartRole = (typeof PROCESSES)[number]

const valkeyUrl = (port: number) => `redis://127.0.0.1:${port}`

/**
 * Starts the engines in this folder, then a process for each role in turn, on the chain of the node. The process at the
 * place `behindProxy` reaches Valkey through a proxy. `ofPlace` gives settings that only the process of a place has. The
 * first processes run the code of the checkout `from`; processes that are started later run this checkout.
 */
export const startParts = Effect.fnUntraced(function* (
  folder: string,
  settings: Readonly<Record<string, string>>,
  roles: ReadonlyArray<PartRole> = PROCESSES,
  behindProxy: number | null = null,
  ofPlace: (place: number) => Readonly<Record<string, string>> = () => ({}),
  from: string = HERE
) {
  const database = yield* external(folder)
  const valkey = yield* startValkey
  const proxy = yield* startProxy(valkey.port)
  const shared = {
    ...settings,
    DATABASE_URL: database.url,
    VALKEY_URL: valkeyUrl(valkey.port),
    DATABASE_POOL_SIZE: "4",
    // The node is on this machine.
    DISCOVERY_RATE: "500",
    KEY_ENVIRONMENT: "test"
  }
  /** A process of a role; the same place starts another one in the same folder. */
  const start = (role: PartRole, place: number, tree: string = HERE) => {
    const own = join(folder, `${role}-${place}`)
    mkdirSync(own, { recursive: true })
    const url = place === behindProxy ? { VALKEY_URL: valkeyUrl(proxy.port) } : {}
    const started = service(own, { ...shared, ...ofPlace(place), ...url, DATA_DIR: own, ROLE: role }, { tree })
    return Effect.map(started, (running) => ({ role, ...running }))
  }
  const [firstRole = "ingest", ...others] = roles
  // The first makes the schema.
  const first = yield* start(firstRole, 0, from)
  const rest = yield* Effect.forEach(others, (role, i) => start(role, i + 1, from), { concurrency: 2 })
  const processes = [first, ...rest]
  const { secret } = yield* issueUnlimited("cluster").pipe(
    Effect.provide(keyStore(database.url)),
    Effect.retry(Schedule.recurs(5)),
    Effect.orDie
  )
  return { database, processes, proxy, start, valkey, secret: Redacted.value(secret) }
})
