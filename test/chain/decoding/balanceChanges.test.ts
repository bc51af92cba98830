import { assert, describe, it } from "@effect/vitest"
import { TOKEN_PROGRAM } from "../../../src/programs/layout/tokenAccount.ts"
import { Address, SOL } from "../../../src/domain/Address.ts"
import { balanceChangesOf } from "../../../src/chain/decoding/balanceChanges.ts"
import { decodeTrades } from "../../../src/chain/decoding/decodeTrades.ts"
import { walletTransfersOf } from "../../../src/chain/decoding/walletTransfers.ts"
import {
  bytesOf,
  little,
  named,
  type Plan,
  POOL,
  sendLamports,
  swapHoldings,
  SYSTEM_PROGRAM,
  TOKEN,
  TRADER,
  transactionOf,
  transfer
} from "./transactions.ts"
import { held, holdings, KEEPER, program, raydiumSwap } from "./twoPools.ts"

const FRIEND = named("friend")

const both = (plan: Plan) => {
  const transaction = transactionOf(plan)
  const trades = decodeTrades(transaction)
  return { transfers: walletTransfersOf(transaction, trades), changes: balanceChangesOf(transaction, trades) }
}

const causes = (plan: Plan) =>
  both(plan).changes.map(({ owner, mint, delta, native, cause }) => [owner, mint, delta, native, cause])

describe("balance changes", () => {
  it("sum a wallet's accounts of one mint, and leave out what stayed the same", () => {
    const plan: Plan = {
      signers: [TRADER],
      calls: [],
      holdings: [
        { address: named("one"), mint: TOKEN, owner: TRADER, decimals: 6, before: 10n, after: 25n },
        { address: named("two"), mint: TOKEN, owner: TRADER, decimals: 6, before: 100n, after: 90n },
        { address: named("three"), mint: SOL, owner: TRADER, decimals: 9, before: 5n, after: 5n }
      ]
    }
    assert.deepStrictEqual(both(plan).changes, [
      { owner: TRADER, mint: TOKEN, before: 110n, after: 115n, delta: 5n, decimals: 6, native: false, cause: "unknown" }
    ])
  })

  it("are caused by the trade for the trader, and by a transfer for a bystander", () => {
    const plan: Plan = {
      signers: [TRADER],
      calls: [raydiumSwap("trader sol", TRADER, "trader token", 1000n, 50n)],
      holdings: [
        ...swapHoldings().slice(0, 2),
        { address: named("b sol"), mint: SOL, owner: POOL, decimals: 9, before: 0n, after: 1000n },
        { address: named("b token"), mint: TOKEN, owner: POOL, decimals: 6, before: 50n, after: 0n }
      ],
      lamports: new Map([[TRADER, [9_000_000, 8_995_000]]])
    }
    assert.deepStrictEqual(causes(plan), [
      [TRADER, SOL, -1000n, false, "trade"],
      [TRADER, TOKEN, 50n, false, "trade"],
      [POOL, SOL, 1000n, false, "transfer"],
      [POOL, TOKEN, -50n, false, "transfer"],
      [TRADER, SOL, -5000n, true, "fee"]
    ])
  })

  it("name transfers, mints and burns", () => {
    const mintTo = { program: TOKEN_PROGRAM, accounts: [TOKEN, named("minted")], data: bytesOf("07", little(5n, 8)) }
    const burn = { program: TOKEN_PROGRAM, accounts: [named("burned"), TOKEN], data: bytesOf("08", little(6n, 8)) }
    const plan: Plan = {
      signers: [TRADER],
      calls: [mintTo, burn, sendLamports(TRADER, FRIEND, 700n)],
      holdings: [
        { address: named("minted"), mint: TOKEN, owner: FRIEND, decimals: 6, before: 0n, after: 5n },
        { address: named("burned"), mint: TOKEN, owner: TRADER, decimals: 6, before: 6n, after: 0n }
      ],
      lamports: new Map([
        [TRADER, [10_000, 4300]],
        [FRIEND, [0, 700]]
      ])
    }
    assert.deepStrictEqual(causes(plan), [
      [FRIEND, TOKEN, 5n, false, "mint"],
      [TRADER, TOKEN, -6n, false, "burn"],
      [TRADER, SOL, -5700n, true, "transfer"],
      [FRIEND, SOL, 700n, true, "transfer"]
    ])
  })

  it("of a failed transaction are only the network fee", () => {
    const plan: Plan = {
      signers: [TRADER],
      calls: [sendLamports(TRADER, FRIEND, 700n)],
      error: "AccountInUse",
      lamports: new Map([[TRADER, [10_000, 5000]]])
    }
    assert.deepStrictEqual(causes(plan), [[TRADER, SOL, -5000n, true, "fee"]])
    assert.deepStrictEqual(both(plan).transfers, [])
  })

  it("leave out lamports of token accounts, and unknown balances", () => {
    const plan: Plan = {
      signers: [TRADER],
      calls: [],
      holdings: [{ address: named("one"), mint: SOL, owner: TRADER, decimals: 9, before: 5n, after: 9n }],
      lamports: new Map([
        [named("one"), [100, 104]],
        [FRIEND, [2 ** 60, 5]]
      ])
    }
    assert.deepStrictEqual(causes(plan), [[TRADER, SOL, 4n, false, "unknown"]])
  })
})

