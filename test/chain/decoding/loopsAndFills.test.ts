import { assert, describe, it } from "@effect/vitest"
import { Address, SOL, USDC } from "../../../src/domain/Address.ts"
import { decodeTrades } from "../../../src/chain/decoding/decodeTrades.ts"
import { poolSwapsOf } from "../../../src/chain/decoding/poolSwaps.ts"
import { bought, CURVE, sold, tokenHoldings, TRADE_EVENT, tradeEvent } from "./pumpEvents.ts"
import {
  accountsAt,
  bytesOf,
  type Call,
  event,
  little,
  named,
  POOL,
  sendLamports,
  TOKEN,
  TRADER,
  transactionOf,
  transfer
} from "./transactions.ts"

const curveAccounts = accountsAt(12, {
  1: named("fee recipient"),
  2: TOKEN,
  3: POOL,
  4: named("curve token"),
  6: TRADER
})

/** A trade on the curve by an early event, which does not state the fees. */
const curveTrade = (isBuy: boolean, tokens: bigint): Call => ({
  program: CURVE,
  accounts: curveAccounts,
  data: bytesOf(isBuy ? "66063d1201daebea" : "33e685a4017f83ad", little(tokens, 8), little(2000n, 8)),
  calls: [
    isBuy ? bought : transfer(named("trader token"), named("curve token"), TRADER, tokens),
    ...(isBuy ? [sendLamports(TRADER, POOL, 1012n)] : []),
    event(CURVE, TRADE_EVENT, tradeEvent({ sol: 1000n, tokens, isBuy }))
  ]
})

/** A trade on the curve whose event states the fees. */
const known = (isBuy: boolean): Call => {
  const call = curveTrade(isBuy, 50n)
  const report = tradeEvent({ sol: isBuy ? 1000n : 1100n, tokens: 50n, isBuy, fees: [9n, 3n] })
  return { ...call, calls: [...(call.calls ?? []).slice(0, -1), event(CURVE, TRADE_EVENT, report)] }
}

const netsOf = (calls: ReadonlyArray<Call>, delta: bigint) =>
  decodeTrades(transactionOf({ signers: [TRADER], calls, holdings: tokenHoldings(delta) })).nets.map(
    ({ index, side, token }) => [index, side, token.amount]
  )

describe("a token that was bought and sold in one transaction", () => {
  it("is a loop: no purchase, although the sale alone has unknown lamports", () => {
    const loop = [curveTrade(true, 50n), curveTrade(false, 50n)]
    assert.deepStrictEqual(netsOf(loop, 0n), [])
    const { legs } = decodeTrades(transactionOf({ signers: [TRADER], calls: loop, holdings: tokenHoldings(0n) }))
    assert.strictEqual(legs.length, 2)
  })

  it("is a purchase and a sale when the amounts of both are known", () => {
    assert.deepStrictEqual(netsOf([known(true), known(false)], 0n), [
      [0, "buy", 50n],
      [1, "sell", 50n]
    ])
  })

  it("is a purchase when a part was kept", () => {
    assert.deepStrictEqual(netsOf([curveTrade(true, 50n), curveTrade(false, 20n)], 30n), [[0, "buy", 50n]])
    assert.deepStrictEqual(netsOf([curveTrade(true, 50n)], 50n), [[0, "buy", 50n]])
    assert.strictEqual(sold.program, bought.program)
  })
})

const ENGINE = Address.make("61DFfeTKM7trxYcPQCM78bJ794ddZprZpAwAnLiwTpYH")
const MAKER = named("maker")

const fillHoldings = [
  { address: named("taker usdc"), mint: USDC, owner: TRADER, decimals: 6, before: 5000n, after: 4000n },
  { address: named("maker usdc"), mint: USDC, owner: MAKER, decimals: 6, before: 100n, after: 1100n },
  { address: named("taker token"), mint: TOKEN, owner: TRADER, decimals: 6, before: 0n, after: 50n },
  { address: named("maker token"), mint: TOKEN, owner: MAKER, decimals: 6, before: 900n, after: 850n }
]

const fill: Call = {
  program: ENGINE,
  accounts: [TRADER, MAKER, ...fillHoldings.map(({ address }) => address)],
  data: bytesOf("a860b7a35c0a28a0", little(1000n, 8), little(50n, 8), little(0n, 8)),
  calls: [
    transfer(named("taker usdc"), named("maker usdc"), TRADER, 1000n),
    transfer(named("maker token"), named("taker token"), MAKER, 50n)
  ]
}

describe("a fill of Jupiter's order engine", () => {
  it.each([
    { title: "the taker", signers: [TRADER, MAKER] },
    { title: "the maker", signers: [MAKER, TRADER] }
  ])("has one leg, the taker's, whoever pays the fee: $title", ({ signers }) => {
    const transaction = transactionOf({ signers, calls: [fill], holdings: fillHoldings })
    const { legs, nets } = decodeTrades(transaction)
    assert.deepStrictEqual(
      legs.map(({ dex, pool, quote, side, token, wallet }) => [wallet, side, token.amount, quote.amount, pool, dex]),
      [[TRADER, "buy", 50n, 1000n, MAKER, "jupiter-rfq"]]
    )
    assert.deepStrictEqual(
      nets.map(({ dex, legs: own, quote, side, token, wallet }) => [
        wallet,
        side,
        token.amount,
        quote.amount,
        dex,
        own
      ]),
      [
        [TRADER, "buy", 50n, 1000n, "jupiter-rfq", [0]],
        [MAKER, "sell", 50n, 1000n, "jupiter-rfq", []]
      ]
    )
    assert.deepStrictEqual(
      poolSwapsOf(transaction).checks.map(({ outcome }) => outcome),
      ["confirmed"]
    )
  })

  it("is left out when one side was paid in bare lamports, and says so", () => {
    const native: Call = { ...fill, calls: [sendLamports(TRADER, MAKER, 1000n), ...(fill.calls?.slice(1) ?? [])] }
    const transaction = transactionOf({
      signers: [TRADER, MAKER],
      calls: [native],
      holdings: fillHoldings.slice(2),
      lamports: new Map([
        [TRADER, [10_000, 4000]],
        [MAKER, [10_000, 11_000]]
      ])
    })
    const { legs, nets, unresolved } = decodeTrades(transaction)
    assert.deepStrictEqual([legs.length, unresolved], [0, 1])
    assert.deepStrictEqual(
      nets.map(({ quote, wallet }) => [wallet, quote.mint, quote.amount]),
      [
        [TRADER, SOL, 1000n],
        [MAKER, SOL, 1000n]
      ]
    )
  })
})
