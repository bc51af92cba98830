import { assert, describe, it } from "@effect/vitest"
import { type Mint, SOL, USDC } from "../../../src/domain/Address.ts"
import type { Quantity } from "../../../src/api/schemas/Trade.ts"
import { quotePrice } from "../../../src/chain/decoding/quotePrice.ts"
import { sidesOf } from "../../../src/chain/decoding/sides.ts"
import { USDT } from "../../../src/domain/stables.ts"
import { named, TOKEN } from "./transactions.ts"

const quantity = (mint: Mint, amount: bigint, decimals: number | null = mint === SOL ? 9 : 6): Quantity => ({
  mint,
  amount,
  decimals
})

const side = (gave: Mint, got: Mint) => {
  const { side: way, token } = sidesOf(quantity(gave, 1n), quantity(got, 2n))
  return [way, token.mint]
}

describe("the side of a trade", () => {
  it("follows from the quote: a dollar is the quote before SOL, and SOL before other mints", () => {
    assert.deepStrictEqual(side(SOL, TOKEN), ["buy", TOKEN])
    assert.deepStrictEqual(side(TOKEN, SOL), ["sell", TOKEN])
    assert.deepStrictEqual(side(USDC, SOL), ["buy", SOL])
    assert.deepStrictEqual(side(SOL, USDT), ["sell", SOL])
    assert.deepStrictEqual(side(USDT, USDC), ["sell", USDT])
    assert.deepStrictEqual(side(TOKEN, named("other")), ["buy", named("other")])
  })
})

describe("the price of a trade", () => {
  it("is the quote for one whole token, as an exact fraction", () => {
    assert.deepStrictEqual(quotePrice({ token: quantity(TOKEN, 3_000_000n), quote: quantity(SOL, 1_500_000_000n) }), {
      numerator: 1_500_000_000n * 10n ** 6n,
      denominator: 3_000_000n * 10n ** 9n
    })
  })

  it("is unknown without decimals and without an amount", () => {
    assert.isNull(quotePrice({ token: quantity(TOKEN, 5n, null), quote: quantity(SOL, 5n) }))
    assert.isNull(quotePrice({ token: quantity(TOKEN, 5n), quote: quantity(SOL, 5n, null) }))
    assert.isNull(quotePrice({ token: quantity(TOKEN, 5n), quote: quantity(SOL, 0n) }))
  })
})
