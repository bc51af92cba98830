import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { afterTransfer, keptBps, takesFee } from "../../../src/programs/math/transferFee.ts"
import type { TransferFees } from "../../../src/programs/layout/tokenAccount.ts"

const fees: TransferFees = {
  older: { epoch: 600n, bps: 100n, maximum: 5_000n },
  newer: { epoch: 701n, bps: 250n, maximum: 1_000_000n }
}

describe("afterTransfer", () => {
  it("lets everything arrive for a mint without a fee", () => {
    assert.strictEqual(afterTransfer(null, 12_345n, 700), 12_345n)
  })

  it("rounds the fee up", () => {
    assert.strictEqual(afterTransfer(fees, 1n, 700), 0n)
    assert.strictEqual(afterTransfer(fees, 100n, 700), 99n)
    assert.strictEqual(afterTransfer(fees, 101n, 700), 99n)
  })

  it("never takes more than the maximum", () => {
    assert.strictEqual(afterTransfer(fees, 10_000_000n, 700), 9_995_000n)
  })

  it("charges the newer fee from its epoch on", () => {
    assert.strictEqual(afterTransfer(fees, 10_000n, 700), 9_900n)
    assert.strictEqual(afterTransfer(fees, 10_000n, 701), 9_750n)
  })

  const U64 = Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: 0n, maximum: 2n ** 64n - 1n }))
  const Bps = Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: 0n, maximum: 10_000n }))
  it.prop(
    "withholds between nothing and everything, and more of more",
    [U64, U64, Bps, U64],
    ([a, b, bps, maximum]) => {
      const either = { epoch: 0n, bps, maximum }
      const arrived = afterTransfer({ older: either, newer: either }, a, 1)
      assert.isTrue(arrived >= 0n && arrived <= a)
      assert.isTrue(afterTransfer({ older: either, newer: either }, a + b, 1) >= arrived)
    }
  )
})

describe("keptBps", () => {
  it("is what a small transfer keeps, unless the maximum is zero", () => {
    assert.strictEqual(keptBps(null, 700), 10_000n)
    assert.strictEqual(keptBps(fees, 700), 9_900n)
    assert.strictEqual(keptBps(fees, 701), 9_750n)
    assert.strictEqual(keptBps({ ...fees, older: { ...fees.older, maximum: 0n } }, 700), 10_000n)
  })
})

describe("takesFee", () => {
  const nothing = { epoch: 0n, bps: 0n, maximum: 0n }

  it("counts a fee that has not started yet", () => {
    assert.isTrue(takesFee({ older: nothing, newer: fees.newer }))
  })

  it("is false for a mint that could charge and does not", () => {
    assert.isFalse(takesFee(null))
    assert.isFalse(takesFee({ older: nothing, newer: { ...nothing, bps: 300n } }))
  })
})
