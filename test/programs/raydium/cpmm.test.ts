import { assert, describe, it } from "@effect/vitest"
import { discriminator, makeAccount, tokenAccount } from "../../../src/quotes/execution/makeAccount.ts"
import { plainMint } from "../../../src/programs/layout/tokenAccount.ts"
import { raydiumCpmm } from "../../../src/programs/raydium/cpmm.ts"
import { addressToBytes } from "../../../src/domain/Address.ts"
import { at, clock, derive, failing, filled, mintWithFee, priced, reading } from "../stateAccounts.ts"

const [POOL, CONFIG, MINT0, MINT1, VAULT0, VAULT1] = [at(1), at(2), at(3), at(4), at(5), at(6)]
const LP = at(7)

interface Change {
  readonly status?: bigint
  readonly protocolFees?: readonly [bigint, bigint]
  readonly fundFees?: readonly [bigint, bigint]
  readonly creatorFees?: readonly [bigint, bigint]
  readonly opensAt?: bigint
  /** `creator_fee_on` of a pool with a creator fee. */
  readonly creatorFeeOn?: bigint
  readonly reserved?: bigint
  readonly lp?: bigint
}

const poolAccount = (change: Change = {}) =>
  makeAccount(POOL, raydiumCpmm.programId, 637, [
    [0, discriminator("f7ede3f5d7c3de46")],
    [8, addressToBytes(CONFIG)],
    [72, addressToBytes(VAULT0)],
    [104, addressToBytes(VAULT1)],
    [168, addressToBytes(MINT0)],
    [200, addressToBytes(MINT1)],
    [329, change.status ?? 0n, 1],
    [341, change.protocolFees?.[0] ?? 0n],
    [349, change.protocolFees?.[1] ?? 0n],
    [357, change.fundFees?.[0] ?? 0n],
    [365, change.fundFees?.[1] ?? 0n],
    [373, change.opensAt ?? 0n],
    [389, change.creatorFeeOn ?? 0n, 1],
    [390, change.creatorFeeOn === undefined ? 0n : 1n, 1],
    [397, change.creatorFees?.[0] ?? 0n],
    [405, change.creatorFees?.[1] ?? 0n],
    [620, change.reserved ?? 0n],
    ...(change.lp === undefined ? [] : [[136, addressToBytes(LP)] as const]),
    [333, change.lp ?? 0n]
  ])

const config = (trade: bigint, creator: bigint) =>
  makeAccount(CONFIG, raydiumCpmm.programId, 236, [
    [0, discriminator("daf42168cbcb2b6f")],
    [12, trade],
    [108, creator]
  ])

const state = (amount0: bigint, amount1: bigint, mints = [plainMint(MINT0), plainMint(MINT1)]) =>
  reading(config(2500n, 10_000n), tokenAccount(VAULT0, MINT0, amount0), tokenAccount(VAULT1, MINT1, amount1), ...mints)

const decode = (pool = poolAccount(), accounts = state(1_000_000n, 2_000_000n)) =>
  raydiumCpmm.decode(pool, accounts, derive)

