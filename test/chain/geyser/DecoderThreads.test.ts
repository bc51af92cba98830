import { assert, describe, it, vi } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { Worker } from "node:worker_threads"
import type { PackedReply } from "../../../src/chain/blocks/blockMessages.ts"
import type { PackedBlock } from "../../../src/chain/decoding/PackedTransactions.ts"
import { slotDecoder } from "../../../src/chain/decoding/slotDecoder.ts"
import { DecoderThreads } from "../../../src/chain/geyser/DecoderThreads.ts"
import type { DecoderReply } from "../../../src/chain/geyser/geyserMessages.ts"
import { readUpdate } from "../../../src/chain/geyser/readUpdate.ts"
import type { WholeSlot } from "../../../src/chain/geyser/SlotAssembly.ts"
import { type Decoders, decodersHere } from "../../../src/chain/geyser/slotDecoding.ts"
import { FrameReader } from "../../../scripts/bench/mainnet/frames.ts"
import { record } from "../../../scripts/bench/mainnet/recording.ts"
import { Replay } from "../../../scripts/bench/mainnet/replay.ts"
import { EXIT, FAIL, HANG, KEEP, type StrangeBlock, THROW, UNPACKED } from "../../support/strangeDecoder.ts"
import { until } from "../accounts/accounts.ts"

const STRANGE = new URL("../../support/strangeDecoder.ts", import.meta.url)
const REAL = new URL("../../../src/chain/decoding/decoderWorker.ts", import.meta.url)

/** Decoder threads until the scope closes, and what happens in them. Their clock stands still. */
const threads = Effect.fnUntraced(function* <Message = StrangeBlock>(count: number, entry = STRANGE) {
  const workers: Array<Worker> = []
  const note = (worker: Worker) => workers.push(worker)
  yield* Effect.acquireRelease(
    Effect.sync(() => process.on("worker", note)),
    () =>
      Effect.promise(async () => {
        process.off("worker", note)
        await Promise.all(workers.map((worker) => worker.terminate()))
      })
  )
  const lost: Array<string> = []
  const seen = { nowMs: 0, reads: 0 }
  const decoders = new DecoderThreads<Message>(
    entry,
    count,
    { read: () => (seen.reads += 1), lost: (detail) => lost.push(detail) },
    () => seen.nowMs
  )
  return { decoders, lost, seen, workers }
})

const wholeOf = (slot: number, indexes: ReadonlyArray<number>): WholeSlot => ({
  head: { slot, parentSlot: slot - 1, blockTime: 1_790_000_000, executed: indexes.length, blockhash: "" },
  indexes
})

/** Opens a slot. `packed` packs it and waits for the reply. */
const opened = <Message>(decoders: Decoders<Message>, slot: number) => {
  const reply = Deferred.makeUnsafe<PackedReply<Message> | null>()
  const decoding = decoders.open(slot, (packed) => Deferred.doneUnsafe(reply, Effect.succeed(packed)))
  return {
    ...decoding,
    hasReply: () => Deferred.isDoneUnsafe(reply),
    packed: (...indexes: ReadonlyArray<number>) =>
      Effect.suspend(() => {
        decoding.pack(wholeOf(slot, indexes))
        return Deferred.await(reply)
      })
  }
}

/** Decodes these transactions, packs them in the reversed order, and returns the last byte of each; null when unreadable. */
const decoded = (decoders: Decoders<StrangeBlock>, slot: number, ...infos: ReadonlyArray<ReadonlyArray<number>>) => {
  const { decode, packed } = opened(decoders, slot)
  infos.forEach((info, index) => decode(index, Uint8Array.from(info)))
  return Effect.map(packed(...Array.from(infos.keys()).toReversed()), (reply) =>
    reply === null ? null : [reply.message.slot, ...reply.message.packed]
  )
}

/** The slots of a replayed chain. */
const slots = () => {
  const replay = new Replay(record({ slots: 4, swapsPerSecond: 250, coins: 7, poolsPerCoin: 2 }), {
    tokens: 2,
    wallets: 3
  })
  replay.begin()
  return Array.from({ length: 4 }, () => {
    const { frames, slot } = replay.advance(1_790_000_000)
    const transactions = new FrameReader().read(frames).flatMap((message) => readUpdate(message).transaction ?? [])
    return { slot, transactions }
  })
}

