import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { discriminator, makeAccount, tokenAccount } from "../../../src/quotes/execution/makeAccount.ts"
import { associatedAddress, plainMint, TOKEN_PROGRAM } from "../../../src/programs/layout/tokenAccount.ts"
import type { Accounts } from "../../../src/programs/interface/Program.ts"
import { pumpCurve } from "../../../src/programs/pump/curve.ts"
import { Address, addressToBytes, type Mint, SOL, USDC } from "../../../src/domain/Address.ts"
import { feeConfig } from "./pumpAccounts.ts"
import { at, clock, derive, failing, filled, priced, reading } from "../stateAccounts.ts"

// A real pair: the second address is derived from the first.
const COIN = Address.make("9BB6NFEcjBCtnNLFko2FqVQBq8HHM13kCyYcdQbgpump")
const CURVE = Address.make("TBHe5tJnuT4CQbHorJ1uVdfUoaYGPKgfCpiv2jgesVN")
// As published for mainnet.
const GLOBAL = Address.make("4wTV1YmiEkRvAtNtsSGPtUrqRYQMe5SKy2uB4Jjaxnjf")
const FEE_CONFIG = Address.make("8Wf5TiAheLUqBrKXeYg2JtAFFMWtKdG2BSFgqUcPVwTt")

interface Change {
  readonly virtualTokens?: bigint
  readonly virtualQuote?: bigint
  readonly realTokens?: bigint
  readonly realQuote?: bigint
  readonly complete?: boolean
  readonly creator?: boolean
  readonly mayhem?: boolean
  readonly cashback?: boolean
  readonly quoteMint?: Mint
  readonly creatorFeeBps?: bigint
  readonly length?: number
}

/** Reserves as at the start of every SOL curve, with fields changed. */
const curveAccount = (change: Change = {}) => {
  const whole = makeAccount(CURVE, pumpCurve.programId, 151, [
    [0, discriminator("17b7f83760d8ac60")],
    [8, change.virtualTokens ?? 1_073_000_000_000_000n],
    [16, change.virtualQuote ?? 30_000_000_000n],
    [24, change.realTokens ?? 793_100_000_000_000n],
    [32, change.realQuote ?? 0n],
    [40, 1_000_000_000_000_000n],
    [48, change.complete === true ? 1n : 0n, 1],
    ...(change.creator === false ? [] : [[49, addressToBytes(at(7))] as const]),
    [81, change.mayhem === true ? 1n : 0n, 1],
    [82, change.cashback === true ? 1n : 0n, 1],
    ...(change.quoteMint === undefined ? [] : [[83, addressToBytes(change.quoteMint)] as const]),
    [115, change.creatorFeeBps ?? 0n]
  ])
  return { ...whole, data: whole.data.subarray(0, change.length ?? 151) }
}

const MIGRATION_FEE = 15_000_001n

const global = (length: number, creatorFeeConfigurable = 0n) =>
  makeAccount(GLOBAL, pumpCurve.programId, length, [
    [0, discriminator("a7e8e8b1c86c727f")],
    [105, 100n],
    ...(length < 162 ? [] : [[146, MIGRATION_FEE] as const]),
    ...(length < 162 ? [] : [[154, 5n] as const]),
    ...(length < 1046 ? [] : [[1045, creatorFeeConfigurable, 1] as const])
  ])

const schedule = feeConfig(FEE_CONFIG, {
  flat: [0n, 95n, 30n],
  tiers: [
    [0n, 0n, 95n, 30n],
    [60_000_000_000n, 0n, 90n, 20n]
  ],
  stableTiers: [[0n, 0n, 80n, 10n]]
})

const today = (globalAccount = global(1087)): Accounts =>
  reading(globalAccount, schedule, plainMint(COIN), plainMint(SOL), plainMint(USDC))

/** A program version before the fee program: its FeeConfig was read and does not exist. */
const before = (globalLength: number): Accounts => {
  const read = reading(global(globalLength), plainMint(COIN), plainMint(SOL))
  return (address) => (address === FEE_CONFIG ? null : read(address))
}

const decode = (change: Change = {}, accounts = today()) =>
  pumpCurve.decode(curveAccount(change), accounts, derive, COIN)

/** Basis points that a purchase pays. */
const bpsOf = (change: Change, accounts = today()): bigint => {
  const { denominator } = priced(decode(change, accounts)).marginalRate(false, clock)
  return denominator / (change.virtualQuote ?? 30_000_000_000n) - 10_000n
}

