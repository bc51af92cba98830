import { assert, describe, it } from "@effect/vitest"
import { SOL } from "../../../src/domain/Address.ts"
import type { RecordedSwap } from "../../../src/simulator/chain/Ledger.ts"
import { livePast, slotsOf } from "../../../src/simulator/traders/past.ts"
import { newMarket } from "../chain/chains.ts"

interface Deed extends RecordedSwap {
  readonly slot: number
}

const isBuy = ({ inputMint }: Deed) => inputMint === SOL
const coinOf = ({ inputMint, outputMint }: Deed) => (inputMint === SOL ? outputMint : inputMint)

describe("wallets with habits", () => {
  const { bank, market } = newMarket("habits 5", 0.2)
  const opened = new Set(market.mints().map(({ address }) => address))
  const begun = bank.newest().slot
  const deeds = new Map<string, Array<Deed>>()
  const given = { count: 0 }
  const graduated = { count: 0 }
  for (const { transactions } of livePast(bank, market, begun + slotsOf(6))) {
    for (const { kind, slot, swaps, wallet } of transactions) {
      given.count += kind === "transfer" ? 1 : 0
      graduated.count += kind === "graduation" ? 1 : 0
      const label = market.wallets.find(({ address }) => address === wallet)?.label ?? ""
      const list = deeds.get(label) ?? []
      deeds.set(label, list)
      list.push(...swaps.map((swap) => ({ ...swap, slot })))
    }
  }
  const allOf = (kind: string) =>
    Array.from(deeds).flatMap(([label, list]) => (label.startsWith(`${kind} `) ? [{ label, list }] : []))

  it("snipe only launched coins, once each, and sell what they bought", () => {
    const snipers = allOf("sniper")
    const bought = snipers.flatMap(({ list }) => list.filter(isBuy).map(coinOf))
    assert.isAbove(bought.length, 8)
    assert.strictEqual(new Set(bought).size, bought.length)
    assert.isAbove(bought.filter((mint) => !opened.has(mint)).length, 4)
    assert.isAbove(snipers.flatMap(({ list }) => list.filter((deed) => !isBuy(deed))).length, 3)
  })

  it("scalp one coin each, buying and selling in turn", () => {
    const scalpers = allOf("scalper")
    assert.lengthOf(scalpers, 3)
    for (const { label, list } of scalpers) {
      assert.strictEqual(new Set(list.map(coinOf)).size, 1, label)
      assert.isAbove(list.length, 10, label)
      list.forEach((deed, index) => assert.strictEqual(isBuy(deed), index % 2 === 0, label))
    }
  })

  it("hold what they buy", () => {
    const holders = allOf("holder")
    assert.lengthOf(holders, 3)
    for (const { label, list } of holders) {
      assert.isAbove(list.length, 2, label)
      assert.isTrue(list.every(isBuy), label)
    }
  })

  it("move a coin from its curve to a pool now and then", () => {
    assert.isAbove(graduated.count, 0)
  })

  it("transfer coins to each other now and then", () => {
    assert.isAbove(given.count, 20)
  })
})
