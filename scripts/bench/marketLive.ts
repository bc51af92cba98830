/**
 * Ten thousand market sockets of ten subscriptions each on one process, and two thousand trades a second onto the tape:
 * `node --expose-gc scripts/bench/marketLive.ts [--json] [--sockets 10000] [--seconds 20] [--rate 2000] [--block-ms 400]
 * [--tokens 5000] [--hot [SOCKETS]]`. A socket reads the trades of five tokens, the prices of three and the candles of two.
 * With `--hot`, a thousand sockets read the trades, the price and the candles of one token that has a fortieth of all trades.
 * Exits with 1 where a trade took more than 60 ms to its sockets at p99, a frame was out of order, or a socket was closed.
 */
import { Effect } from "effect"
import { fork } from "node:child_process"
import { once } from "node:events"
import { monitorEventLoopDelay } from "node:perf_hooks"
import { MARKET_REALTIME_PATH } from "../../src/api/MarketRealtime.ts"
import { Listening } from "../../src/http/server/NodeServer.ts"
import { Tape } from "../../src/market/tape/Tape.ts"
import { MarketSessions } from "../../src/live/market/MarketSessions.ts"
import type { ReaderReport } from "./marketLiveReaders.ts"
import { blockOf, marketLiveWorld, mintOf, ticketFor } from "./marketLiveWorld.ts"
import { atMost, report } from "./report.ts"
import { flagNumber } from "../options.ts"

const isHot = process.argv.includes("--hot")
const SOCKETS = isHot ? flagNumber("hot", 1000) : flagNumber("sockets", 10_000)
const SECONDS = flagNumber("seconds", 20)
const RATE = flagNumber("rate", 2000)
const BLOCK_MS = flagNumber("block-ms", 400)
const TOKENS = flagNumber("tokens", 5000)
/** One trade in so many is of the hot token. */
const HOT_SHARE = 40
const MIB = 2 ** 20
const MOST_P99_MS = 60

// Prime, so that the tokens of a socket and of a block spread over all of them.
const STRIDE = 7919
const CHANNELS = ["trades", "trades", "trades", "trades", "trades", "price", "price", "price", "candles", "candles"]

const termsOf = (id: string, channel: string, mint: string) => ({
  id,
  channel,
  mint,
  ...(channel === "candles" && { resolution: "1m" })
})

const subscriptionsOf = (n: number) =>
  isHot
    ? ["trades", "price", "candles"].map((channel) => termsOf(channel, channel, mintOf(0)))
    : CHANNELS.map((channel, k) => termsOf(`${k}`, channel, mintOf(((n * CHANNELS.length + k) * STRIDE) % TOKENS)))

const readers = fork(new URL("marketLiveReaders.ts", import.meta.url).pathname, {
  execArgv: ["--max-semi-space-size=64"]
})

const ask = async (): Promise<ReaderReport> => {
  const answer = once(readers, "message")
  readers.send({ url: "", report: true })
  const [counted] = await answer
  return counted
}

