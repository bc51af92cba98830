import { assert, describe, it } from "@effect/vitest"
import { type Address, SOL } from "../../../src/domain/Address.ts"
import { decodeTrades } from "../../../src/chain/decoding/decodeTrades.ts"
import { poolSwapsOf } from "../../../src/chain/decoding/poolSwaps.ts"
import { TOKEN_PROGRAM } from "../../../src/programs/layout/tokenAccount.ts"
import {
  COMPLETE_EVENT,
  CURVE,
  POST_COMPLETE_EVENT,
  postCompleteEvent,
  PUMP_SWAP,
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
  swapHoldings,
  swapTransfers,
  TOKEN,
  TRADER,
  transactionOf,
  transfer
} from "./transactions.ts"

const swapEvent = (base: bigint, quote: bigint): Uint8Array =>
  bytesOf(zeros(8), little(base, 8), zeros(80), little(quote, 8), zeros(300))

describe("PumpSwap", () => {
  const accounts = accountsAt(23, { 0: POOL, 7: named("vault token"), 8: named("vault sol") })

  it("buys at the amounts of the event, although protocol and creator fees also entered the vault", () => {
    const calls = [...swapTransfers(), event(PUMP_SWAP, "67f4521f2cf57777", swapEvent(50n, 990n))]
    const call = { program: PUMP_SWAP, accounts, data: bytesOf("b817ee6167c5d33d", zeros(16)), calls }
    const { legs, nets } = decodeTrades(transactionOf({ signers: [TRADER], calls: [call], holdings: swapHoldings() }))
    assert.strictEqual(legs[0]?.quote.amount, 990n)
    assert.strictEqual(legs[0]?.confirmed, true)
    assert.strictEqual(nets[0]?.quote.amount, 1000n)
  })

  it("sells at the amounts of the event", () => {
    const calls = [
      transfer(named("trader token"), named("vault token"), TRADER, 50n),
      transfer(named("vault sol"), named("trader sol"), POOL, 1000n),
      event(PUMP_SWAP, "3e2f370aa503dc2a", swapEvent(50n, 1010n))
    ]
    const call = { program: PUMP_SWAP, accounts, data: bytesOf("33e685a4017f83ad", zeros(16)), calls }
    const { legs, nets } = decodeTrades(
      transactionOf({ signers: [TRADER], calls: [call], holdings: swapHoldings(-1000n, -50n) })
    )
    assert.strictEqual(legs[0]?.side, "sell")
    assert.strictEqual(legs[0]?.quote.amount, 1010n)
    assert.strictEqual(nets[0]?.quote.amount, 1000n)
  })

  it("goes through a pool and a curve in one instruction, each hop once, with one net trade", () => {
    const middle = named("middle mint")
    const hop1 = [middle, SOL, named("pool one"), named("one base"), named("one quote")]
    const hop2 = [TOKEN, middle, named("curve two"), named("two base"), named("two quote")]
    const call = {
      program: PUMP_SWAP,
      accounts: [...accountsAt(16, { 0: TRADER }), ...hop1, ...hop2],
      data: bytesOf("2b644913e9f66f94", zeros(16)),
      calls: [
        transfer(named("trader sol"), named("one quote"), TRADER, 1000n),
        event(PUMP_SWAP, "67f4521f2cf57777", swapEvent(70n, 995n)),
        transfer(named("one base"), named("two quote"), named("pool one"), 70n),
        transfer(named("two base"), named("trader token"), named("curve two"), 50n),
        event(CURVE, TRADE_EVENT, tradeEvent({ sol: 0n, tokens: 50n, isBuy: true, fees: [0n, 1n], quoteAmount: 69n }))
      ]
    }
    const holdings: ReadonlyArray<Holding> = [
      ...swapHoldings().slice(0, 2),
      { address: named("one base"), mint: middle, owner: named("pool one"), decimals: 6, before: 100n, after: 30n },
      { address: named("one quote"), mint: SOL, owner: named("pool one"), decimals: 9, before: 0n, after: 1000n },
      { address: named("two base"), mint: TOKEN, owner: named("curve two"), decimals: 6, before: 100n, after: 50n },
      { address: named("two quote"), mint: middle, owner: named("curve two"), decimals: 6, before: 0n, after: 70n }
    ]
    const { legs, nets } = decodeTrades(transactionOf({ signers: [TRADER], calls: [call], holdings }))
    assert.deepStrictEqual(
      legs.map(({ dex, pool, wallet, quote, token }) => [dex, pool, wallet, quote.amount, token.amount]),
      [
        ["pumpswap", named("pool one"), TRADER, 995n, 70n],
        ["pump-fun-curve", named("curve two"), TRADER, 69n, 50n]
      ]
    )
    assert.deepStrictEqual(
      nets.map(({ quote, token, legs: parts }) => [quote.mint, quote.amount, token.mint, token.amount, parts]),
      [[SOL, 1000n, TOKEN, 50n, [0, 1]]]
    )
  })

  it("goes on beyond a curve that a hop completes, with a leg for each price and one net trade", () => {
    const call = {
      program: PUMP_SWAP,
      accounts: [...accountsAt(16, { 0: TRADER }), TOKEN, SOL, POOL, named("curve token"), named("unused")],
      data: bytesOf("2b644913e9f66f94", zeros(16)),
      calls: [
        {
          program: CURVE,
          accounts: [TRADER, POOL],
          data: bytesOf("e19a7516d756f667", zeros(16)),
          calls: [
            transfer(named("curve token"), named("trader token"), POOL, 80n),
            event(CURVE, TRADE_EVENT, tradeEvent({ sol: 1000n, tokens: 50n, isBuy: true, fees: [9n, 3n] })),
            event(CURVE, COMPLETE_EVENT, zeros(136)),
            event(CURVE, POST_COMPLETE_EVENT, postCompleteEvent(30n, 700n, [6n, 2n]))
          ]
        }
      ]
    }
    const { legs, nets } = decodeTrades(
      transactionOf({ signers: [TRADER], calls: [call], holdings: tokenHoldings(80n) })
    )
    assert.deepStrictEqual(
      legs.map(({ dex, quote, token, confirmed }) => [dex, quote.amount, token.amount, confirmed]),
      [
        ["pump-fun-curve", 1000n, 50n, true],
        ["pump-fun-curve", 700n, 30n, true]
      ]
    )
    assert.deepStrictEqual(
      nets.map(({ quote, token }) => [quote.amount, token.amount]),
      [[1720n, 80n]]
    )
  })

  it("counts what the boost vault buys and burns as a swap of the pool, which no wallet made", () => {
    const authority = named("boost authority")
    const vaultOwner = named("boost vault authority")
    const burn = {
      program: TOKEN_PROGRAM,
      accounts: [named("pool base"), TOKEN, POOL],
      data: bytesOf("08", little(50n, 8))
    }
    const call = {
      program: PUMP_SWAP,
      accounts: accountsAt(13, {
        0: POOL,
        1: authority,
        3: TOKEN,
        4: SOL,
        5: named("pool base"),
        6: named("pool quote"),
        7: vaultOwner,
        8: named("boost vault")
      }),
      data: bytesOf("694406af000723a2", zeros(16)),
      calls: [
        transfer(named("boost vault"), named("pool quote"), vaultOwner, 1000n),
        burn,
        event(PUMP_SWAP, "67f4521f2cf57777", swapEvent(50n, 1000n)),
        event(PUMP_SWAP, "3f451c16305cc2b9", zeros(200))
      ]
    }
    const holdings: ReadonlyArray<Holding> = [
      { address: named("pool base"), mint: TOKEN, owner: POOL, decimals: 6, before: 900n, after: 850n },
      { address: named("pool quote"), mint: SOL, owner: POOL, decimals: 9, before: 0n, after: 1000n },
      { address: named("boost vault"), mint: SOL, owner: vaultOwner, decimals: 9, before: 5000n, after: 4000n }
    ]
    const { legs, nets, unresolved } = decodeTrades(transactionOf({ signers: [authority], calls: [call], holdings }))
    assert.deepStrictEqual(
      legs.map(({ dex, wallet, side, quote, token, confirmed }) => [
        dex,
        wallet,
        side,
        quote.amount,
        token.amount,
        confirmed
      ]),
      [["pumpswap", vaultOwner, "buy", 1000n, 50n, true]]
    )
    assert.deepStrictEqual(nets, [])
    assert.strictEqual(unresolved, 0)
  })

  it("ends a route over two curves with lamports", () => {
    const call = {
      program: PUMP_SWAP,
      accounts: [
        ...accountsAt(16, { 0: TRADER }),
        TOKEN,
        SOL,
        POOL,
        named("curve token"),
        named("unused wrapped account")
      ],
      data: bytesOf("2b644913e9f66f94", zeros(16)),
      calls: [
        {
          program: CURVE,
          accounts: [TRADER, POOL],
          data: bytesOf("e19a7516d756f667", zeros(16)),
          calls: [
            sold,
            event(CURVE, TRADE_EVENT, tradeEvent({ sol: 1000n, tokens: 50n, isBuy: false, fees: [9n, 3n] }))
          ]
        }
      ]
    }
    const { legs, nets } = decodeTrades(
      transactionOf({ signers: [TRADER], calls: [call], holdings: tokenHoldings(-50n) })
    )
    assert.strictEqual(legs[0]?.dex, "pump-fun-curve")
    assert.strictEqual(legs[0]?.quote.amount, 1000n)
    assert.strictEqual(nets[0]?.quote.amount, 988n)
  })
})

