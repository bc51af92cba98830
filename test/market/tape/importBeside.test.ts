/** Blocks of the past are imported beside a service that reads new ones. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { TestClock } from "effect/testing"
import { packTransactions } from "../../../src/chain/decoding/PackedTransactions.ts"
import type { ImportedBlock } from "../../../src/chain/importing/importMessages.ts"
import { ImportRefused } from "../../../src/chain/importing/importSource.ts"
import type { ImportSettings } from "../../../src/chain/importing/importSettings.ts"
import { importBeside } from "../../../src/market/tape/importBeside.ts"
import { noPrices, storedPart } from "../../../src/market/tape/importHistory.ts"
import * as Readings from "../../../src/operations/Readings.ts"
import * as SourceMonitor from "../../../src/operations/SourceMonitor.ts"
import { memory } from "../../support/marketStores.ts"
import { blockOf, FIRST, hasBlock, slots, timeOf } from "./chain.ts"
import { MONDAY } from "./tape.ts"

const OWN = FIRST + 100
const LAST = FIRST + 120

const importedOf = (slot: number): ImportedBlock => {
  const { launches, timeMs, transactions } = blockOf(slot)
  const parentSlot = hasBlock(slot - 1) ? slot - 1 : slot - 2
  const head = {
    slot,
    parentSlot,
    blockTimeMs: timeMs,
    launches: launches ?? [],
    supply: [],
    malformed: 0,
    liquidity: []
  }
  return { hash: null, parentHash: null, block: { head, packed: packTransactions(transactions) } }
}

const settings: ImportSettings = {
  place: { _tag: "portal", url: "http://portal/unknown" },
  range: { fromSlot: FIRST, toSlot: null, fromMs: null, toMs: null },
  rate: null
}

/** A service that has its own blocks from `OWN` on, and an import beside it. */
const beside = Effect.fnUntraced(function* (faults: { refusals: number; defects: number }) {
  yield* TestClock.setTime((MONDAY + 2 * 86_400) * 1000)
  const stores = yield* memory
  yield* stores.blocks.open({ genesis: "own", isSandbox: false })
  const own = slots(OWN, LAST).filter(hasBlock)
  yield* stores.blocks.append(
    own.map((slot) => ({
      slot,
      timeMs: timeOf(slot),
      launches: [],
      supply: [],
      liquidity: [],
      trades: [],
      afterGap: false
    }))
  )
  const state = { isRead: false, turns: 0, calls: 0 }
  const read = ({ range }: { readonly range: ImportSettings["range"] }) => {
    state.calls += 1
    if (faults.defects > 0) {
      faults.defects -= 1
      return Stream.die(new Error("a defect of the source"))
    }
    if (faults.refusals > 0) {
      faults.refusals -= 1
      return Stream.fail(new ImportRefused({ detail: "the files are damaged" }))
    }
    return Stream.fromIterable(slots(range.fromSlot ?? FIRST, LAST)).pipe(
      Stream.filter(hasBlock),
      Stream.map(importedOf)
    )
  }
  const parts = {
    stores,
    prices: noPrices,
    live: { newest: () => 0, recall: () => undefined },
    durable: () => Number.POSITIVE_INFINITY,
    storable: storedPart,
    alone: <A, E>(effect: Effect.Effect<A, E>) =>
      Effect.suspend(() => {
        state.turns += 1
        return effect
      }),
    read
  }
  yield* importBeside(parts, settings, "own", { ready: Effect.void, isHistoryRead: () => state.isRead })
  const monitor = yield* SourceMonitor.SourceMonitor
  const stateNow = () => monitor.stateOf("import", 0)
  return { stores, state, stateNow }
})

describe("importBeside", () => {
  it.effect("waits for the history, then stores what lies before the service's own blocks", () =>
    Effect.gen(function* () {
      const { state, stateNow, stores } = yield* beside({ refusals: 0, defects: 0 })
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual([state.calls, stateNow()?.status, stateNow()?.reason], [0, "partial", "backfill_running"])
      state.isRead = true
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual([stateNow()?.status, stateNow()?.share], ["known", 1])
      const progress = yield* stores.blocks.progress
      assert.deepStrictEqual([progress?.firstSlot, progress?.gaps, progress?.slot], [FIRST, [], LAST])
      // A little at a time, so that new blocks never wait long.
      assert.isAbove(state.turns, 2)
      const collected = (yield* Readings.Readings).collect(0)
      const blocks = collected.find(({ name }) => name === "fathom_import_blocks_total")
      assert.strictEqual(
        JSON.stringify(blocks?.samples ?? null),
        JSON.stringify([{ value: slots(FIRST, OWN - 1).filter(hasBlock).length }])
      )
    }).pipe(Effect.scoped, Effect.provide([Readings.layer, SourceMonitor.layer]))
  )

  it.effect("starts again after a defect and after a refusal, and says why it rests", () =>
    Effect.gen(function* () {
      const { state, stateNow } = yield* beside({ refusals: 1, defects: 1 })
      state.isRead = true
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(stateNow()?.status, "stale")
      assert.include(stateNow()?.advice ?? "", "the files are damaged")
      yield* TestClock.adjust("11 minutes")
      assert.deepStrictEqual([state.calls, stateNow()?.status, stateNow()?.advice], [3, "known", undefined])
    }).pipe(Effect.scoped, Effect.provide([Readings.layer, SourceMonitor.layer]))
  )
})
