import { assert, describe, it } from "@effect/vitest"
import { castOf, RETAIL_WALLETS } from "../../../src/simulator/traders/cast.ts"
import { makeMarket } from "../../../src/simulator/traders/Market.ts"
import { newBank } from "../chain/chains.ts"

describe("the wallets of a simulated market", () => {
  it("derive from the seed, with as many retail wallets as are set", () => {
    const [usual, more] = [castOf("cast"), castOf("cast", 200)]
    assert.lengthOf(usual.cast.retail, RETAIL_WALLETS)
    assert.lengthOf(more.cast.retail, 200)
    assert.deepStrictEqual(more.cast.retail.slice(0, RETAIL_WALLETS), usual.cast.retail)
    assert.deepStrictEqual({ ...more.cast, retail: [] }, { ...usual.cast, retail: [] })
  })

  it("trade, more than 200 of them when as many are set", () => {
    const bank = newBank("cast")
    const market = makeMarket({ seed: "cast", bank, swapsPerSecond: 60, retailWallets: 200 })
    const traders = new Set<string>()
    for (let slot = 0; slot < 150; slot++) {
      market.advance().transactions.forEach(({ swaps, wallet }) => (swaps.length > 0 ? traders.add(wallet) : undefined))
    }
    assert.isAbove(traders.size, 200)
  })
})
