import { assert, describe, it } from "@effect/vitest"
import bs58 from "bs58"
import { Effect, Result, Schema } from "effect"
import { TOKEN_PROGRAM } from "../../../src/programs/layout/tokenAccount.ts"
import { SOL } from "../../../src/domain/Address.ts"
import { decodeTrades } from "../../../src/chain/decoding/decodeTrades.ts"
import {
  readBlock,
  readTransaction,
  type Transaction,
  transactionsOf
} from "../../../src/chain/decoding/transaction.ts"
import {
  accountsAt,
  bytesOf,
  encoded,
  little,
  named,
  parsed,
  type Plan,
  POOL,
  sendLamports,
  swapHoldings,
  swapTransfers,
  SYSTEM_PROGRAM,
  TOKEN,
  TRADER,
  transferChecked,
  transactionOf
} from "./transactions.ts"
import { readWireTransaction } from "../../../src/chain/decoding/wireTransaction.ts"
import { infoOf, type JsonTransaction, plainOf } from "./wireForm.ts"
import { raydiumClmm } from "../../../src/programs/raydium/clmm.ts"

const plan: Plan = {
  signers: [TRADER, named("second signer")],
  calls: [
    sendLamports(TRADER, named("trader sol"), 2000n),
    {
      program: raydiumClmm.programId,
      accounts: accountsAt(16, { 2: POOL, 5: named("vault sol"), 6: named("vault token") }),
      data: bytesOf("2b04ed0b1ac91e62", little(1000n, 8)),
      calls: [...swapTransfers(), transferChecked(named("trader token"), named("shop"), TRADER, TOKEN, 3n)]
    }
  ],
  holdings: swapHoldings(),
  logs: [
    `Program ${raydiumClmm.programId} invoke [1]`,
    "Program log: hello",
    "Program data: AQID",
    `Program ${raydiumClmm.programId} consumed 5 of 9 compute units`,
    "Program log: ray_log: BAUG",
    `Program ${raydiumClmm.programId} failed: invoke [1]`,
    "Program data"
  ]
}

/** The transaction without what only one encoding has: the bytes of instructions that the node parses itself. */
const comparable = (transaction: Transaction) => ({
  ...transaction,
  instructions: transaction.instructions.map(({ data, accounts, ...rest }) =>
    rest.transfers.length > 0 ? rest : { ...rest, data, accounts }
  )
})

/** The same JSON with another value in one place. */
const spoiled = (json: unknown, [step, ...rest]: ReadonlyArray<string | number>, value: unknown): unknown => {
  if (step === undefined) {
    return value
  }
  if (Array.isArray(json)) {
    return json.map((item, i) => (i === step ? spoiled(item, rest, value) : item))
  }
  return { ...Object(json), [step]: spoiled(Object(json)[step], rest, value) }
}

const failureOf = (answer: unknown): string | undefined => {
  const result = readTransaction(answer)
  return Result.isFailure(result) ? result.failure.detail : undefined
}

