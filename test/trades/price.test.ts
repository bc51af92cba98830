import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { type Mint, SOL, USDC } from "../../src/domain/Address.ts"
import type { Quantity, Trade } from "../../src/domain/market/Trade.ts"
import { decodeTrades } from "../../src/trades/decode.ts"
import { decimalText, priceOf } from "../../src/trades/price.ts"
import { sidesOf, USDT } from "../../src/trades/sides.ts"
import { named, swapHoldings, TOKEN, TRADER, transactionOf } from "./transactions.ts"
import { raydiumSwap } from "./twoPools.ts"

const quantity = (mint: Mint, amount: bigint, decimals: number | null = mint === SOL ? 9 : 6): Quantity => ({
  mint,
  amount,
  decimals
})

/** Any trade, with these two sides. */
const trade = (gave: Quantity, got: Quantity): Trade => {
  const holdings = [
    ...swapHoldings().slice(0, 2),
    { address: named("b token"), mint: TOKEN, owner: named("p"), decimals: 6, before: 50n, after: 0n }
  ]
  const calls = [raydiumSwap("trader sol", TRADER, "trader token", 1000n, 50n)]
  const [leg] = decodeTrades(
    transactionOf({
      signers: [TRADER],
      calls,
      holdings: [
        ...holdings,
        { address: named("b sol"), mint: SOL, owner: named("p"), decimals: 9, before: 0n, after: 0n }
      ]
    })
  ).legs
  assert.isDefined(leg)
  return { ...leg, ...sidesOf(gave, got) }
}

const at150 = { numerator: 150n, denominator: 1n }

const side = (gave: Mint, got: Mint) => {
  const { side: way, token } = sidesOf(quantity(gave, 1n), quantity(got, 2n))
  return [way, token.mint]
}

describe("the side of a trade", () => {
  it("is that of the token: a dollar is the quote before SOL, SOL before the rest", () => {
    assert.deepStrictEqual(side(SOL, TOKEN), ["buy", TOKEN])
    assert.deepStrictEqual(side(TOKEN, SOL), ["sell", TOKEN])
    assert.deepStrictEqual(side(USDC, SOL), ["buy", SOL])
    assert.deepStrictEqual(side(SOL, USDT), ["sell", SOL])
    assert.deepStrictEqual(side(USDT, USDC), ["sell", USDT])
    assert.deepStrictEqual(side(TOKEN, named("other")), ["buy", named("other")])
  })
})

describe("the price of a trade", () => {
  it("in SOL is exact, and in dollars with the price of SOL", () => {
    const bought = trade(quantity(SOL, 1_500_000_000n), quantity(TOKEN, 3_000_000n))
    assert.deepStrictEqual(priceOf(bought, at150), { sol: "0.5", usd: "75" })
    assert.deepStrictEqual(priceOf(bought, null), { sol: "0.5", usd: null })
  })

  it("in dollars needs nothing else when a dollar was paid, and SOL follows from it", () => {
    const sold = trade(quantity(TOKEN, 4_000_000n), quantity(USDC, 30_000_000n))
    assert.deepStrictEqual(priceOf(sold, at150), { sol: "0.05", usd: "7.5" })
    assert.deepStrictEqual(priceOf(sold, null), { sol: null, usd: "7.5" })
  })

  it("of SOL itself is one SOL", () => {
    assert.deepStrictEqual(priceOf(trade(quantity(USDC, 151_250_000n), quantity(SOL, 1_000_000_000n)), null), {
      sol: "1",
      usd: "151.25"
    })
  })

  it("is unknown between two other tokens, without decimals, and of nothing", () => {
    const unknown = { sol: null, usd: null }
    assert.deepStrictEqual(priceOf(trade(quantity(TOKEN, 5n), quantity(named("other"), 5n)), at150), unknown)
    assert.deepStrictEqual(priceOf(trade(quantity(SOL, 5n), quantity(TOKEN, 5n, null)), at150), unknown)
    assert.deepStrictEqual(priceOf(trade(quantity(SOL, 0n), quantity(TOKEN, 5n)), at150), unknown)
  })

  it("keeps eighteen digits of the smallest and the largest", () => {
    assert.strictEqual(
      decimalText({ numerator: 1n, denominator: 3n * 10n ** 15n }),
      "0.000000000000000333333333333333333"
    )
    assert.strictEqual(decimalText({ numerator: 10n ** 30n, denominator: 1n }), `1${"0".repeat(30)}`)
  })

  const Positive = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }))

  it.effect.prop(
    "is never above the quotient, and below it by less than a part in 10^17",
    [Positive, Positive],
    ([a, b]) =>
      Effect.sync(() => {
        const [numerator, denominator] = [BigInt(a), BigInt(b)]
        const [whole = "", fraction = ""] = (decimalText({ numerator, denominator }) ?? "").split(".")
        const digits = BigInt(whole + fraction)
        const scale = 10n ** BigInt(fraction.length)
        const short = numerator * scale - digits * denominator
        assert.isTrue(short >= 0n)
        assert.isTrue(short * 10n ** 17n < numerator * scale)
      })
  )
})
