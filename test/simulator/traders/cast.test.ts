import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { decodeBlock } from "../../../src/chain/decoding/decodeBlock.ts"
import { Address } from "../../../src/domain/Address.ts"
import { getBlock } from "../../../src/simulator/node/blockMethods.ts"
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

  it("are partly opened by others in the first block: one funder opens several", () => {
    const { cast } = castOf("cast")
    const bank = newBank("cast")
    makeMarket({ seed: "cast", bank, swapsPerSecond: 1 })
    const { slot } = bank.newest()
    const block = decodeBlock(
      slot,
      JSON.parse(Result.getOrThrow(getBlock(bank, [slot, { maxSupportedTransactionVersion: 0, rewards: false }])))
    )
    const openings = block?.openings ?? []
    const openedBy = (funder: string | undefined) =>
      openings.filter((opening) => opening.funder === funder).map(({ wallet }) => wallet)
    assert.deepStrictEqual(openedBy(cast.treasury), cast.retail.slice(0, 8))
    assert.deepStrictEqual(openedBy(cast.whales[0]), [...cast.snipers, ...cast.scalpers])
    assert.lengthOf(openings, 15)
    const heldBy = (wallet = "") => bank.must(Address.make(wallet)).lamports
    assert.strictEqual(heldBy(cast.whales[0]), heldBy(cast.whales[1]), "a funder is as rich as one that opened none")
    assert.strictEqual(heldBy(cast.snipers[0]), heldBy(cast.holders[0]), "a wallet holds what it would without")
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