const settle = async (isDone: (counted: ReaderReport) => boolean): Promise<ReaderReport> => {
  for (let tries = 0; tries < 3000; tries++) {
    const counted = await ask()
    if (isDone(counted)) {
      return counted
    }
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  throw new Error(`the readers did not reach the expected state: ${JSON.stringify(await ask())}`)
}

/** Memory after a full collection. Called before the first and after the last measured frame only. */
const memory = () => {
  globalThis.gc?.()
  globalThis.gc?.()
  const { arrayBuffers, heapUsed, rss } = process.memoryUsage()
  return { heap: heapUsed + arrayBuffers, rss }
}

const now = () => Math.floor(performance.timeOrigin + performance.now())

const EACH = Math.round((RATE * BLOCK_MS) / 1000)
/** The tokens of a block, in turn; the hot token is in every block. */
const tokensOf = (slot: number) =>
  Array.from({ length: EACH }, (_, n) =>
    isHot ? (n % HOT_SHARE === 0 ? 0 : 1 + ((slot * EACH + n) % (TOKENS - 1))) : ((slot * EACH + n) * STRIDE) % TOKENS
  )

// Delays of the loop of the service: while it waits, no frame leaves.
const delays = monitorEventLoopDelay({ resolution: 5 })

const bench = Effect.gen(function* () {
  const { url } = yield* Listening
  const sessions = yield* MarketSessions
  const tape = yield* Tape
  const socketUrl = `${url.replace("http", "ws")}${MARKET_REALTIME_PATH}`
  let slot = 0
  // The block is built before its time is read, so that building it is not measured.
  const block = Effect.suspend(() => {
    const made = blockOf(++slot, tokensOf(slot))
    return Effect.suspend(() => tape.apply(made(now())))
  })

  // Every token has traded before it is read.
  for (let n = 0; n * EACH < 2 * TOKENS; n++) {
    yield* block
  }
  const before = memory()
  const opening = process.cpuUsage()
  const sockets = yield* Effect.forEach(
    Array.from({ length: SOCKETS }, (_, n) => n),
    (n) => Effect.map(ticketFor(n), (ticket) => ({ ticket, subscriptions: subscriptionsOf(n) }))
  )
  const each = sockets[0]?.subscriptions.length ?? 0
  readers.send({ url: socketUrl, sockets })
  yield* Effect.promise(() => settle((counted) => counted.kinds["snapshot"] === SOCKETS * each))
  const opened = process.cpuUsage(opening)
  const connected = memory()

  // Warm-up: code and the replay buffer exist before anything is measured.
  for (let turn = 0; turn < 10; turn++) {
    yield* block
    yield* Effect.sleep(BLOCK_MS)
  }
  readers.send({ url: "", fresh: true })
  const from = yield* Effect.promise(ask)
  delays.enable()
  const busySince = process.cpuUsage()
  const begun = performance.now()
  let blocks = 0
  while (performance.now() - begun < SECONDS * 1000) {
    yield* block
    blocks++
    yield* Effect.sleep(Math.max(0, begun + blocks * BLOCK_MS - performance.now()))
  }
  const busy = process.cpuUsage(busySince)
  delays.disable()
  const elapsedMs = performance.now() - begun
  yield* Effect.sleep(1000)
  const counted = yield* Effect.promise(ask)
  return {
    before,
    connected,
    opened,
    from,
    counted,
    busy,
    elapsedMs,
    blocks,
    each,
    load: sessions.load(),
    after: memory()
  }
})

const measured = await Effect.runPromise(Effect.scoped(Effect.provide(bench, marketLiveWorld)))
readers.kill()

const { after, before, blocks, busy, connected, counted, each, elapsedMs, from, load, opened } = measured
const round = (value: number | null, digits = 1) => (value === null ? null : Number(value.toFixed(digits)))
const total = (kinds: ReaderReport["kinds"]) => Object.values(kinds).reduce((sum, count) => sum + count, 0)
const frames = total(counted.kinds) - total(from.kinds)
const cpuMs = (busy.user + busy.system) / 1000
const latency = ({ max, p50, p99, samples }: ReaderReport["trade"]) => ({
  samples,
  p50: round(p50),
  p99: round(p99),
  max: round(max)
})

const figures = {
  sockets: SOCKETS,
  subscriptionsEach: each,
  tokens: isHot ? 1 : TOKENS,
  tradesPerSecond: RATE,
  blockMs: BLOCK_MS,
  seconds: SECONDS,
  blocks,
  frames,
  framesPerSecond: Math.round(frames / (elapsedMs / 1000)),
  kinds: counted.kinds,
  faults: counted.faults,
  everyFrameInOrder: counted.faults.seq === 0 && counted.faults.closed === 0,
  blockToFrameMs: latency(counted.trade),
  blockToPriceMs: latency(counted.price),
  blockToPublishMs: latency(counted.written),
  serverLoopDelayMs: { p99: round(delays.percentile(99) / 1e6), max: round(delays.max / 1e6) },
  serverCpuPct: round(cpuMs / (elapsedMs / 100)),
  serverCpuMsPerBlock: round(cpuMs / blocks),
  serverCpuMicrosPerFrame: round((cpuMs * 1000) / frames),
  cpuMsPerSubscription: round((opened.user + opened.system) / 1000 / SOCKETS / each, 3),
  kibPerSocket: round((connected.heap - before.heap) / SOCKETS / 1024),
  residentKibPerSocket: round((connected.rss - before.rss) / SOCKETS / 1024),
  residentMiB: {
    before: round(before.rss / MIB),
    connected: round(connected.rss / MIB),
    after: round(after.rss / MIB)
  },
  replayMiB: round(load.replayBytes / MIB)
}

report("market-live", figures, [
  atMost("A trade to its sockets at p99, in ms", figures.blockToFrameMs.p99, MOST_P99_MS),
  [!figures.everyFrameInOrder, "A frame was out of order, or a socket was closed."]
])
process.exit()