/** Packs the slots, whose transactions arrive in turns. */
const packedBy = (decoders: Decoders<PackedBlock>, chain: ReturnType<typeof slots>) => {
  const open = chain.map(({ slot, transactions }) => ({ ...opened(decoders, slot), transactions }))
  const most = Math.max(...chain.map(({ transactions }) => transactions.length))
  for (let place = 0; place < most; place++) {
    open.forEach(({ decode, transactions }) => {
      const { index, info } = transactions[place] ?? { index: 0, info: null }
      if (info !== null) {
        decode(index, info)
      }
    })
  }
  return Effect.forEach(open, ({ packed, transactions }) => packed(...transactions.map(({ index }) => index)), {
    concurrency: "unbounded"
  })
}

describe("decoder threads", () => {
  it.live.each([1, 3])("pack the same bytes as a decoder in the same thread: %d", (count) =>
    Effect.gen(function* () {
      const chain = slots()
      const { decoders } = yield* threads<PackedBlock>(count, REAL)
      const expected = yield* packedBy(decodersHere(slotDecoder), chain)
      assert.isTrue(expected.every((reply) => reply !== null && reply.message.packed.length > 10_000))
      const found = yield* packedBy(decoders, chain)
      assert.deepStrictEqual(
        found.map((reply) => reply?.message),
        expected.map((reply) => reply?.message)
      )
      // The memory goes on to the main thread, so it must be the memory of the message.
      found.forEach((reply) => assert.strictEqual(reply?.transfer[0], reply?.message.packed.buffer))
      assert.strictEqual(decoders.unread, 0)
    }).pipe(Effect.scoped)
  )

  it.live("lose the slot of a decoder that throws, and no other one", () =>
    Effect.gen(function* () {
      const { decoders, lost } = yield* threads(1)
      assert.isNull(yield* decoded(decoders, 1, [KEEP, 5], [THROW]))
      assert.isNull(yield* decoded(decoders, UNPACKED, [KEEP, 5]))
      assert.deepStrictEqual(yield* decoded(decoders, 2, [KEEP, 5], [KEEP, 6]), [2, 6, 5])
      const { decode, packed } = opened(decoders, 3)
      decode(0, Uint8Array.of(THROW))
      decode(1, Uint8Array.of(KEEP, 7))
      // A transaction that is not part of the whole slot does not matter.
      assert.deepStrictEqual((yield* packed(1))?.message, { slot: 3, decoded: 1, packed: Uint8Array.of(7) })
      assert.deepStrictEqual(lost, [])
    }).pipe(Effect.scoped)
  )

  it.live.each([
    { command: EXIT, detail: "ended with 3" },
    { command: FAIL, detail: "the thread failed" }
  ])("lose the slots of a thread that ends, and decode the next ones: $detail", ({ command, detail }) =>
    Effect.gen(function* () {
      const { decoders, lost } = yield* threads(2)
      assert.isNull(yield* decoded(decoders, 1, [KEEP, 5], [command, ...Array.from({ length: 100_000 }, () => 0)]))
      assert.deepStrictEqual(lost, [detail])
      assert.strictEqual(decoders.unread, 0)
      for (let slot = 2; slot < 6; slot++) {
        assert.deepStrictEqual(yield* decoded(decoders, slot, [KEEP, 5]), [slot, 5])
      }
    }).pipe(Effect.scoped)
  )

  it.live("are started again, but only after a second, and lose slots until then", () =>
    Effect.gen(function* () {
      const { decoders, lost, seen, workers } = yield* threads(1)
      assert.isNull(yield* decoded(decoders, 1, [EXIT]))
      seen.nowMs = 999
      assert.isNull(yield* decoded(decoders, 2, [KEEP, 5]))
      seen.nowMs = 1_000
      assert.deepStrictEqual(yield* decoded(decoders, 3, [KEEP, 5]), [3, 5])
      assert.deepStrictEqual([lost.length, workers.length], [1, 2])
    }).pipe(Effect.scoped)
  )

  it.live("lose a slot whose first part was in a thread that has ended", () =>
    Effect.gen(function* () {
      const { decoders, lost, seen } = yield* threads(1)
      const { decode, hasReply, packed } = opened(decoders, 1)
      decode(0, Uint8Array.of(KEEP, 5))
      const { decode: end } = opened(decoders, 2)
      end(0, Uint8Array.of(EXIT))
      yield* until("the thread has ended", () => lost.length === 1)
      seen.nowMs = 1_000
      const next = opened(decoders, 3)
      next.decode(0, Uint8Array.of(KEEP, 6))
      // The thread that runs now does not have the first part.
      decode(1, new Uint8Array(100_000))
      assert.deepStrictEqual([hasReply(), decoders.unread], [false, 0])
      assert.isNull(yield* packed(1))
      assert.strictEqual((yield* next.packed(0))?.message.decoded, 1)
    }).pipe(Effect.scoped)
  )

  it.live("are ended when they owe a reply at thirty looks in a row, and only then", () =>
    Effect.gen(function* () {
      const { decoders, lost } = yield* threads(1)
      assert.deepStrictEqual(yield* decoded(decoders, 1, [KEEP, 5]), [1, 5])
      const endSilent = (times: number) => Array.from({ length: times }, () => decoders.endSilent())
      endSilent(3_600)
      assert.deepStrictEqual(yield* decoded(decoders, 2, [KEEP, 5]), [2, 5])
      const ended = vi.spyOn(Worker.prototype, "terminate")
      const { decode, packed } = opened(decoders, 3)
      decode(0, Uint8Array.of(HANG))
      const reply = yield* Effect.forkChild(packed(0), { startImmediately: true })
      endSilent(30)
      assert.strictEqual(ended.mock.calls.length, 0)
      endSilent(1)
      assert.strictEqual(ended.mock.calls.length, 1)
      ended.mockRestore()
      assert.isNull(yield* Fiber.join(reply))
      assert.strictEqual(lost.length, 1)
    }).pipe(Effect.scoped)
  )

  it.live("take the slots that a busy thread does not", () =>
    Effect.gen(function* () {
      const { decoders } = yield* threads(2)
      const { decode } = opened(decoders, 1)
      decode(0, new Uint8Array(100_000).fill(HANG))
      for (let slot = 2; slot < 6; slot++) {
        assert.deepStrictEqual(yield* decoded(decoders, slot, [KEEP, 5]), [slot, 5])
      }
    }).pipe(Effect.scoped)
  )

  it.live("count bytes from when they are sent until they are decoded, or the thread ends", () =>
    Effect.gen(function* () {
      const { decoders, lost, seen, workers } = yield* threads(1)
      const { decode, packed } = opened(decoders, 1)
      decode(0, new Uint8Array(100_000))
      assert.isAbove(decoders.unread, 99_999)
      yield* packed(0)
      assert.deepStrictEqual([decoders.unread, seen.reads], [0, 1])
      Array.from({ length: 100 }, (_, index) => decode(index, new Uint8Array(10)))
      const { decode: hang } = opened(decoders, 2)
      hang(0, new Uint8Array(100_000).fill(HANG))
      assert.isAbove(decoders.unread, 99_999)
      yield* Effect.promise(async () => workers[0]?.terminate())
      yield* until("the thread has ended", () => lost.length === 1)
      assert.deepStrictEqual([decoders.unread, seen.reads], [0, 2])
    }).pipe(Effect.scoped)
  )

  it.live("get many transactions in one message", () =>
    Effect.gen(function* () {
      const { decoders, seen } = yield* threads(1)
      const { decode, packed } = opened(decoders, 1)
      Array.from({ length: 100 }, (_, index) => decode(index, new Uint8Array(1_000)))
      assert.strictEqual((yield* packed(0))?.message.decoded, 100)
      assert.strictEqual(seen.reads, 2)
    }).pipe(Effect.scoped)
  )

  it.live("do not reply about a slot that was dropped", () =>
    Effect.gen(function* () {
      const { decoders } = yield* threads(1)
      const posted = vi.spyOn(Worker.prototype, "postMessage")
      const { decode, drop, hasReply, pack } = opened(decoders, 1)
      decode(0, Uint8Array.of(KEEP, 5))
      pack(wholeOf(1, [0]))
      drop()
      assert.deepStrictEqual(posted.mock.lastCall, [{ _tag: "drop", decoding: 1 }, []])
      posted.mockRestore()
      assert.deepStrictEqual(yield* decoded(decoders, 2, [KEEP, 5]), [2, 5])
      assert.isFalse(hasReply())
    }).pipe(Effect.scoped)
  )

  it.live("forget a slot that was dropped", () =>
    Effect.gen(function* () {
      const worker = yield* Effect.acquireRelease(
        Effect.sync(() => new Worker(STRANGE)),
        (started) => Effect.promise(() => started.terminate())
      )
      const replies: Array<DecoderReply<StrangeBlock>> = []
      worker.on("message", (reply: DecoderReply<StrangeBlock>) => replies.push(reply))
      const bytes = Uint8Array.of(2, 0, 0, 0, KEEP, 5)
      worker.postMessage({ _tag: "decode", decoding: 7, slot: 1, indexes: [0], bytes }, [])
      worker.postMessage({ _tag: "drop", decoding: 7 }, [])
      worker.postMessage({ _tag: "pack", decoding: 7, whole: wholeOf(1, []) }, [])
      yield* until("the slot is packed", () => replies.length === 2)
      const reply = replies[1]
      assert.strictEqual(reply?._tag === "packed" ? reply.packed?.message.decoded : null, 0)
    }).pipe(Effect.scoped)
  )
})
