import { assert, it } from "@effect/vitest"
import { Result } from "effect"
import { blockOf, decodeTransaction } from "../../../src/chain/decoding/decodeBlock.ts"
import { unpackBlock } from "../../../src/chain/decoding/PackedTransactions.ts"
import { slotDecoder } from "../../../src/chain/decoding/slotDecoder.ts"
import { readWireTransaction } from "../../../src/chain/decoding/wireTransaction.ts"
import { readUpdate } from "../../../src/chain/geyser/readUpdate.ts"
import { FrameReader } from "../../../scripts/bench/mainnet/frames.ts"
import { record } from "../../../scripts/bench/mainnet/recording.ts"
import { Replay } from "../../../scripts/bench/mainnet/replay.ts"
import { plain } from "./plainTransactions.ts"

const BLOCK_TIME = 1_790_000_000

/** The transactions of some slots of a replayed chain, by their index. */
const slots = () => {
  const replay = new Replay(record({ slots: 3, swapsPerSecond: 250, coins: 7, poolsPerCoin: 2 }), {
    tokens: 2,
    wallets: 3
  })
  replay.begin()
  return Array.from({ length: 3 }, () => {
    const { frames, slot } = replay.advance(BLOCK_TIME)
    const transactions = new FrameReader().read(frames).flatMap((message): ReadonlyArray<[number, Uint8Array]> => {
      const { transaction } = readUpdate(message)
      return transaction === null || transaction.info === null ? [] : [[transaction.index, transaction.info]]
    })
    return { slot, transactions }
  })
}

type Slot = ReturnType<typeof slots>[number]

const headOf = ({ slot, transactions }: Slot) => ({
  slot,
  parentSlot: slot - 1,
  blockTime: BLOCK_TIME,
  executed: transactions.length,
  blockhash: ""
})

const wholeOf = (slot: Slot) => ({
  head: headOf(slot),
  indexes: slot.transactions.map(([index]) => index).toSorted((a, b) => a - b)
})

/** The block of a slot as it is read from a node: whole, with its time, and in order. */
const readWhole = (slot: Slot) => {
  const { blockTime, ...head } = headOf(slot)
  const decoded = slot.transactions.map(([indexInBlock, info]) => {
    const read = readWireTransaction(info, { slot: slot.slot, blockTime, indexInBlock })
    return Result.isFailure(read) ? null : decodeTransaction(read.success, indexInBlock)
  })
  return blockOf({ ...head, blockTime }, decoded)
}

it("packs what arrives in any order as the same block as a whole slot", () => {
  for (const slot of slots()) {
    const decoding = slotDecoder.open(slot.slot)
    slot.transactions
      .toSorted(([a], [b]) => ((a * 7919) % 101) - ((b * 7919) % 101))
      .forEach(([index, info]) => decoding.decode(index, info.slice()))
    const { transactions: read, ...rest } = unpackBlock(decoding.pack(wholeOf(slot)).message)
    const { transactions: expected, ...expectedRest } = readWhole(slot)
    assert.isAbove(plain(read).length, 50)
    assert.deepStrictEqual(plain(read), plain(expected))
    assert.deepStrictEqual(rest, expectedRest)
  }
})

it("counts a malformed transaction, and keeps the others", () => {
  for (const slot of slots().slice(0, 1)) {
    const decoding = slotDecoder.open(slot.slot)
    slot.transactions.forEach(([index, info]) => decoding.decode(index, index === 0 ? new Uint8Array(0) : info))
    const block = unpackBlock(decoding.pack(wholeOf(slot)).message)
    assert.strictEqual(block.malformed, 1)
    assert.isUndefined(block.holdings)
    assert.strictEqual(plain(block.transactions).length, plain(readWhole(slot).transactions).length - 1)
  }
})

it("packs only the transactions of the whole slot", () => {
  for (const slot of slots().slice(0, 1)) {
    const decoding = slotDecoder.open(slot.slot)
    slot.transactions.forEach(([index, info]) => decoding.decode(index, info))
    const { head, indexes } = wholeOf(slot)
    const block = unpackBlock(decoding.pack({ head, indexes: indexes.slice(1) }).message)
    assert.strictEqual(block.malformed, 0)
    assert.deepStrictEqual(plain(block.transactions), plain(readWhole(slot).transactions).slice(1))
  }
})

it("packs no block without a transaction that was never decoded", () => {
  for (const slot of slots().slice(0, 1)) {
    const decoding = slotDecoder.open(slot.slot)
    slot.transactions.slice(1).forEach(([index, info]) => decoding.decode(index, info))
    assert.throws(() => decoding.pack(wholeOf(slot)))
  }
})
