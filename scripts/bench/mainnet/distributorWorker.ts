/**
 * The thread of a Geyser without its connection: takes the frames of one slot after the other and passes them to decoder
 * threads. Replies with the block, as the thread of the service does, and then with the processor time that this took.
 */
import { parentPort, workerData } from "node:worker_threads"
import type { PackedBlock } from "../../../src/chain/decoding/PackedTransactions.ts"
import { DecoderThreads } from "../../../src/chain/geyser/DecoderThreads.ts"
import { GeyserRun } from "../../../src/chain/geyser/GeyserRun.ts"
import { readUpdate } from "../../../src/chain/geyser/readUpdate.ts"
import { FrameReader } from "./frames.ts"

const TARGET = { host: "bench", url: "", token: null }
/** Bytes that a socket gives at once. */
const READ_BYTES = 64 * 1024

/** Processor time of this thread for a slot. */
export interface Distributed {
  readonly _tag: "distributed"
  readonly us: number
}

const nextTurn = () => new Promise((resume) => setImmediate(resume))

const decoders = new DecoderThreads<PackedBlock>(
  new URL("../../../src/chain/decoding/decoderWorker.ts", import.meta.url),
  Number(workerData),
  {
    read: () => run.regulate(),
    lost: (detail) => {
      throw new Error(`a decoder thread ended: ${detail}`)
    }
  }
)
let onBlock: ((slot: number) => void) | null = null
const run = new GeyserRun<PackedBlock>({ run: 1, from: null, commitment: 1 }, decoders, (event, transfer = []) => {
  parentPort?.postMessage(event, transfer)
  if (event._tag === "block") {
    onBlock?.(event.slot)
  } else if (event._tag === "unreadable") {
    throw new Error(`slot ${event.slot} cannot be decoded`)
  }
})

const pass = async (frames: Uint8Array): Promise<Distributed> => {
  const messages = new FrameReader().read(Buffer.from(frames.buffer, frames.byteOffset, frames.length))
  const packed = new Promise<number>((resume) => (onBlock = resume))
  const before = process.threadCpuUsage()
  let bytes = 0
  for (const message of messages) {
    run.take(readUpdate(message), TARGET, null)
    bytes += message.length
    if (bytes >= READ_BYTES) {
      bytes = 0
      await nextTurn()
    }
  }
  run.taken((await packed) + 1)
  const { system, user } = process.threadCpuUsage(before)
  return { _tag: "distributed", us: user + system }
}

parentPort?.on("message", async (frames: Uint8Array) => parentPort?.postMessage(await pass(frames), []))
