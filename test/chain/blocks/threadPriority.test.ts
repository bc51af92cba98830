import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { getPriority } from "node:os"
import { Worker } from "node:worker_threads"

const ENTRY = new URL("../../../src/chain/blocks/threadPriority.ts", import.meta.url)

/** Priority of a thread after it has lowered its own. */
const lowered = Effect.callback<number>((resume) => {
  const worker = new Worker(
    `const { getPriority } = require("node:os")
     const { parentPort, workerData } = require("node:worker_threads")
     import(workerData).then(({ lowerThreadPriority }) => {
       lowerThreadPriority()
       parentPort.postMessage(getPriority())
     })`,
    { eval: true, workerData: ENTRY.href }
  )
  worker.once("message", (priority: number) => resume(Effect.succeed(priority)))
  worker.once("error", (error) => resume(Effect.die(error)))
  return Effect.promise(() => worker.terminate())
})

describe("the priority of a decoding thread", () => {
  it.live("is below that of the request threads, on systems where threads have priorities", () =>
    Effect.gen(function* () {
      const before = getPriority()
      const priority = yield* lowered
      assert.strictEqual(getPriority(), before)
      assert.strictEqual(priority, process.platform === "linux" ? Math.min(19, before + 5) : before)
    })
  )
})
