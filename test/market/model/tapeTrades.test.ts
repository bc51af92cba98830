import { assert, describe, it } from "@effect/vitest"
import { type Mint, SOL, USDC } from "../../../src/domain/Address.ts"
import type { Leg, NetTrade, Quantity } from "../../../src/api/schemas/Trade.ts"
import { SolPrice } from "../../../src/market/model/SolPrice.ts"
import { repriced, tapeTradesOf } from "../../../src/market/model/tapeTrades.ts"
import { leg, netOf, poolOf } from "../tape/decoded.ts"
import { mintOf } from "../tape/tape.ts"

const of = (mint: Mint, amount: bigint, decimals: number | null): Quantity => ({ mint, amount, decimals })
/** 150 dollars for a SOL: 150,000,000 micro-dollars for 1,000,000,000 lamports. */
const microPerLamport = { numerator: 3n, denominator: 20n }
const timeMs = 1_791_158_400_000

const pricedTrades = (legs: ReadonlyArray<Leg>, nets: ReadonlyArray<NetTrade>, price: typeof microPerLamport | null) =>
  tapeTradesOf({ legs, nets, unresolved: 0 }, { timeMs, microPerLamport: price })

const launchpad = (dex: string) => pricedTrades([leg({ dex })], [], null)[0]?.launchpad