describe("transfers", () => {
  const sent = transfer(named("my token"), named("friend token"), TRADER, 7n)
  const plan: Plan = {
    signers: [TRADER, KEEPER],
    calls: [],
    holdings: [...holdings, held(FRIEND, "friend token", TOKEN), held(TRADER, "my other token", TOKEN)]
  }

  it("of tokens are between owners, with mint and decimals even when the instruction does not name them", () => {
    const { transfers } = both({ ...plan, calls: [sent] })
    assert.strictEqual(transfers.length, 1)
    const { from, to, mint, amount, decimals, native, outer, inner } = transfers[0] ?? {}
    assert.deepStrictEqual(
      { from, to, mint, amount, decimals, native, outer, inner },
      { from: TRADER, to: FRIEND, mint: TOKEN, amount: 7n, decimals: 6, native: false, outer: 0, inner: null }
    )
  })

  it("of lamports are native, without payments for new accounts and payments to oneself", () => {
    const create = {
      program: named("ignored"),
      accounts: [],
      data: bytesOf("00"),
      calls: [
        sendLamports(TRADER, FRIEND, 9n),
        {
          program: SYSTEM_PROGRAM,
          accounts: [TRADER, named("new account")],
          data: bytesOf("00000000", little(2_039_280n, 8), little(165n, 8), new Uint8Array(32))
        },
        // A wallet that wraps SOL sends it to its own token account.
        sendLamports(TRADER, named("my sol"), 500n),
        transfer(named("my token"), named("my other token"), TRADER, 3n)
      ]
    }
    const { transfers } = both({ ...plan, calls: [create] })
    assert.deepStrictEqual(
      transfers.map(({ from, to, amount, native, inner }) => [from, to, amount, native, inner]),
      [[TRADER, FRIEND, 9n, true, 0]]
    )
  })

  it("lie next to a trade or a filled order, not inside", () => {
    const swap = raydiumSwap("my sol", TRADER, "my token", 200n, 50n)
    const limit = Address.make("jupoNjAxXgZ4rjzxzPMP4oxduvQsQtZzyknqvzYNrNu")
    const calls = [
      program(named("bot"), [], "00", [swap, sent]),
      program(limit, [named("order"), named("order usdc"), KEEPER], "f02f99440dbee12a", [
        transfer(named("order usdc"), named("keeper usdc"), named("order"), 5n)
      ]),
      program(limit, [named("order"), named("order usdc"), TRADER, KEEPER], "fc681286a44e128c", [
        transfer(named("keeper token"), named("my token"), KEEPER, 4n)
      ]),
      sent
    ]
    assert.deepStrictEqual(
      both({ ...plan, calls }).transfers.map(({ outer, amount }) => [outer, amount]),
      [[3, 7n]]
    )
  })
})
