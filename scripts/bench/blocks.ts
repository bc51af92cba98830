/**
 * Whether reading blocks delays anything else: `node scripts/bench/blocks.ts [--json]`.
 *
 * A process of its own serves blocks of 5 MB, made by the simulator, as fast as they are asked for. This one follows them
 * through `BlockFeed` and watches its own event loop; then it reads some of the same blocks on its main thread, for
 * comparison. `delay` is how late a timer of one millisecond fires, in milliseconds, and
 * `longestCollection` the longest pause of this process's garbage collector, which is part of it.
 */
import { NodeHttpClient } from "@effect/platform-node"
import { Duration, Effect, Layer, Result, Stream } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { createServer } from "node:http"
import { monitorEventLoopDelay, PerformanceObserver } from "node:perf_hooks"
import { makeBank } from "../../src/simulator/Bank.ts"
import { getBlock } from "../../src/simulator/blockMethods.ts"
import { makeMarket } from "../../src/simulator/Market.ts"
import { type BlockEvent, BlockFeed } from "../../src/solana/BlockFeed.ts"
import * as BlockFeedRpc from "../../src/solana/BlockFeedRpc.ts"
import { blockWorker, decodeBlock } from "../../src/trades/decodeBlock.ts"
import { report } from "./report.ts"

const BYTES = 5_000_000
const VARIETIES = 3
const BLOCKS = 24
const WARM = 24
const FIRST = 1_000
const TIMER_MS = 1
const NS_PER_MS = 1e6

/** Blocks of the simulator, without their place in the chain; blocks that are too small are told several times over. */
const bodies = (): ReadonlyArray<string> => {
  const bank = makeBank({ seed: "blocks", startSlot: 1, startUnixMs: 1_790_000_000_000 })
  const market = makeMarket({ seed: "blocks", bank, swapsPerSecond: 1_300 })
  return Array.from({ length: VARIETIES }, () => {
    const { slot } = market.advance()
    const wanted = [slot, { maxSupportedTransactionVersion: 0, rewards: false }]
    const text = Result.getOrThrow(getBlock(bank, wanted))
    const list = text.slice(text.indexOf('"transactions":[') + '"transactions":['.length, -2)
    const times = Math.ceil(BYTES / list.length)
    return `"blockTime":1790000000,"transactions":[${Array.from({ length: times }, () => list).join(",")}]}`
  })
}

const serve = (): void => {
  const ready = bodies()
  const server = createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      const { method, params } = JSON.parse(Buffer.concat(chunks).toString())
      const slot = Number(params[0])
      const result =
        method === "getBlock" ? `{"parentSlot":${slot - 1},${ready[slot % VARIETIES] ?? ""}` : String(FIRST + BLOCKS)
      response.writeHead(200, { "content-type": "application/json" })
      response.end(`{"jsonrpc":"2.0","id":1,"result":${result}}`)
    })
  })
  server.listen(0, "127.0.0.1", () => {
    const address = server.address()
    process.stdout.write(`${typeof address === "object" ? address?.port : ""} ${ready[0]?.length ?? 0}\n`)
  })
}

/** Runs the work and tells how late timers fired meanwhile. */
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

/** What has been told. Blocks are not kept: whoever follows them takes what it needs. */
const told = { blocks: 0, transactions: 0, legs: 0 }

const count = (event: BlockEvent): void => {
  if (event._tag === "Block") {
    told.blocks += 1
    told.transactions += event.block.transactions.length
    told.legs += event.block.transactions.reduce((sum, { legs }) => sum + legs.length, 0)
  }
}

const take = (feed: BlockFeed["Service"], after: number, blocks: number) =>
  feed.follow(after).pipe(
    Stream.take(blocks),
    Stream.runForEach((event) => Effect.sync(() => count(event)))
  )

/** Threads start, code warms up and the heap settles on other blocks than those that are measured. */
const following = (rpcUrl: string) =>
  BlockFeed.use((feed) =>
    take(feed, FIRST - WARM, WARM).pipe(
      Effect.andThen(Effect.promise(() => watched(() => Effect.runPromise(take(feed, FIRST, BLOCKS)))))
    )
  ).pipe(
    Effect.provide(
      BlockFeedRpc.layer({ worker: blockWorker, rpcUrl, blocks: { poll: Duration.millis(50) } }).pipe(
        Layer.provide(NodeHttpClient.layerUndici)
      )
    )
  )

const readHere = async (rpcUrl: string, slot: number): Promise<void> => {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "getBlock", params: [slot] })
  const answer = await fetch(rpcUrl, { method: "POST", body })
  const { result } = JSON.parse(await answer.text())
  decodeBlock(slot, result)
}

const measure = async (): Promise<void> => {
  const server = spawn(process.execPath, [import.meta.filename, "--serve"], { stdio: ["ignore", "pipe", "inherit"] })
  const [line] = await once(server.stdout, "data")
  const [port, bytes] = String(line).trim().split(" ")
  const rpcUrl = `http://127.0.0.1:${port}`
  try {
    const idle = await watched(() => Effect.runPromise(Effect.sleep("2 seconds")))
    const inWorker = await Effect.runPromise(following(rpcUrl))
    const onMain = await watched(async () => {
      for (let i = 1; i <= 6; i++) {
        await readHere(rpcUrl, FIRST + i)
      }
    })
    report("blocks", {
      blockMegabytes: Number((Number(bytes) / 1e6).toFixed(2)),
      blocks: BLOCKS,
      transactionsPerBlock: Math.round(told.transactions / told.blocks),
      legsPerBlock: Math.round(told.legs / told.blocks),
      blocksPerSecond: Number(((BLOCKS * 1000) / inWorker.elapsedMs).toFixed(1)),
      idle,
      inWorker,
      onMain
    })
  } finally {
    server.kill()
  }
}

if (process.argv.includes("--serve")) {
  serve()
} else {
  await measure()
}
