import { assert, describe, it } from "@effect/vitest"
import { TOKEN_2022_PROGRAM } from "../../../src/programs/layout/tokenAccount.ts"
import { raydiumClmm } from "../../../src/programs/raydium/clmm.ts"
import { whirlpool } from "../../../src/programs/orca/whirlpool.ts"
import { SOL, USDC } from "../../../src/domain/Address.ts"
import { accountsAt, bytesOf, type Call, named, TOKEN, TRADER, transfer, transferChecked } from "./transactions.ts"
import {
  decode,
  dlmmSwap,
  held,
  holdings,
  jupiter,
  program,
  raydiumSwap,
  SOL_TO_TOKEN,
  tradesOf,
  USDC_TO_SOL
} from "./twoPools.ts"

describe("a route", () => {
  const direct = [
    dlmmSwap("my usdc", TRADER, "my sol", 1000n, 200n),
    raydiumSwap("my sol", TRADER, "my token", 200n, 50n)
  ]
  const once = {
    legs: [USDC_TO_SOL(TRADER), SOL_TO_TOKEN(TRADER)],
    nets: [[TRADER, "buy", 50n, TOKEN, 1000n, USDC, [0, 1]]]
  }

  it("over two pools is two legs and one net trade, which names the aggregator and no pool", () => {
    const decoded = decode([jupiter(direct)])
    assert.deepStrictEqual(tradesOf(decoded), once)
    assert.deepStrictEqual([decoded.nets[0]?.pool, decoded.nets[0]?.dex], [null, "jupiter"])
    assert.deepStrictEqual(
      decoded.legs.map(({ outer, inner }) => [outer, inner]),
      [
        [0, 0],
        [0, 3]
      ]
    )
  })

  it("is the same when the node does not state the depth of calls", () => {
    assert.deepStrictEqual(tradesOf(decode([jupiter(direct)], { heights: false })), once)
  })

  it("through a router's own accounts belongs once to the signer", () => {
    const calls = [
      transfer(named("my usdc"), named("router usdc"), TRADER, 1000n),
      dlmmSwap("router usdc", named("router"), "router sol", 1000n, 200n),
      raydiumSwap("router sol", named("router"), "router token", 200n, 50n),
      transfer(named("router token"), named("my token"), named("router"), 49n)
    ]
    assert.deepStrictEqual(tradesOf(decode([jupiter(calls)])), {
      legs: once.legs,
      // The router kept one unit.
      nets: [[TRADER, "buy", 49n, TOKEN, 1000n, USDC, [0, 1]]]
    })
  })

  it("that another wallet pays for and signs belongs to the owner of the token accounts", () => {
    const owner = { signers: [named("sponsor")] }
    assert.deepStrictEqual(tradesOf(decode([jupiter(direct)], owner)), once)
  })

  it("by a delegate still belongs to the owner", () => {
    const calls = [
      dlmmSwap("my usdc", named("delegate"), "my sol", 1000n, 200n),
      raydiumSwap("my sol", named("delegate"), "my token", 200n, 50n)
    ]
    assert.deepStrictEqual(tradesOf(decode([jupiter(calls)], { signers: [named("delegate")] })), once)
  })

  it("that splits over two pools is one net trade", () => {
    const other: Call = { ...raydiumSwap("my sol", TRADER, "my token", 80n, 19n) }
    const decoded = decode([jupiter([raydiumSwap("my sol", TRADER, "my token", 120n, 31n), other])])
    assert.strictEqual(decoded.legs.length, 2)
    assert.deepStrictEqual(tradesOf(decoded).nets, [[TRADER, "buy", 50n, TOKEN, 200n, SOL, [0, 1]]])
  })

  it("through one pool twice keeps the two swaps apart, even when the node does not state the depth of calls", () => {
    const twice = [
      raydiumSwap("my sol", TRADER, "my token", 120n, 31n),
      raydiumSwap("my sol", TRADER, "my token", 80n, 19n)
    ]
    for (const heights of [true, false]) {
      const { legs, nets } = decode([program(named("bot"), [TRADER], "00", twice)], { heights })
      assert.deepStrictEqual(
        legs.map(({ quote, token }) => [quote.amount, token.amount]),
        [
          [120n, 31n],
          [80n, 19n]
        ]
      )
      assert.deepStrictEqual([nets.length, nets[0]?.quote.amount], [1, 200n])
    }
  })

  it("with one decoded pool of two names no pool, because that pool is not the whole trade", () => {
    const unknown = program(named("unknown amm"), [], "00", [
      transfer(named("my usdc"), named("a usdc"), TRADER, 1000n),
      transfer(named("a sol"), named("my sol"), named("pool a"), 200n)
    ])
    const { nets } = decode([jupiter([unknown, raydiumSwap("my sol", TRADER, "my token", 200n, 50n)])])
    assert.deepStrictEqual(
      nets.map(({ pool, dex, legs, quote }) => [pool, dex, legs, quote.amount]),
      [[null, "jupiter", [0], 1000n]]
    )
  })

  it("that ends with what it began with is an arbitrage: it has legs, but no net trade", () => {
    const back: Call = {
      ...raydiumSwap("my sol", TRADER, "my token", 0n, 0n),
      calls: [
        transfer(named("my token"), named("b token"), TRADER, 50n),
        transfer(named("b sol"), named("my sol"), named("pool b"), 210n)
      ]
    }
    const decoded = decode([program(named("bot"), [TRADER], "00", [direct[1] ?? back, back])])
    assert.deepStrictEqual(
      decoded.legs.map(({ side }) => side),
      ["buy", "sell"]
    )
    assert.deepStrictEqual(decoded.nets, [])
  })

  it("with purchases side by side has a net trade for each", () => {
    const calls = [
      raydiumSwap("my sol", TRADER, "my token", 200n, 50n),
      {
        ...dlmmSwap("my sol", TRADER, "my usdc", 0n, 0n),
        calls: [
          transfer(named("my sol"), named("a sol"), TRADER, 70n),
          transfer(named("a usdc"), named("my usdc"), named("pool a"), 300n)
        ]
      }
    ]
    assert.deepStrictEqual(tradesOf(decode([program(named("bot"), [TRADER], "00", calls)])).nets, [
      [TRADER, "buy", 50n, TOKEN, 200n, SOL, [0]],
      [TRADER, "sell", 70n, SOL, 300n, USDC, [1]]
    ])
  })

  it("in two top-level instructions is two net trades", () => {
    assert.deepStrictEqual(tradesOf(decode(direct)).nets, [
      [TRADER, "buy", 200n, SOL, 1000n, USDC, [0]],
      [TRADER, "buy", 50n, TOKEN, 200n, SOL, [1]]
    ])
  })

  it("through unknown pools only is a net trade without legs, through the aggregator or no known program", () => {
    const unknown = program(named("unknown amm"), [], "00", [
      transfer(named("my usdc"), named("a usdc"), TRADER, 1000n),
      transfer(named("b token"), named("my token"), named("pool b"), 50n)
    ])
    const expected = { legs: [], nets: [[TRADER, "buy", 50n, TOKEN, 1000n, USDC, []]] }
    const routed = decode([jupiter([unknown])])
    assert.deepStrictEqual([tradesOf(routed), routed.nets[0]?.dex], [expected, "jupiter"])
    const direct = decode([unknown])
    assert.deepStrictEqual([tradesOf(direct), direct.nets[0]?.dex], [expected, null])
  })

  it("that hides SOL in a router's account gives what the pools took", () => {
    const calls = [raydiumSwap("router sol", named("router"), "my token", 200n, 50n)]
    assert.deepStrictEqual(tradesOf(decode([program(named("bot"), [TRADER], "00", calls)])), {
      legs: [SOL_TO_TOKEN(TRADER)],
      nets: [[TRADER, "buy", 50n, TOKEN, 200n, SOL, [0]]]
    })
  })

  it("with a mint that has a transfer fee gets what arrived, while the pool paid all of it", () => {
    const calls = [
      {
        ...raydiumSwap("my sol", TRADER, "my taxed", 200n, 0n),
        calls: [
          transfer(named("my sol"), named("b sol"), TRADER, 200n),
          transferChecked(named("b token"), named("my taxed"), named("pool b"), TOKEN, 50n)
        ]
      }
    ]
    const taxed = { ...held(TRADER, "my taxed", TOKEN, TOKEN_2022_PROGRAM), before: 7n, after: 56n }
    const { legs, nets } = decode(calls, { holdings: [...holdings, taxed] })
    assert.strictEqual(legs[0]?.token.amount, 50n)
    assert.strictEqual(nets[0]?.token.amount, 49n)
  })
})

