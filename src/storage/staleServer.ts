/** Cleans up after an earlier server whose owner was killed. The caller holds the lock of the data folder. */
import { Effect, Schedule } from "effect"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Processes from "./processes.ts"

/** The folders of a server: its data and its socket. */
export interface ServerFolders {
  readonly data: string
  readonly socketFolder: string
}

/** The first line of a lock file of PostgreSQL: a process id, negative in single-user mode. */
const FIRST_LINE = /^-?\d+/u

/** The process id in a lock file; null when there is none. */
const pidIn = (file: string): number | null => {
  const [first] = FIRST_LINE.exec(existsSync(file) ? readFileSync(file, "utf8") : "") ?? []
  const pid = Math.abs(Number(first ?? 0))
  return pid > 0 ? pid : null
}

/**
 * Replaces the process id in a lock file with the id of this process. PostgreSQL refuses to start while the process
 * in the file lives, even if another program has since got that id. It ignores the id of its parent, which is this
 * process. The rest of the file stays, because PostgreSQL uses it to find out whether children of the earlier server
 * still write.
 */
const disown = (file: string): void => {
  if (existsSync(file)) {
    writeFileSync(file, readFileSync(file, "utf8").replace(FIRST_LINE, String(process.pid)))
  }
}

const stop = (pid: number): Effect.Effect<void, string> => {
  Processes.signal(pid, "SIGINT")
  return Effect.sync(() => Processes.signal(pid, 0)).pipe(
    Effect.repeat({ until: (alive) => !alive, schedule: Schedule.spaced("10 millis") }),
    Effect.timeoutOrElse({
      duration: "10 seconds",
      orElse: () => Effect.fail(`an older server, process ${pid}, does not stop`)
    }),
    Effect.asVoid
  )
}

/**
 * Stops the server that a data folder's lock file names, and clears lock files that name an unrelated process. Fails
 * when the server does not stop.
 */
export const clearStaleServer = Effect.fnUntraced(function* ({ data, socketFolder }: ServerFolders) {
  const lock = join(data, "postmaster.pid")
  const pid = pidIn(lock)
  if (pid !== null && (yield* Processes.commandLine(pid)).includes(`-D ${data} `)) {
    yield* stop(pid)
  }
  yield* Effect.sync(() => [lock, join(socketFolder, ".s.PGSQL.5432.lock")].forEach(disown))
})
