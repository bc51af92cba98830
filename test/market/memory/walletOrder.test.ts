import { assert, describe, it } from "@effect/vitest"
import { SOL } from "../../../src/domain/Address.ts"
import type { Leg } from "../../../src/api/schemas/Trade.ts"
import { MarketState } from "../../../src/market/memory/MarketState.ts"
import { inWalletOrder } from "../../../src/market/memory/walletOrder.ts"
import type { TapeTrade } from "../../../src/market/model/TapeTrade.ts"
import { tapeTradesOf } from "../../../src/market/model/tapeTrades.ts"
import { leg, netOf, poolOf } from "../tape/decoded.ts"
import { mintOf } from "../tape/tape.ts"

const UNITS = 530_931_687_771n
const units = { mint: mintOf(1), amount: UNITS, decimals: 6 }
const lamports = (amount: bigint) => ({ mint: SOL, amount, decimals: 9 })
const block = { timeMs: 1_791_158_400_000, microPerLamport: { numerator: 3n, denominator: 20n } }

const swap = (given: Partial<Leg>) => leg({ token: units, indexInBlock: 7, ...given })

/** A net trade over the leg. Its wallet also paid `fee` lamports that the pool did not get, or got as many less. */
const net = (of: Leg, index: number, fee = 0n) => ({
  ...netOf({ ...of, quote: lamports(of.quote.amount + (of.side === "buy" ? fee : -fee)) }, [of.index]),
  index
})

const traderOf = (trades: ReadonlyArray<TapeTrade>) => {
  const state = new MarketState({ tokens: 10, bars: 100, trades: 100, traders: 10 }, "here")
  assert.strictEqual(state.apply(trades, 4_000_000_000_000).applied, trades.length)
  const page = state.topTraders({ mint: mintOf(1), window: "all", limit: 9, pin: null, nowMs: block.timeMs })
  return page?.rows[0]
}

const steps = (trades: ReadonlyArray<TapeTrade>) => trades.map(({ role, side }) => `${role} ${side}`)

/** The same trades as a store gives them, by their place. */
const stored = (trades: ReadonlyArray<TapeTrade>) => trades.toSorted((a, b) => a.index - b.index)

describe("the trades of one transaction", () => {
  it("give a sale its cost when its wallet paid more for the units than the pool got", () => {
    const bought = swap({ index: 0, quote: lamports(15_500_000_000n), dex: "pumpswap" })
    const sold = swap({ index: 1, side: "sell", quote: lamports(18_095_619_037n), pool: poolOf(2) })
    const nets = [net(bought, 0, 79_162_478n), net(sold, 1)]
    const trades = tapeTradesOf({ legs: [bought, sold], nets, unresolved: 0 }, block)
    assert.deepStrictEqual(steps(trades), ["pool buy", "both sell", "wallet buy"])
    for (const given of [trades, stored(trades)]) {
      const row = traderOf(given)
      assert.strictEqual(row?.realizedLamports, 18_095_619_037n - 15_579_162_478n)
      assert.strictEqual(row?.realizedUsdNanos, (18_095_619_037n - 15_579_162_478n) * 150n)
    }
    // A later transaction of the wallet begins with nothing held and nothing unknown.
    const later = trades.map((each) => ({ ...each, slot: each.slot + 1 }))
    assert.strictEqual(traderOf([...trades, ...later])?.realizedLamports, 2n * (18_095_619_037n - 15_579_162_478n))
  })

  it("leave the cost of a sale unknown when the units were bought after it", () => {
    const sold = swap({ index: 0, side: "sell", quote: lamports(18_000_000_000n) })
    const bought = swap({ index: 1, quote: lamports(15_000_000_000n), pool: poolOf(2) })
    for (const fees of [
      [0n, 9n],
      [9n, 0n],
      [9n, 9n],
      [0n, 0n]
    ] as const) {
      const nets = [net(sold, 0, fees[0]), net(bought, 1, fees[1])]
      const trades = tapeTradesOf({ legs: [sold, bought], nets, unresolved: 0 }, block)
      assert.isNull(traderOf(trades)?.realizedLamports, fees.join())
      assert.isNull(traderOf(stored(trades))?.realizedLamports, fees.join())
    }
  })

  it("sell a token for another before they buy it back, and keep the order of pool swaps", () => {
    const [a, b] = [units, { mint: mintOf(2), amount: 9n, decimals: 6 }]
    const swapped = swap({ index: 0, token: b, quote: a })
    const again = swap({ index: 1, quote: lamports(5n) })
    const legs = [swapped, again]
    const trades = tapeTradesOf({ legs, nets: [netOf(swapped, [0]), net(again, 1, 1n)], unresolved: 0 }, block)
    const expected = ["pool buy", "pool buy", "wallet buy", "wallet sell", "wallet buy"]
    assert.deepStrictEqual(steps(inWalletOrder(stored(trades))), expected)
  })

  it("stay as they are when each has one net trade, whatever transactions are around", () => {
    const one = swap({ index: 0, indexInBlock: 1 })
    const other = swap({ index: 0, indexInBlock: 2, side: "sell" })
    const trades = [one, other].flatMap((each, fee) =>
      tapeTradesOf({ legs: [each], nets: [net(each, 0, BigInt(1 - fee))], unresolved: 0 }, block)
    )
    assert.strictEqual(inWalletOrder(trades), trades)
    assert.deepStrictEqual(steps(trades), ["pool buy", "wallet buy", "both sell"])
  })
})
