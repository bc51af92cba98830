/** The other end of a transfer, from the instructions of its transaction. */
import { assert, describe, it } from "@effect/vitest"
import { balanceChangesOf } from "../../../src/chain/decoding/balanceChanges.ts"
import { decodeTrades } from "../../../src/chain/decoding/decodeTrades.ts"
import { walletMovesOf } from "../../../src/chain/decoding/walletMoves.ts"
import { walletTransfersOf } from "../../../src/chain/decoding/walletTransfers.ts"
import { tapeTransfersOf } from "../../../src/market/model/tapeTransfers.ts"
import { TOKEN_2022_PROGRAM } from "../../../src/programs/layout/tokenAccount.ts"
import {
  type Call,
  type Holding,
  named,
  TOKEN,
  transactionOf,
  transfer,
  transferChecked
} from "../../chain/decoding/transactions.ts"

const [ALICE, BOB, CAROL] = [named("alice"), named("bob"), named("carol")]
const account = (name: string) => named(`${name} token`)

const held = (name: string, before: bigint, after: bigint, given: Partial<Holding> = {}): Holding => ({
  address: account(name),
  mint: TOKEN,
  owner: named(name),
  decimals: 6,
  before,
  after,
  ...given
})

/** Who got from whom, by wallet. */
const endsOf = (calls: ReadonlyArray<Call>, holdings: ReadonlyArray<Holding>) => {
  const transaction = transactionOf({ signers: [ALICE], calls, holdings })
  const trades = decodeTrades(transaction)
  const moves = walletMovesOf(transaction, trades, balanceChangesOf(transaction, trades))
  const transfers = walletTransfersOf(transaction, trades)
  const rows = tapeTransfersOf(
    { index: 0, moves, signature: transaction.signature, transfers },
    { slot: 1, timeMs: 1000 }
  )
  return new Map(rows.map(({ amount, counterparty, side, wallet }) => [wallet, [side, amount, counterparty ?? null]]))
}

describe("a transfer", () => {
  it("names the owners of the accounts at both ends", () => {
    const ends = endsOf(
      [transfer(account("alice"), account("bob"), ALICE, 5n), transfer(account("alice"), account("bob"), ALICE, 2n)],
      [held("alice", 10n, 3n), held("bob", 0n, 7n)]
    )
    assert.deepStrictEqual(ends.get(ALICE), ["sell", 7n, BOB])
    assert.deepStrictEqual(ends.get(BOB), ["buy", 7n, ALICE])
  })

  it("with a fee arrives in part, and names the receiver only", () => {
    const program = TOKEN_2022_PROGRAM
    const ends = endsOf(
      [{ ...transferChecked(account("alice"), account("bob"), ALICE, TOKEN, 100n), program }],
      [held("alice", 100n, 0n, { program }), held("bob", 0n, 97n, { program })]
    )
    assert.deepStrictEqual(ends.get(ALICE), ["sell", 100n, BOB])
    assert.deepStrictEqual(ends.get(BOB), ["buy", 97n, null])
  })

  it("to several owners names none at the sender, and the sender at each of them", () => {
    const ends = endsOf(
      [transfer(account("alice"), account("bob"), ALICE, 5n), transfer(account("alice"), account("carol"), ALICE, 2n)],
      [held("alice", 10n, 3n), held("bob", 0n, 5n), held("carol", 1n, 3n)]
    )
    assert.deepStrictEqual(ends.get(ALICE), ["sell", 7n, null])
    assert.deepStrictEqual(ends.get(BOB), ["buy", 5n, ALICE])
    assert.deepStrictEqual(ends.get(CAROL), ["buy", 2n, ALICE])
  })

  it("names none where other changes of the mint are part of it", () => {
    // Bob also got 4 that were minted, and 3 of what left Alice were burned.
    const ends = endsOf(
      [transfer(account("alice"), account("bob"), ALICE, 5n)],
      [held("alice", 10n, 2n), held("bob", 0n, 9n)]
    )
    assert.deepStrictEqual(ends.get(ALICE), ["sell", 8n, null])
    assert.deepStrictEqual(ends.get(BOB), ["buy", 9n, null])
    // Bob burned 2 of what he got.
    const burned = endsOf(
      [transfer(account("alice"), account("bob"), ALICE, 5n)],
      [held("alice", 10n, 5n), held("bob", 0n, 3n)]
    )
    assert.deepStrictEqual(burned.get(BOB), ["buy", 3n, null])
  })
})