describe("trades for the tape", () => {
  it("are priced in dollars through SOL, to the billionth", () => {
    const [trade] = pricedTrades(
      [leg({ token: of(mintOf(1), 2_000_000n, 6), quote: of(SOL, 1_000_000_001n, 9) })],
      [],
      microPerLamport
    )
    assert.strictEqual(trade?.volumeUsdNanos, 150_000_000_150n)
    assert.strictEqual(trade?.priceUsd, 75.000_000_075)
    assert.strictEqual(trade?.lamports, 1_000_000_001n)
    assert.strictEqual(trade?.role, "pool")
  })

  it("count a stable coin as a dollar without the price of SOL", () => {
    const [trade] = pricedTrades([leg({ token: of(SOL, 500_000_000n, 9), quote: of(USDC, 75_000_000n, 6) })], [], null)
    assert.strictEqual(trade?.volumeUsdNanos, 75_000_000_000n)
    assert.strictEqual(trade?.priceUsd, 150)
    assert.strictEqual(trade?.lamports, null)
  })

  it("carry the SOL price of their block when they are against dollars, and need none otherwise", () => {
    const priceOfSol = (given: Partial<Leg>, price: typeof microPerLamport | null) =>
      pricedTrades([leg(given)], [], price)[0]?.solUsdNanos
    const dollars = { quote: of(USDC, 75_000_000n, 6) }
    assert.strictEqual(priceOfSol(dollars, microPerLamport), 150_000_000_000n)
    assert.isNull(priceOfSol(dollars, null))
    assert.isNull(priceOfSol({ ...dollars, token: of(SOL, 500_000_000n, 9) }, microPerLamport))
    assert.isNull(priceOfSol({ quote: of(SOL, 5n, 9) }, microPerLamport))
  })

  it("have no price when the money is neither SOL nor a dollar, when SOL has no price or when decimals are unknown", () => {
    const prices = (trade: Leg, price: typeof microPerLamport | null) =>
      pricedTrades([trade], [], price).map(({ priceUsd, volumeUsdNanos }) => [priceUsd, volumeUsdNanos])
    assert.deepStrictEqual(prices(leg({ quote: of(mintOf(9), 5n, 6) }), microPerLamport), [[null, null]])
    assert.deepStrictEqual(prices(leg({ quote: of(SOL, 5n, 9) }), null), [[null, null]])
    const undecided = leg({ token: of(mintOf(1), 5n, null), quote: of(USDC, 7n, 6) })
    assert.deepStrictEqual(prices(undecided, null), [[null, 7000n]])
  })

  it("of two tokens take the value of the better known token, but a price only from the quote", () => {
    const [token, hub] = [mintOf(1), mintOf(9)]
    // Two micro-dollars for a unit are 200 dollars for a whole token of eight decimals.
    const block = {
      timeMs,
      microPerLamport: null,
      betterPriceOf: () => ({ mint: hub, price: { numerator: 2n, denominator: 1n } })
    }
    const sideOf = (trade: Leg) =>
      tapeTradesOf({ legs: [trade], nets: [], unresolved: 0 }, block).map(({ priceUsd, volumeUsdNanos }) => [
        priceUsd,
        volumeUsdNanos
      ])
    const [amount, paid] = [of(token, 4_000_000n, 6), of(hub, 300_000_000n, 8)]
    assert.deepStrictEqual(sideOf(leg({ token: amount, quote: paid })), [[150, 600_000_000_000n]])
    assert.deepStrictEqual(sideOf(leg({ token: paid, quote: amount })), [[null, 600_000_000_000n]])
  })

  it("report a swap through one pool once, and a route once for its pools and once for its wallet", () => {
    const single = leg({ index: 0 })
    assert.deepStrictEqual(
      pricedTrades([single], [netOf(single, [0])], microPerLamport).map(({ role }) => role),
      ["both"]
    )
    const legs = [single, leg({ index: 1, token: of(mintOf(2), 9n, 6) })]
    const route = pricedTrades(legs, [netOf(single, [0, 1])], microPerLamport)
    assert.deepStrictEqual(
      route.map(({ role }) => role),
      ["pool", "pool", "wallet"]
    )
    assert.strictEqual(new Set(route.map(({ index }) => index)).size, 3)
    const withFees = { ...netOf(single, [0]), quote: of(SOL, single.quote.amount + 1n, 9) }
    assert.deepStrictEqual(
      pricedTrades([single], [withFees], microPerLamport).map(({ role }) => role),
      ["pool", "wallet"]
    )
  })

  it("report a swap of two tokens as a purchase and a sale, at the money that flowed between their pools", () => {
    const [a, b] = [of(mintOf(1), 700n, 6), of(mintOf(2), 9n, 6)]
    const legs = [
      leg({ index: 0, side: "sell", token: a, quote: of(SOL, 1_000n, 9) }),
      leg({ index: 1, side: "buy", token: b, quote: of(SOL, 1_000n, 9) })
    ]
    const net: NetTrade = { ...netOf(leg({ token: b, quote: a }), [0, 1]) }
    const wallet = (given: NetTrade) =>
      pricedTrades(legs, [given], microPerLamport)
        .filter(({ role }) => role === "wallet")
        .map(({ amount, lamports, mint, side, volumeUsdNanos }) => [side, mint, amount, lamports, volumeUsdNanos])
    assert.deepStrictEqual(wallet(net), [
      ["buy", mintOf(2), 9n, 1_000n, 150_000n],
      ["sell", mintOf(1), 700n, 1_000n, 150_000n]
    ])
    const taxed = { ...net, token: of(mintOf(2), 8n, 6) }
    assert.deepStrictEqual(wallet(taxed)[0], ["buy", mintOf(2), 8n, 1_000n, 150_000n], "at what was paid for it")
    assert.strictEqual(new Set(pricedTrades(legs, [net], null).map(({ index }) => index)).size, 4)
  })

  it("value a swap of two tokens by the price of either, at one value, unless money flowed in it", () => {
    const swap = leg({ token: of(mintOf(2), 9n, 6), quote: of(mintOf(1), 700n, 6) })
    const held = { token: { before: 1n, after: 10n }, quote: { before: 700n, after: 0n } }
    const priced = (...mints: ReadonlyArray<readonly [Mint, bigint]>) =>
      tapeTradesOf(
        { legs: [swap], nets: [{ ...netOf(swap, [0]), held }], unresolved: 0 },
        {
          timeMs,
          microPerLamport,
          // The first of them is the better known.
          betterPriceOf: () => {
            const [known] = mints
            return known === undefined ? null : { mint: known[0], price: { numerator: known[1], denominator: 2n } }
          }
        }
      )
        .filter(({ role }) => role === "wallet")
        .map(({ held: span, mint, priceUsd, volumeUsdNanos }) => [mint, volumeUsdNanos, priceUsd, span])
    const bought = (nanos: bigint | null, price: number | null) => [mintOf(2), nanos, price, held.token]
    const sold = (nanos: bigint | null, price: number | null) => [mintOf(1), nanos, price, held.quote]
    assert.deepStrictEqual(priced([mintOf(2), 14n]), [bought(63_000n, 7), sold(63_000n, 0.09)])
    assert.deepStrictEqual(
      priced([mintOf(1), 2n], [mintOf(2), 14n]),
      [bought(700_000n, 77.7777777777778), sold(700_000n, 1)].map(([mint, nanos, price, span]) => [
        mint,
        nanos,
        mint === mintOf(2) ? 700_000_000_000 / 9_000_000_000 : price,
        span
      ]),
      "the side whose price is the better known"
    )
    assert.deepStrictEqual(priced(), [bought(null, null), sold(null, null)])
    assert.deepStrictEqual(priced([mintOf(1), 1n << 64n]), [bought(null, null), sold(null, null)], "beyond any value")
  })

  it("carry the fees of front ends beside the amounts, and the units held around the transaction", () => {
    const single = leg()
    const fee = { kind: "front-end", recipient: poolOf(9), included: false, outer: 1, inner: null } as const
    const given = (fees: NetTrade["fees"], price: typeof microPerLamport | null) => {
      const held = { token: { before: 0n, after: 1_000_000n }, quote: null }
      const [trade] = pricedTrades([single], [{ ...netOf(single, [0]), fees, held }], price)
      return [trade?.role, trade?.volumeUsdNanos, trade?.feeUsdNanos, trade?.held]
    }
    const span = { before: 0n, after: 1_000_000n }
    const sol = { ...fee, ...of(SOL, 2_000n, 9) }
    assert.deepStrictEqual(given([sol, { ...sol, included: true }, { ...sol, kind: "tip" }], microPerLamport), [
      "both",
      15_000_000_000n,
      300_000n,
      span
    ])
    assert.deepStrictEqual(given([sol], null), ["both", null, null, span])
    assert.deepStrictEqual(given([], microPerLamport), ["both", 15_000_000_000n, undefined, span])
  })

  it("report a swap of two tokens in one pool without a price, as a sale and a purchase of its wallet", () => {
    const swap = leg({ token: of(mintOf(2), 9n, 6), quote: of(mintOf(1), 700n, 6) })
    assert.deepStrictEqual(
      pricedTrades([swap], [netOf(swap, [0])], microPerLamport).map(({ role, side, mint, volumeUsdNanos }) => [
        role,
        side,
        mint,
        volumeUsdNanos
      ]),
      [
        ["pool", "buy", mintOf(2), null],
        ["wallet", "buy", mintOf(2), null],
        ["wallet", "sell", mintOf(1), null]
      ]
    )
  })

  it("feed pools with what the pool got, and wallets with what they sent, when a mint takes a transfer fee", () => {
    const sale = leg({
      side: "sell",
      token: of(mintOf(1), 990n, 6),
      quote: of(SOL, 100n, 9),
      transferFees: { token: 10n, quote: 0n }
    })
    const net = netOf({ ...sale, token: of(mintOf(1), 1_000n, 6) }, [0])
    assert.deepStrictEqual(
      pricedTrades([sale], [net], microPerLamport).map(({ amount, lamports, role }) => [role, amount, lamports]),
      [
        ["pool", 990n, 100n],
        ["wallet", 1_000n, 100n]
      ]
    )
  })

  it("value a swap of two tokens by its pools when a mint takes a transfer fee", () => {
    const sold = leg({
      index: 0,
      side: "sell",
      token: of(mintOf(1), 990n, 6),
      quote: of(SOL, 100n, 9),
      transferFees: { token: 10n, quote: 0n }
    })
    const bought = leg({
      index: 1,
      token: of(mintOf(2), 50n, 6),
      quote: of(SOL, 100n, 9),
      transferFees: { token: 5n, quote: 0n }
    })
    const net = netOf({ ...bought, token: of(mintOf(2), 45n, 6), quote: of(mintOf(1), 1_000n, 6) }, [0, 1])
    const wallet = pricedTrades([sold, bought], [net], microPerLamport).filter(({ role }) => role === "wallet")
    assert.deepStrictEqual(
      wallet.map(({ amount, lamports, side }) => [side, amount, lamports]),
      [
        ["buy", 45n, 100n],
        ["sell", 1_000n, 100n]
      ]
    )
  })

  it("name the launchpad of a curve, but no launchpad for a pool", () => {
    assert.strictEqual(launchpad("pump-fun-curve"), "pump-fun")
    assert.strictEqual(launchpad("raydium-clmm"), null)
  })
})

