/** A service of its own and PostgreSQL servers that can be stopped at once. */
import { PgClient } from "@effect/sql-pg"
import { ConfigProvider, Duration, Effect, Layer, Redacted, Schedule } from "effect"
import { Reactivity } from "effect/reactivity"
import { type ChildProcess, spawn } from "node:child_process"
import { closeSync, existsSync, openSync, readFileSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import { COMMAND_LINE } from "../../src/api/schemas/KeyAudit.ts"
import { KeyStore } from "../../src/access/KeyStore.ts"
import * as KeyStorePg from "../../src/access/KeyStorePg.ts"
import { ApiScope } from "../../src/api/schemas/ApiKey.ts"
import { DEFAULT_PLAN } from "../../src/api/schemas/Plan.ts"
import { findBinaries } from "../../src/storage/binaries.ts"
import { ChangeChannel } from "../../src/storage/ChangeChannel.ts"
import { clientConfig } from "../../src/storage/Database.ts"
import * as EmbeddedServer from "../../src/storage/EmbeddedServer.ts"
import * as Processes from "../../src/storage/processes.ts"
import { findRunner } from "../../src/storage/unprivileged.ts"

export type Kind = "embedded" | "external"

/** A PostgreSQL under test. */
export interface Server {
  /** Address for clients beside the service. */
  readonly url: string
  /** Settings of a service that uses it. */
  readonly settings: Readonly<Record<string, string>>
  /** Data folder. */
  readonly data: string
  /** Starts it again; the embedded one is started by the service. */
  readonly start: Effect.Effect<void>
}

/** The longest wait for a start. It takes seconds, and minutes on a busy machine after many blocks were missed. */
const PATIENCE = "15 minutes"

const linesOf = (file: string): ReadonlyArray<string> =>
  existsSync(file) ? readFileSync(file, "utf8").split("\n") : []

/** Process id of the server of a data folder once it takes connections; null before. */
export const readyPid = (data: string): number | null => {
  const lines = linesOf(join(data, "postmaster.pid"))
  const pid = Number(lines[0])
  return lines[7]?.trim() === "ready" && Processes.signal(pid, 0) ? pid : null
}

/** Waits until a server other than `before` takes connections. */
export const ready = (data: string, before: number | null) =>
  Effect.sync(() => readyPid(data)).pipe(
    Effect.repeat({ until: (pid) => pid !== null && pid !== before, schedule: Schedule.spaced("5 millis") }),
    Effect.timeout(PATIENCE),
    Effect.orDie
  )

const urlOf = (socketFolder: string) =>
  `postgres://postgres@localhost/postgres?host=${encodeURIComponent(socketFolder)}`

export const embedded = (folder: string): Server => {
  const postgres = join(folder, "postgres")
  return {
    url: urlOf(postgres),
    settings: { DATA_DIR: folder },
    data: join(postgres, "data"),
    start: Effect.void
  }
}

const freePort = Effect.callback<number>((resume) => {
  const server = createServer().listen(0, "127.0.0.1", () => {
    const address = server.address()
    server.close(() => resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0)))
  })
})

/** A server on a TCP port that nothing restarts but `start`. */
export const external = Effect.fnUntraced(function* (folder: string) {
  const postgres = join(folder, "external")
  // Creates the cluster; this server ends with the scope.
  yield* Effect.scoped(EmbeddedServer.start({ folder: postgres }))
  const runner = yield* findRunner({ namespaces: true })
  const port = yield* freePort
  const data = join(postgres, "data")
  const flags = [`listen_addresses=127.0.0.1`, `unix_socket_directories=${postgres}`, "dynamic_shared_memory_type=mmap"]
  const args = ["-D", data, "-p", String(port), ...flags.flatMap((flag) => ["-c", flag])]
  const command = runner.server(join(findBinaries() ?? "", "postgres"), args)
  const start = Effect.gen(function* () {
    const before = Number(linesOf(join(data, "postmaster.pid"))[0] ?? 0)
    const log = openSync(join(folder, "postgres.log"), "a")
    const child: ChildProcess = yield* Effect.orDie(Processes.start(command, log))
    closeSync(log)
    yield* Effect.sync(() => readyPid(data) === child.pid).pipe(
      Effect.flatMap((isReady) =>
        isReady ? Effect.void : Effect.fail(Processes.hasEnded(child) ? ("ended" as const) : ("waiting" as const))
      ),
      Effect.retry({ while: (state) => state === "waiting", schedule: Schedule.spaced("5 millis") })
    )
    return before
  }).pipe(
    // The memory of the server before may be in use for a moment.
    Effect.retry({ schedule: Schedule.spaced("100 millis"), times: 100 }),
    Effect.orDie,
    Effect.asVoid
  )
  yield* start
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      const pid = readyPid(data)
      return pid === null ? false : Processes.signal(pid, "SIGINT")
    }).pipe(
      Effect.andThen(Effect.sync(() => existsSync(join(data, "postmaster.pid")))),
      Effect.repeat({ until: (isThere) => !isThere, schedule: Schedule.spaced("100 millis"), times: 100 })
    )
  )
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  const server: Server = { url, settings: { DATA_DIR: folder, DATABASE_URL: url }, data, start }
  return server
})

/** Children of a process; each backend of a server is a session of its own, so that no signal to a group reaches them all. */
const childrenOf = (pid: number): ReadonlyArray<number> =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number)

