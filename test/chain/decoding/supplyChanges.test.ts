import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import type { Address } from "../../../src/domain/Address.ts"
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../../src/programs/layout/tokenAccount.ts"
import { makeSupplyChanges, supplyChangesOf } from "../../../src/chain/decoding/supplyChanges.ts"
import { readTransaction } from "../../../src/chain/decoding/transaction.ts"
import { bytesOf, type Call, encoded, little, named, TOKEN, TRADER } from "./transactions.ts"

const OTHER = named("other mint")
const ACCOUNT = named("account")

/** An instruction of a token program: its tag, its accounts and its amount. */
const call = (tag: string, accounts: ReadonlyArray<Address>, amount: bigint, program = TOKEN_PROGRAM): Call => ({
  program,
  accounts: [...accounts, TRADER],
  data: bytesOf(tag, little(amount, 8), ...(tag === "0e" || tag === "0f" ? ["06"] : []))
})

const mintTo = (mint: Address, amount: bigint) => call("07", [mint, ACCOUNT], amount)
const mintToChecked = (mint: Address, amount: bigint) => call("0e", [mint, ACCOUNT], amount, TOKEN_2022_PROGRAM)
const burn = (mint: Address, amount: bigint) => call("08", [ACCOUNT, mint], amount, TOKEN_2022_PROGRAM)
const burnChecked = (mint: Address, amount: bigint) => call("0f", [ACCOUNT, mint], amount)

const changesOf = (calls: ReadonlyArray<Call>, error: unknown = null) => {
  const changes = makeSupplyChanges()
  const read = Result.getOrThrow(readTransaction(encoded({ signers: [TRADER], calls, holdings: [] })))
  changes.add(supplyChangesOf({ ...read, error }))
  return changes.all()
}

describe("the changes of supply of a block", () => {
  it("are the units minted minus the units burned, by either program, checked or not", () => {
    const calls = [
      mintTo(TOKEN, 100n),
      mintToChecked(TOKEN, 20n),
      burn(TOKEN, 3n),
      burnChecked(TOKEN, 4n),
      burn(OTHER, 9n)
    ]
    const expected = [
      { mint: TOKEN, change: 113n },
      { mint: OTHER, change: -9n }
    ]
    assert.deepStrictEqual(changesOf(calls), expected)
  })

  it("include inner instructions", () => {
    const outer = { program: named("program"), accounts: [TRADER], data: bytesOf("00"), calls: [mintTo(TOKEN, 5n)] }
    assert.deepStrictEqual(changesOf([outer]), [{ mint: TOKEN, change: 5n }])
  })

  it("are empty for a failed transaction, and for one that burns what it minted", () => {
    assert.deepStrictEqual(changesOf([mintTo(TOKEN, 5n)], { InstructionError: [0, "Custom"] }), [])
    assert.deepStrictEqual(changesOf([mintTo(TOKEN, 5n), burn(TOKEN, 5n)]), [])
  })

  it("add up over transactions, to more than a transaction can hold", () => {
    const changes = makeSupplyChanges()
    for (const amount of [2n, 2n ** 64n - 1n]) {
      const plan = { signers: [TRADER], calls: [mintTo(TOKEN, amount)], holdings: [] }
      changes.add(supplyChangesOf(Result.getOrThrow(readTransaction(encoded(plan)))))
    }
    assert.deepStrictEqual(changes.all(), [{ mint: TOKEN, change: 2n ** 64n + 1n }])
  })
})