const solFor = (dollars: bigint) => leg({ token: of(SOL, 1_000_000_000n, 9), quote: of(USDC, dollars * 1_000_000n, 6) })

describe("SolPrice", () => {
  const now = { price: microPerLamport, observedAtMs: timeMs }

  it("uses the price of the pools when no swap was recorded, for current blocks alone", () => {
    const price = new SolPrice()
    assert.deepStrictEqual(price.at(timeMs - 60_000, now), microPerLamport)
    assert.strictEqual(price.at(timeMs - 60_001, now), null)
    assert.strictEqual(price.at(timeMs, null), null)
    price.observe([solFor(9000n)], timeMs - 300_000)
    assert.strictEqual(price.at(timeMs, now)?.numerator, 9_000_000_000n, "a recorded swap comes first")
    assert.deepStrictEqual(price.at(timeMs + 1, now), microPerLamport)
  })

  it("prices a block by the dollar-weighted median of the swaps before it", () => {
    const price = new SolPrice()
    const swaps = [140n, 141n, 9000n, 142n, 1n].map((dollars, index) => ({ ...solFor(dollars), index }))
    price.observe([...swaps, leg()], timeMs)
    const found = price.at(timeMs + 300_000, null)
    assert.strictEqual(found === null ? null : found.numerator / 1_000_000n, 9000n, "the most money is behind it")
    assert.strictEqual(price.at(timeMs + 300_001, null), null)
  })

  it("does not depend on the order of the swaps, counts each once, and counts only the newest 64", () => {
    const trades = Array.from({ length: 80 }, (_, slot) =>
      tapeTradesOf(
        { legs: [{ ...solFor(BigInt(100 + slot)), slot }], nets: [], unresolved: 0 },
        { timeMs, microPerLamport }
      )
    )
    const [ordered, shuffled] = [new SolPrice(), new SolPrice()]
    trades.forEach((of) => ordered.recall(of))
    trades.toReversed().forEach((of) => shuffled.recall(of))
    shuffled.recall(trades.flat())
    assert.strictEqual(ordered.at(timeMs, null)?.numerator, 151_000_000n, "the median dollar of 116 to 179")
    assert.deepStrictEqual(shuffled.at(timeMs, null), ordered.at(timeMs, null))
  })
})

