import { plainMint } from "../../../src/programs/layout/tokenAccount.ts"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { discriminator, makeAccount, tokenAccount } from "../../../src/quotes/execution/makeAccount.ts"
import { pumpSwap } from "../../../src/programs/pump/pumpSwap.ts"
import { Address, addressToBytes, type Mint, SOL, USDC } from "../../../src/domain/Address.ts"
import { feeConfig, type Tier } from "./pumpAccounts.ts"
import { at, clock, derive, failing, filled, mintWithFee, priced, reading } from "../stateAccounts.ts"

const [POOL, BASE, BASE_VAULT, QUOTE_VAULT, CREATOR] = [at(1), at(2), at(3), at(4), at(5)]
const LP = at(7)
const PUMP = Address.make("6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P")
// As published for mainnet.
const FEE_CONFIG = Address.make("5PHirr8joyTMp9JMm6nW7hNDVyEYdkzDqazxPD7RaTjx")
const GLOBAL_CONFIG = Address.make("ADyA8hdefvWN2dbGGWFotbzWxrAvLW83WG6QCVXvJKqw")

const poolAuthority = derive(PUMP, [new TextEncoder().encode("pool-authority"), addressToBytes(BASE)])

interface Change {
  readonly quoteMint?: Mint
  readonly canonical?: boolean
  readonly creator?: boolean
  readonly mayhem?: boolean
  readonly virtualQuote?: bigint
  readonly creatorFeeBps?: bigint
  readonly length?: number
  readonly lp?: bigint
  /** Fees of protocol and creator that wait in the quote vault. */
  readonly waiting?: readonly [bigint, bigint]
}

const poolAccount = (change: Change = {}) => {
  const whole = makeAccount(POOL, pumpSwap.programId, 300, [
    [0, discriminator("f19a6d0411b16dbc")],
    [11, addressToBytes(change.canonical === false ? CREATOR : poolAuthority)],
    [43, addressToBytes(BASE)],
    [75, addressToBytes(change.quoteMint ?? SOL)],
    [139, addressToBytes(BASE_VAULT)],
    [171, addressToBytes(QUOTE_VAULT)],
    ...(change.creator === true ? [[211, addressToBytes(CREATOR)] as const] : []),
    [243, change.mayhem === true ? 1n : 0n, 1],
    [245, change.virtualQuote ?? 0n, 16],
    [261, change.creatorFeeBps ?? 0n],
    [271, change.waiting?.[0] ?? 0n],
    [279, change.waiting?.[1] ?? 0n],
    [107, addressToBytes(LP)],
    [203, change.lp ?? 0n]
  ])
  return { ...whole, data: whole.data.subarray(0, change.length ?? 300) }
}

const globalConfig = (disabled = 0n, creatorFeeConfigurable = 0n) =>
  makeAccount(GLOBAL_CONFIG, pumpSwap.programId, 949, [
    [0, discriminator("95089ccaa0fcb0d9")],
    [56, disabled, 1],
    [940, creatorFeeConfigurable, 1]
  ])

/** Three of the 25 tiers of mainnet on 2026-09-08, and its flat fees. */
const tiers: ReadonlyArray<Tier> = [
  [0n, 2n, 93n, 30n],
  [420_000_000_000n, 20n, 5n, 95n],
  [98_240_000_000_000n, 20n, 5n, 5n]
]
const stableTiers: ReadonlyArray<Tier> = [
  [0n, 2n, 93n, 30n],
  [59_000_000_000n, 20n, 5n, 95n]
]
const schedule = feeConfig(FEE_CONFIG, { flat: [25n, 5n, 0n], tiers, stableTiers, exotic: [0n, 0n, 0n] })

interface Reserves {
  readonly base: bigint
  readonly quote: bigint
  readonly supply?: bigint
}

const decode = (change: Change, { base, quote, supply }: Reserves, config = globalConfig(), fees = schedule) => {
  const quoteMint = change.quoteMint ?? SOL
  const accounts = reading(
    tokenAccount(BASE_VAULT, BASE, base),
    tokenAccount(QUOTE_VAULT, quoteMint, quote),
    plainMint(BASE, supply),
    plainMint(quoteMint),
    config,
    fees
  )
  return pumpSwap.decode(poolAccount(change), accounts, derive)
}

/** Near the end of the first tier: a market cap of 824.9 SOL at the full supply. */
const reserves = { base: 147_932_989_042_582n, quote: 122_031_730_722n }

/** Share of a purchase that reaches the pool: 10000/(10000 + bps). */
const bpsOf = (change: Change, at = reserves, config = globalConfig(), fees = schedule): bigint => {
  const pool = priced(decode(change, at, config, fees))
  const { denominator } = pool.marginalRate(false, clock)
  return denominator / (at.quote + (change.virtualQuote ?? 0n)) - 10_000n
}

