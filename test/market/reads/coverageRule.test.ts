import { assert, describe, it } from "@effect/vitest"
import { COMPLETE, covering, incomplete } from "../../../src/domain/Scalar.ts"
import { shownFrom } from "../../../src/market/memory/TapedChain.ts"
import { compared, isShown } from "../../../src/market/reads/coverageRule.ts"
import { changed, measured } from "../../../src/market/reads/measures.ts"

const life = { observedAtMs: 1, expiresAtMs: 2 }
const gap = (share: number) => covering("source_gap", share)

describe("a window with a gap", () => {
  it("has the value of what was seen, with its share", () => {
    assert.deepStrictEqual(measured("count", "7", gap(0.98765), life), {
      value: "7",
      unit: "count",
      status: "partial",
      ...life,
      coverage: { complete: false, reason: "source_gap", share: 0.9876 }
    })
  })

  it("has no value and no share when too little was seen", () => {
    const shown = shownFrom(0.5)
    assert.isTrue(isShown(shown(gap(0.5))))
    const little = shown(gap(0.4999))
    assert.deepStrictEqual(little, incomplete("source_gap"))
    assert.deepInclude(measured("count", "7", little, life), { value: null, status: "unavailable", coverage: little })
  })

  it("is compared only with a window of the same share", () => {
    assert.deepStrictEqual(compared(COMPLETE, COMPLETE), COMPLETE)
    assert.deepStrictEqual(compared(gap(0.995), COMPLETE), gap(0.995))
    assert.deepStrictEqual(compared(gap(0.8), gap(0.795)), gap(0.795))
    assert.deepStrictEqual(compared(COMPLETE, gap(0.9)), incomplete("source_gap"))
    assert.deepStrictEqual(compared(gap(0.9), COMPLETE), incomplete("source_gap"))
    assert.deepStrictEqual(compared(COMPLETE, incomplete("not_captured")), incomplete("not_captured"))
    assert.strictEqual(changed(10n, 20n, compared(gap(0.9), COMPLETE), life).value, null)
    assert.strictEqual(changed(10n, 20n, compared(gap(0.995), COMPLETE), life).value, "100")
  })
})
