import { assert, describe, it } from "@effect/vitest"
import { TOKEN_2022_PROGRAM } from "../../../src/programs/layout/tokenAccount.ts"
import { decodeTrades } from "../../../src/chain/decoding/decodeTrades.ts"
import { splitFee } from "../../../src/chain/decoding/transferFees.ts"
import { DAMM_V2, DLMM, swapCall } from "./swapCalls.ts"
import {
  named,
  POOL,
  swapHoldings,
  swapTransfers,
  TOKEN,
  TRADER,
  transactionOf,
  transfer,
  transferChecked
} from "./transactions.ts"

const dlmm = { name: "swap", data: "f8c69e91e17587c8", accounts: 17, pool: 0, vaults: [2, 3] } as const
const damm = { name: "swap", data: "f8c69e91e17587c8", accounts: 14, pool: 1, vaults: [4, 5] } as const

describe("a transfer fee", () => {
  it("of several transfers to one account is split by the one rate that gives the total", () => {
    assert.deepStrictEqual(splitFee([1_000n, 2_001n], 31n), [10n, 21n])
    assert.deepStrictEqual(splitFee([7n], 3n), [3n])
    assert.deepStrictEqual(splitFee([7n, 9n], 0n), [0n, 0n])
  })

  it("is split into equal parts when each is the mint's highest fee", () => {
    assert.deepStrictEqual(splitFee([1_000_000_000n, 30_000_000_000n], 10_000n), [5_000n, 5_000n])
    assert.isNull(splitFee([1_000_000_000n, 30_000_000_000n], 10_001n))
  })

  it("on the output leaves the leg at what the pool paid, and the net trade at what arrived", () => {
    const [input] = swapTransfers()
    const output = transferChecked(named("vault token"), named("trader token"), POOL, TOKEN, 50n)
    const holdings = swapHoldings().map((held) =>
      held.mint === TOKEN ? { ...held, program: TOKEN_2022_PROGRAM, after: held.owner === TRADER ? 147n : 850n } : held
    )
    const call = swapCall(DLMM, dlmm, ["vault sol", "vault token"], input === undefined ? [] : [input, output])
    const { legs, nets } = decodeTrades(transactionOf({ signers: [TRADER], calls: [call], holdings }))
    assert.deepStrictEqual([legs[0]?.token.amount, legs[0]?.transferFees], [50n, { token: 3n, quote: 0n }])
    assert.strictEqual(nets[0]?.token.amount, 47n)
  })
})

/** The transfers of a swap, plus 5 of the token to an account. */
const withShare = (destination: string) => [
  ...swapTransfers(),
  transfer(named("vault token"), named(destination), POOL, 5n)
]

const legOf = (destination: string, referral: string) => {
  const call = swapCall(DAMM_V2, damm, ["vault sol", "vault token"], withShare(destination))
  const accounts = call.accounts.map((account, i) => (i === 11 ? named(referral) : account))
  const plan = { signers: [TRADER], calls: [{ ...call, accounts }], holdings: swapHoldings(1000n, 55n) }
  return decodeTrades(transactionOf(plan)).legs[0]?.token.amount
}

describe("a referrer's share", () => {
  it("is not part of what the pool paid to the trader", () => {
    assert.strictEqual(legOf("referrer token", "referrer token"), 50n)
  })

  it("is left out too when the trader is the referrer", () => {
    assert.strictEqual(legOf("trader token", "trader token"), 50n)
  })

  it("is recognised by the account that the instruction names", () => {
    assert.strictEqual(legOf("trader token", "referrer token"), 55n)
  })
})
