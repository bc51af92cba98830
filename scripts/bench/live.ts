/**
 * A thousand live connections of twenty wallets each, and two thousand trades a second onto the tape:
 * `node --expose-gc scripts/bench/live.ts [--json] [--seconds 20] [--followers 1] [--block-ms 400] [--soak [MINUTES]]`. Every wallet is followed by
 * `followers` sockets; blocks come as often as on the chain. One more reader stops reading while its own wallet trades at a high rate.
 * Exits with 1 where a trade took more than 100 ms to its sockets at p99, a second had a frame over 250 ms, or a frame was not there once and in order.
 */
import { Effect } from "effect"
import { fork } from "node:child_process"
import { once } from "node:events"
import { Socket } from "node:net"
import { constants, type PerformanceEntry, PerformanceObserver } from "node:perf_hooks"
import { Tape } from "../../src/market/tape/Tape.ts"
import { REALTIME_PATH } from "../../src/api/Tracker.ts"
import { Listening } from "../../src/http/server/NodeServer.ts"
import { LiveSessions } from "../../src/wallets/tracker/LiveSessions.ts"
import { blockOf, liveWorld, ticketFor, WALLETS_EACH, walletOf } from "./liveWorld.ts"
import { atMost, report } from "./report.ts"
import { flagNumber } from "../options.ts"

const SOCKETS = 1000
const TRADES_A_SECOND = 2000
const BURST = 500
const MIB = 2 ** 20
const REPLAY_BYTES = 64 * MIB
const MOST_P99_MS = 100

const soaks = process.argv.includes("--soak")
const seconds = soaks ? flagNumber("soak", 10) * 60 : flagNumber("seconds", 20)
const followers = flagNumber("followers", 1)
const BLOCK_MS = flagNumber("block-ms", 400)
const universe = (SOCKETS * WALLETS_EACH) / followers

const wallets = Array.from({ length: universe }, (_, n) => walletOf(n))
const wild = walletOf(universe)
const readers = fork(new URL("liveReaders.ts", import.meta.url).pathname, { execArgv: ["--max-semi-space-size=64"] })

interface ReaderReport {
  readonly open: number
  readonly kinds: Record<string, number>
  readonly faults: { readonly seq: number; readonly order: number; readonly closed: number }
  readonly stopped: { readonly code: number | null; readonly frames: number }
  readonly bytes: number
  readonly samples: number
  readonly p50: number
  readonly p99: number
  readonly stalledSeconds: number
  readonly max: number
}

const ask = async (): Promise<ReaderReport> => {
  const answer = once(readers, "message")
  readers.send({ url: "", report: true })
  const [counted] = await answer
  return counted
}

