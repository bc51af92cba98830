import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { makeBackfill } from "../../src/wallets/backfill.ts"
import { NOT_BEGUN } from "../../src/wallets/historyProgress.ts"
import type { HistoryJob, HistoryStore } from "../../src/wallets/HistoryStore.ts"
import { longHistory } from "../wallets/longHistory.ts"

const COUNT = 10_000
const MIB = 1_048_576

/** Memory in use once garbage is collected, in bytes. */
const heapUsed = (): number => {
  setFlagsFromString("--expose-gc")
  const collect: () => void = runInNewContext("gc")
  collect()
  return process.memoryUsage().heapUsed
}

describe("a wallet of 10,000 transactions", () => {
  it.live(
    "is read in small steps that do not stay in memory",
    () =>
      Effect.gen(function* () {
        const { node, use, wallet } = longHistory(COUNT, "long")
        const state = { job: { wallet, progress: NOT_BEGUN, version: 0 } as HistoryJob, trades: 0, mostSaved: 0 }
        const store: HistoryStore["Service"] = {
          open: () => Effect.succeed(true),
          ask: () => Effect.void,
          next: Effect.sync(() => (state.job.progress.state === "running" ? state.job : null)),
          save: (job, progress, trades) =>
            Effect.sync(() => {
              state.job = { wallet, progress, version: job.version + 1 }
              state.trades += trades.length
              state.mostSaved = Math.max(state.mostSaved, trades.length)
              return true
            }),
          changedSince: () =>
            Effect.sync(() => [{ wallet, progress: state.job.progress, askedAtMs: Number.MAX_SAFE_INTEGER }]),
          ofWallet: () => Effect.succeed([]),
          solSwaps: () => Effect.succeed([]),
          solClose: () => Effect.succeed(null),
          forget: () => Effect.succeed(false)
        }
        const { step } = yield* makeBackfill(node, store, { most: COUNT, rate: 1_000_000, kept: Duration.days(1) })
        yield* step
        const before = heapUsed()
        let grown = 0
        for (let steps = 1; state.job.progress.state === "running"; steps++) {
          yield* step
          grown = steps % 50 === 0 ? Math.max(grown, heapUsed() - before) : grown
        }
        assert.deepInclude(state.job.progress, { state: "done", read: COUNT, missing: 0 })
        assert.strictEqual(state.trades, COUNT)
        assert.strictEqual(use.reads, COUNT)
        assert.isAtMost(use.lists, COUNT / 25 + 1)
        assert.isAtMost(state.mostSaved, 25)
        // The look ahead lists signatures alone.
        assert.isAtMost(use.mostListed, 1000)
        assert.isAtMost(use.mostReading, 2)
        assert.isBelow(grown, 16 * MIB)
      }),
    120_000
  )
})