describe("Whirlpool's two hops", () => {
  const inputs = {
    2: named("pool a"),
    3: named("pool b"),
    5: named("a usdc"),
    7: named("a sol"),
    9: named("b sol"),
    11: named("b token")
  }

  it("through the trader's account are two legs", () => {
    const call = {
      program: whirlpool.programId,
      accounts: accountsAt(20, inputs),
      data: bytesOf("c360ed6c44a2dbe6", new Uint8Array(16)),
      calls: [
        transfer(named("my usdc"), named("a usdc"), TRADER, 1000n),
        transfer(named("a sol"), named("my sol"), named("pool a"), 200n),
        transfer(named("my sol"), named("b sol"), TRADER, 200n),
        transfer(named("b token"), named("my token"), named("pool b"), 50n)
      ]
    }
    assert.deepStrictEqual(tradesOf(decode([call])), {
      legs: [USDC_TO_SOL(TRADER), SOL_TO_TOKEN(TRADER)],
      nets: [[TRADER, "buy", 50n, TOKEN, 1000n, USDC, [0, 1]]]
    })
  })

  it("from vault to vault are two legs of the wallet that paid for the first", () => {
    const call = {
      program: whirlpool.programId,
      accounts: accountsAt(24, {
        0: named("pool a"),
        1: named("pool b"),
        9: named("a usdc"),
        10: named("a sol"),
        11: named("b sol"),
        12: named("b token")
      }),
      data: bytesOf("ba8fd11dfe02c275", new Uint8Array(16)),
      calls: [
        transfer(named("my usdc"), named("a usdc"), TRADER, 1000n),
        transfer(named("a sol"), named("b sol"), named("pool a"), 200n),
        transfer(named("b token"), named("my token"), named("pool b"), 50n)
      ]
    }
    assert.deepStrictEqual(tradesOf(decode([call])), {
      legs: [USDC_TO_SOL(TRADER), SOL_TO_TOKEN(TRADER)],
      nets: [[TRADER, "buy", 50n, TOKEN, 1000n, USDC, [0, 1]]]
    })
  })
})

