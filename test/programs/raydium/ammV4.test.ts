import { assert, describe, it } from "@effect/vitest"
import { makeAccount, tokenAccount } from "../../../src/quotes/execution/makeAccount.ts"
import { raydiumAmmV4 } from "../../../src/programs/raydium/ammV4.ts"
import { addressToBytes } from "../../../src/domain/Address.ts"
import { at, clock, derive, failing, filled, priced, reading } from "../stateAccounts.ts"

const [POOL, COIN, PC, COIN_VAULT, PC_VAULT] = [at(1), at(2), at(3), at(4), at(5)]
const LP = at(7)

const poolAccount = (
  change: { status?: bigint; fee?: bigint; pnl?: readonly [bigint, bigint]; opensAt?: bigint; lp?: bigint } = {}
) =>
  makeAccount(POOL, raydiumAmmV4.programId, 752, [
    [0, change.status ?? 6n],
    [176, change.fee ?? 25n],
    [184, 10_000n],
    [192, change.pnl?.[0] ?? 0n],
    [200, change.pnl?.[1] ?? 0n],
    [224, change.opensAt ?? 0n],
    [336, addressToBytes(COIN_VAULT)],
    [368, addressToBytes(PC_VAULT)],
    [400, addressToBytes(COIN)],
    [432, addressToBytes(PC)],
    ...(change.lp === undefined ? [] : [[464, addressToBytes(LP)] as const]),
    [720, change.lp ?? 0n]
  ])

const vaults = (coin: bigint, pc: bigint) =>
  reading(tokenAccount(COIN_VAULT, COIN, coin), tokenAccount(PC_VAULT, PC, pc))

const decode = (pool = poolAccount(), accounts = vaults(1_000_000n, 2_000_000n)) =>
  raydiumAmmV4.decode(pool, accounts, derive)

describe("raydiumAmmV4", () => {
  it("has LP tokens as counted by the pool, if any are issued", () => {
    assert.deepStrictEqual(priced(decode(poolAccount({ lp: 123_456_789_012n }))).lp, {
      mint: LP,
      issued: 123_456_789_012n
    })
    assert.isUndefined(priced(decode()).lp)
  })

  // SOL/USDC 58oQ…: the AmmInfo of slot 433179580 over made-up vaults, run through the mainnet program of 2025.
  const solUsdc = priced(
    decode(poolAccount({ pnl: [162_834_498n, 12_518_360n] }), vaults(41_234_567_890_123n, 3_561_234_567_890n))
  )

  it("pays what the program pays", () => {
    assert.deepStrictEqual(solUsdc.swap(true, 401n, clock), filled(401n, 34n))
    assert.deepStrictEqual(solUsdc.swap(true, 1_000_000_007n, clock), filled(1_000_000_007n, 86_147_310n))
    assert.deepStrictEqual(
      solUsdc.swap(true, 30_000_000_000_001n, clock),
      filled(30_000_000_000_001n, 1_497_617_493_413n)
    )
    assert.deepStrictEqual(solUsdc.swap(false, 12_345_678_901n, clock), filled(12_345_678_901n, 142_098_452_301n))
  })

  it("rounds the fee up, so one unit buys nothing", () => {
    assert.strictEqual(solUsdc.swap(false, 1n, clock).ending, "refused")
  })

  it("takes the fee rate from the account", () => {
    const free = priced(decode(poolAccount({ fee: 0n })))
    // floor(2e6·1000/1001000)
    assert.strictEqual(free.swap(true, 1000n, clock).amountOut, 1998n)
  })

  it("leaves the protocol's profit out of the reserves", () => {
    const { denominator, numerator } = priced(decode(poolAccount({ fee: 0n, pnl: [500_000n, 0n] }))).marginalRate(
      true,
      clock
    )
    assert.strictEqual(numerator, denominator * 4n)
  })

  it("prices pools that still have a market from their vaults alone", () => {
    const open = priced(decode(poolAccount({ status: 1n })))
    assert.deepStrictEqual(open.swap(true, 1000n, clock), priced(decode()).swap(true, 1000n, clock))
  })

  it("refuses swaps before a waiting pool opens", () => {
    const waiting = priced(decode(poolAccount({ status: 7n, opensAt: 1_800_000_001n })))
    assert.strictEqual(waiting.swap(true, 1000n, clock).ending, "refused")
    assert.strictEqual(waiting.swap(true, 1000n, { ...clock, unixTimestamp: 1_800_000_001 }).ending, "filled")
  })

  it("does not price pools whose status has no swaps, or is unknown", () => {
    assert.strictEqual(failing(decode(poolAccount({ status: 4n }))).reason, "closed")
    assert.strictEqual(failing(decode(poolAccount({ status: 8n }))).reason, "malformed")
  })

  it("is incomplete without its vaults, and closed when they hold only profit", () => {
    assert.strictEqual(failing(decode(poolAccount(), reading())).reason, "incomplete")
    assert.strictEqual(failing(decode(poolAccount({ pnl: [1_000_000n, 0n] }))).reason, "closed")
  })

  it("needs its vaults, and is found by either mint", () => {
    assert.deepStrictEqual(raydiumAmmV4.needs(poolAccount(), reading(), derive), [COIN_VAULT, PC_VAULT])
    assert.isTrue(raydiumAmmV4.isPool(poolAccount()))
    const { data } = poolAccount()
    for (const mint of [COIN, PC]) {
      const found = raydiumAmmV4
        .poolsOf(mint)
        .filter(({ matches }) =>
          matches.every(({ bytes, offset }) => bytes.every((byte, i) => data[offset + i] === byte))
        )
      assert.strictEqual(found.length, 1)
    }
  })
})
