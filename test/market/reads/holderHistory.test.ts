/** Hourly snapshots of holders say whether they are stored. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TradeStoreUnavailable } from "../../../src/api/schemas/Trade.ts"
import type { HolderBook } from "../../../src/market/reads/HolderBook.ts"
import { takeSnapshots } from "../../../src/market/reads/holderHistory.ts"
import type { makeOwnerKinds } from "../../../src/market/reads/ownerKinds.ts"
import type { Market } from "../../../src/market/tape/Market.ts"
import * as Readings from "../../../src/operations/Readings.ts"
import * as SourceMonitor from "../../../src/operations/SourceMonitor.ts"
import { MONDAY, mintOf } from "../tape/tape.ts"

const table = { largest: () => [], size: 2, total: 5n, amountOf: () => 0n }
const token = { mint: mintOf(1), readSlot: 7, table, isWhole: true }

describe("snapshots of holders", () => {
  it.effect("make their source stale while the store refuses them, and known again afterwards", () =>
    Effect.gen(function* () {
      const state = { now: MONDAY, fails: true, kept: 0 }
      const keep = () =>
        Effect.suspend(() => {
          state.kept += state.fails ? 0 : 1
          return state.fails
            ? Effect.fail(new TradeStoreUnavailable({ cause: new Error("the disk is full") }))
            : Effect.void
        })
      // Only what snapshots read of the two.
      const book = { slot: 9, whole: () => [token] } as unknown as HolderBook
      const tape = {
        state,
        whole: Effect.void,
        stored: () => ({ holders: { keep } }),
        heardAtMs: () => state.now * 1000,
        aliveAtMs: () => state.now * 1000
      } as unknown as Market["Service"]
      const kindsOf = (() => ({ coverage: { complete: true }, kinds: new Map() })) as unknown as ReturnType<
        typeof makeOwnerKinds
      >
      const { applied } = yield* takeSnapshots(book, tape, kindsOf)
      const { history, stateOf } = yield* SourceMonitor.SourceMonitor
      const turn = Effect.gen(function* () {
        applied()
        yield* Effect.yieldNow.pipe(Effect.repeat({ times: 50 }))
        return stateOf("holder_snapshots", 0)?.status
      })
      assert.strictEqual(yield* turn, "stale")
      assert.include(history("holder_snapshots", "stale", 0).lastError?.detail ?? "", "disk")
      state.fails = false
      state.now += 120
      assert.strictEqual(yield* turn, "known")
      assert.strictEqual(state.kept, 1)
      const readings = (yield* Readings.Readings).collect(0)
      const valueOf = (name: string) => readings.find((reading) => reading.name === name)?.samples[0]?.value
      assert.deepStrictEqual(
        [valueOf("fathom_holder_snapshots_total"), valueOf("fathom_holder_snapshots_failed_total")],
        [1, 1]
      )
    }).pipe(Effect.scoped, Effect.provide([Readings.layer, SourceMonitor.layer]))
  )
})