/** The accounts of Raydium's router: the fixed ones, then the accounts of both pools. */
const routerAccounts = [
  ...accountsAt(6, { 0: TRADER, 1: named("my usdc"), 2: USDC }),
  ...["config a", "pool a", "my sol", "a usdc", "a sol", "sol mint", "seen a", "ticks 1", "ticks 2", "ticks 3"].map(
    named
  ),
  ...["config b", "pool b", "my token", "b sol", "b token", "token mint", "seen b", "ticks 4"].map(named)
]

const routerCall = (calls: ReadonlyArray<Call>): Call => ({
  program: raydiumClmm.programId,
  accounts: routerAccounts,
  data: bytesOf("457d73daf5baf2c4", new Uint8Array(16)),
  calls
})

describe("Raydium's route over concentrated pools", () => {
  it("is two legs, although the instruction does not state where the second pool's accounts begin", () => {
    const calls = [
      transfer(named("my usdc"), named("a usdc"), TRADER, 1000n),
      transfer(named("a sol"), named("my sol"), named("pool a"), 200n),
      transfer(named("my sol"), named("b sol"), TRADER, 200n),
      transfer(named("b token"), named("my token"), named("pool b"), 50n)
    ]
    const decoded = decode([routerCall(calls)])
    assert.deepStrictEqual(tradesOf(decoded), {
      legs: [USDC_TO_SOL(TRADER), SOL_TO_TOKEN(TRADER)],
      nets: [[TRADER, "buy", 50n, TOKEN, 1000n, USDC, [0, 1]]]
    })
    assert.deepStrictEqual(
      decoded.legs.map(({ pool }) => pool),
      [named("pool a"), named("pool b")]
    )
    assert.strictEqual(decoded.unresolved, 0)
  })

  it("counts as one unresolved swap when nothing moved", () => {
    assert.deepStrictEqual(decode([routerCall([])]), { legs: [], nets: [], unresolved: 1 })
  })
})