describe("a stored trade", () => {
  it("that is priced again gets the prices that it would have had at first", () => {
    const recipient = mintOf(3)
    const fee = {
      kind: "front-end" as const,
      included: false,
      ...of(SOL, 7_000_001n, 9),
      recipient,
      outer: 1,
      inner: null
    }
    const [a, b] = [mintOf(1), mintOf(2)]
    const sold = leg({ index: 0, side: "sell", token: of(a, 1_000_000n, 6), quote: of(SOL, 123_456_789n, 9) })
    const bought = leg({ index: 1, token: of(b, 777n, 9), quote: of(SOL, 123_456_789n, 9) })
    const decoded: ReadonlyArray<[ReadonlyArray<Leg>, ReadonlyArray<NetTrade>]> = [
      [[leg()], [{ ...netOf(leg(), [0]), fees: [fee] }]],
      [[leg({ quote: of(USDC, 5n, 6) })], []],
      [[solFor(150n)], []],
      [[sold, bought], [netOf(leg({ token: of(b, 777n, 9), quote: of(a, 1_000_000n, 6) }), [0, 1])]]
    ]
    const later = { numerator: 1_234_567n, denominator: 9_876_543n }
    for (const [legs, nets] of decoded) {
      for (const before of [microPerLamport, null]) {
        assert.deepStrictEqual(
          pricedTrades(legs, nets, before).map((trade) => repriced(trade, later)),
          pricedTrades(legs, nets, later)
        )
      }
    }
    assert.deepStrictEqual(
      pricedTrades([leg()], [], later).map((trade) => repriced(trade, null)),
      pricedTrades([leg()], [], later)
    )
  })
})