/** A curve that has sold this many tokens, without fees. */
const curveAfter = (sold: bigint): Change => {
  const virtualTokens = 1_073_000_000_000_000n - sold
  const virtualQuote = (1_073_000_000_000_000n * 30_000_000_000n) / virtualTokens
  return { virtualTokens, virtualQuote, realTokens: 793_100_000_000_000n - sold, realQuote: virtualQuote }
}

/** A curve that sold all but this many tokens, as a SOL curve with the quote that was paid in. */
const nearEnd = (realTokens: bigint): Change => {
  const virtualTokens = 279_900_000_000_000n + realTokens
  const virtualQuote = (1_073_000_000_000_000n * 30_000_000_000n) / virtualTokens
  return { virtualTokens, virtualQuote, realTokens, realQuote: virtualQuote - 30_000_000_000n }
}
const reservesOf = ({ realQuote = 0n, realTokens = 0n, virtualQuote = 0n, virtualTokens = 0n }: Change) => ({
  realQuote,
  realTokens,
  cost: (realTokens * virtualQuote) / (virtualTokens - realTokens) + 1n
})
const ceil = (a: bigint, b: bigint) => (a + b - 1n) / b
// Near its end the curve's market cap is in the second tier.
const feesOn = (amount: bigint, bps = [90n, 20n]) => bps.reduce((sum, rate) => sum + ceil(amount * rate, 10_000n), 0n)
/** The curve's own token account, with tokens beyond those for sale. */
const holding = (change: Change, tokens: bigint) => {
  const vault = associatedAddress(derive, CURVE, COIN, TOKEN_PROGRAM)
  const account = tokenAccount(vault, COIN, (change.realTokens ?? 0n) + tokens)
  return (address: Address) => (address === vault ? account : today()(address))
}

