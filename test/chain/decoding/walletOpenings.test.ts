import { assert, describe, it } from "@effect/vitest"
import type { Signature } from "../../../src/domain/Signature.ts"
import { walletOpeningsOf } from "../../../src/chain/decoding/walletOpenings.ts"
import {
  bytesOf,
  type Call,
  little,
  named,
  type Plan,
  sendLamports,
  SIGNATURE,
  SYSTEM_PROGRAM,
  TOKEN,
  TRADER,
  transactionOf
} from "./transactions.ts"

const [first, second, old] = [named("first"), named("second"), named("old")]

const openingsOf = (calls: ReadonlyArray<Call>, given: Partial<Plan> = {}) =>
  walletOpeningsOf(
    transactionOf({
      signers: [TRADER],
      calls,
      lamports: new Map([
        [TRADER, [9_000_000, 8_000_000]],
        [first, [0, 700]],
        [second, [0, 300]]
      ]),
      ...given
    }),
    3
  )
const short = (calls: ReadonlyArray<Call>, given: Partial<Plan> = {}) =>
  openingsOf(calls, given).map(({ funder, lamports, wallet }) => [wallet, funder, lamports])

const created = (from: typeof first, to: typeof first, amount: bigint): Call => ({
  program: SYSTEM_PROGRAM,
  accounts: [from, to],
  data: bytesOf("00000000", little(amount, 8), little(0n, 8), new Uint8Array(32))
})

describe("openings of wallets", () => {
  it("are the first transfers to accounts without SOL, with their sender, at their places in the block", () => {
    const calls = [
      sendLamports(TRADER, first, 500n),
      sendLamports(TRADER, first, 200n),
      sendLamports(TRADER, old, 100n),
      { program: named("router"), accounts: [], data: new Uint8Array(), calls: [sendLamports(old, second, 300n)] }
    ]
    assert.deepStrictEqual(openingsOf(calls), [
      { signature: SIGNATURE as Signature, index: 192, wallet: first, funder: TRADER, lamports: 500n },
      { signature: SIGNATURE as Signature, index: 193, wallet: second, funder: old, lamports: 300n }
    ])
  })

  it("leave out rent of new accounts, token accounts, accounts that are empty again, and failed transactions", () => {
    assert.deepStrictEqual(short([created(TRADER, first, 700n)]), [])
    const holding = { address: first, mint: TOKEN, owner: TRADER, decimals: 6, before: 0n, after: 1n }
    assert.deepStrictEqual(short([sendLamports(TRADER, first, 700n)], { holdings: [holding] }), [])
    const emptied = new Map([[first, [0, 0] as const]])
    assert.deepStrictEqual(short([sendLamports(TRADER, first, 700n)], { lamports: emptied }), [])
    assert.deepStrictEqual(short([sendLamports(TRADER, first, 700n)], { error: "failed" }), [])
  })
})
