/**
 * A rebuild of the market in memory after a repair, while the chain goes on: its processor time, and how late live blocks are
 * applied and the event loop turns meanwhile. `--trades 4000000` is the number of stored trades; `--json` prints one line.
 * The stored blocks are made up in the same thread, which costs about as much as reading them.
 */
import { Effect, Fiber } from "effect"
import { monitorEventLoopDelay } from "node:perf_hooks"
import { parseArgs } from "node:util"
import { Market } from "../../src/market/tape/Market.ts"
import { defaultLimits } from "../../src/market/tape/makeMarket.ts"
import { Tape } from "../../src/market/tape/Tape.ts"
import type { TapeTrade } from "../../src/market/model/TapeTrade.ts"
import { numberOption } from "../options.ts"
import { percentile, report } from "./report.ts"
import { openMarket, OPENING_MS } from "./tapeMarket.ts"

const { values } = parseArgs({
  options: { trades: { type: "string", default: "4000000" }, json: { type: "boolean" } }
})
const TRADES = numberOption("--trades", values.trades, { whole: true, least: 1000 })
const BLOCK_TRADES = 400
const BLOCK_MS = 400
const FIRST_SLOT = 300_000_000
const shape = { seed: 7, tokens: 20_000, wallets: 50_000, habits: 10, pace: 1000, skew: 3 }

const blocks = Math.ceil(TRADES / BLOCK_TRADES)
const next = openMarket(shape)

const batchOf = (place: number, trades: ReadonlyArray<TapeTrade>) => {
  const slot = FIRST_SLOT + place
  const timeMs = OPENING_MS + place * BLOCK_MS
  return {
    slot,
    timeMs,
    launches: [],
    afterGap: false,
    transactions: [],
    trades: trades.map((trade) => ({ ...trade, slot, timeMs }))
  }
}

const main = Effect.gen(function* () {
  const market = yield* Market
  const tape = yield* Tape
  const live = { late: Array<number>(), made: 0 }
  const applyNext = Effect.gen(function* () {
    const batch = batchOf(blocks + live.made++, next(BLOCK_TRADES))
    const dueAt = performance.now()
    yield* tape.apply(batch)
    return performance.now() - dueAt
  })
  yield* applyNext
  const before = yield* Effect.forEach(Array.from({ length: 20 }), () => applyNext)

  const beganAt = performance.now()
  /** A block every 400 ms by the clock. How late it is applied counts from when it was due. */
  const applying = yield* Effect.forkChild(
    Effect.forever(
      Effect.gen(function* () {
        const dueAt = beganAt + (live.late.length + 1) * BLOCK_MS
        yield* Effect.sleep(Math.max(0, dueAt - performance.now()))
        yield* applyNext
        live.late.push(performance.now() - dueAt)
      })
    )
  )
  const delays = monitorEventLoopDelay({ resolution: 5 })
  delays.enable()
  const used = process.threadCpuUsage()
  yield* tape.rebuild((memory) =>
    Effect.gen(function* () {
      for (let place = 0; place < blocks; place++) {
        memory.add(batchOf(place, next(BLOCK_TRADES)), Date.now())
        yield* Effect.yieldNow
      }
      const timeMs = OPENING_MS + blocks * BLOCK_MS
      const readFrom = Math.floor(OPENING_MS / 1000)
      const progress = { slot: memory.slot, timeMs, firstSlot: FIRST_SLOT, readFrom, gaps: [], repairs: 1 }
      return { progress, from: readFrom }
    })
  )
  const { system, user } = process.threadCpuUsage(used)
  delays.disable()
  yield* Fiber.interrupt(applying)
  report("rebuild", {
    trades: blocks * BLOCK_TRADES,
    seconds: Math.round(performance.now() - beganAt) / 1000,
    processorSeconds: Math.round((user + system) / 1000) / 1000,
    applyMsBefore: percentile(before, 0.5),
    liveBlocks: live.late.length,
    lateMs: { p50: percentile(live.late, 0.5), p99: percentile(live.late, 0.99), max: percentile(live.late, 1) },
    loopDelayMs: { p50: delays.percentile(50) / 1e6, p99: delays.percentile(99) / 1e6, max: delays.max / 1e6 },
    newestSlot: market.newestSlot(),
    residentMiB: Math.round(process.memoryUsage.rss() / 2 ** 20)
  })
})

await Effect.runPromise(main.pipe(Effect.provide(Market.layerManual(defaultLimits))))
