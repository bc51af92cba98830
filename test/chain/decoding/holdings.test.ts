import { assert, describe, it } from "@effect/vitest"
import { type Address, SOL, USDC } from "../../../src/domain/Address.ts"
import { holdingChangesOf, makeHoldings, readHoldings } from "../../../src/chain/decoding/holdings.ts"
import type { TokenAccount } from "../../../src/chain/decoding/tokenAccounts.ts"
import { mintOf, walletOf } from "../../market/tape/tape.ts"

const [MINT, OTHER] = [mintOf(1), mintOf(2)]
const [A, B, C] = [walletOf(1), walletOf(2), walletOf(3)]

const account = (
  n: number,
  owner: Address | null,
  [before, after]: readonly [bigint, bigint],
  rest: Partial<TokenAccount> = {}
) => ({
  address: walletOf(100 + n),
  mint: MINT,
  owner,
  decimals: 6,
  program: null,
  before,
  after,
  ...rest
})

const changesOf = (...transactions: ReadonlyArray<ReadonlyArray<TokenAccount>>) => {
  const holdings = makeHoldings()
  for (const accounts of transactions) {
    holdings.add(holdingChangesOf({ tokenAccounts: new Map(accounts.map((each) => [each.address, each])) }))
  }
  const { changes, mints } = holdings.all()
  return mints.map((mint, place) => {
    const list: Array<readonly [Address, bigint]> = []
    readHoldings(changes[place] ?? "", (owner, delta) => list.push([owner, delta]))
    return [mint, list] as const
  })
}

describe("makeHoldings", () => {
  it("sums the accounts of an owner over the transactions of a block", () => {
    const found = changesOf(
      // A transfer that closes an account.
      [account(1, A, [10n, 0n]), account(2, B, [0n, 10n])],
      // A mint, and a burn of another mint.
      [account(3, A, [5n, 2n ** 64n - 1n]), account(4, C, [9n, 2n], { mint: OTHER })]
    )
    assert.deepStrictEqual(found, [
      [
        MINT,
        [
          [A, 2n ** 64n - 16n],
          [B, 10n]
        ]
      ],
      [OTHER, [[C, -7n]]]
    ])
  })

  it("leaves out owners who hold as much as before, unknown owners, SOL and dollars", () => {
    const found = changesOf(
      [account(1, A, [10n, 3n]), account(2, A, [0n, 7n]), account(3, null, [1n, 2n])],
      [account(4, B, [1n, 2n], { mint: SOL }), account(5, B, [1n, 2n], { mint: USDC })]
    )
    assert.deepStrictEqual(found, [])
  })

  it("moves the balance of an account with a new owner", () => {
    assert.deepStrictEqual(changesOf([account(1, A, [10n, 10n], { ownerAfter: B })]), [
      [
        MINT,
        [
          [A, -10n],
          [B, 10n]
        ]
      ]
    ])
  })
})
