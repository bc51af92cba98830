import { assert, describe, it } from "@effect/vitest"
import { Duration } from "effect"
import { snapshotState } from "../../../src/market/tape/snapshotState.ts"

const MINUTE = 60_000
const NONE = { loaded: null, kept: null }
const pace = { every: Duration.minutes(5), sinceMs: 0 }
const snapshot = (slot: number, timeMs: number) => ({
  id: "id",
  layout: "layout",
  parts: 1,
  size: 10,
  bytes: 5,
  repairs: 0,
  slot,
  timeMs
})

describe("the state of the snapshots of memory", () => {
  it("has the slot and age of the snapshot that memory was restored from", () => {
    const loaded = { snapshot: snapshot(7, MINUTE), atMs: 4 * MINUTE }
    const restored = { restoredSlot: 7, restoredAgeMs: 3 * MINUTE }
    const current = { status: "known", observedAtMs: MINUTE, slot: 7, ...restored } as const
    assert.deepStrictEqual(snapshotState({ loaded, kept: null }, 5 * MINUTE), current)
    assert.deepStrictEqual(snapshotState({ loaded, kept: snapshot(9, 6 * MINUTE) }, 7 * MINUTE, pace), {
      ...current,
      observedAtMs: 6 * MINUTE,
      slot: 9
    })
  })

  it("is late once three snapshots are missing, and never late where none is taken", () => {
    assert.deepStrictEqual(snapshotState(NONE, 15 * MINUTE, pace), { observedAtMs: null, status: "known" })
    assert.deepInclude(snapshotState(NONE, 16 * MINUTE, pace), { status: "unavailable", reason: "source_stale" })
    const kept = snapshot(9, 6 * MINUTE)
    assert.strictEqual(snapshotState({ loaded: null, kept }, 21 * MINUTE, pace).status, "known")
    assert.deepInclude(snapshotState({ loaded: null, kept }, 22 * MINUTE, pace), { status: "stale", slot: 9 })
    assert.strictEqual(snapshotState(NONE, 99 * MINUTE).status, "known")
  })
})
