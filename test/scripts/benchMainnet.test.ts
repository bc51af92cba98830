import { assert, describe, it } from "@effect/vitest"
import { decodeBlock } from "../../src/trades/decodeBlock.ts"
import { subscribeMethod } from "../../src/solana/geyser/geyserService.ts"
import { type GeyserTransaction, isUpdate } from "../../src/solana/geyser/geyserUpdates.ts"
import { SlotAssembly } from "../../src/solana/geyser/SlotAssembly.ts"
import { blockAnswer, partOf } from "../../src/solana/geyser/slotParts.ts"
import { FrameReader, frameOf, writeVarint5 } from "../../scripts/bench/mainnet/frames.ts"
import { record } from "../../scripts/bench/mainnet/recording.ts"
import { headOf, Replay, type ReplayedSlot } from "../../scripts/bench/mainnet/replay.ts"

const recording = record({ slots: 2, swapsPerSecond: 250, coins: 7, poolsPerCoin: 2 })

/** The block that the decoder makes of the frames of a slot. */
const decoded = (slot: ReplayedSlot) => {
  const assembly = new SlotAssembly<GeyserTransaction>()
  const messages = new FrameReader().read(Buffer.concat([slot.frames, frameOf(headOf(["heads"], slot))]))
  for (const message of messages) {
    const update = subscribeMethod.responseDeserialize(Buffer.from(message))
    const part = isUpdate(update) ? partOf(update) : null
    const whole = part === null ? null : assembly.add(part)
    if (whole !== null) {
      return decodeBlock(whole.head.slot, blockAnswer(whole))
    }
  }
  return null
}

const replayed = (variants: { tokens: number; wallets: number }, slots: number) => {
  const replay = new Replay(recording, variants)
  replay.begin()
  return Array.from({ length: slots }, (_, i) => {
    const slot = replay.advance(1_790_000_000 + i)
    const block = decoded(slot)
    if (block === null) {
      throw new Error("the slot is not whole")
    }
    return { slot, block }
  })
}

/** The parts of a block that do not depend on its addresses. */
const amountsOf = ({ block }: ReturnType<typeof replayed>[number]) =>
  Array.from(block.transactions, ({ legs, nets, transfers }) => ({
    legs: legs.map(({ confirmed, dex, quote, token }) => [dex, token.amount, quote.amount, confirmed]),
    counts: [nets.length, transfers.length]
  }))

const mintsOf = (slots: ReturnType<typeof replayed>) =>
  new Set(
    slots.flatMap(({ block }) =>
      Array.from(block.transactions, ({ legs }) => legs)
        .flat()
        .map(({ token }) => token.mint)
    )
  )

describe("recorded slots of a synthetic mainnet", () => {
  it("are decoded to the same amounts under other addresses", () => {
    const same = replayed({ tokens: 1, wallets: 1 }, 4)
    const varied = replayed({ tokens: 50, wallets: 30 }, 4)
    assert.isAbove(same.flatMap(amountsOf).flatMap(({ legs }) => legs).length, 200)
    assert.deepStrictEqual(varied.map(amountsOf), same.map(amountsOf))
    assert.isAbove(mintsOf(varied).size, mintsOf(same).size)
    assert.strictEqual(
      varied.flatMap(({ block }) => block.malformed).reduce((a, b) => a + b),
      0
    )
  })

  it("follow each other, and no signature comes twice", () => {
    const slots = replayed({ tokens: 3, wallets: 3 }, 6)
    const signatures = slots.flatMap(({ block }) => Array.from(block.transactions, ({ signature }) => signature))
    assert.strictEqual(new Set(signatures).size, signatures.length)
    slots.slice(1).forEach(({ block }, i) => {
      assert.strictEqual(block.parentSlot, slots[i]?.block.slot)
    })
  })
})

describe("a number of five bytes", () => {
  it("is written as the interface reads it", () => {
    for (const slot of [2 ** 28, 300_000_123, 2 ** 35 - 1]) {
      const update = { filters: [], transaction: { slot: String(300_000_000), transaction: {} } }
      const bytes = Buffer.from(subscribeMethod.responseSerialize(update))
      writeVarint5(bytes, slot, bytes.length - 5)
      const read = subscribeMethod.responseDeserialize(bytes)
      assert.strictEqual(isUpdate(read) ? read.transaction?.slot : null, String(slot))
    }
  })
})
