/**
 * Processor time of the Geyser thread for a slot of mainnet:
 * `npm run bench:slots -- --json [--swaps 3000] [--rounds 6] [--decoders 1]`.
 *
 * Reads, decodes and packs slots as they are sent, message by message, with tokens and wallets that change from slot to
 * slot, without the connection. `threadMs` is the time of the one thread, `processMs` that of the process with its
 * collector, both for a slot of 400 ms at this rate. `writeUs` is an account write, read and copied. `pricingUsPerSwap` is what one
 * thread that prices blocks in order takes for a swap, and `encodingUsPerSwap` what it takes to make the message for other processes,
 * of which `busBytesPerSwap` is the size, compressed. Exits with 1 when `threadMs` is above 60.
 *
 * With several decoders, `distributorMs` is the time of the thread that passes transactions on and blocks back, and
 * `decoderMs` the time of all decoder threads together, both for a slot. Then there is no other figure, and no bound.
 */
import { Effect, Stream } from "effect"
import { on } from "node:events"
import { parseArgs } from "node:util"
import { Worker } from "node:worker_threads"
import { unpackBlock } from "../../src/chain/decoding/PackedTransactions.ts"
import { slotDecoder } from "../../src/chain/decoding/slotDecoder.ts"
import { decodingLimits } from "../../src/chain/geyser/DecoderThreads.ts"
import { readUpdate } from "../../src/chain/geyser/readUpdate.ts"
import { makeBatches } from "../../src/market/tape/blockBatches.ts"
import { encodeBlock } from "../../src/market/tape/blockMessage.ts"
import { makeBlockPricing } from "../../src/market/tape/priceBlocks.ts"
import { SLOT_MS } from "../../src/simulator/chain/Bank.ts"
import { numberOption } from "../options.ts"
import { FrameReader, frameOf } from "./mainnet/frames.ts"
import { record } from "./mainnet/recording.ts"
import { headOf, Replay, type ReplayedSlot } from "./mainnet/replay.ts"
import { report } from "./report.ts"
import { threadSeconds } from "./start/processTree.ts"

const { values } = parseArgs({
  options: {
    json: { type: "boolean" },
    swaps: { type: "string", default: "3000" },
    rounds: { type: "string", default: "6" },
    decoders: { type: "string", default: "1" }
  }
})
const swapsPerSecond = numberOption("--swaps", values.swaps)
const rounds = numberOption("--rounds", values.rounds, { whole: true })
const decoders = numberOption("--decoders", values.decoders, { least: 1, most: 16, whole: true })

const SLOTS = 8
/** Rounds in which code is compiled. */
const WARM = 2
const MOST_THREAD_MS = 60

/** What the thread makes of a slot. */
const decode = ({ slot, unixTimestamp }: ReplayedSlot, messages: ReadonlyArray<Buffer>) => {
  const indexes: Array<number> = []
  const decoding = slotDecoder.open(slot)
  for (const message of messages) {
    const { transaction } = readUpdate(message)
    if (transaction !== null && transaction.info !== null) {
      indexes.push(transaction.index)
      decoding.decode(transaction.index, transaction.info)
    }
  }
  const head = { slot, parentSlot: slot - 1, blockTime: unixTimestamp, executed: indexes.length, blockhash: "" }
  return decoding.pack({ head, indexes })
}

const readWrites = ({ writes }: ReplayedSlot): void => {
  for (const { body } of writes) {
    readUpdate(body).account?.data.slice()
  }
}

const rounded = (value: number, digits: number) => Number(value.toFixed(digits))
/** Slots of the rate that this many swaps are. */
const slotsOf = (swaps: number) => swaps / ((swapsPerSecond * SLOT_MS) / 1000)

/** Processor time of all decoder threads so far, in microseconds. */
const decoderUs = (): number => 1e6 * (threadSeconds(process.pid)["decoder"] ?? 0)

/** Times with several decoders. Each of them compiles the code. */
const reportDistributed = async (replay: Replay): Promise<void> => {
  const thread = new Worker(new URL("./mainnet/distributorWorker.ts", import.meta.url), {
    workerData: decoders,
    resourceLimits: decodingLimits
  })
  const pass = async (slot: ReplayedSlot): Promise<number> => {
    const frames = Uint8Array.from(Buffer.concat([slot.frames, frameOf(headOf(["heads"], slot))]))
    thread.postMessage(frames, [frames.buffer])
    for await (const [event] of on(thread, "message")) {
      if (event._tag === "distributed") {
        return event.us
      }
    }
    return 0
  }
  const warm = WARM * decoders * SLOTS
  const used = { distributorUs: 0, swaps: 0 }
  let decodersBefore = 0
  for (let i = 0; i < warm + rounds * SLOTS; i++) {
    if (i === warm) {
      Object.assign(used, { distributorUs: 0, swaps: 0 })
      decodersBefore = decoderUs()
    }
    const slot = replay.advance(1_790_000_000 + i)
    used.distributorUs += await pass(slot)
    used.swaps += slot.swaps
  }
  const slots = slotsOf(used.swaps)
  report("slots", {
    swapsPerSecond,
    decoders,
    distributorMs: rounded(used.distributorUs / slots / 1000, 2),
    decoderMs: rounded((decoderUs() - decodersBefore) / slots / 1000, 1)
  })
}

