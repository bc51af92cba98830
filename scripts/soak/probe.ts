/**
 * Loaded into the process of the service by `--import`: answers the process that started it with processor time of the main
 * thread, and with memory after a collection in every thread and the delay of the event loop since the answer before. As
 * faults, it holds the event loop for a while (`busy`) and takes memory (`ballast`), which `unload` returns.
 */
import { monitorEventLoopDelay } from "node:perf_hooks"
import { BroadcastChannel, isMainThread } from "node:worker_threads"
import { at } from "../chaos/repair/answers.ts"

/** Sampling interval of the delay of the event loop, in milliseconds. */
const RESOLUTION_MS = 10
/** Time that the other threads have for their collection. */
const THREADS_MS = 1000
const MB = 2 ** 20

/** A question of the parent process. */
export interface ProbeQuestion {
  readonly id: number
  readonly ask: "ballast" | "busy" | "memory" | "processor" | "unload"
}

/** Memory in megabytes after a collection, and delays of the event loop in milliseconds. */
export interface MemoryAnswer {
  readonly heapMb: number
  /** Heaps of the worker threads that answered. */
  readonly workersMb: number
  readonly workers: number
  /** Array buffers and other memory outside of the heap of the main thread. */
  readonly externalMb: number
  readonly residentMb: number
  readonly loopP50Ms: number
  readonly loopP99Ms: number
  readonly loopMaxMs: number
}

/** Processor time of the main thread so far, in microseconds. */
export interface ProcessorAnswer {
  readonly micros: number
}

// The rule is of windows, whose messages have an origin.
// oxlint-disable-next-line unicorn/require-post-message-target-origin
const send = (channel: BroadcastChannel, content: number | "collect") => channel.postMessage(content)

const collect = (): number => {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed / MB
}

/** Collects in every other thread, and sums what they have. */
const collectWorkers = (channel: BroadcastChannel) =>
  new Promise<ReadonlyArray<number>>((resume) => {
    const heaps: Array<number> = []
    channel.addEventListener("message", (message: unknown) => {
      const heap = at(message, "data")
      if (typeof heap === "number") {
        heaps.push(heap)
      }
    })
    send(channel, "collect")
    setTimeout(() => resume(heaps), THREADS_MS).unref()
  })

const processor = (): ProcessorAnswer => {
  const { system, user } = process.threadCpuUsage()
  return { micros: system + user }
}

/** Time for which the event loop is held at once, and memory that is taken at once. */
const BUSY_MS = 400
const BALLAST_BYTES = 200 * MB
const ballast: Array<Buffer> = []

const holdLoop = (): void => {
  const until = performance.now() + BUSY_MS
  while (performance.now() < until) {
    // Nothing else runs meanwhile.
  }
}

const faults = {
  busy: holdLoop,
  ballast: () => void ballast.push(Buffer.alloc(BALLAST_BYTES, 1)),
  unload: () => void ballast.splice(0)
}

const answerParent = () => {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delay.enable()
  const ms = (nanos: number) => Math.max(0, nanos / 1e6 - RESOLUTION_MS)
  const memory = async (): Promise<MemoryAnswer> => {
    const loop = { loopP50Ms: ms(delay.percentile(50)), loopP99Ms: ms(delay.percentile(99)), loopMaxMs: ms(delay.max) }
    const channel = new BroadcastChannel("soak")
    const heaps = await collectWorkers(channel)
    channel.close()
    const heapMb = collect()
    const { external, rss } = process.memoryUsage()
    // Neither the collection nor its wait is a delay of the service.
    delay.reset()
    const workersMb = heaps.reduce((sum, heap) => sum + heap, 0)
    return { heapMb, workersMb, workers: heaps.length, externalMb: external / MB, residentMb: rss / MB, ...loop }
  }
  process.on("message", (question: ProbeQuestion) => {
    const reply = (answer: MemoryAnswer | ProcessorAnswer) => process.send?.({ id: question.id, ...answer })
    if (question.ask === "processor") {
      reply(processor())
    } else if (question.ask !== "memory") {
      faults[question.ask]()
      reply(processor())
    } else {
      void memory().then(reply)
    }
  })
  process.channel?.unref()
}

const answerMainThread = () => {
  const channel = new BroadcastChannel("soak")
  channel.unref()
  channel.addEventListener("message", (message: unknown) => {
    if (at(message, "data") === "collect") {
      send(channel, collect())
    }
  })
}

if (isMainThread) {
  answerParent()
} else {
  answerMainThread()
}
