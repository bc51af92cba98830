import { assert, describe, it } from "@effect/vitest"
import { type Address, SOL, USDC } from "../../../src/domain/Address.ts"
import { decodeTrades } from "../../../src/chain/decoding/decodeTrades.ts"
import {
  bought,
  COMPLETE_EVENT,
  CURVE,
  POST_COMPLETE_EVENT,
  postCompleteEvent,
  sold,
  tokenHoldings,
  TRADE_EVENT,
  tradeEvent,
  zeros
} from "./pumpEvents.ts"
import {
  accountsAt,
  bytesOf,
  type Call,
  event,
  type Holding,
  little,
  named,
  POOL,
  sendLamports,
  TOKEN,
  TRADER,
  transactionOf,
  transfer
} from "./transactions.ts"

const legacyAccounts = accountsAt(12, {
  1: named("fee recipient"),
  2: TOKEN,
  3: POOL,
  4: named("curve token"),
  6: TRADER
})
const thirdAccounts = (quote: Address) =>
  accountsAt(17, { 1: TOKEN, 2: quote, 5: POOL, 6: named("curve token"), 7: named("curve quote"), 8: TRADER })
const secondAccounts = (quote: Address) =>
  accountsAt(27, {
    1: TOKEN,
    2: quote,
    6: named("fee recipient"),
    10: POOL,
    11: named("curve token"),
    12: named("curve quote"),
    13: TRADER
  })

const curveCall = (tag: string, accounts: ReadonlyArray<Address>, calls: ReadonlyArray<Call>): Call => ({
  program: CURVE,
  accounts,
  data: bytesOf(tag, little(50n, 8), little(2000n, 8)),
  calls
})

const decodeCurve = (
  call: Call,
  holdings: ReadonlyArray<Holding>,
  lamports = new Map<Address, readonly [number, number]>()
) => decodeTrades(transactionOf({ signers: [TRADER], calls: [call], holdings, lamports }))

const completing = [
  event(CURVE, TRADE_EVENT, tradeEvent({ sol: 1000n, tokens: 50n, isBuy: true, fees: [9n, 3n] })),
  event(CURVE, COMPLETE_EVENT, zeros(136)),
  event(CURVE, POST_COMPLETE_EVENT, postCompleteEvent(30n, 700n, [6n, 2n]))
]
const toTrader = (amount: bigint) => transfer(named("curve token"), named("trader token"), POOL, amount)

