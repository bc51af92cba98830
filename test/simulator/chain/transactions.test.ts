import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { isTokenAccount } from "../../../src/simulator/chain/World.ts"
import { type Address } from "../../../src/domain/Address.ts"
import { type Bank, type Block, BLOCKS_KEPT } from "../../../src/simulator/chain/Bank.ts"
import type { Transaction } from "../../../src/simulator/chain/Ledger.ts"
import { isWritable } from "../../../src/programs/transactions/message.ts"
import { balanceOf } from "../../../src/simulator/chain/tokens.ts"
import { getBlock } from "../../../src/simulator/node/blockMethods.ts"
import { CLOCK_SYSVAR } from "../../../src/simulator/chain/addresses.ts"
import { poolSwapsOf } from "../../../src/chain/decoding/poolSwaps.ts"
import { decodeTrades } from "../../../src/chain/decoding/decodeTrades.ts"
import { readBlock, transactionsOf } from "../../../src/chain/decoding/transaction.ts"
import { newMarket, venues } from "./chains.ts"

const SLOTS = 150

/** A market with every block of its first minute, and the owners of its addresses. */
const lived = (seed: string) => {
  const { bank, market } = newMarket(seed, 60)
  const validator = market.wallets.find(({ label }) => label === "validator")?.address
  const blocks = Array.from({ length: SLOTS }, () => market.advance())
  return { bank, market, validator, blocks, all: blocks.flatMap(({ transactions }) => transactions) }
}

const sum = (values: ReadonlyArray<bigint>) => values.reduce((total, value) => total + value, 0n)

const counted = (all: ReadonlyArray<Transaction>, wanted: (transaction: Transaction) => boolean) =>
  all.filter(wanted).length

const text = ({ slot }: Block, chain: Bank) =>
  Result.getOrThrow(getBlock(chain, [slot, { maxSupportedTransactionVersion: 0 }]))

const decodedBlock = (bank: Bank, { slot }: Pick<Block, "slot">) => {
  const params = [slot, { maxSupportedTransactionVersion: 0, rewards: false }]
  const text = Result.getOrThrow(getBlock(bank, params))
  const block = readBlock(slot, JSON.parse(text)) ?? assert.fail("not a block")
  return { ...block, transactions: Array.from(transactionsOf(block)) }
}

const amounts = (list: ReadonlyArray<{ readonly index: number; readonly amount: bigint }>) =>
  new Map(list.map(({ index, amount }) => [index, amount]))

