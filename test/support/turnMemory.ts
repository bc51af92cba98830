/** Prints by how many megabytes the old space grew while 640 MB of garbage waited for turns, a little at a time. */
import { Effect } from "effect"
import { getHeapSpaceStatistics } from "node:v8"
import { ownTurn } from "../../src/domain/loopTime.ts"

const oldBytes = () =>
  getHeapSpaceStatistics().find(({ space_name: name }) => name === "old_space")?.space_used_size ?? 0

const round = Effect.all(
  Array.from({ length: 20 }, () =>
    Effect.suspend(() => {
      const work = Array.from({ length: 10_000 }, () => 1)
      return Effect.map(ownTurn, () => work.length)
    })
  ),
  { concurrency: "unbounded", discard: true }
)

await Effect.runPromise(
  Effect.gen(function* () {
    yield* round
    // What waiting leaves behind is in the old space from here on.
    globalThis.gc?.()
    globalThis.gc?.()
    const before = oldBytes()
    let most = 0
    for (let n = 0; n < 400; n++) {
      yield* round
      most = Math.max(most, oldBytes() - before)
    }
    process.stdout.write(`${most / 1e6}\n`)
  })
)
