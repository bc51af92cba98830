import { assert, describe, it } from "@effect/vitest"
import { closedAmmSwaps } from "../../src/programs/closed/closedAmms.ts"
import { programs } from "../../src/programs/registry.ts"
import { quotableDex } from "../../src/trades/quotableDex.ts"

describe("a venue", () => {
  it("can be quoted unless it is a closed AMM, which is unknown of anything else", () => {
    assert.deepStrictEqual(
      programs.map(({ dex }) => quotableDex(dex)),
      programs.map(() => true)
    )
    assert.deepStrictEqual(
      closedAmmSwaps.map(({ dex }) => quotableDex(dex)),
      closedAmmSwaps.map(() => false)
    )
    assert.deepStrictEqual(["jupiter", "nowhere", null].map(quotableDex), [null, null, null])
  })
})