describe("the transactions of a simulated block", () => {
  const { bank, validator, blocks, all } = lived("transactions")

  it("start with the balances that earlier transactions left, and end with the bank's balances, to the unit", () => {
    const known = new Map<Address, readonly [lamports: bigint, tokens: bigint]>()
    for (const { receipt } of all) {
      const { message, lamports, tokens } = receipt
      const [before, after] = [amounts(tokens.before), amounts(tokens.after)]
      for (const [index, key] of message.keys.entries()) {
        const expected = known.get(key)
        if (key !== validator && expected !== undefined) {
          assert.deepStrictEqual([lamports.before[index], before.get(index) ?? 0n], [...expected], key)
        }
        known.set(key, [lamports.after[index] ?? 0n, after.get(index) ?? 0n])
      }
    }
    for (const [key, [lamports, tokens]] of known) {
      const account = bank.get(key)
      if (account !== undefined && key !== validator) {
        assert.strictEqual(account.lamports, lamports)
        assert.strictEqual(isTokenAccount(account) && account.data.length >= 165 ? balanceOf(account) : tokens, tokens)
      }
    }
  })

  it("list every written account as writable, and pay their fee and nothing else", () => {
    for (const { accounts, transactions } of blocks) {
      const writable = new Set(transactions.flatMap(writableKeys))
      for (const { address } of accounts) {
        assert.isTrue(address === CLOCK_SYSVAR || address === validator || writable.has(address), address)
      }
    }
    for (const { fee, receipt } of all) {
      const { before, after } = receipt.lamports
      assert.strictEqual(sum(before) - sum(after), fee)
    }
  })

  it("cover everything that happens on the chain: direct and routed swaps, failures, transfers, legacy and versioned messages", () => {
    assert.isAbove(
      counted(all, ({ kind }) => kind === "failed"),
      10
    )
    assert.isAbove(
      counted(all, ({ kind }) => kind === "transfer"),
      10
    )
    assert.isAbove(
      counted(all, ({ swaps }) => swaps.length === 2),
      10
    )
    assert.isAbove(
      counted(all, ({ receipt }) => receipt.message.version === "legacy"),
      100
    )
    assert.isAbove(
      counted(all, ({ receipt }) => receipt.message.lookups.length > 0),
      100
    )
    assert.isAbove(
      counted(all, ({ receipt }) => receipt.message.version === 0 && receipt.message.lookups.length === 0),
      100
    )
    assert.isAbove(
      counted(all, ({ fee }) => fee > 5_000n),
      100
    )
    const legs = blocks.flatMap((block) => decodedBlock(bank, block).transactions.flatMap(legsIn))
    assert.deepStrictEqual(new Set(legs.map(({ dex }) => dex)), new Set(venues))
  })

  it("change only the payer's lamports when they fail", () => {
    for (const { receipt, fee, wallet } of all.filter(({ kind }) => kind === "failed")) {
      const { lamports, message, tokens, error } = receipt
      assert.isNotNull(error)
      assert.deepStrictEqual(tokens.before, tokens.after)
      for (const [index, key] of message.keys.entries()) {
        const lost = (lamports.before[index] ?? 0n) - (lamports.after[index] ?? 0n)
        assert.strictEqual(lost, key === wallet ? fee : 0n)
      }
    }
  })

  it("decode to exactly the swaps in the ledger", () => {
    let decoded = 0
    for (const block of blocks) {
      const { transactions } = decodedBlock(bank, block)
      for (const [index, entry] of transactions.entries()) {
        const { legs, nets, unresolved } = decodeTrades(Result.getOrThrow(entry))
        const { swaps, wallet } = block.transactions[index] ?? assert.fail("a transaction too many")
        assert.strictEqual(unresolved, 0)
        const { error } = Result.getOrThrow(entry)
        const checks = error === null ? poolSwapsOf(Result.getOrThrow(entry)).checks : []
        assert.isTrue(checks.every(({ outcome }) => outcome === "confirmed"))
        assert.deepStrictEqual(
          legs.map((leg) => ({ wallet: leg.wallet, pool: leg.pool, ...directed(leg) })),
          swaps.map(({ pool, inputMint, outputMint }) => ({ wallet, pool, inputMint, outputMint }))
        )
        decoded += legs.length
        const [first, last] = [swaps[0], swaps.at(-1)]
        if (first === undefined || last === undefined || nets.length > 1 || first.inputMint === last.outputMint) {
          continue
        }
        const [net] = nets
        assert.deepInclude(net, { wallet })
        assert.deepStrictEqual(
          net === undefined ? [] : net.side === "buy" ? [net.quote, net.token] : [net.token, net.quote],
          [
            {
              mint: first.inputMint,
              amount: first.amountIn,
              decimals: net?.side === "buy" ? net.quote.decimals : (net?.token.decimals ?? null)
            },
            {
              mint: last.outputMint,
              amount: last.amountOut,
              decimals: net?.side === "buy" ? net.token.decimals : (net?.quote.decimals ?? null)
            }
          ]
        )
      }
    }
    assert.isAbove(decoded, 2_000)
  })

  it("of launches account for every lamport, and are not trades", () => {
    const launches = Array.from(bank.blocks()).flatMap(({ transactions }) =>
      transactions.filter(({ kind }) => kind === "launch")
    )
    assert.isAbove(launches.length, 3)
    for (const { fee, receipt, slot, index, signatures } of launches) {
      assert.strictEqual(sum(receipt.lamports.before) - sum(receipt.lamports.after), fee)
      assert.lengthOf(signatures, 2)
      assert.deepStrictEqual(
        decodedBlock(bank, { slot })
          .transactions.slice(index, index + 1)
          .flatMap(legsIn),
        []
      )
    }
  })

  it("are removed after a while, together with their signatures", () => {
    const { bank: young, market } = newMarket("forgetful", 2)
    const { transactions } = market.advance()
    for (let slot = 0; slot < BLOCKS_KEPT + 5; slot++) {
      market.advance()
    }
    assert.strictEqual(Array.from(young.blocks()).length, BLOCKS_KEPT)
    assert.deepStrictEqual(
      transactions.map(({ signature }) => young.ledger.find(signature)),
      transactions.map(() => undefined)
    )
  })

  it("are the same for the same seed", () => {
    const again = lived("transactions")
    const [last] = blocks.slice(-1)
    assert.isDefined(last)
    if (last !== undefined) {
      assert.strictEqual(text(last, bank), text(last, again.bank))
    }
  })
})

const legsIn = (entry: ReturnType<typeof decodedBlock>["transactions"][number]) =>
  decodeTrades(Result.getOrThrow(entry)).legs

const directed = ({ side, token, quote }: ReturnType<typeof legsIn>[number]) =>
  side === "buy" ? { inputMint: quote.mint, outputMint: token.mint } : { inputMint: token.mint, outputMint: quote.mint }

const writableKeys = ({ receipt: { message } }: Transaction): ReadonlyArray<Address> =>
  message.keys.filter((_, index) => isWritable(message, index))