const settle = async (isDone: (counted: ReaderReport) => boolean): Promise<ReaderReport> => {
  for (let tries = 0; tries < 600; tries++) {
    const counted = await ask()
    if (isDone(counted)) {
      return counted
    }
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error("the readers did not reach the expected state")
}

// Largest send buffer of any reader in this process.
const unsent = { most: 0 }
const { write } = Socket.prototype
Socket.prototype.write = function (this: Socket, ...args: Parameters<typeof write>) {
  const isTaken = write.apply(this, args)
  unsent.most = Math.max(unsent.most, this.writableLength)
  return isTaken
} as typeof write

/** Memory after a full collection. Called before the first and after the last measured frame only. */
const memory = () => {
  globalThis.gc?.()
  globalThis.gc?.()
  const { arrayBuffers, heapUsed, rss } = process.memoryUsage()
  return { heap: heapUsed + arrayBuffers, rss }
}

const isMajor = (entry: PerformanceEntry): boolean => {
  const detail: unknown = Reflect.get(entry, "detail")
  return (
    typeof detail === "object" && detail !== null && Reflect.get(detail, "kind") === constants.NODE_PERFORMANCE_GC_MAJOR
  )
}

// Heap after each spontaneous full collection: forcing one would delay the measured frames.
const soak: Array<number> = []
const collections = new PerformanceObserver((list) => {
  if (list.getEntries().some(isMajor)) {
    const { arrayBuffers, heapUsed } = process.memoryUsage()
    soak.push((heapUsed + arrayBuffers) / MIB)
  }
})

const now = () => Math.floor(performance.timeOrigin + performance.now())

// Prime, so that every wallet takes part and the wallets of a block spread over many sockets.
const STRIDE = 7919

/** Wallets in turn, so that each trades as often as any other. */
const nextWallets = (turn: number, count: number) =>
  Array.from({ length: count }, (_, n) => wallets[((turn * count + n) * STRIDE) % universe] ?? wild)

const bench = Effect.gen(function* () {
  const { url } = yield* Listening
  const sessions = yield* LiveSessions
  const tape = yield* Tape
  const socketUrl = `${url.replace("http", "ws")}${REALTIME_PATH}`
  let slot = 0
  // The block is built before its time is read, so that building it is not measured.
  const block = (traders: ReadonlyArray<(typeof wallets)[number]>) => {
    const made = blockOf(++slot, traders)
    return Effect.suspend(() => tape.apply(made(now())))
  }

  const tickets: Array<string> = []
  for (let n = 0; n < SOCKETS; n++) {
    tickets.push(
      yield* ticketFor(
        n,
        Array.from({ length: WALLETS_EACH }, (_, k) => wallets[(n * WALLETS_EACH + k) % universe] ?? wild)
      )
    )
  }
  const before = memory()
  readers.send({ url: socketUrl, tickets })
  yield* Effect.promise(() => settle((counted) => (counted.kinds["snapshot"] ?? 0) === SOCKETS))
  const connected = memory()

  // Warm-up: code, positions and the replay buffer exist before anything is measured.
  const each = (TRADES_A_SECOND * BLOCK_MS) / 1000
  for (let turn = 0; turn < 10; turn++) {
    yield* block(nextWallets(turn, each))
    yield* Effect.sleep(BLOCK_MS)
  }
  yield* Effect.promise(() => settle((counted) => counted.kinds["trade"] === 10 * each * followers))
  const stoppedTicket = yield* ticketFor(SOCKETS, [wild])
  readers.send({ url: socketUrl, stopped: stoppedTicket })
  yield* Effect.promise(() => settle((counted) => counted.open === SOCKETS + 1))

  readers.send({ url: "", fresh: true })
  const stopped: { isAwake: boolean; closedAfterMs: number; counted: ReaderReport | null } = {
    isAwake: false,
    closedAfterMs: 0,
    counted: null
  }
  const busySince = process.cpuUsage()
  collections.observe({ entryTypes: ["gc"] })
  const begun = performance.now()
  for (let turn = 10; performance.now() - begun < seconds * 1000; turn++) {
    const isWild = sessions.load().connections > SOCKETS
    const traders = nextWallets(turn, each)
    const next = block(isWild ? [...traders, ...Array.from({ length: BURST }, () => wild)] : traders)
    yield* next
    if (isWild) {
      stopped.closedAfterMs = performance.now() - begun
    } else if (!stopped.isAwake) {
      stopped.isAwake = true
      stopped.counted = yield* Effect.promise(ask)
      readers.send({ url: "", wake: true, fresh: true })
    }
    yield* Effect.sleep(Math.max(0, begun + (turn - 9) * BLOCK_MS - performance.now()))
  }
  collections.disconnect()
  const { system, user } = process.cpuUsage(busySince)
  const busyPct = (system + user) / 10 / (performance.now() - begun)
  const trades = slot * each * followers
  const counted = yield* Effect.promise(() => settle((counted) => (counted.kinds["trade"] ?? 0) >= trades))
  const load = sessions.load()
  const after = memory()
  const final = yield* Effect.promise(() => settle((last) => last.stopped.code !== null))

  return { before, connected, counted, final, trades, load, after, stopped, busyPct }
})

const { after, before, connected, final, load, stopped, counted, trades, busyPct } = await Effect.runPromise(
  Effect.scoped(Effect.provide(bench, liveWorld(REPLAY_BYTES)))
)
readers.kill()

const round = (value: number | null, digits = 1) => (value === null ? null : Number(value.toFixed(digits)))
const mean = (values: ReadonlyArray<number>) => values.reduce((sum, value) => sum + value, 0) / values.length
const frames = Object.values(counted.kinds).reduce((sum, count) => sum + count, 0)
// The positions and the replay buffer take some minutes to fill.
const settled = soak.slice(Math.floor(soak.length * 0.5))
const half = Math.floor(settled.length / 2)

const figures = {
  sockets: SOCKETS,
  walletsEach: WALLETS_EACH,
  followersOfAWallet: followers,
  tradesPerSecond: TRADES_A_SECOND,
  blockMs: BLOCK_MS,
  seconds,
  frames,
  framesPerSecond: Math.round(frames / (seconds + 4)),
  kinds: counted.kinds,
  tradesExpected: trades,
  tradesDelivered: counted.kinds["trade"],
  everyFrameOnceAndInOrder: counted.kinds["trade"] === trades && counted.faults.seq === 0 && counted.faults.order === 0,
  faults: counted.faults,
  tapeToSocketMs: { p50: round(counted.p50), p99: round(counted.p99), max: round(counted.max) },
  secondsWithAFrameOver250Ms: counted.stalledSeconds,
  serverCpuPct: round(busyPct),
  kibPerIdleSocket: round((connected.heap - before.heap) / SOCKETS / 1024),
  residentMiB: {
    before: round(before.rss / MIB),
    connected: round(connected.rss / MIB),
    after: round(after.rss / MIB)
  },
  replayMiB: round(load.replayBytes / MIB),
  stoppedReader: {
    code: final.stopped.code,
    mostUnsentMiB: round(unsent.most / MIB, 2),
    tapeToSocketMsOfOthers: { p50: round(stopped.counted?.p50 ?? null), p99: round(stopped.counted?.p99 ?? null) },
    closedAfterSeconds: round(stopped.closedAfterMs / 1000)
  },
  ...(soaks && {
    soakMiB: {
      before: round(connected.heap / MIB),
      after: round(after.heap / MIB),
      firstCollections: round(mean(settled.slice(0, half))),
      lastCollections: round(mean(settled.slice(half))),
      samples: soak.length
    }
  })
}

const { everyFrameOnceAndInOrder, secondsWithAFrameOver250Ms, tapeToSocketMs } = figures
report("live", figures, [
  atMost("A trade to its sockets at p99, in ms", tapeToSocketMs.p99, MOST_P99_MS),
  atMost("Seconds with a frame over 250 ms", secondsWithAFrameOver250Ms, 0),
  [!everyFrameOnceAndInOrder, "A frame was lost, came twice or out of order."]
])
process.exit()
