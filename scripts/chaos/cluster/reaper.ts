/**
 * Ends the processes of a run that was killed itself and could end nothing. As a process of its own it reads the ids of the
 * processes as lines of JSON, and kills the last ones and removes the folder once its input ends.
 */
import { Effect, Schedule } from "effect"
import { spawn } from "node:child_process"
import { readdirSync, readFileSync, rmSync } from "node:fs"
import { createInterface } from "node:readline"
import { signal } from "../../../src/storage/processes.ts"

const EVERY = "200 millis"

/** Ids of the processes that this one has started and that run; none where the system does not list them. */
const children = (): ReadonlyArray<number> => {
  try {
    return readdirSync("/proc/self/task").flatMap((thread) =>
      readFileSync(`/proc/self/task/${thread}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number)
    )
  } catch {
    return []
  }
}

/** Watches over the processes that this one starts, until the scope closes. */
export const watchChildren = Effect.fnUntraced(function* (folder: string) {
  const file = new URL(import.meta.url).pathname
  const watcher = yield* Effect.acquireRelease(
    Effect.sync(() => {
      // A session of its own: it outlives Ctrl-C in a terminal.
      const child = spawn(process.execPath, [file, folder], { stdio: ["pipe", "ignore", "ignore"], detached: true })
      child.stdin.on("error", () => undefined)
      return child
    }),
    // By then they have ended.
    ({ stdin }) => Effect.sync(() => stdin.end("[]\n"))
  )
  yield* Effect.sync(() => {
    const pids = children().filter((pid) => pid !== watcher.pid)
    watcher.stdin.write(`${JSON.stringify(pids)}\n`)
  }).pipe(Effect.repeat(Schedule.spaced(EVERY)), Effect.forkScoped)
})

if (process.argv[1] === new URL(import.meta.url).pathname) {
  let pids: ReadonlyArray<number> = []
  const folder = process.argv[2] ?? ""
  createInterface(process.stdin)
    .on("line", (line) => (pids = JSON.parse(line)))
    .on("close", () => {
      pids.forEach((pid) => signal(pid, "SIGKILL"))
      rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
    })
}
