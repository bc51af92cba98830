import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { productPrices, type Side } from "../../../src/programs/math/constantProduct.ts"
import { withTransferFees } from "../../../src/programs/math/transferFee.ts"
import { filled } from "../stateAccounts.ts"
import { MAX_U64 } from "../../../src/domain/Amount.ts"

const Reserve = Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: 1n, maximum: 2n ** 63n }))
const Amount = Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: 1n, maximum: 2n ** 62n }))
const Rate = Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: 0n, maximum: 100_000n }))
const sideFields = [Reserve, Reserve, Rate, Rate] as const

const sideOf = (reserveIn: bigint, reserveOut: bigint, feeOnInput: bigint, feeOnOutput: bigint): Side => ({
  reserveIn,
  reserveOut,
  roomIn: MAX_U64,
  feeOnInput,
  feeOnOutput,
  scale: 1_000_000n
})

const clock = { slot: 1, epoch: 4, unixTimestamp: 0 }
const pricesOf = (side: Side) => productPrices(side, side)
const swapOf = (side: Side, amount: bigint) => pricesOf(side).swap(true, amount, clock)
const out = (side: Side, amount: bigint): bigint => swapOf(side, amount).amountOut

describe("a swap", () => {
  it("takes transfer fees first and last", () => {
    const mints = {
      a: { older: { epoch: 0n, bps: 1000n, maximum: 10n ** 9n }, newer: { epoch: 5n, bps: 0n, maximum: 0n } },
      b: { older: { epoch: 0n, bps: 500n, maximum: 10n }, newer: { epoch: 0n, bps: 500n, maximum: 10n } }
    }
    const { swap } = withTransferFees(mints, pricesOf(sideOf(1_000_000n, 1_000_000n, 10_000n, 0n)))
    // 100 of 1000 withheld, 9 of 900 charged, floor(1e6·891/1000891) = 890, 10 withheld.
    assert.deepStrictEqual(swap(true, 1000n, clock), filled(1000n, 880n))
    // 10 of 1000 charged, floor(1e6·990/1000990) = 989, 10 withheld.
    assert.deepStrictEqual(swap(true, 1000n, { ...clock, epoch: 5 }), filled(1000n, 979n))
  })

  it("is refused before the pool opens", () => {
    const side = sideOf(1_000_000n, 1_000_000n, 0n, 0n)
    const { swap } = productPrices(side, side, 10n)
    assert.strictEqual(swap(true, 1000n, { ...clock, unixTimestamp: 9 }).ending, "refused")
    assert.strictEqual(swap(true, 1000n, { ...clock, unixTimestamp: 10 }).ending, "filled")
  })

  it("refuses when nothing would arrive", () => {
    assert.strictEqual(swapOf(sideOf(10n ** 12n, 10n, 2500n, 0n), 1n).ending, "refused")
  })

  it.prop("pays no less for more", [...sideFields, Amount, Amount], ([a, b, inFee, outFee, x, more]) => {
    const side = sideOf(a, b, inFee, outFee)
    assert.isTrue(out(side, x + more) >= out(side, x))
  })

  it.prop("never drains the pool or shrinks its product", [...sideFields, Amount], ([a, b, inFee, outFee, x]) => {
    const paid = out(sideOf(a, b, inFee, outFee), x)
    assert.isTrue(paid < b)
    assert.isTrue((a + x) * (b - paid) >= a * b)
  })

  it.prop("pays no more for a trade split in two", [Reserve, Reserve, Rate, Amount, Amount], ([a, b, fee, x, y]) => {
    const first = out(sideOf(a, b, fee, 0n), x)
    const second = out(sideOf(a + x, b - first, fee, 0n), y)
    assert.isTrue(first + second <= out(sideOf(a, b, fee, 0n), x + y))
  })

  it.prop("never beats the marginal rate", [...sideFields, Amount], ([a, b, inFee, outFee, x]) => {
    const side = sideOf(a, b, inFee, outFee)
    const { denominator, numerator } = pricesOf(side).marginalRate(true)
    assert.isTrue(out(side, x) * denominator <= x * numerator)
  })
})

describe("marginalRate", () => {
  it("is the exact price after every proportional fee", () => {
    const fees = { older: { epoch: 0n, bps: 100n, maximum: 5n }, newer: { epoch: 0n, bps: 100n, maximum: 5n } }
    const prices = withTransferFees({ a: fees, b: null }, pricesOf(sideOf(400n, 100n, 10_000n, 20_000n)))
    const { denominator, numerator } = prices.marginalRate(true, clock)
    // 1/4 · 0.99 · 0.98 · 0.99
    assert.strictEqual(numerator * 4_000_000n, denominator * 960_498n)
  })
})
