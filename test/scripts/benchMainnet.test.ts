import { assert, describe, it } from "@effect/vitest"
import { unpackBlock } from "../../src/chain/decoding/PackedTransactions.ts"
import { slotDecoder } from "../../src/chain/decoding/slotDecoder.ts"
import { subscribeMethod } from "../../src/chain/geyser/geyserService.ts"
import { readUpdate } from "../../src/chain/geyser/readUpdate.ts"
import { SlotAssembly } from "../../src/chain/geyser/SlotAssembly.ts"
import { missedOf } from "../../scripts/bench/report.ts"
import { boundsOf, failuresOf, lagOf, type RunFigures } from "../../scripts/bench/mainnet/figures.ts"
import { FrameReader, frameOf, writeVarint5 } from "../../scripts/bench/mainnet/frames.ts"
import { record } from "../../scripts/bench/mainnet/recording.ts"
import { headOf, Replay, type ReplayedSlot } from "../../scripts/bench/mainnet/replay.ts"

const recording = record({ slots: 2, swapsPerSecond: 250, coins: 7, poolsPerCoin: 2 })

/** The block that the decoder makes of the frames of a slot. */
const decoded = (slot: ReplayedSlot) => {
  const assembly = new SlotAssembly()
  const decoding = slotDecoder.open(slot.slot)
  const messages = new FrameReader().read(Buffer.concat([slot.frames, frameOf(headOf(["heads"], slot))]))
  for (const message of messages) {
    const { head, transaction } = readUpdate(message)
    if (transaction !== null) {
      const { index, info, slot } = transaction
      if (info !== null) {
        decoding.decode(index, info)
      }
      assembly.add({ _tag: "transaction", slot, index, isVote: info === null })
    } else if (head !== null) {
      const whole = assembly.add({ _tag: "head", head })
      return whole === null ? null : unpackBlock(decoding.pack(whole).message)
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

describe("the lag of slots", () => {
  const sent = new Map([1, 2, 3, 4, 5].map((slot) => [slot, { atMs: 400 * slot }]))
  const slots = [1, 2, 3, 4, 5]
  const lag = (arrived: ReadonlyArray<readonly [slot: number, atMs: number]>, endedMs = 4000) =>
    lagOf(slots, sent, new Map(arrived), endedMs)

  it("leaves out slots without a trade before the newest one that arrived", () => {
    const { missing, mostMs, p50Ms, seen, unseen } = lag([
      [1, 500],
      [3, 1400],
      [6, 2700]
    ])
    assert.deepStrictEqual(
      { seen, unseen, missing, p50Ms, mostMs },
      { seen: 2, unseen: 3, missing: 0, p50Ms: 100, mostMs: 200 }
    )
  })

  it("counts slots that are missing at the end as late by the time waited", () => {
    const { missing, mostMs, p99Ms, seen, slotsMost, slotsP99, unseen } = lag([
      [1, 500],
      [3, 1400]
    ])
    assert.deepStrictEqual([seen, unseen, missing], [2, 1, 2])
    assert.deepStrictEqual([p99Ms, mostMs, slotsP99, slotsMost], [2400, 2400, 6, 6])
  })

  it("is that of missing slots alone where no trade was seen", () => {
    const { missing, mostMs, p50Ms, seen } = lag([])
    assert.deepStrictEqual([seen, missing, p50Ms, mostMs], [0, 5, 2800, 3600])
  })
})

describe("a run", () => {
  const good: RunFigures = {
    chainEnded: null,
    seconds: 60,
    sent: { slots: 148 },
    lag: { seen: 140, slotsP99: 1.5 },
    behindSlots: 10,
    quotes: { count: 2970, statuses: { 200: 2970, 503: 20 }, unsent: 10, p99Ms: 5 },
    memoryMb: { service: 2_000 },
    slotMs: { threads: { geyser: 60, MainThread: 100 } },
    gaps: 0,
    lostReaders: 0,
    blocksApplied: 148
  }

  it("counts within its bounds, and misses no target at its bound", () => {
    assert.deepStrictEqual(failuresOf(good), [])
    assert.deepStrictEqual(missedOf(boundsOf(good)), [])
  })

  it.each<readonly [Partial<RunFigures>, string]>([
    [{ lag: { seen: 140, slotsP99: 1.51 } }, "Lag at p99, in slots: 1.51, and at most 1.5 was wanted."],
    [{ quotes: { ...good.quotes, p99Ms: 5.1 } }, "Quotes at p99, in ms: 5.1, and at most 5 was wanted."],
    [{ memoryMb: { service: 2_001 } }, "Memory, in MB: 2001, and at most 2000 was wanted."],
    [{ slotMs: { threads: { geyser: 60.1 } } }, "Decoding a slot, in ms: 60.1, and at most 60 was wanted."],
    [{ slotMs: null }, "Decoding a slot, in ms: unknown, and at most 60 was wanted."]
  ])("misses a target with %j", (change, reason) => {
    assert.deepStrictEqual(missedOf(boundsOf({ ...good, ...change })), [reason])
  })

  it.each<readonly [Partial<RunFigures>, string]>([
    [{ chainEnded: "SIGKILL" }, "The process of the chain ended: SIGKILL."],
    [{ sent: { slots: 142 } }, "142 slots were sent of the 150 that the time allows."],
    [{ lag: { seen: 0, slotsP99: null } }, "No trade was seen."],
    [{ behindSlots: null }, "The market has no slot."],
    [{ behindSlots: 11 }, "The market was 11 slots behind at the end."],
    [{ quotes: { ...good.quotes, unsent: 11 } }, "31 of 3001 quotes were not answered 200."],
    [{ quotes: { count: 0, statuses: {}, unsent: 0, p99Ms: null } }, "No quote was asked for."],
    [{ gaps: 1 }, "1 gaps were left."],
    [{ gaps: null }, "Gaps could not be counted."],
    [{ lostReaders: 2 }, "2 trade streams were lost."],
    [{ blocksApplied: 0 }, "No block was applied."]
  ])("does not count with %j", (change, reason) => {
    assert.deepStrictEqual(failuresOf({ ...good, ...change }), [reason])
  })
})

describe("a number of five bytes", () => {
  it("is written as the interface reads it", () => {
    for (const slot of [2 ** 28, 300_000_123, 2 ** 35 - 1]) {
      const update = { filters: [], transaction: { slot: String(300_000_000), transaction: {} } }
      const bytes = Buffer.from(subscribeMethod.responseSerialize(update))
      writeVarint5(bytes, slot, bytes.length - 5)
      assert.strictEqual(readUpdate(bytes).transaction?.slot, slot)
    }
  })
})
