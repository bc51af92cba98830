import { assert, describe, it } from "@effect/vitest"
import type { SwapPath } from "../../../src/programs/math/swapPath.ts"
import { staticFee } from "../../../src/programs/math/swapPath.ts"
import { ordersIn, ordersOut, ordersPrice } from "../../../src/programs/math/limitOrders.ts"
import { makePriceTable } from "../../../src/programs/math/priceTable.ts"
import { raydiumGrid, raydiumSqrtPriceAt } from "../../../src/programs/raydium/clmmTicks.ts"
import { swapSteps } from "../../../src/programs/math/swapSteps.ts"

/** A pool at a price of one with no liquidity below but orders of 1000 units at tick zero, and a little far down. */
const swapPath = (change: Partial<SwapPath> = {}): SwapPath => ({
  grid: raydiumGrid,
  down: true,
  feeOnInput: true,
  sqrtPrice: raydiumSqrtPriceAt(0),
  tick: 0,
  liquidity: 0n,
  ticks: [
    { index: 0, liquidityNet: -1_000_000n, orders: 1000n },
    { index: -100, liquidityNet: 1_000_000n, orders: 0n }
  ],
  edge: null,
  fee: staticFee(10_000n),
  cuts: [],
  ...change
})

describe("limit orders at a tick", () => {
  it("trade at its price, rounded against the trader on both sides", () => {
    const price = ordersPrice(true, raydiumSqrtPriceAt(6932))
    // 1.0001^6932 is a little above 2.
    assert.strictEqual(ordersOut(true, price, 1000n), 2000n)
    assert.strictEqual(ordersIn(true, price, 2000n), 1000n)
    assert.strictEqual(ordersIn(true, price, 2001n), 1001n)
    assert.strictEqual(ordersOut(false, ordersPrice(false, raydiumSqrtPriceAt(6932)), 2000n), 999n)
    assert.strictEqual(ordersIn(false, ordersPrice(false, raydiumSqrtPriceAt(6932)), 1000n), 2001n)
  })

  it("fill in part and leave the price on the tick", () => {
    // 500 in, 1 % fee: 495 for the orders at a price of one.
    const end = swapSteps(swapPath(), 500n)
    assert.strictEqual(end.ending, "filled")
    assert.strictEqual(end.amountOut, 495n)
    assert.strictEqual(end.tick, 0)
    assert.strictEqual(end.liquidity, 0n)
    assert.deepStrictEqual([...end.ordersTaken], [[0, 495n]])
  })

  it("are passed only when a swap wants more than all of them, and then the tick is crossed", () => {
    const end = swapSteps(swapPath(), 2000n)
    assert.strictEqual(end.ending, "filled")
    assert.deepStrictEqual([...end.ordersTaken], [[0, 1000n]])
    assert.strictEqual(end.liquidity, 1_000_000n)
    assert.isBelow(end.tick, 0)
    // All orders together cost 1000 and a fee of ceil(1000·1/99).
    assert.strictEqual(swapSteps(swapPath({ ticks: swapPath().ticks.slice(0, 1) }), 2000n).amountIn, 1011n)
  })

  it("take an input whole when it buys all of them and nothing more", () => {
    const quote = makePriceTable(swapPath({ ticks: swapPath().ticks.slice(0, 1) })).quote
    assert.deepStrictEqual(quote(1011n), { ending: "filled", amountIn: 1011n, amountOut: 1000n })
    assert.deepStrictEqual(quote(1012n), { ending: "exhausted", amountIn: 1011n, amountOut: 1000n })
    assert.deepStrictEqual(quote(1010n), { ending: "filled", amountIn: 1010n, amountOut: 999n })
  })

  it("pay their fee from the output when the pool collects it there", () => {
    const quote = makePriceTable(swapPath({ feeOnInput: false })).quote
    assert.deepStrictEqual(quote(500n), { ending: "filled", amountIn: 500n, amountOut: 495n })
  })

  it("cost the same by the table as by the step loop, for every amount around them", () => {
    for (const feeOnInput of [true, false]) {
      for (const price of [0, 6932, -6932]) {
        const ticks = swapPath().ticks.map((tick) => ({ ...tick, index: tick.index + price }))
        const start = swapPath({ ticks, feeOnInput, tick: price, sqrtPrice: raydiumSqrtPriceAt(price) })
        const { quote } = makePriceTable(start)
        for (let amount = 1n; amount < 3000n; amount++) {
          const { amountIn, amountOut, ending } = swapSteps(start, amount)
          assert.deepStrictEqual(quote(amount), { ending, amountIn, amountOut })
        }
      }
    }
  })
})
