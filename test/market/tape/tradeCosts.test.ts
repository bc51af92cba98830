import { assert, describe, it } from "@effect/vitest"
import { SOL } from "../../../src/domain/Address.ts"
import type { Leg } from "../../../src/api/schemas/Trade.ts"
import { tapeTradesOf } from "../../../src/market/model/tapeTrades.ts"
import { leg, netOf, poolOf } from "./decoded.ts"
import { mintOf } from "./tape.ts"

const tip = (amount: bigint) =>
  ({
    kind: "tip",
    recipient: poolOf(9),
    included: false,
    outer: 1,
    inner: null,
    mint: SOL,
    amount,
    decimals: 9
  }) as const

const costsOf = (swap: Leg, priorityLamports: bigint | null) =>
  tapeTradesOf(
    {
      legs: [swap],
      nets: [{ ...netOf(swap, [0]), fees: [tip(50n), tip(5n)], priorityLamports }],
      unresolved: 0
    },
    { timeMs: 0, microPerLamport: null }
  ).map((trade) => [trade.role, trade.side, trade.priorityLamports, trade.tipLamports])

describe("the priority fee and the tips of a wallet", () => {
  it("belong to its trade, and are unknown together", () => {
    assert.deepStrictEqual(costsOf(leg(), 7n), [["both", "buy", 7n, 55n]])
    assert.deepStrictEqual(costsOf(leg(), null), [["both", "buy", undefined, undefined]])
  })

  it("belong to the purchase in a swap between two tokens, and are zero for the sale", () => {
    const swap = leg({ quote: { mint: mintOf(2), amount: 700n, decimals: 6 } })
    assert.deepStrictEqual(costsOf(swap, 7n), [
      ["pool", "buy", undefined, undefined],
      ["wallet", "buy", 7n, 55n],
      ["wallet", "sell", 0n, undefined]
    ])
  })
})