describe("a sweep of waiting fees", () => {
  const recipient = named("recipient")
  const sweep = (program: Address, tag: string): Call => ({
    program,
    accounts: accountsAt(13, { 2: POOL, 5: named("vault sol") }),
    data: bytesOf(tag),
    calls: [transfer(named("vault sol"), recipient, POOL, 500n), event(program, "0000000000000001", zeros(153))]
  })
  const holdings: ReadonlyArray<Holding> = [
    { address: named("vault sol"), mint: SOL, owner: POOL, decimals: 9, before: 7000n, after: 6500n },
    { address: recipient, mint: SOL, owner: named("fees"), decimals: 9, before: 0n, after: 500n }
  ]

  it.each([
    ["sweep_protocol_fee on PumpSwap", PUMP_SWAP, "0830be07b644b7e5"],
    ["sweep_creator_fee on PumpSwap", PUMP_SWAP, "20f6bf3408c949ba"],
    ["sweep_protocol_fee on the curve", CURVE, "0830be07b644b7e5"],
    ["sweep_creator_fee on the curve", CURVE, "20f6bf3408c949ba"]
  ] as const)("is no trade, and no swap of an unknown instruction: %s", (_, program, tag) => {
    const transaction = transactionOf({ signers: [TRADER], calls: [sweep(program, tag)], holdings })
    assert.deepStrictEqual(decodeTrades(transaction), { legs: [], nets: [], unresolved: 0 })
    assert.deepStrictEqual(poolSwapsOf(transaction).checks, [])
  })
})
