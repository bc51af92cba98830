import { Effect, Schedule, Schema, Scope } from "effect"
import type { ChildProcess } from "node:child_process"
import { createHash } from "node:crypto"
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import * as Path from "node:path"
import { keepRunning } from "../operations/keepRunning.ts"
import { findBinaries } from "./binaries.ts"
import { type FolderUnusable, prepareFolder } from "./dataFolder.ts"
import { takeFolder } from "./folderLock.ts"
import * as Processes from "./processes.ts"
import { clearStaleServer } from "./staleServer.ts"
import { findRunner, type Runner } from "./unprivileged.ts"

/** A running embedded PostgreSQL 18. */
export interface EmbeddedServer {
  /**
   * Folder of the socket. Used as a client's host, it names this socket alone. The user is `postgres`, without a
   * password.
   */
  readonly socketFolder: string
  readonly pid: number
}

/** Another living process runs a server in this folder. */
export class FolderInUse extends Schema.TaggedError<FolderInUse>()("FolderInUse", {
  folder: Schema.String,
  pid: Schema.Int
}) {
  override get message(): string {
    return `${this.folder} is in use by process ${this.pid}: set DATA_DIR to another folder, or DATABASE_URL to a server`
  }
}

/** No PostgreSQL is packaged for this platform. */
export class NoBinaries extends Schema.TaggedError<NoBinaries>()("NoBinaries", { platform: Schema.String }) {
  override get message(): string {
    return `no PostgreSQL comes with this package for ${this.platform}: set DATABASE_URL to a server`
  }
}

/** The server did not start. `detail` is its output. */
export class ServerFailed extends Schema.TaggedError<ServerFailed>()("ServerFailed", {
  folder: Schema.String,
  detail: Schema.String
}) {
  override get message(): string {
    return `PostgreSQL in ${this.folder} did not start: ${this.detail}`
  }
}

/** Where the server keeps its data, and how it is set up. */
export interface EmbeddedServerOptions {
  readonly folder: string
  /** Server settings that replace the defaults. */
  readonly settings?: Readonly<Record<string, string>> | undefined
  /** False when root must not use user namespaces, as in containers that forbid them. */
  readonly namespaces?: boolean | undefined
}

// A unix socket path holds 103 bytes on macOS and 107 on Linux; the file's name takes 14.
const MAX_FOLDER_BYTES = 85

const DEFAULTS = {
  listen_addresses: "",
  unix_socket_permissions: "0700",
  // No /dev/shm needed.
  dynamic_shared_memory_type: "mmap",
  max_connections: "60",
  shared_buffers: "64MB",
  wal_level: "minimal",
  max_wal_senders: "0",
  log_checkpoints: "off",
  timezone: "UTC",
  log_timezone: "UTC"
}

const linesOf = (file: string): ReadonlyArray<string> =>
  existsSync(file) ? readFileSync(file, "utf8").split("\n") : []

/**
 * Starts the server of a data folder and stops it with the scope. Creates the folder on first use. A server that ends
 * by itself is started again. Acknowledged writes survive the death of any process involved.
 */
export const start: (
  options: EmbeddedServerOptions
) => Effect.Effect<EmbeddedServer, FolderInUse | FolderUnusable | NoBinaries | ServerFailed, Scope.Scope> = Effect.fn(
  "EmbeddedServer.start"
)(
  function* ({ folder: given, namespaces = true, settings = {} }) {
    const bin = findBinaries()
    if (bin === null) {
      return yield* new NoBinaries({ platform: `${process.platform}-${process.arch}` })
    }
    const folder = Path.resolve(given)
    yield* prepareFolder(folder)
    const owner = yield* takeFolder(folder)
    if (owner !== null) {
      return yield* new FolderInUse({ folder, pid: owner })
    }
    const runner = yield* findRunner({ namespaces })
    runner.own(folder)
    const server = { bin, folder, runner, data: Path.join(folder, "data"), socketFolder: socketFolderOf(folder) }
    yield* Effect.acquireRelease(
      Effect.sync(() => mkdirSync(server.socketFolder, { recursive: true, mode: 0o700 })),
      () =>
        Effect.sync(
          () => server.socketFolder !== folder && rmSync(server.socketFolder, { recursive: true, force: true })
        )
    )
    runner.own(server.socketFolder)
    yield* initialise(server, settings)
    yield* Effect.mapError(clearStaleServer(server), failed(server))
    // Closed after the supervisor, which would otherwise restart a server that is being stopped.
    const children = yield* Scope.fork(yield* Effect.scope)
    const child = yield* Scope.provide(launch(server, settings), children)
    yield* supervise(server, settings, child).pipe(
      Scope.provide(children),
      keepRunning("The embedded PostgreSQL"),
      Effect.forkScoped
    )
    return { socketFolder: server.socketFolder, pid: child.pid ?? 0 }
  },
  // A file system error also means that the server did not start.
  (effect, { folder }) =>
    Effect.catchDefect(effect, (cause) => Effect.fail(new ServerFailed({ folder, detail: String(cause) })))
)