/** Stops every process of the server of a data folder from running, or has them go on. */
export const pause = (data: string, isPaused: boolean) =>
  Effect.sync(() => {
    const pid = readyPid(data)
    if (pid !== null) {
      const signal = isPaused ? "SIGSTOP" : "SIGCONT"
      // The first process makes no others once it is stopped.
      Processes.signal(pid, signal)
      childrenOf(pid).forEach((child) => Processes.signal(child, signal))
    }
  })

/** Content of the ready file. */
interface Ready {
  readonly baseUrl: string
  readonly mints: ReadonlyArray<string>
  /** Path of a sign-in link; null beside a real node. */
  readonly link: string | null
}

/** This checkout. */
export const HERE = new URL("../..", import.meta.url).pathname

/** How the process of a service is started. */
interface StartOptions {
  /** Flags of Node. With flags the process has a channel for messages. */
  readonly flags?: ReadonlyArray<string>
  /** A command that becomes the one that follows it, such as a shell that enters a control group first. */
  readonly within?: ReadonlyArray<string>
  /** The checkout. */
  readonly tree?: string
  /** The module in it: `scripts/start.mjs` starts the bundle as `npm start` does. */
  readonly entry?: string
}

/** A service as a process of its own; its output goes to `service.log`. */
export const service = Effect.fnUntraced(function* (
  folder: string,
  settings: Readonly<Record<string, string>>,
  { entry = "src/main.ts", flags = [], tree = HERE, within = [] }: StartOptions = {}
) {
  const file = join(folder, "ready.json")
  // That of a process that was killed.
  rmSync(file, { force: true })
  const log = openSync(join(folder, "service.log"), "a")
  const words = [...within, process.execPath, ...flags, join(tree, entry), "--port", "0", "--ready-file", file]
  const [command = process.execPath, ...args] = words
  const child = yield* Effect.acquireRelease(
    Effect.sync(() =>
      spawn(command, args, {
        env: { PATH: process.env["PATH"], SIMULATOR_HISTORY: "1", ...settings },
        stdio: flags.length === 0 ? ["ignore", log, log] : ["ignore", log, log, "ipc"]
      })
    ),
    (started) =>
      Effect.suspend(() => {
        started.kill("SIGTERM")
        // One that was stopped from running takes no signal before it goes on.
        started.kill("SIGCONT")
        return Effect.timeoutOrElse(Processes.ended(started), {
          duration: "30 seconds",
          orElse: () => Effect.suspend(() => (started.kill("SIGKILL"), Processes.ended(started)))
        })
      })
  )
  closeSync(log)
  yield* Effect.suspend(() => {
    if (Processes.hasEnded(child)) {
      const last = linesOf(join(folder, "service.log")).slice(-20).join("\n")
      // A signal from elsewhere ends a start without a line.
      return Effect.die(new Error(`the service ended with ${child.signalCode ?? `code ${child.exitCode}`}: ${last}`))
    }
    return Effect.succeed(existsSync(file))
  }).pipe(
    Effect.repeat({ until: (isThere) => isThere, schedule: Schedule.spaced("100 millis") }),
    Effect.timeout(PATIENCE),
    Effect.orDie
  )
  const content: Ready = JSON.parse(readFileSync(file, "utf8"))
  const end = (signal: "SIGKILL" | "SIGTERM") =>
    Effect.suspend(() => {
      child.kill(signal)
      return Processes.ended(child)
    })
  return {
    ...content,
    child,
    stop: end("SIGTERM"),
    kill: end("SIGKILL"),
    output: () => linesOf(join(folder, "service.log"))
  }
})

/** One query on a connection of its own, tried again for ten seconds. */
export const query = <Row extends object>(url: string, statement: string, params: ReadonlyArray<unknown> = []) =>
  PgClient.make({ url: Redacted.make(url) }).pipe(
    Effect.flatMap((sql) => sql.unsafe<Row>(statement, params)),
    Effect.scoped,
    Effect.provide(Reactivity.layer),
    Effect.retry({ schedule: Schedule.spaced("100 millis"), times: 100 }),
    Effect.orDie
  )

const CLIENT = { poolSize: 2, connectTimeout: Duration.seconds(5), statementTimeout: Duration.seconds(30) }

/** The keys of the service, through its database. */
export const keyStore = (url: string) => {
  const client = PgClient.layer({ ...clientConfig(CLIENT), url: Redacted.make(url) })
  const settings = ConfigProvider.layer(ConfigProvider.fromUnknown({ KEY_ENVIRONMENT: "test" }))
  return KeyStorePg.layer.pipe(
    Layer.provide([settings, ChangeChannel.layer.pipe(Layer.provideMerge(client))]),
    Layer.orDie
  )
}

/** A new key with every scope, of an account. */
export const issue = (accountId: string, plan: string = DEFAULT_PLAN.name) =>
  KeyStore.use((keys) =>
    keys.issue({ accountId, name: "chaos", scopes: ApiScope.literals, ipPolicy: null, plan }, COMMAND_LINE)
  )

/** A new key that may read without a pause. */
export const issueUnlimited = (accountId: string) =>
  KeyStore.use((keys) =>
    Effect.andThen(
      keys.setPlan({ ...DEFAULT_PLAN, name: "unlimited", rest: 100_000_000 }, COMMAND_LINE),
      issue(accountId, "unlimited")
    )
  )
