import { assert, it } from "@effect/vitest"
import { makeTokenPrice } from "../../scripts/recompute/tokenPrice.ts"
import { moneySwapsOf, poolTrade } from "../../scripts/recompute/record.ts"
import type { RawLeg } from "../../scripts/recompute/legs.ts"
import { type Mint, SOL, USDC } from "../../src/domain/Address.ts"
import { TokenPrices } from "../../src/market/model/TokenPrices.ts"
import { solNanosOf, tapeTradesOf } from "../../src/market/model/tapeTrades.ts"
import { leg } from "../market/tape/decoded.ts"
import { mintOf } from "../market/tape/tape.ts"

const [A, B] = [mintOf(1), mintOf(2)]
const DECIMALS = new Map<Mint, number>([
  [A, 6],
  [B, 9],
  [SOL, 9],
  [USDC, 6]
])

interface Swap {
  readonly second: number
  readonly quote: readonly [Mint, bigint]
  readonly token: readonly [Mint, bigint]
}

const quantity = ([mint, amount]: readonly [Mint, bigint]) => ({ mint, amount, decimals: DECIMALS.get(mint) ?? 0 })

/** A purchase, as the service decodes it and as the script reads it. */
const both = ({ quote, token }: Swap, slot: number) => {
  const raw: RawLeg = {
    program: "",
    pool: "",
    vaults: [],
    outer: 0,
    input: { mint: quote[0], amount: quote[1] },
    output: { mint: token[0], amount: token[1] },
    sent: quote[1],
    received: token[1],
    wallet: "",
    nativeFlow: 0n
  }
  return { raw, decoded: leg({ slot, quote: quantity(quote), token: quantity(token) }) }
}

it("values swaps of two tokens as the service does, by the token that was swapped for more dollars", () => {
  let seed = 11
  const next = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below
  const sol = { numerator: 150n, denominator: 1000n }
  const service = new TokenPrices()
  const script = makeTokenPrice()
  const seen = { known: 0, unknown: 0, priced: 0 }
  let second = 1_700_000_000
  for (let slot = 1; slot < 600; slot++) {
    // Now and then too few of the swaps are recent.
    second += slot % 50 === 0 ? 400 : next(30)
    const token = next(2) === 0 ? A : B
    const swap: Swap = {
      second,
      token: [token, BigInt(1 + next(1_000_000_000))],
      quote: [next(2) === 0 ? SOL : USDC, BigInt(1 + next(30_000_000))]
    }
    const money = both(swap, slot)
    service.observe([money.decoded], second * 1000)
    script.add(moneySwapsOf([money.raw], second))
    const of = both({ second, token: [A, BigInt(1 + next(1_000_000))], quote: [B, BigInt(1 + next(1_000_000))] }, slot)
    const at = { timeMs: second * 1000, solNanos: solNanosOf(sol) }
    const [expected] = tapeTradesOf(
      { legs: [of.decoded], nets: [], unresolved: 0 },
      { timeMs: second * 1000, microPerLamport: sol, betterPriceOf: (a, b) => service.betterOf(a, b, at) }
    )
    const own = poolTrade(of.raw, { second, slot }, 6, { sol, betterOf: (a, b) => script.betterOf(a, b, second, sol) })
    assert.strictEqual(own.usdNanos, expected?.volumeUsdNanos)
    assert.strictEqual(own.price === null, expected?.priceUsd === null)
    assert.closeTo((own.price ?? 1) / (expected?.priceUsd ?? 1), 1, 1e-12)
    seen.known += own.usdNanos === null ? 0 : 1
    seen.unknown += own.usdNanos === null ? 1 : 0
    seen.priced += own.price === null ? 0 : 1
  }
  assert.isAbove(seen.known, seen.priced)
  assert.isAbove(seen.priced, 0)
  assert.isAbove(seen.unknown, 0)
})

/** A purchase of one A for so many millionths of a dollar. */
const bought = (slot: number, dollars: bigint) =>
  both({ second: 0, token: [A, 1_000_000n], quote: [USDC, dollars] }, slot).decoded

it("prices a token again at the same time once another swap of it is known", () => {
  const service = new TokenPrices()
  const at = { timeMs: 1_700_000_000_000, solNanos: null }
  const price = () => service.betterOf(A, B, at)?.price
  assert.isUndefined(price())
  service.observe([bought(1, 2_000_000_000n)], at.timeMs)
  const first = price()
  assert.deepStrictEqual(first, price())
  service.observe([bought(2, 8_000_000_000n)], at.timeMs)
  assert.isDefined(first)
  assert.notDeepEqual(price(), first)
})