/**
 * Uses the running server of a data folder if another process on this machine started one. Otherwise starts the
 * server.
 */
export const join: typeof start = (options) =>
  start(options).pipe(
    Effect.catchTag("FolderInUse", ({ folder, pid }) =>
      Effect.sync(() => ({ socketFolder: socketFolderOf(folder), pid }))
    )
  )

interface Server {
  readonly bin: string
  readonly folder: string
  readonly data: string
  readonly socketFolder: string
  readonly runner: Runner
}

const failed = (server: Server) => (detail: string) => new ServerFailed({ folder: server.folder, detail })

const socketFolderOf = (folder: string): string => {
  if (Buffer.byteLength(folder) <= MAX_FOLDER_BYTES) {
    return folder
  }
  const short = Path.join(tmpdir(), `fathom-${createHash("sha256").update(folder).digest("hex").slice(0, 16)}`)
  if (existsSync(short) && statSync(short).uid !== statSync(folder).uid) {
    throw new Error(`${short} belongs to another user`)
  }
  return short
}

/**
 * Creates the database cluster in another folder and moves it into place as a whole, so that half a cluster is never
 * mistaken for a complete one.
 */
const initialise = Effect.fnUntraced(function* (server: Server, settings: Readonly<Record<string, string>>) {
  if (existsSync(Path.join(server.data, "PG_VERSION"))) {
    return
  }
  const aside = Path.join(server.folder, "data.new")
  rmSync(aside, { recursive: true, force: true })
  const args = ["-D", aside, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-instructions"]
  const sync = settings["fsync"] === "off" ? ["--no-sync"] : []
  const command = server.runner.once(Path.join(server.bin, "initdb"), [...args, ...sync])
  yield* Effect.mapError(Processes.run(command), failed(server))
  renameSync(aside, server.data)
})

/**
 * Starts the server and waits until it accepts connections. What remains of a killed server may need a moment to
 * disappear.
 */
const launch = Effect.fnUntraced(function* (server: Server, settings: Readonly<Record<string, string>>) {
  const all = Object.entries({ ...DEFAULTS, unix_socket_directories: server.socketFolder, ...settings })
  const flags = all.flatMap(([name, value]) => ["-c", `${name}=${value}`])
  const command = server.runner.server(Path.join(server.bin, "postgres"), ["-D", server.data, "-p", "5432", ...flags])
  const log = Path.join(server.folder, "postgres.log")

  const child = yield* Effect.acquireRelease(startLogged(command, log), stop).pipe(
    Effect.mapError(failed(server)),
    Effect.tap((child) => ready(server, child, log)),
    Effect.retry({
      while: ({ detail }) => /already exists|still in use/u.test(detail),
      schedule: Schedule.spaced("100 millis"),
      times: 300
    })
  )
  return child
})

/** Restarts the server whenever it ends. */
const supervise = (server: Server, settings: Readonly<Record<string, string>>, first: ChildProcess) => {
  let child = first
  const restart = Effect.gen(function* () {
    yield* Processes.ended(child)
    yield* Effect.logError("The embedded PostgreSQL has ended and is started again", {
      code: child.exitCode,
      signal: child.signalCode
    })
    yield* Effect.mapError(clearStaleServer(server), failed(server))
    child = yield* launch(server, settings)
    yield* Effect.logInfo("The embedded PostgreSQL runs again", { pid: child.pid })
  })
  return Effect.forever(restart)
}

const startLogged = (command: Processes.Command, log: string): Effect.Effect<ChildProcess, string> =>
  Effect.acquireUseRelease(
    Effect.sync(() => openSync(log, "w", 0o600)),
    (file) => Processes.start(command, file),
    (file) => Effect.sync(() => closeSync(file))
  )

/**
 * True once the server is ready. Line 1 of the pid file must name this server, because an earlier server may have
 * left the file. Line 8 is then `ready`.
 */
const ready = (server: Server, child: ChildProcess, log: string): Effect.Effect<void, ServerFailed> =>
  Effect.suspend(() => {
    if (Processes.hasEnded(child)) {
      return Effect.fail(failed(server)(linesOf(log).slice(-20).join("\n")))
    }
    const lines = linesOf(Path.join(server.data, "postmaster.pid"))
    return Effect.succeed(Number(lines[0]) === child.pid && lines[7]?.trim() === "ready")
  }).pipe(
    Effect.repeat({ until: (isReady) => isReady, schedule: Schedule.spaced("5 millis") }),
    Effect.timeoutOrElse({
      duration: "2 minutes",
      orElse: () => Effect.fail(failed(server)("it takes no connections after two minutes"))
    }),
    Effect.asVoid
  )

/** Shuts the server down the fast way: it rolls back open transactions, writes a checkpoint and ends. */
const stop = (child: ChildProcess): Effect.Effect<void> =>
  Effect.gen(function* () {
    child.kill("SIGINT")
    const done = yield* Processes.ended(child).pipe(Effect.interruptible, Effect.timeoutOption("10 seconds"))
    if (done._tag === "None") {
      child.kill("SIGKILL")
      yield* Processes.ended(child)
    }
  })
