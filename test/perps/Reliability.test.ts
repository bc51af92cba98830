import { assert, describe, it } from "@effect/vitest"
import { Reliability } from "../../src/perps/Reliability.ts"

const MINUTE = 60_000
const NOON = Date.UTC(2026, 5, 1, 12)

describe("reliability", () => {
  it("is unknown before anything was read", () => {
    assert.isNull(new Reliability().share(NOON))
  })

  it("is the share of fresh reads", () => {
    const reliability = new Reliability()
    for (const isFresh of [true, true, false, true]) {
      reliability.note(isFresh, NOON)
    }
    assert.strictEqual(reliability.share(NOON), 0.75)
    assert.strictEqual(reliability.share(NOON + 59 * MINUTE), 0.75)
  })

  it("forgets what is more than an hour old, and is unknown after an hour of silence", () => {
    const reliability = new Reliability()
    reliability.note(false, NOON)
    reliability.note(true, NOON + 30 * MINUTE)
    assert.strictEqual(reliability.share(NOON + 59 * MINUTE), 0.5)
    assert.strictEqual(reliability.share(NOON + 61 * MINUTE), 1)
    assert.isNull(reliability.share(NOON + 91 * MINUTE))
  })

  it("reuses a minute's slot in a later hour", () => {
    const reliability = new Reliability()
    reliability.note(false, NOON)
    reliability.note(true, NOON + 60 * MINUTE)
    assert.strictEqual(reliability.share(NOON + 60 * MINUTE), 1)
  })
})
