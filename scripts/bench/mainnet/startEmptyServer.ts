/** The process of `emptyServer.ts`. */
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"

/** Starts it until the scope closes, and returns its address. */
export const startEmptyServer = Effect.gen(function* () {
  const child = yield* Effect.acquireRelease(
    Effect.sync(() =>
      spawn(process.execPath, [new URL("emptyServer.ts", import.meta.url).pathname], {
        stdio: ["pipe", "pipe", "inherit"]
      })
    ),
    (started) => Effect.sync(() => started.kill("SIGKILL"))
  )
  const [port] = yield* Effect.promise(() => once(createInterface(child.stdout), "line"))
  return `http://127.0.0.1:${port}`
})
