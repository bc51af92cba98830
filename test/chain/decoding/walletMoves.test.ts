import { assert, describe, it } from "@effect/vitest"
import type { BalanceChange } from "../../../src/api/schemas/Trade.ts"
import { SOL, USDC } from "../../../src/domain/Address.ts"
import { walletMovesOf } from "../../../src/chain/decoding/walletMoves.ts"
import { named } from "./transactions.ts"

const [signer, friend, pool] = [named("signer"), named("friend"), named("pool")]
const [coin, other] = [named("coin"), named("other")]
const transaction = { keys: [signer, friend, pool], signers: 1 }

const change = (owner = signer, mint = coin, delta = 5n, native = false): BalanceChange => ({
  owner,
  mint,
  before: 10n,
  after: 10n + delta,
  delta,
  decimals: 6,
  native,
  cause: "transfer"
})
const swap = { pool, wallet: signer, token: { mint: coin }, quote: { mint: SOL } } as never

describe("walletMovesOf", () => {
  it("are token changes that no net trade of the owner explains, without SOL and dollars", () => {
    const changes = [change(), change(friend, coin, -5n), change(signer, SOL, 1n, true), change(signer, USDC)]
    assert.deepStrictEqual(walletMovesOf(transaction, { legs: [], nets: [] }, changes), changes.slice(0, 2))
  })

  it("leave out the mints that the trader traded, and the pools of a swap", () => {
    const changes = [change(), change(pool, coin, -5n), change(pool, other, 3n), change(signer, other)]
    assert.deepStrictEqual(walletMovesOf(transaction, { legs: [swap], nets: [swap] }, changes), changes.slice(3))
  })

  it("keep what a swap pays to another wallet, and what a signer gives and receives without a trade", () => {
    const given = change(friend)
    assert.deepStrictEqual(walletMovesOf(transaction, { legs: [swap], nets: [] }, [given]), [given])
    const joined = [change(signer, coin, -5n), change(signer, other, 5n)]
    assert.deepStrictEqual(walletMovesOf(transaction, { legs: [swap], nets: [] }, joined), joined)
    const shares = [change(friend, coin, -5n), change(friend, other, 5n)]
    assert.deepStrictEqual(walletMovesOf(transaction, { legs: [swap], nets: [] }, shares), [], "a pool looks so")
  })
})