describe("raydiumCpmm", () => {
  it("has LP tokens as counted by the pool, if any are issued", () => {
    assert.deepStrictEqual(priced(decode(poolAccount({ lp: 123_456_789_012n }))).lp, {
      mint: LP,
      issued: 123_456_789_012n
    })
    assert.isUndefined(priced(decode()).lp)
  })

  it("pays what the program pays", () => {
    // Pool 2higKRf2… at slot 446605268, run through the mainnet program of 2025-02.
    const pool = priced(
      decode(
        poolAccount({ protocolFees: [8_501_600n, 2_629_481_698n], fundFees: [42_236_834n, 8_120_109_309n] }),
        state(461_416_771_201n, 95_426_862_199_392n)
      )
    )
    assert.deepStrictEqual(pool.swap(true, 401n, clock), filled(401n, 82_518n))
    assert.deepStrictEqual(pool.swap(true, 1_000_000_007n, clock), filled(1_000_000_007n, 205_850_085_815n))
    assert.deepStrictEqual(pool.swap(false, 1_000_003n, clock), filled(1_000_003n, 4823n))
    assert.strictEqual(pool.swap(false, 1n, clock).ending, "refused")
  })

  it("adds a creator fee on the input to the trade fee before rounding", () => {
    const both = priced(decode(poolAccount({ creatorFeeOn: 0n })))
    // ceil(1001·12500/1e6) = 13, where ceil(2.5025) + ceil(10.01) would be 14; floor(2e6·988/1000988).
    assert.strictEqual(both.swap(true, 1001n, clock).amountOut, 1974n)
    assert.strictEqual(both.swap(false, 1001n, clock).amountOut, 493n)
  })

  it("takes a creator fee in one token from whichever side that token is on", () => {
    const onToken0 = priced(decode(poolAccount({ creatorFeeOn: 1n })))
    // Token 1 comes in: ceil(2.5) = 3 off the input, floor(1e6·997/2000997) = 498, ceil(4.98) off the output.
    assert.strictEqual(onToken0.swap(false, 1000n, clock).amountOut, 493n)
    // Token 0 comes in: ceil(12.5) = 13 off the input.
    assert.strictEqual(onToken0.swap(true, 1000n, clock).amountOut, 1972n)
    const onToken1 = priced(decode(poolAccount({ creatorFeeOn: 2n })))
    // floor(2e6·997/1000997) = 1992, ceil(19.92) off the output.
    assert.strictEqual(onToken1.swap(true, 1000n, clock).amountOut, 1972n)
    assert.strictEqual(onToken1.swap(false, 1000n, clock).amountOut, 493n)
  })

  it("charges no creator fee when the pool has none, whatever the config's rate", () => {
    // ceil(2.5) = 3, floor(2e6·997/1000997).
    assert.strictEqual(priced(decode()).swap(true, 1000n, clock).amountOut, 1992n)
  })

  it("leaves uncollected creator fees out of the reserves", () => {
    const { denominator, numerator } = priced(decode(poolAccount({ creatorFees: [500_000n, 0n] }))).marginalRate(
      true,
      clock
    )
    assert.strictEqual(numerator * 10_000n, denominator * 4n * 9975n)
  })

  it("charges the transfer fees of Token-2022 mints by epoch", () => {
    const mints = [mintWithFee(MINT0, [0n, 10n ** 9n, 1000n], [701n, 0n, 0n]), plainMint(MINT1)]
    const pool = priced(decode(poolAccount(), state(1_000_000n, 2_000_000n, mints)))
    // 900 arrive, ceil(2.25) = 3, floor(2e6·897/1000897).
    assert.strictEqual(pool.swap(true, 1000n, clock).amountOut, 1792n)
    assert.strictEqual(pool.swap(true, 1000n, { ...clock, epoch: 701 }).amountOut, 1992n)
    // floor(1e6·997/2000997) = 498 leave the pool, 448 arrive.
    assert.strictEqual(pool.swap(false, 1000n, clock).amountOut, 448n)
  })

  it("refuses swaps before it opens", () => {
    const pool = priced(decode(poolAccount({ opensAt: 1_800_000_001n })))
    assert.strictEqual(pool.swap(true, 1000n, clock).ending, "refused")
    assert.strictEqual(pool.swap(true, 1000n, { ...clock, unixTimestamp: 1_800_000_001 }).ending, "filled")
  })

  it("is closed when swaps are off, and open when only deposits are off", () => {
    assert.strictEqual(failing(decode(poolAccount({ status: 0b100n }))).reason, "closed")
    assert.strictEqual(priced(decode(poolAccount({ status: 0b011n }))).dex, "raydium-cpmm")
  })

  it("names unknown modes", () => {
    assert.strictEqual(failing(decode(poolAccount({ status: 0b1000n }))).detail, "status 8")
    assert.strictEqual(failing(decode(poolAccount({ creatorFeeOn: 3n }))).detail, "creator_fee_on 3")
    assert.strictEqual(failing(decode(poolAccount({ reserved: 1n }))).reason, "unsupported")
  })

  it("is incomplete until its config, vaults and mints are read", () => {
    const accounts = [
      config(2500n, 0n),
      tokenAccount(VAULT0, MINT0, 10n),
      tokenAccount(VAULT1, MINT1, 10n),
      plainMint(MINT0),
      plainMint(MINT1)
    ]
    for (const missing of accounts) {
      const read = reading(...accounts.filter((account) => account !== missing))
      assert.strictEqual(failing(decode(poolAccount(), read)).reason, "incomplete")
    }
    assert.sameMembers(
      [...raydiumCpmm.needs(poolAccount(), reading(), derive)],
      accounts.map(({ address }) => address)
    )
  })

  it("is distinguished from a pool of the program with the same discriminator", () => {
    assert.isTrue(raydiumCpmm.isPool(poolAccount()))
    assert.isFalse(raydiumCpmm.isPool({ ...poolAccount(), owner: at(9) }))
  })

  it("refuses what its vault cannot hold, although the formula has an output", () => {
    const almostFull = state(2n ** 64n - 1000n, 2_000_000n)
    const { swap } = priced(decode(poolAccount(), almostFull))
    assert.strictEqual(swap(true, 1001n, clock).ending, "refused")
    assert.strictEqual(swap(false, 1001n, clock).ending, "filled")
    const roomier = priced(decode(poolAccount(), state(2n ** 63n, 2n ** 63n)))
    assert.strictEqual(roomier.swap(true, 2n ** 63n - 1n, clock).ending, "filled")
    assert.strictEqual(roomier.swap(true, 2n ** 63n, clock).ending, "refused")
  })
})
