/** Cleans up after an earlier server of a data folder whose owner was killed. The caller holds the folder's lock. */
import { Effect, Schedule } from "effect"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Processes from "./processes.ts"

/** The data folder of a server and the folder of its socket. */
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
 * Replaces the process id in a lock file with the id of this process. PostgreSQL refuses to start while the process in
 * the file lives, even if another program has got that id since; it ignores the id of its parent. The rest of the file
 * stays: PostgreSQL uses it to find out whether children of the earlier server still write.
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
 * Stops the server that the lock file of a data folder names, and releases lock files that name another process. Fails
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
