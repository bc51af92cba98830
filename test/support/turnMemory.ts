/** Prints the peak growth of the old space in megabytes, while 20 fibers at a time, 400 times over, wait with 80 kB each. */
import { Effect } from "effect"
import { getHeapSpaceStatistics } from "node:v8"
import { ownTurn } from "../../src/domain/loopTime.ts"

const { gc } = globalThis
if (gc === undefined) {
  throw new Error("this program needs --expose-gc")
}

const oldBytes = (): number => {
  const old = getHeapSpaceStatistics().find(({ space_name: name }) => name === "old_space")
  if (old === undefined) {
    throw new Error("this heap has no old space")
  }
  return old.space_used_size
}

const sample = Array.from({ length: 10_000 }, () => 1)

const round = Effect.all(
  Array.from({ length: 20 }, () =>
    Effect.suspend(() => {
      const work = sample.slice()
      return Effect.map(ownTurn, () => work.length)
    })
  ),
  { concurrency: "unbounded", discard: true }
)

await Effect.runPromise(
  Effect.gen(function* () {
    yield* round
    // Moves what is still alive to the old space, so that later growth is a leak.
    gc()
    gc()
    const before = oldBytes()
    let most = 0
    for (let n = 0; n < 400; n++) {
      yield* round
      most = Math.max(most, oldBytes() - before)
    }
    process.stdout.write(`${most / 1e6}\n`)
  })
)