const sums = { threadUs: 0, processUs: 0, writesUs: 0, swaps: 0, transactions: 0, writes: 0, packedBytes: 0 }

const measure = (slot: ReplayedSlot): void => {
  const messages = new FrameReader().read(slot.frames)
  const [thread, whole] = [process.threadCpuUsage(), process.cpuUsage()]
  const { transfer } = decode(slot, messages)
  const [threadUsed, wholeUsed] = [process.threadCpuUsage(thread), process.cpuUsage(whole)]
  const before = process.threadCpuUsage()
  readWrites(slot)
  const writesUsed = process.threadCpuUsage(before)
  sums.threadUs += threadUsed.user + threadUsed.system
  sums.processUs += wholeUsed.user + wholeUsed.system
  sums.writesUs += writesUsed.user + writesUsed.system
  sums.swaps += slot.swaps
  sums.transactions += slot.transactions
  sums.writes += slot.writes.length
  sums.packedBytes += transfer.reduce((sum, { byteLength }) => sum + byteLength, 0)
}

const replay = new Replay(record({ slots: SLOTS, swapsPerSecond, coins: 200, poolsPerCoin: 3 }), {
  tokens: 120,
  wallets: 400
})
replay.begin()
if (decoders > 1) {
  await reportDistributed(replay)
  process.exit()
}
for (let round = 0; round < WARM + rounds; round++) {
  if (round === WARM) {
    Object.assign(sums, {
      threadUs: 0,
      processUs: 0,
      writesUs: 0,
      swaps: 0,
      transactions: 0,
      writes: 0,
      packedBytes: 0
    })
  }
  for (let i = 0; i < SLOTS; i++) {
    measure(replay.advance(1_790_000_000 + round))
  }
}

/** Processor time of this thread since an earlier reading, in microseconds. */
const threadUs = (before: NodeJS.CpuUsage): number => {
  const { system, user } = process.threadCpuUsage(before)
  return system + user
}

/** Prices the slots in order and makes their messages for other processes. Their own swaps price SOL. */
const appended = Effect.fnUntraced(function* (slots: ReadonlyArray<ReplayedSlot>) {
  const nothing = {
    of: () => null,
    lifetime: null,
    isStale: true,
    silentMs: 0,
    clock: { slot: 0, epoch: 0, unixTimestamp: 0 }
  }
  const pricing = makeBlockPricing({ at: () => nothing, warm: () => Effect.void })
  const batches = makeBatches()
  const used = { pricingUs: 0, encodingUs: 0, bytes: 0, swaps: 0 }
  for (const slot of slots) {
    const { message } = decode(slot, new FrameReader().read(slot.frames))
    const before = process.threadCpuUsage()
    const priced = Stream.mapEffect(batches({ _tag: "Block", block: unpackBlock(message) }), pricing.price)
    const blocks = yield* Stream.runCollect(priced)
    used.pricingUs += threadUs(before)
    const between = process.threadCpuUsage()
    used.bytes += blocks.reduce((sum, batch) => sum + encodeBlock(batch).length, 0)
    used.encodingUs += threadUs(between)
    used.swaps += slot.swaps
  }
  return used
})

const slots = slotsOf(sums.swaps)
const threadMs = rounded(sums.threadUs / slots / 1000, 1)
const nextSlots = (count: number) =>
  Array.from({ length: count * SLOTS }, () => replay.advance(1_790_000_000 + WARM + rounds))
await Effect.runPromise(appended(nextSlots(WARM)))
const sent = await Effect.runPromise(appended(nextSlots(rounds)))
report("slots", {
  swapsPerSecond,
  threadMs,
  processMs: rounded(sums.processUs / slots / 1000, 1),
  transactionUs: rounded(sums.threadUs / sums.transactions, 1),
  writeUs: rounded(sums.writesUs / sums.writes, 2),
  packedBytesPerSwap: Math.round(sums.packedBytes / sums.swaps),
  pricingUsPerSwap: rounded(sent.pricingUs / sent.swaps, 1),
  encodingUsPerSwap: rounded(sent.encodingUs / sent.swaps, 1),
  busBytesPerSwap: Math.round(sent.bytes / sent.swaps),
  mostThreadMs: MOST_THREAD_MS
})
process.exit(threadMs <= MOST_THREAD_MS ? 0 : 1)