describe("pumpSwap", () => {
  it("has LP tokens as counted by the pool, if any are issued", () => {
    assert.deepStrictEqual(priced(decode({ lp: 4_193_388_362_450n }, reserves)).lp, {
      mint: LP,
      issued: 4_193_388_362_450n
    })
    assert.isUndefined(priced(decode({}, reserves)).lp)
  })

  it("pays what the SDK computes", () => {
    // @pump-fun/pump-swap-sdk 1.20.0 on these reserves with the mainnet schedule.
    const created = priced(decode({ creator: true }, reserves))
    assert.deepStrictEqual(created.swap(false, 1_000_003n, clock), filled(1_000_003n, 1_197_865_629n))
    const burnt = priced(decode({ creator: true }, { ...reserves, supply: 999_123_456_789_012n }))
    assert.deepStrictEqual(burnt.swap(true, 1_000_000_007n, clock), filled(1_000_000_007n, 815_006n))
    const young = priced(decode({}, { base: 206_900_000_000_000n, quote: 84_990_359_079n }))
    assert.deepStrictEqual(young.swap(false, 100_000_007n, clock), filled(100_000_007n, 240_867_738_861n))
  })

  it("neither counts waiting fees as reserves, nor prices with them, nor pays them out", () => {
    const { base, quote } = reserves
    const waiting = { virtualQuote: -30_000_000n, waiting: [20_000_000n, 10_000_000n] } as const
    const kept = priced(decode(waiting, { base, quote: quote + 30_000_000n }))
    const swept = priced(decode({}, reserves))
    assert.deepStrictEqual(kept.reserves, [base, quote])
    assert.deepStrictEqual(kept.swap(false, 1_000_003n, clock), swept.swap(false, 1_000_003n, clock))
    assert.deepStrictEqual(kept.swap(true, 1_000_003n, clock), swept.swap(true, 1_000_003n, clock))
    // Boosted by 10 SOL: the price counts them, the vault does not hold them.
    const boosted = { virtualQuote: 10_000_000_000n - 30_000_000n, waiting: waiting.waiting }
    const poor = priced(decode(boosted, { base, quote: 1_000_000_000n + 30_000_000n }))
    const sellsFor = (gross: bigint) => (base * gross) / (11_000_000_000n - gross) + 1n
    assert.strictEqual(poor.swap(true, sellsFor(1_000_000_000n), clock).ending, "filled")
    assert.strictEqual(poor.swap(true, sellsFor(1_010_000_000n), clock).ending, "refused")
    const short = poolAccount({ waiting: [5n, 5n], length: 269 })
    assert.strictEqual(short.data.length, 269)
    assert.deepStrictEqual(priced(decode({ waiting: [5n, 5n], length: 269 }, reserves)).reserves, [base, quote])
  })

  it("charges the tier that the market cap has reached", () => {
    // floor(quote·1e15/base) of 419,999,999,999, 420,000,000,000 and 98,240,000,000,000.
    const base = 1_000_000_000_000_000n
    assert.strictEqual(bpsOf({ creator: true }, { base, quote: 419_999_999_999n }), 125n)
    assert.strictEqual(bpsOf({ creator: true }, { base, quote: 420_000_000_000n }), 120n)
    assert.strictEqual(bpsOf({ creator: true }, { base, quote: 98_240_000_000_000n }), 30n)
  })

  it("uses the mint's supply, and a fixed supply for mayhem pools", () => {
    const at = { base: 10n ** 15n, quote: 420_000_000_000n, supply: 10n ** 15n - 1n }
    assert.strictEqual(bpsOf({ creator: true }, at), 125n)
    assert.strictEqual(bpsOf({ creator: true, mayhem: true }, at), 120n)
  })

  it("charges flat fees when no curve launched the coin, and no creator fee without a creator", () => {
    assert.strictEqual(bpsOf({ canonical: false, creator: true }), 30n)
    assert.strictEqual(bpsOf({}), 25n)
  })

  it("has its own tiers for USDC, and flat fees for other quotes until they have a rate", () => {
    const quote = { base: 10n ** 15n, quote: 59_000_000_000n }
    assert.strictEqual(bpsOf({ creator: true, quoteMint: USDC }, quote), 120n)
    assert.strictEqual(bpsOf({ creator: true }, quote), 125n)
    assert.strictEqual(bpsOf({ creator: true, quoteMint: at(9) }, quote), 30n)
    const priced = feeConfig(FEE_CONFIG, { flat: [25n, 5n, 0n], tiers, stableTiers, exotic: [1n, 2n, 4n] })
    assert.strictEqual(bpsOf({ creator: true, quoteMint: at(9) }, quote, globalConfig(), priced), 7n)
  })

  it("names the missing schedule of an older FeeConfig", () => {
    const older = feeConfig(FEE_CONFIG, { flat: [25n, 5n, 0n], tiers })
    assert.strictEqual(failing(decode({ quoteMint: USDC }, reserves, globalConfig(), older)).reason, "unsupported")
    assert.strictEqual(bpsOf({ quoteMint: at(9) }, reserves, globalConfig(), older), 30n)
  })

  it("uses a pool's own creator rate only while the program allows it", () => {
    const change = { creator: true, creatorFeeBps: 300n }
    assert.strictEqual(bpsOf(change), 120n)
    assert.strictEqual(bpsOf(change, reserves, globalConfig(0n, 1n)), 325n)
    assert.strictEqual(bpsOf({ ...change, creatorFeeBps: 0n }, reserves, globalConfig(0n, 1n)), 120n)
  })

  it("prices from the vault plus virtual reserves of either sign, and pays from the vault", () => {
    const at = { base: 1_000_000n, quote: 1_000_000n }
    const boosted = priced(decode({ canonical: false, virtualQuote: 1_000_000n }, at))
    // floor(2e6·1000/1001000) = 1998; ceil(4.995) and ceil(0.999) off.
    assert.deepStrictEqual(boosted.swap(true, 1000n, clock), filled(1000n, 1992n))
    // floor(2e6·1.1e6/2.1e6) = 1047619 with an LP fee of 2620 is more than the vault holds.
    assert.strictEqual(boosted.swap(true, 1_100_000n, clock).ending, "refused")
    const withFeesWaiting = priced(decode({ canonical: false, virtualQuote: -500_000n }, at))
    // floor(5e5·1000/1001000) = 499; ceil(1.2475) and ceil(0.2495) off.
    assert.deepStrictEqual(withFeesWaiting.swap(true, 1000n, clock), filled(1000n, 496n))
  })

  it("sells exact amounts of the base, with fees on top", () => {
    const pool = priced(decode({ canonical: false }, { base: 1_000_000n, quote: 1_000_000n }))
    // ceil(1e6·1000/999000) = 1002; ceil(2.505) and ceil(0.501) on top.
    assert.deepStrictEqual(pool.swapExactOut?.(false, 1000n, clock), filled(1006n, 1000n))
    assert.strictEqual(pool.swapExactOut?.(false, 1_000_000n, clock).ending, "refused")
    assert.strictEqual(pool.swapExactOut?.(true, 1000n, clock).ending, "refused")
  })

  it("refuses a payout of zero", () => {
    const pool = priced(decode({ creator: true }, reserves))
    assert.strictEqual(pool.swap(false, 1n, clock).ending, "refused")
    assert.strictEqual(pool.swap(true, 1n, clock).ending, "refused")
  })

  it("refuses a direction that the program has switched off", () => {
    const noBuys = priced(decode({}, reserves, globalConfig(0b1000n)))
    assert.strictEqual(noBuys.swap(false, 1_000_000n, clock).ending, "refused")
    assert.strictEqual(noBuys.swap(true, 1_000_000_000n, clock).ending, "filled")
    const noSells = priced(decode({}, reserves, globalConfig(0b10000n)))
    assert.strictEqual(noSells.swap(true, 1_000_000_000n, clock).ending, "refused")
  })

  it("reads missing fields of an older, shorter account as zero", () => {
    assert.strictEqual(bpsOf({ creator: true, length: 243 }), 120n)
    assert.strictEqual(bpsOf({ creator: true, length: 211 }), 25n)
    assert.strictEqual(failing(decode({ length: 210 }, reserves)).reason, "malformed")
  })

  it("does not price mints that charge for transfers", () => {
    const accounts = reading(
      tokenAccount(BASE_VAULT, BASE, reserves.base),
      tokenAccount(QUOTE_VAULT, SOL, reserves.quote),
      mintWithFee(BASE, [0n, 0n, 0n], [900n, 10n, 100n]),
      plainMint(SOL),
      globalConfig(),
      schedule
    )
    const failed = failing(pumpSwap.decode(poolAccount(), accounts, derive))
    assert.strictEqual(failed.reason, "unsupported")
    assert.include(failed.detail, BASE)
  })

  it("is incomplete until it has every account, at its mainnet address", () => {
    const needed = pumpSwap.needs(poolAccount(), reading(), derive)
    assert.sameMembers([...needed], [BASE_VAULT, QUOTE_VAULT, BASE, SOL, FEE_CONFIG, GLOBAL_CONFIG])
    assert.strictEqual(failing(pumpSwap.decode(poolAccount(), reading(), derive)).reason, "incomplete")
    assert.isFalse(pumpSwap.isPool({ ...poolAccount(), owner: at(9) }))
  })

  const Reserve = Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: 1n, maximum: 10n ** 16n }))
  it.prop("never pays back more than was put in", [Reserve, Reserve, Reserve], ([base, quote, amount]) => {
    const bought = priced(decode({}, { base, quote })).swap(false, amount, clock)
    if (bought.ending === "filled") {
      const after = { base: base - bought.amountOut, quote: quote + amount }
      assert.isTrue(priced(decode({}, after)).swap(true, bought.amountOut, clock).amountOut <= amount)
    }
  })

  it.prop("costs at least what an exact-input buy would need", [Reserve, Reserve, Reserve], ([base, quote, amount]) => {
    const pool = priced(decode({ creator: true }, { base, quote }))
    const bought = pool.swap(false, amount, clock)
    if (bought.ending === "filled") {
      const cost = pool.swapExactOut?.(false, bought.amountOut, clock).amountIn ?? 0n
      assert.isTrue(cost <= amount)
    }
  })
})