describe("reading a transaction", () => {
  it("gives the same from both encodings", () => {
    const first = Result.getOrThrow(readTransaction(encoded(plan)))
    const second = Result.getOrThrow(readTransaction(parsed(plan)))
    assert.deepStrictEqual(comparable(first), comparable(second))
    assert.deepStrictEqual(decodeTrades(first), decodeTrades(second))
    assert.strictEqual(decodeTrades(first).legs.length, 1)
  })

  it("gives the same from the bytes of a Geyser, and fails for an account that is not listed", () => {
    const { blockTime, slot } = encoded(plan)
    const place = { slot, blockTime, indexInBlock: encoded(plan).transactionIndex }
    const read = (json: unknown) => readWireTransaction(infoOf(json as JsonTransaction), place)
    const bytes = Result.getOrThrow(read(encoded(plan)))
    const texts = Result.getOrThrow(readTransaction(encoded(plan)))
    assert.deepStrictEqual(plainOf(bytes), plainOf(texts))
    assert.deepStrictEqual(decodeTrades(bytes), decodeTrades(texts))
    assert.isAbove(decodeTrades(bytes).legs.length, 0)
    const path = ["transaction", "message", "instructions", 1, "accounts"]
    const failed = read(spoiled(encoded(plan), path, [0, 255]))
    assert.strictEqual(Result.isFailure(failed) ? failed.failure.detail : null, "instructions")
  })

  it("gives the same from bytes when balances change owner, order or number from one transaction to the next", () => {
    const json = encoded(plan)
    const { postTokenBalances: after, preTokenBalances: before } = (json as unknown as JsonTransaction).meta
    const [first, ...others] = before ?? []
    const [firstAfter, ...othersAfter] = after ?? []
    const owner = named("another owner")
    const longer = { uiTokenAmount: { decimals: 6, amount: `1${first?.uiTokenAmount.amount}` } }
    const lists = [
      [before, after],
      // The program now stands where the owner stood: a message below 128 bytes has a shorter length.
      [
        [{ ...first, ...longer, owner: undefined, programId: owner }, ...others],
        [{ ...firstAfter, owner }, ...othersAfter]
      ],
      [before, after?.toReversed()],
      [[{ ...first, owner: undefined }, ...others], after],
      [before, [{ ...firstAfter, owner }, ...othersAfter]],
      [others, after],
      [[], after],
      [before, []],
      [before, after]
    ] as const
    for (const [preTokenBalances, postTokenBalances] of lists) {
      const changed = spoiled(json, ["meta"], { ...json.meta, preTokenBalances, postTokenBalances })
      const { blockTime, slot, transactionIndex: indexInBlock } = json
      const bytes = readWireTransaction(infoOf(changed as JsonTransaction), { slot, blockTime, indexInBlock })
      assert.deepStrictEqual(
        Array.from(Result.getOrThrow(bytes).tokenAccounts),
        Array.from(Result.getOrThrow(readTransaction(changed)).tokenAccounts)
      )
    }
  })

  it("keeps lamports apart that are one double", () => {
    const json = encoded(plan)
    const count = json.meta.preBalances.length
    const balances = (first: bigint) => [String(first), ...Array.from({ length: count - 1 }, () => "7")]
    const most = 2n ** 64n - 1n
    for (const [before, after] of [
      [2n ** 60n, 2n ** 60n + 1n],
      [most, most - 1n],
      [2n ** 49n - 1n, 2n ** 49n],
      [7n, 0n],
      [0n, 7n]
    ] as const) {
      const meta = { ...json.meta, preBalances: balances(before), postBalances: balances(after) }
      const changed = spoiled(json, ["meta"], meta) as JsonTransaction
      const read = readWireTransaction(infoOf(changed), { slot: 1, blockTime: null, indexInBlock: 0 })
      const { lamportsAfter, lamportsBefore } = Result.getOrThrow(read)
      assert.deepStrictEqual(lamportsBefore.slice(0, 2), [before, 7n])
      assert.deepStrictEqual(lamportsAfter.slice(0, 2), [after, 7n])
    }
  })

  it("finds accounts of lookup tables after the static ones, writable before readonly", () => {
    const whole = transactionOf(plan)
    const loaded = transactionOf({ ...plan, loaded: 9 })
    assert.deepStrictEqual(loaded, whole)
    assert.isUndefined(encoded({ ...plan, loaded: 9 }).transaction.message.accountKeys[whole.keys.length - 1])
  })

  it("keeps slot, time, position in the block, fee, signers, log and lamports", () => {
    const lamports = new Map([[TRADER, [2_000_000, 1_994_000]]] as const)
    const transaction = transactionOf({ ...plan, lamports, fee: 6000 })
    assert.strictEqual(transaction.slot, 400_000_000)
    assert.strictEqual(transaction.blockTime, 1_790_000_000)
    assert.strictEqual(transaction.indexInBlock, 17)
    assert.strictEqual(transaction.feeLamports, 6000n)
    assert.strictEqual(transaction.signers, 2)
    const events = [Buffer.from([1, 2, 3]), Buffer.from([4, 5, 6])]
    assert.deepStrictEqual(transaction.log, [raydiumClmm.programId, ...events, null])
    assert.deepStrictEqual([transaction.lamportsBefore[0], transaction.lamportsAfter[0]], [2_000_000n, 1_994_000n])
  })

  it("keeps token accounts that exist only before or only after, with zero for the other side", () => {
    const answer = encoded(plan)
    answer.meta.preTokenBalances.shift()
    answer.meta.postTokenBalances.pop()
    const { tokenAccounts } = Result.getOrThrow(readTransaction(answer))
    assert.strictEqual(tokenAccounts.get(named("trader sol"))?.before, 0n)
    assert.strictEqual(tokenAccounts.get(named("trader sol"))?.after, 4000n)
    assert.strictEqual(tokenAccounts.get(named("vault token"))?.before, 900n)
    assert.strictEqual(tokenAccounts.get(named("vault token"))?.after, 0n)
  })

  it("has the old owner when the transaction gave the account away", () => {
    const answer = encoded(plan)
    answer.meta.postTokenBalances.forEach((balance) => Object.assign(balance, { owner: named("thief") }))
    const { tokenAccounts } = Result.getOrThrow(readTransaction(answer))
    assert.strictEqual(tokenAccounts.get(named("trader sol"))?.owner, TRADER)
  })

  it("finds accounts that are opened and closed inside the transaction", () => {
    const open = {
      program: TOKEN_PROGRAM,
      accounts: [named("temporary"), SOL],
      data: bytesOf("12", Buffer.from(bs58.decode(TRADER)))
    }
    const account = transactionOf({ signers: [TRADER], calls: [open] }).tokenAccounts.get(named("temporary"))
    assert.strictEqual(account?.owner, TRADER)
    assert.strictEqual(account?.mint, SOL)
    assert.strictEqual(account?.decimals, 9)
  })

  it("unrolls a batch of token instructions", () => {
    const one = bytesOf("03", little(1000n, 8))
    const two = bytesOf("0c", little(50n, 8), "06")
    const batch = {
      program: TOKEN_PROGRAM,
      accounts: [named("a"), named("b"), TRADER, named("c"), TOKEN, named("d"), TRADER],
      data: bytesOf("ff", "0309", one, "040a", two)
    }
    assert.deepStrictEqual(transactionOf({ signers: [TRADER], calls: [batch] }).instructions[0]?.transfers, [
      { kind: "transfer", source: named("a"), destination: named("b"), authority: TRADER, mint: null, amount: 1000n },
      { kind: "transfer", source: named("c"), destination: named("d"), authority: TRADER, mint: TOKEN, amount: 50n }
    ])
  })

  it("ignores token instructions that are too short or lack an account", () => {
    const short = { program: TOKEN_PROGRAM, accounts: [named("a"), named("b"), TRADER], data: bytesOf("03", "01") }
    const lonely = { program: TOKEN_PROGRAM, accounts: [named("a")], data: bytesOf("03", little(1n, 8)) }
    const system = { program: SYSTEM_PROGRAM, accounts: [named("a"), named("b")], data: bytesOf("02000000") }
    const { instructions } = transactionOf({ signers: [TRADER], calls: [short, lonely, system] })
    assert.isTrue(instructions.every(({ transfers }) => transfers.length === 0))
  })

  it("reads lamports as null when a JSON number cannot hold them", () => {
    const lamports = new Map([[TRADER, [2 ** 53, 5]]] as const)
    const transaction = transactionOf({ ...plan, lamports })
    assert.isNull(transaction.lamportsBefore[0])
    assert.strictEqual(transaction.lamportsAfter[0], 5n)
  })

  it("has no trades when the transaction failed", () => {
    const failed = transactionOf({ ...plan, error: { InstructionError: [1, { Custom: 6001 }] } })
    assert.deepStrictEqual(decodeTrades(failed), { legs: [], nets: [], unresolved: 0 })
  })

  const broken: ReadonlyArray<readonly [string, ReadonlyArray<string | number>, unknown, string]> = [
    ["no slot", ["slot"], undefined, "no slot"],
    ["no transaction", ["transaction"], [], "not a transaction"],
    ["no outcome", ["meta"], null, "no meta"],
    ["no signature", ["transaction", "signatures"], [], "message or signatures"],
    ["a signature that is none", ["transaction", "signatures"], ["abc"], "message or signatures"],
    ["a key that is no address", ["transaction", "message", "accountKeys", 1], "0".repeat(40), "account keys"],
    ["a loaded key that is no address", ["meta", "loadedAddresses", "writable"], [7], "account keys"],
    ["too few balances", ["meta", "preBalances"], [1, 2], "fee or balances"],
    ["a negative fee", ["meta", "fee"], -1, "fee or balances"],
    ["an account index out of range", ["transaction", "message", "instructions", 0, "accounts"], [200], "instructions"],
    [
      "an instruction of no program",
      ["transaction", "message", "instructions", 0, "programIdIndex"],
      99,
      "instructions"
    ],
    ["instruction data that is no text", ["transaction", "message", "instructions", 1, "data"], 5, "instructions"],
    ["inner instructions that are no list", ["meta", "innerInstructions"], 7, "instructions"],
    [
      "an amount that is no integer",
      ["meta", "preTokenBalances", 0, "uiTokenAmount", "amount"],
      "1e3",
      "token balances"
    ],
    ["a token balance of no account", ["meta", "postTokenBalances", 0, "accountIndex"], 999, "token balances"],
    ["logs that are no text", ["meta", "logMessages"], [1], "logs"]
  ]

  it.each(broken)("fails, and does not throw, for %s", (_, path, value, detail) => {
    assert.strictEqual(failureOf(spoiled(encoded(plan), path, value)), detail)
  })

  it("fails for a value that is not an object", () => {
    assert.deepStrictEqual(
      [null, [], "text", 7, undefined].map(failureOf),
      Array.from({ length: 5 }, () => "no slot")
    )
  })

  it("fails for a parsed transfer without its amount or accounts", () => {
    const answer = parsed(plan)
    const vague: unknown = JSON.parse(JSON.stringify(answer).replace('"lamports":2000', '"lamports":"many"'))
    assert.strictEqual(failureOf(vague), "instructions")
  })

  it("keeps a parsed payment exact when its digits were kept, and leaves out one that no double holds", () => {
    const text = JSON.stringify(parsed(plan))
    const withLamports = (lamports: string) =>
      Result.getOrThrow(readTransaction(JSON.parse(text.replace('"lamports":2000', `"lamports":${lamports}`))))
    const paid = (lamports: string) => withLamports(lamports).instructions[0]?.transfers
    const [exact] = paid('"12345678901234567"') ?? []
    assert.strictEqual(exact?.kind === "lamports" ? exact.amount : null, 12_345_678_901_234_567n)
    assert.deepStrictEqual(paid("12345678901234567"), [])
  })

  it.effect.prop(
    "never throws, whatever part of an answer is replaced by whatever JSON",
    [Schema.Int, Schema.Json],
    ([seed, value]) =>
      Effect.sync(() => {
        let places = 0
        JSON.stringify(encoded(plan), (_, inner: unknown) => {
          places += 1
          return inner
        })
        const target = Math.abs(seed) % places
        let place = -1
        const text = JSON.stringify(encoded(plan), (_, inner: unknown) => {
          place += 1
          return place === target ? value : inner
        })
        const result = readTransaction(JSON.parse(text))
        if (Result.isSuccess(result)) {
          decodeTrades(result.success)
        }
      })
  )
})

describe("reading a block", () => {
  const { transaction, meta } = encoded(plan)
  const block = {
    parentSlot: 8,
    blockTime: 1_790_000_001,
    transactions: [
      { transaction, meta },
      { transaction, meta: null },
      { transaction, meta }
    ]
  }

  it("numbers its transactions, and keeps those after a malformed one", () => {
    const read = readBlock(9, block) ?? assert.fail("not a block")
    assert.deepStrictEqual([read.slot, read.parentSlot, read.blockTime], [9, 8, 1_790_000_001])
    const transactions = Array.from(transactionsOf(read))
    assert.deepStrictEqual(transactions.map(Result.isSuccess), [true, false, true])
    const places = transactions
      .filter(Result.isSuccess)
      .map(({ success }) => [success.slot, success.blockTime, success.indexInBlock])
    assert.deepStrictEqual(places, [
      [9, 1_790_000_001, 0],
      [9, 1_790_000_001, 2]
    ])
  })

  it("fails for a value that is not a block", () => {
    assert.isNull(readBlock(9, { transactions: [] }))
    assert.isNull(readBlock(9, null))
  })
})
