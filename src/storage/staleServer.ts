/** Cleans up after an earlier server whose owner was killed. The caller holds the lock of the data folder. */
import { Effect, Schedule } from "effect"
import { chownSync, existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs"
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
 * still write. The file is replaced as a whole: PostgreSQL never starts on one that a killed process left empty.
 */
const disown = (file: string): void => {
  if (existsSync(file)) {
    const { gid, mode, uid } = statSync(file)
    const aside = `${file}.new`
    writeFileSync(aside, readFileSync(file, "utf8").replace(FIRST_LINE, String(process.pid)), { mode })
    chownSync(aside, uid, gid)
    renameSync(aside, file)
  }
}

/** Removes an empty lock file. A server that is starting fills it at once; one that was killed then leaves it. */
const dropEmpty = (file: string) =>
  Effect.sync(() => existsSync(file) && statSync(file).size === 0).pipe(
    Effect.repeat({ until: (isEmpty) => !isEmpty, schedule: Schedule.spaced("10 millis") }),
    Effect.timeoutOrElse({ duration: "2 seconds", orElse: () => Effect.sync(() => rmSync(file, { force: true })) })
  )

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
 * Stops the server that a data folder's lock file names, and clears lock files that name an unrelated process or nothing.
 * Fails when the server does not stop.
 */
export const clearStaleServer = Effect.fnUntraced(function* ({ data, socketFolder }: ServerFolders) {
  const lock = join(data, "postmaster.pid")
  const locks = [lock, join(socketFolder, ".s.PGSQL.5432.lock")]
  yield* Effect.forEach(locks, dropEmpty, { concurrency: 2, discard: true })
  const pid = pidIn(lock)
  if (pid !== null && (yield* Processes.commandLine(pid)).includes(`-D ${data} `)) {
    yield* stop(pid)
  }
  yield* Effect.sync(() => locks.forEach(disown))
})
