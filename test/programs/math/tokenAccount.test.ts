import { plainMint } from "../../../src/programs/math/plainMint.ts"
import { assert, describe, it } from "@effect/vitest"
import { makeAccount, tokenAccount } from "../../../src/proofs/exactness/stateAccounts.ts"
import { readMint, readVault, reservesOf, TOKEN_2022_PROGRAM } from "../../../src/programs/math/tokenAccount.ts"
import { isFailure } from "../../../src/programs/math/unpriceable.ts"
import { at, mintWithFee, reading } from "../stateAccounts.ts"

const MINT = at(1)
const VAULT = at(2)

const reasonOf = (read: object) => ("reason" in read ? read.reason : "read")

/** A Token-2022 mint with one extension, and room after it. */
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

  it("is closed while it is frozen", () => {
    const data = Uint8Array.from(vault.data)
    data[108] = 2
    assert.strictEqual(reasonOf(readVault(reading({ ...vault, data }), VAULT, MINT)), "closed")
  })
})

describe("reservesOf", () => {
  const side = (n: number, owed: bigint) => ({ address: at(n), mint: MINT, owed })
  const accounts = reading(tokenAccount(at(2), MINT, 1000n), tokenAccount(at(3), MINT, 50n))

  it("is the balances less what is owed, and not below zero", () => {
    assert.deepStrictEqual(reservesOf(accounts, side(2, 30n), side(3, 60n)), [970n, 0n])
  })

  it("is unknown while a vault has not been read or is none", () => {
    assert.isUndefined(reservesOf(accounts, side(2, 0n), side(4, 0n)))
    assert.isUndefined(reservesOf(accounts, side(2, 0n), { ...side(3, 0n), mint: at(9) }))
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

  it("passes over extensions that leave amounts alone", () => {
    // Type 14 is a transfer hook, type 10 an interest rate for display.
    assert.strictEqual(reasonOf(readMint(reading(extended(14n, 64n)), MINT)), "read")
    assert.strictEqual(reasonOf(readMint(reading(extended(10n, 52n)), MINT)), "read")
  })

  it("stops at the end of the extensions, which may leave room", () => {
    assert.strictEqual(reasonOf(readMint(reading(extended(0n, 0n)), MINT)), "read")
  })

  it("refuses what cannot be transferred", () => {
    assert.strictEqual(reasonOf(readMint(reading(extended(9n, 0n)), MINT)), "unsupported")
  })

  it("is closed while it is paused, and only then", () => {
    assert.strictEqual(reasonOf(readMint(reading(extended(26n, 33n, [202, 1n, 1])), MINT)), "closed")
    assert.strictEqual(reasonOf(readMint(reading(extended(26n, 33n)), MINT)), "read")
  })

  it("refuses extensions that do not fit, and accounts that are no mint", () => {
    assert.strictEqual(reasonOf(readMint(reading(extended(18n, 65n)), MINT)), "malformed")
    assert.strictEqual(reasonOf(readMint(reading(extended(1n, 64n)), MINT)), "malformed")
    const dead = makeAccount(MINT, TOKEN_2022_PROGRAM, 82, [])
    assert.strictEqual(reasonOf(readMint(reading(dead), MINT)), "malformed")
    assert.strictEqual(reasonOf(readMint(reading({ ...plainMint(MINT), owner: at(5) }), MINT)), "malformed")
  })
})