describe("Pump.fun's curve", () => {
  const forLamports = [
    { title: "buy", tag: "66063d1201daebea", accounts: legacyAccounts },
    { title: "buy_exact_sol_in", tag: "38fc74089edfcd5f", accounts: legacyAccounts },
    { title: "buy_v2", tag: "b817ee6167c5d33d", accounts: secondAccounts(SOL) },
    { title: "buy_exact_quote_in_v2", tag: "c2ab1c46684d5b2f", accounts: secondAccounts(SOL) },
    { title: "buy_v3", tag: "07051dc4f5176550", accounts: thirdAccounts(SOL) },
    { title: "buy_exact_quote_in_v3", tag: "e1f7501ed5b38488", accounts: thirdAccounts(SOL) }
  ]

  it.each(forLamports)(
    "$title: the leg is what the curve took, and the net trade includes the fees",
    ({ tag, accounts }) => {
      const sent = tradeEvent({
        sol: 1000n,
        tokens: 50n,
        isBuy: true,
        fees: [9n, 3n],
        quoteAmount: 1000n,
        shareholders: 2
      })
      const calls = [bought, sendLamports(TRADER, POOL, 1000n), event(CURVE, TRADE_EVENT, sent)]
      const { legs, nets } = decodeCurve(curveCall(tag, accounts, calls), tokenHoldings(50n))
      assert.strictEqual(legs.length, 1)
      assert.strictEqual(legs[0]?.dex, "pump-fun-curve")
      assert.strictEqual(legs[0]?.pool, POOL)
      assert.strictEqual(legs[0]?.wallet, TRADER)
      assert.strictEqual(legs[0]?.side, "buy")
      assert.strictEqual(legs[0]?.confirmed, true)
      assert.deepStrictEqual(legs[0]?.quote, { mint: SOL, amount: 1000n, decimals: 9 })
      assert.deepStrictEqual(legs[0]?.token, { mint: TOKEN, amount: 50n, decimals: 6 })
      assert.strictEqual(nets[0]?.quote.amount, 1012n)
      assert.strictEqual(nets[0]?.token.amount, 50n)
    }
  )

  it.each([
    { title: "sell", tag: "33e685a4017f83ad", accounts: legacyAccounts },
    { title: "sell_v2", tag: "5df6823ce7e940b2", accounts: secondAccounts(SOL) },
    { title: "sell_v3", tag: "1c92de7726c469d5", accounts: thirdAccounts(SOL) }
  ])("$title: lamports arrive without an instruction, less every fee, cashback included", ({ tag, accounts }) => {
    const sent = tradeEvent({ sol: 1000n, tokens: 50n, isBuy: false, fees: [9n, 0n], cashback: 3n })
    const { legs, nets } = decodeCurve(
      curveCall(tag, accounts, [sold, event(CURVE, TRADE_EVENT, sent)]),
      tokenHoldings(-50n)
    )
    assert.strictEqual(legs[0]?.side, "sell")
    assert.strictEqual(legs[0]?.quote.amount, 1000n)
    assert.strictEqual(nets[0]?.quote.amount, 988n)
  })

  it("takes the fee from the recipient's balance when an early event does not state it", () => {
    const sent = tradeEvent({ sol: 1000n, tokens: 50n, isBuy: false })
    const lamports = new Map([[named("fee recipient"), [500, 510]]] as const)
    const call = curveCall("33e685a4017f83ad", legacyAccounts, [sold, event(CURVE, TRADE_EVENT, sent)])
    assert.strictEqual(decodeCurve(call, tokenHoldings(-50n), lamports).nets[0]?.quote.amount, 990n)
  })

  it("has no net trade when the fee is unknown, as with two trades and one recipient", () => {
    const sent = tradeEvent({ sol: 1000n, tokens: 25n, isBuy: false })
    const half = transfer(named("trader token"), named("curve token"), TRADER, 25n)
    const call = curveCall("33e685a4017f83ad", legacyAccounts, [half, event(CURVE, TRADE_EVENT, sent)])
    const { legs, nets } = decodeTrades(
      transactionOf({ signers: [TRADER], calls: [call, call], holdings: tokenHoldings(-50n) })
    )
    assert.strictEqual(legs.length, 2)
    assert.deepStrictEqual(nets, [])
  })

  it("reads an event from the log when the program did not call itself", () => {
    const sent = tradeEvent({ sol: 1000n, tokens: 50n, isBuy: true, fees: [9n, 3n] })
    const line = `Program data: ${Buffer.from(bytesOf(TRADE_EVENT, sent)).toString("base64")}`
    const call = curveCall("66063d1201daebea", legacyAccounts, [bought])
    const logs = [`Program ${CURVE} invoke [1]`, line, `Program ${CURVE} success`]
    const { legs } = decodeTrades(
      transactionOf({ signers: [TRADER], calls: [call], holdings: tokenHoldings(50n), logs })
    )
    assert.strictEqual(legs[0]?.quote.amount, 1000n)
  })

  it("counts a trade without an event as unresolved, because nothing else states the lamports", () => {
    const call = curveCall("66063d1201daebea", legacyAccounts, [bought])
    assert.deepStrictEqual(decodeCurve(call, tokenHoldings(50n)), { legs: [], nets: [], unresolved: 1 })
  })

  it("is contradicted by an event with other token amounts, which does not state the wallet's payment", () => {
    const sent = tradeEvent({ sol: 1000n, tokens: 51n, isBuy: true, fees: [9n, 3n] })
    const call = curveCall("66063d1201daebea", legacyAccounts, [bought, event(CURVE, TRADE_EVENT, sent)])
    const { legs, nets } = decodeCurve(call, tokenHoldings(50n))
    assert.strictEqual(legs[0]?.confirmed, false)
    assert.deepStrictEqual(nets, [])
  })

  it.each([
    { title: "one transfer", tag: "e1f7501ed5b38488", transfers: [toTrader(80n)] },
    { title: "two transfers", tag: "07051dc4f5176550", transfers: [toTrader(50n), toTrader(30n)] }
  ])(
    "completing purchase with $title: two legs at their own prices, and one net trade of both",
    ({ tag, transfers }) => {
      const { legs, nets } = decodeCurve(
        curveCall(tag, thirdAccounts(SOL), [...transfers, ...completing]),
        tokenHoldings(80n)
      )
      assert.deepStrictEqual(
        legs.map(({ token, quote, confirmed, pool, dex }) => [token.amount, quote.amount, confirmed, pool, dex]),
        [
          [50n, 1000n, true, POOL, "pump-fun-curve"],
          [30n, 700n, true, POOL, "pump-fun-curve"]
        ]
      )
      assert.strictEqual(nets.length, 1)
      assert.strictEqual(nets[0]?.token.amount, 80n)
      assert.strictEqual(nets[0]?.quote.amount, 1720n)
      assert.deepStrictEqual(nets[0]?.legs, [0, 1])
      assert.strictEqual(nets[0]?.pool, POOL)
      assert.strictEqual(nets[0]?.dex, "pump-fun-curve")
    }
  )

  it("counts what the buyer's account paid, fees included, for a completing purchase with another token", () => {
    const events = [
      event(CURVE, TRADE_EVENT, tradeEvent({ sol: 0n, tokens: 50n, isBuy: true, fees: [9n, 3n], quoteAmount: 1000n })),
      ...completing.slice(1)
    ]
    const paid = transfer(named("trader quote"), named("curve quote"), TRADER, 1720n)
    const quoteHoldings = [
      { address: named("curve quote"), mint: USDC, owner: POOL, decimals: 6, before: 0n, after: 1720n },
      { address: named("trader quote"), mint: USDC, owner: TRADER, decimals: 6, before: 2000n, after: 280n }
    ]
    const { legs, nets } = decodeCurve(
      curveCall("e1f7501ed5b38488", thirdAccounts(USDC), [paid, toTrader(80n), ...events]),
      [...tokenHoldings(80n), ...quoteHoldings]
    )
    assert.deepStrictEqual(
      legs.map(({ token, quote, confirmed }) => [token.amount, quote.amount, confirmed]),
      [
        [50n, 1000n, true],
        [30n, 700n, true]
      ]
    )
    assert.deepStrictEqual([nets[0]?.token.amount, nets[0]?.quote.amount], [80n, 1720n])
  })

  it("has one leg for a completing purchase without a part beyond the curve", () => {
    const { legs, nets } = decodeCurve(
      curveCall("e1f7501ed5b38488", thirdAccounts(SOL), [bought, ...completing.slice(0, 2)]),
      tokenHoldings(50n)
    )
    assert.deepStrictEqual([legs.length, legs[0]?.confirmed, nets[0]?.quote.amount], [1, true, 1012n])
  })

  it("has no net trade for a completing purchase whose transfers contradict its events", () => {
    const { legs, nets } = decodeCurve(
      curveCall("e1f7501ed5b38488", thirdAccounts(SOL), [toTrader(79n), ...completing]),
      tokenHoldings(79n)
    )
    assert.deepStrictEqual(
      legs.map(({ confirmed }) => confirmed),
      [false, false]
    )
    assert.deepStrictEqual(nets, [])
  })

  it.each([
    {
      title: "buy_v2, whose fees go beside the curve",
      tag: "b817ee6167c5d33d",
      accounts: secondAccounts(USDC),
      toCurve: 1000n,
      beside: 12n
    },
    {
      title: "buy_v3, whose fees stay on the curve",
      tag: "07051dc4f5176550",
      accounts: thirdAccounts(USDC),
      toCurve: 1012n,
      beside: 0n
    }
  ])("$title: the same price in a quote token", ({ tag, accounts, toCurve, beside }) => {
    const holdings: ReadonlyArray<Holding> = [
      ...tokenHoldings(50n),
      { address: named("curve quote"), mint: USDC, owner: POOL, decimals: 6, before: 0n, after: toCurve },
      { address: named("trader quote"), mint: USDC, owner: TRADER, decimals: 6, before: 5000n, after: 3988n },
      { address: named("fee quote"), mint: USDC, owner: named("fees"), decimals: 6, before: 0n, after: beside }
    ]
    const sent = tradeEvent({ sol: 0n, tokens: 50n, isBuy: true, fees: [9n, 3n], quoteAmount: 1000n, shareholders: 2 })
    const calls = [
      bought,
      transfer(named("trader quote"), named("curve quote"), TRADER, toCurve),
      transfer(named("trader quote"), named("fee quote"), TRADER, beside),
      event(CURVE, TRADE_EVENT, sent)
    ]
    const { legs, nets } = decodeCurve(curveCall(tag, accounts, calls), holdings)
    assert.deepStrictEqual(legs[0]?.quote, { mint: USDC, amount: 1000n, decimals: 6 })
    assert.strictEqual(legs[0]?.confirmed, true)
    assert.strictEqual(nets[0]?.quote.amount, 1012n)
  })
})
