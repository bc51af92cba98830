/** Values that alerts compare with later, under a wall clock that is set back. */
import { assert, describe, it } from "@effect/vitest"
import { AuthorityChanges } from "../../src/alerts/AuthorityChanges.ts"
import { mintOf } from "../market/tape/tape.ts"

const MINT = mintOf(1)
const HOUR_MS = 3_600_000

describe("AuthorityChanges", () => {
  it("count a change only within its window, even after the wall clock was set back", () => {
    const changes = new AuthorityChanges()
    changes.stored([{ mint: MINT, slot: 1, mintAuthority: null, freezeAuthority: null }], 0)
    assert.strictEqual(changes.of(MINT, 300, 0), 0)
    const inStore = new Map([[MINT, [HOUR_MS]]])
    changes.changed(inStore, { nowMs: HOUR_MS, monotonicMs: 0 })
    assert.strictEqual(changes.of(MINT, 300, 0), 1)
    // An hour back.
    changes.changed(inStore, { nowMs: 2000, monotonicMs: 2000 })
    assert.strictEqual(changes.of(MINT, 300, 299_000), 1)
    assert.strictEqual(changes.of(MINT, 300, 301_000), 0)
    changes.changed(new Map(), { nowMs: 3000, monotonicMs: 3000 })
    assert.strictEqual(changes.of(MINT, 300, 3000), 0)
  })
})