describe("pumpCurve", () => {
  it("pays what the program paid for an exact input", () => {
    // TradeEvent "buy_exact_sol_in" of 2026-04-09: 16849381 to the curve, fees 160070 + 50549, so 0.01706 SOL in all.
    // pump-sdk 2.0.0 computes 512513675632 here: it does not take the overshoot of the rounded-up fees off.
    const pool = priced(
      decode({ virtualTokens: 947_533_854_142_210n, virtualQuote: 31_134_239_220n, realTokens: 667_633_854_142_210n })
    )
    assert.deepStrictEqual(pool.swap(false, 17_060_000n, clock), filled(17_060_000n, 512_513_645_231n))
    // A first buy of 3 SOL in July 2026.
    assert.deepStrictEqual(priced(decode()).swap(false, 3_000_000_000n, clock).amountOut, 96_449_438_144_093n)
  })

  it("shows how far it is from its migration: the sold share of the tokens that common curves have", () => {
    const [start, quarter] = [0n, 198_275_000_000_000n].map((sold) => priced(decode(curveAfter(sold))).graduation)
    assert.deepStrictEqual(start, { numerator: 0n, denominator: 793_100_000_000_000n })
    assert.deepStrictEqual(quarter, { numerator: 198_275_000_000_000n, denominator: 793_100_000_000_000n })
    const change = { realTokens: 800_000_000_000_000n }
    assert.isUndefined(priced(decode(change)).graduation, "a curve that began with more")
  })

  it("prices the program of January 2025 with its flat fee, rounded down", () => {
    const change = {
      virtualTokens: 451_887_348_418_477n,
      virtualQuote: 71_234_567_891n,
      realTokens: 171_987_348_418_477n,
      realQuote: 41_234_567_891n,
      length: 49
    }
    const pool = priced(decode(change, before(113)))
    // Run through that program.
    assert.deepStrictEqual(pool.swapExactOut?.(false, 1_000_003n, clock), filled(159n, 1_000_003n))
    assert.deepStrictEqual(
      pool.swapExactOut?.(false, 1_234_567_890_123n, clock),
      filled(197_099_304n, 1_234_567_890_123n)
    )
    assert.deepStrictEqual(pool.swap(true, 1000n, clock), filled(1000n, 0n))
    assert.deepStrictEqual(pool.swap(true, 35_000_000_007n, clock), filled(35_000_000_007n, 5_461_730n))
    // It sold only exact amounts of tokens.
    assert.strictEqual(pool.swap(false, 1_000_000_000n, clock).ending, "refused")
  })

  it("prices later versions with Global's two flat rates, rounded up", () => {
    const pool = priced(decode({}, before(1045)))
    // floor(1e6·3e10/(1.073e15 - 1e6)) + 1 = 28; ceil(0.28) and ceil(0.014) on top.
    assert.deepStrictEqual(pool.swapExactOut?.(false, 1_000_000n, clock), filled(30n, 1_000_000n))
  })

  it("ignores the rates of Global when there is a FeeConfig", () => {
    // 27 + 1 to the curve, ceil(0.266) and ceil(0.084) by the schedule.
    const bought = priced(decode()).swapExactOut?.(false, 1_000_003n, clock)
    assert.deepStrictEqual(bought, filled(30n, 1_000_003n))
    assert.strictEqual(failing(decode({}, reading(global(1087), plainMint(COIN), plainMint(SOL)))).reason, "incomplete")
  })

  it("charges by market cap, by quote and by whether there is a creator", () => {
    assert.strictEqual(bpsOf({}), 125n)
    assert.strictEqual(bpsOf({ virtualQuote: 64_380_000_000n }), 110n)
    assert.strictEqual(bpsOf({ virtualQuote: 64_379_999_999n }), 125n)
    assert.strictEqual(bpsOf({ creator: false }), 95n)
    assert.strictEqual(bpsOf({ quoteMint: USDC }), 90n)
  })

  it("uses the mint's supply for mayhem curves and the common supply for all others", () => {
    const minted = reading(global(1087), schedule, plainMint(COIN, 2_146_000_000_000_000n), plainMint(SOL))
    assert.strictEqual(bpsOf({}, minted), 125n)
    assert.strictEqual(bpsOf({ mayhem: true }, minted), 110n)
  })

  it("uses a coin's own creator rate only while the program allows it", () => {
    assert.strictEqual(bpsOf({ creatorFeeBps: 200n }), 125n)
    assert.strictEqual(bpsOf({ creatorFeeBps: 200n }, today(global(1087, 1n))), 295n)
  })

  it.each([0n, 1_234_567_890n])(
    "goes on in the pool to come, at its price and the curve's fees, with %s tokens given to the curve",
    (given) => {
      const change = nearEnd(10_000_000_000_000n)
      const { cost, realQuote, realTokens } = reservesOf(change)
      const [base, quote] = [206_900_000_000_000n + given, realQuote + cost - MIGRATION_FEE]
      const pool = priced(decode(change, given === 0n ? today() : holding(change, base)))
      // Exactly the tokens: each part has its own rounded cost and fees.
      const extra = 7_000_000_000_001n
      const more = ceil(quote * extra, base - extra)
      assert.deepStrictEqual(
        pool.swapExactOut?.(false, realTokens + extra, clock),
        filled(cost + feesOn(cost) + more + feesOn(more), realTokens + extra)
      )
      // All of the input: what the curve's part leaves, less its fees, less one.
      const budget = 2_500_000_000n
      let net = (budget * 10_000n) / 10_110n
      net -= net + feesOn(net) > budget ? net + feesOn(net) - budget : 0n
      const spend = cost + feesOn(cost) + budget
      assert.deepStrictEqual(
        pool.swap(false, spend, clock),
        filled(spend, realTokens + ((net - 1n) * base) / (quote + net - 1n))
      )
      assert.strictEqual(pool.swapExactOut?.(false, realTokens + base, clock).ending, "refused")
      assert.strictEqual(pool.swapExactOut?.(false, realTokens + base - 1n, clock).ending, "filled")
    }
  )

  it("keeps no migration fee back on a curve with another quote", () => {
    const change = { ...nearEnd(10_000_000_000_000n), quoteMint: USDC }
    const { cost, realQuote, realTokens } = reservesOf(change)
    const more = ceil((realQuote + cost) * 1_000_000_007n, 206_900_000_000_000n - 1_000_000_007n)
    assert.deepStrictEqual(
      priced(decode(change)).swapExactOut?.(false, realTokens + 1_000_000_007n, clock),
      filled(cost + feesOn(cost, [80n, 10n]) + more + feesOn(more, [80n, 10n]), realTokens + 1_000_000_007n)
    )
  })

  it("leaves the trader what would buy nothing beyond the curve", () => {
    const change = nearEnd(10_000_000_000_000n)
    const { cost, realTokens } = reservesOf(change)
    const paid = cost + feesOn(cost)
    const ended = { ending: "exhausted", amountIn: paid, amountOut: realTokens }
    assert.deepStrictEqual(priced(decode(change)).swap(false, paid + 3n, clock), ended)
    assert.isAbove(Number(priced(decode(change)).swap(false, paid + 1_000n, clock).amountOut - realTokens), 0)
  })

  it.each([
    { title: "mayhem coins", change: { mayhem: true } },
    { title: "cashback coins, which only older instructions trade", change: { cashback: true } }
  ])("sells no more than is left of $title, at the cost of that", ({ change }) => {
    const pool = priced(decode({ realTokens: 1_000_000n, ...change }))
    const ended = { ending: "exhausted", amountIn: 30n, amountOut: 1_000_000n }
    assert.deepStrictEqual(pool.swap(false, 1_000_000_000n, clock), ended)
    assert.deepStrictEqual(pool.swapExactOut?.(false, 1_000_001n, clock), ended)
    assert.deepStrictEqual(pool.swapExactOut?.(false, 1_000_000n, clock), filled(30n, 1_000_000n))
  })

  it("sells no more than is left in program versions before the FeeConfig", () => {
    const pool = priced(decode(nearEnd(1_000_000n), before(1087)))
    assert.strictEqual(pool.swap(false, 1_000_000_000n, clock).ending, "exhausted")
  })

  it("measures depth along the curve and on into the pool to come", () => {
    const change = nearEnd(10_000_000_000_000n)
    const pool = priced(decode(change))
    for (const share of [99n, 93n, 90n, 50n]) {
      const move = pool.inputTo?.(false, { numerator: share, denominator: 100n }, clock)
      assert.strictEqual(move?.complete, true)
      const amountIn = move?.amountIn ?? 0n
      const step = 10_000_000n
      const more = pool.swap(false, amountIn + step, clock).amountOut - pool.swap(false, amountIn, clock).amountOut
      const { denominator, numerator } = pool.marginalRate(false, clock)
      const price = (Number(more) * Number(denominator)) / (Number(step) * Number(numerator))
      assert.closeTo(price, Number(share) / 100, 1e-3, `${share} %`)
    }
  })

  it("refuses to pay back more than was paid in", () => {
    assert.strictEqual(priced(decode()).swap(true, 35_000_000_007n, clock).ending, "refused")
    // floor(35000000007·3e10/1073035000000007) = 978532; ceil(9296.054) and ceil(2935.596) off.
    assert.deepStrictEqual(
      priced(decode({ realQuote: 978_532n })).swap(true, 35_000_000_007n, clock),
      filled(35_000_000_007n, 966_299n)
    )
    assert.strictEqual(priced(decode({ realQuote: 978_531n })).swap(true, 35_000_000_007n, clock).ending, "refused")
  })

  it("is closed once the curve is complete or migrated", () => {
    assert.strictEqual(failing(decode({ complete: true })).reason, "closed")
    assert.strictEqual(failing(decode({ virtualTokens: 0n })).reason, "closed")
  })

  it("is found through its coin, which its account does not name", () => {
    assert.deepStrictEqual(pumpCurve.poolAddressesOf?.(COIN, derive), [CURVE])
    assert.strictEqual(failing(pumpCurve.decode(curveAccount(), today(), derive)).reason, "incomplete")
    assert.strictEqual(failing(pumpCurve.decode(curveAccount(), today(), derive, at(3))).reason, "malformed")
    const pool = priced(decode())
    assert.deepStrictEqual([pool.mintA, pool.mintB], [COIN, SOL])
  })

  it("needs both mints and both fee accounts, at their mainnet addresses", () => {
    assert.sameMembers([...pumpCurve.needs(curveAccount(), reading(), derive, COIN)], [COIN, SOL, GLOBAL, FEE_CONFIG])
    assert.deepStrictEqual(pumpCurve.needs(curveAccount(), reading(), derive), [])
    assert.include(
      pumpCurve.needs(curveAccount(), today(), derive, COIN),
      associatedAddress(derive, CURVE, COIN, TOKEN_PROGRAM)
    )
  })

  const Sold = Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: 0n, maximum: 793_000_000_000_000n }))
  const Spend = Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: 1n, maximum: 10n ** 12n }))
  it.prop("pays no less for more", [Sold, Spend, Spend], ([sold, spend, more]) => {
    const pool = priced(decode(curveAfter(sold)))
    assert.isTrue(pool.swap(false, spend + more, clock).amountOut >= pool.swap(false, spend, clock).amountOut)
    assert.isTrue(pool.swap(true, spend + more, clock).amountOut >= pool.swap(true, spend, clock).amountOut)
  })

  it.prop("never charges more for exactly what an input buys", [Sold, Spend], ([sold, spend]) => {
    const pool = priced(decode(curveAfter(sold)))
    const { amountIn, amountOut, ending } = pool.swap(false, spend, clock)
    assert.isTrue(amountIn <= spend)
    if (ending !== "refused") {
      assert.isTrue((pool.swapExactOut?.(false, amountOut, clock).amountIn ?? 0n) <= spend)
    }
  })
})
