import { addressToBytes } from "../../../src/domain/Address.ts"
import { assert, describe, it } from "@effect/vitest"
import { makeAccount, tokenAccount } from "../../../src/quotes/execution/makeAccount.ts"
import {
  readMint,
  readVault,
  reservesAt,
  TOKEN_2022_PROGRAM,
  plainMint
} from "../../../src/programs/layout/tokenAccount.ts"
import { isFailure } from "../../../src/programs/layout/unpriceable.ts"
import { at, mintWithFee, reading } from "../stateAccounts.ts"

const MINT = at(1)
const VAULT = at(2)

const reasonOf = (read: object) => ("reason" in read ? read.reason : "read")

/** A Token-2022 mint with one extension, and spare room after it. */
const extended = (type: bigint, length: bigint, ...bytes: ReadonlyArray<readonly [number, bigint, number]>) =>
  makeAccount(MINT, TOKEN_2022_PROGRAM, 170 + 64, [
    [45, 1n, 1],
    [165, 1n, 1],
    [166, type, 2],
    [168, length, 2],
    ...bytes
  ])

describe("readVault", () => {
  const vault = tokenAccount(VAULT, MINT, 12_345n)

  it("reads the balance and the slot", () => {
    assert.deepStrictEqual(readVault(reading({ ...vault, slot: 9 }), VAULT, MINT), { amount: 12_345n, slot: 9 })
  })

  it("reads accounts of Token-2022, which are longer", () => {
    const longer = { ...tokenAccount(VAULT, MINT, 7n), owner: TOKEN_2022_PROGRAM }
    const data = new Uint8Array(182)
    data.set(longer.data)
    assert.deepStrictEqual(readVault(reading({ ...longer, data }), VAULT, MINT), { amount: 7n, slot: 0 })
  })

  it("is incomplete before it has been read and malformed when it does not exist", () => {
    assert.strictEqual(reasonOf(readVault(reading(), VAULT, MINT)), "incomplete")
    assert.strictEqual(reasonOf(readVault(() => null, VAULT, MINT)), "malformed")
  })

  it("refuses a vault of another mint, of another program, or cut short", () => {
    assert.strictEqual(reasonOf(readVault(reading(vault), VAULT, at(3))), "malformed")
    assert.strictEqual(reasonOf(readVault(reading({ ...vault, owner: at(4) }), VAULT, MINT)), "malformed")
    const short = { ...vault, data: vault.data.subarray(0, 164) }
    assert.strictEqual(reasonOf(readVault(reading(short), VAULT, MINT)), "malformed")
  })

  it("is closed when it is frozen", () => {
    const data = Uint8Array.from(vault.data)
    data[108] = 2
    assert.strictEqual(reasonOf(readVault(reading({ ...vault, data }), VAULT, MINT)), "closed")
  })
})

describe("reservesAt", () => {
  /** A pool that names three vaults, and owes 10, 20 and 60 units. */
  const pool = makeAccount(at(1), at(1), 120, [
    [0, addressToBytes(at(2))],
    [32, addressToBytes(at(3))],
    [64, addressToBytes(at(4))],
    [96, 10n],
    [104, 20n],
    [112, 60n]
  ])
  const side = (vault: number, ...owed: ReadonlyArray<number>) => ({ mint: MINT, vault, owed })
  const accounts = reading(tokenAccount(at(2), MINT, 1000n), tokenAccount(at(3), MINT, 50n))

  it("are the balances less what is owed, and not below zero", () => {
    assert.deepStrictEqual(reservesAt(accounts, pool.data, side(0, 96, 104), side(32, 112)), { reserves: [970n, 0n] })
  })

  it("are absent while a vault has not been read or holds another mint", () => {
    assert.deepStrictEqual(reservesAt(accounts, pool.data, side(0), side(64)), {})
    assert.deepStrictEqual(reservesAt(accounts, pool.data, side(0), { ...side(32), mint: at(9) }), {})
  })
})

describe("readMint", () => {
  it("reads a mint of the classic program", () => {
    assert.deepStrictEqual(readMint(reading(plainMint(MINT, 77n)), MINT), {
      supply: 77n,
      decimals: 6,
      transferFees: null,
      slot: 0
    })
  })

  it("finds the transfer fee behind other extensions", () => {
    const read = readMint(reading(mintWithFee(MINT, [0n, 5n, 100n], [701n, 6n, 250n])), MINT)
    assert.deepStrictEqual(isFailure(read) ? read : read.transferFees, {
      older: { epoch: 0n, maximum: 5n, bps: 100n },
      newer: { epoch: 701n, maximum: 6n, bps: 250n }
    })
  })

  it("skips extensions that do not change amounts", () => {
    // Type 14 is a transfer hook, here without a program. Type 10 is an interest rate for display.
    assert.strictEqual(reasonOf(readMint(reading(extended(14n, 64n)), MINT)), "read")
    assert.strictEqual(reasonOf(readMint(reading(extended(10n, 52n)), MINT)), "read")
  })

  it("stops at the end of the extensions, even with room left", () => {
    assert.strictEqual(reasonOf(readMint(reading(extended(0n, 0n)), MINT)), "read")
  })

  it("refuses a mint that cannot be transferred", () => {
    assert.strictEqual(reasonOf(readMint(reading(extended(9n, 0n)), MINT)), "unsupported")
  })

  it("refuses a mint whose transfers call a program, by name", () => {
    const read = readMint(reading(extended(14n, 64n, [202, 1n, 1])), MINT)
    assert.deepStrictEqual(read, { reason: "unsupported", detail: `mint ${MINT} has a transfer hook` })
  })

  it("is closed while the mint is paused, and only then", () => {
    assert.strictEqual(reasonOf(readMint(reading(extended(26n, 33n, [202, 1n, 1])), MINT)), "closed")
    assert.strictEqual(reasonOf(readMint(reading(extended(26n, 33n)), MINT)), "read")
  })

  it("refuses extensions that do not fit, and accounts that are not mints", () => {
    assert.strictEqual(reasonOf(readMint(reading(extended(18n, 65n)), MINT)), "malformed")
    assert.strictEqual(reasonOf(readMint(reading(extended(1n, 64n)), MINT)), "malformed")
    const dead = makeAccount(MINT, TOKEN_2022_PROGRAM, 82, [])
    assert.strictEqual(reasonOf(readMint(reading(dead), MINT)), "malformed")
    assert.strictEqual(reasonOf(readMint(reading({ ...plainMint(MINT), owner: at(5) }), MINT)), "malformed")
  })
})
