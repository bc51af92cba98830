import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { getPriority } from "node:os"
import { Worker } from "node:worker_threads"

const ENTRY = new URL("../../../src/chain/blocks/threadPriority.ts", import.meta.url)

/** Lowers the priority of its thread and posts it, then that of a thread it starts, which does the same. */
const LOWERED = `
  const { getPriority } = require("node:os")
  const { parentPort, Worker, workerData } = require("node:worker_threads")
  import(workerData.entry).then(({ lowerThreadPriority }) => {
    lowerThreadPriority()
    parentPort.postMessage(getPriority())
    if (workerData.nested !== null) {
      const nested = new Worker(workerData.nested, { eval: true, workerData: { ...workerData, nested: null } })
      nested.once("message", (priority) => parentPort.postMessage(priority))
    }
  })`

/** Priorities of a thread that has lowered its own, and of a thread started by it. */
const lowered = Effect.callback<ReadonlyArray<number>>((resume) => {
  const priorities: Array<number> = []
  const worker = new Worker(LOWERED, { eval: true, workerData: { entry: ENTRY.href, nested: LOWERED } })
  worker.on("message", (priority: number) => {
    priorities.push(priority)
    if (priorities.length === 2) {
      resume(Effect.succeed(priorities))
    }
  })
  worker.once("error", (error) => resume(Effect.die(error)))
  return Effect.promise(() => worker.terminate())
})

describe("the priority of a decoding thread", () => {
  it.live("is below that of the request threads, on systems where threads have priorities, whoever starts it", () =>
    Effect.gen(function* () {
      const before = getPriority()
      const priorities = yield* lowered
      assert.strictEqual(getPriority(), before)
      const expected = process.platform === "linux" ? Math.min(19, before + 5) : before
      assert.deepStrictEqual(priorities, [expected, expected])
    })
  )
})
