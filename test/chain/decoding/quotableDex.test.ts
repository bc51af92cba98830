import { assert, describe, it } from "@effect/vitest"
import { closedAmmSwaps } from "../../../src/programs/charted/closedAmms.ts"
import { programs } from "../../../src/programs/registry.ts"
import { quotableDex } from "../../../src/chain/decoding/quotableDex.ts"

describe("a venue", () => {
  it("can be quoted unless it is a closed AMM; for anything else that is unknown", () => {
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
