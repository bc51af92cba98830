import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { raydiumSqrtPriceAt, raydiumTickAt } from "../../../src/programs/raydium/clmmTicks.ts"
import { MAX_TICK, MIN_TICK } from "../../../src/programs/math/ticks.ts"
import { whirlpoolSqrtPriceAt, whirlpoolTickAt } from "../../../src/programs/orca/whirlpoolTicks.ts"

const AnyTick = Schema.Int.check(Schema.isBetween({ minimum: MIN_TICK, maximum: MAX_TICK - 1 }))
const Share = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 999 }))

const grids = [
  ["Raydium CLMM", raydiumSqrtPriceAt, raydiumTickAt],
  ["Orca Whirlpool", whirlpoolSqrtPriceAt, whirlpoolTickAt]
] as const

for (const [name, priceAt, tickAt] of grids) {
  describe(`the tick grid of ${name}`, () => {
    it.prop("rises with every tick", [AnyTick], ([tick]) => priceAt(tick) < priceAt(tick + 1))

    it.prop("finds the tick of every price from that tick up to the next", [AnyTick, Share], ([tick, share]) => {
      const low = priceAt(tick)
      const inside = ((priceAt(tick + 1) - low) * BigInt(share)) / 1000n
      return tickAt(low + inside) === tick && tickAt(priceAt(tick + 1) - 1n) === tick
    })

    it("has a price of one at tick zero", () => {
      assert.strictEqual(priceAt(0), 1n << 64n)
    })
  })
}

// The last prices of each program's own source, and one tick where the two ladders differ.
describe("the ends of the grids", () => {
  it("are the ones that the programs declare", () => {
    assert.strictEqual(raydiumSqrtPriceAt(MIN_TICK), 4295048016n)
    assert.strictEqual(raydiumSqrtPriceAt(MAX_TICK), 79226673521066979257578248091n)
    assert.strictEqual(whirlpoolSqrtPriceAt(MIN_TICK), 4295048016n)
    assert.strictEqual(whirlpoolSqrtPriceAt(MAX_TICK), 79226673515401279992447579055n)
  })

  it("are not the same ladder", () => {
    assert.strictEqual(whirlpoolSqrtPriceAt(1), 18447666387855959850n)
    assert.notStrictEqual(raydiumSqrtPriceAt(1), whirlpoolSqrtPriceAt(1))
  })
})
