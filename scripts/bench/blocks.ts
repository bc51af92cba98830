/**
 * Delay of the event loop while blocks are read: `node scripts/bench/blocks.ts [--json]`.
 *
 * A process of its own serves blocks of 5 MB, made by the simulator, as fast as they are asked for. This one follows them
 * through `TradeBlocks` and watches its own event loop; then it reads some of the same blocks on its main thread, for
 * comparison. `afterArrivalMs` is the time from the end of a block that was on its way for 200 ms, as over a network, until it is
 * delivered. `delay` is how late a timer of one millisecond fires, in milliseconds, and
 * `longestCollection` the longest pause of this process's garbage collector, which is part of it.
 */
import { NodeHttpClient } from "@effect/platform-node"
import { Duration, Effect, Layer, Stream } from "effect"
import { monitorEventLoopDelay, PerformanceObserver } from "node:perf_hooks"
import type { BlockEvent } from "../../src/chain/blocks/BlockFeed.ts"
import type { TradeBlock } from "../../src/chain/decoding/TradeBlock.ts"
import { TradeBlocks } from "../../src/chain/decoding/TradeBlocks.ts"
import { visitInTurns } from "../../src/domain/loopTime.ts"
import { decodeBlock } from "../../src/chain/decoding/decodeBlock.ts"
import { startBlockServer } from "./blocks/startBlockServer.ts"
import { report } from "./report.ts"

const BLOCKS = 24
const WARM = 24
const FIRST = 1_000
const TIMER_MS = 1
const NS_PER_MS = 1e6
/** How long a block of `afterArrivalMs` is on its way, and how many there are. */
const ON_ITS_WAY_MS = 200
const SLOW_BLOCKS = 12

/** Runs the work and returns the delays of timers meanwhile. */
const watched = async (work: () => Promise<unknown>) => {
  const delays = monitorEventLoopDelay({ resolution: TIMER_MS })
  let longestPause = 0
  const collections = new PerformanceObserver((list) => {
    longestPause = Math.max(longestPause, ...list.getEntries().map(({ duration }) => duration))
  })
  collections.observe({ entryTypes: ["gc"] })
  delays.enable()
  const began = performance.now()
  await work()
  const elapsedMs = performance.now() - began
  delays.disable()
  await new Promise((resume) => setImmediate(resume))
  collections.disconnect()
  const late = (ns: number) => Number(Math.max(0, ns / NS_PER_MS - TIMER_MS).toFixed(2))
  return {
    elapsedMs: Math.round(elapsedMs),
    delayP50: late(delays.percentile(50)),
    delayP99: late(delays.percentile(99)),
    delayMax: late(delays.max),
    longestCollection: Number(longestPause.toFixed(2))
  }
}

/** Blocks delivered so far, by number: their content is dropped. */
const told = { blocks: 0, transactions: 0, legs: 0 }

const count = Effect.fnUntraced(function* (event: BlockEvent<TradeBlock>) {
  if (event._tag === "Block") {
    told.blocks += 1
    yield* visitInTurns(event.block.transactions, ({ legs }) => {
      told.transactions += 1
      told.legs += legs.length
    })
  }
})

const take = (feed: TradeBlocks["Service"], after: number, blocks: number) =>
  feed.follow(after).pipe(Stream.take(blocks), Stream.runForEach(count))

/** Threads start, code warms up and the heap settles on other blocks than those that are measured. */
const following = (rpcUrl: string, blocks: number, concurrency: number) =>
  TradeBlocks.use((feed) =>
    take(feed, FIRST - WARM, WARM).pipe(
      Effect.andThen(Effect.promise(() => watched(() => Effect.runPromise(take(feed, FIRST, blocks)))))
    )
  ).pipe(
    Effect.provide(
      TradeBlocks.layerRpc({ rpcUrl, blocks: { poll: Duration.millis(50), concurrency } }).pipe(
        Layer.provide(NodeHttpClient.layerUndici)
      )
    )
  )

/** How long one block takes from the end of its arrival. */
const afterArrival = async (): Promise<number> => {
  const { port, reach, stop } = await startBlockServer(ON_ITS_WAY_MS)
  reach(FIRST + SLOW_BLOCKS)
  try {
    const { elapsedMs } = await Effect.runPromise(following(`http://127.0.0.1:${port}`, SLOW_BLOCKS, 1))
    return elapsedMs / SLOW_BLOCKS - ON_ITS_WAY_MS
  } finally {
    stop()
  }
}

const readHere = async (rpcUrl: string, slot: number): Promise<void> => {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "getBlock", params: [slot] })
  const answer = await fetch(rpcUrl, { method: "POST", body })
  const { result } = JSON.parse(await answer.text())
  decodeBlock(slot, result)
}

const measure = async (): Promise<void> => {
  const { bytes, port, reach, stop } = await startBlockServer()
  reach(FIRST + BLOCKS)
  const rpcUrl = `http://127.0.0.1:${port}`
  try {
    const idle = await watched(() => Effect.runPromise(Effect.sleep("2 seconds")))
    const inWorker = await Effect.runPromise(following(rpcUrl, BLOCKS, 2))
    const onMain = await watched(async () => {
      for (let i = 1; i <= 6; i++) {
        await readHere(rpcUrl, FIRST + i)
      }
    })
    report("blocks", {
      blockMegabytes: Number((bytes / 1e6).toFixed(2)),
      blocks: BLOCKS,
      transactionsPerBlock: Math.round(told.transactions / told.blocks),
      legsPerBlock: Math.round(told.legs / told.blocks),
      blocksPerSecond: Number(((BLOCKS * 1000) / inWorker.elapsedMs).toFixed(1)),
      idle,
      inWorker,
      afterArrivalMs: Number((await afterArrival()).toFixed(1)),
      onMain
    })
  } finally {
    stop()
  }
}

await measure()
