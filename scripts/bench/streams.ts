/**
 * Tick delays of quote streams at four ticks a second in one process, over real sockets:
 * `node scripts/bench/streams.ts [--json] [--together] [--streams 5000]`. Streams open over ten seconds, or all at once.
 * Exits with 1 where less than 99 % of the frames came within 50 ms, a stream did not open, more than 1 % of the ticks were skipped, or a
 * connection broke.
 */
import { spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { connect } from "node:net"
import { createInterface } from "node:readline"
import { SOL } from "../../src/domain/Address.ts"
import { secrets } from "./http/world.ts"
import { atLeast, atMost, percentile, report } from "./report.ts"
import { START_FLAGS } from "./startFlags.ts"
import { TOKEN } from "./warmPools.ts"
import { flagNumber } from "../options.ts"

const STREAMS = flagNumber("streams", 5000, { whole: true })
/** Within the budget of a key for the whole run. */
const STREAMS_A_KEY = 2
const INTERVAL_MS = 250
const DURATION_SECONDS = 30
const RAMP_MS = process.argv.includes("--together") ? 0 : 10_000
const ON_TIME_MS = 50
const LEAST_ON_TIME_PCT = 99

const query = new URLSearchParams({
  inputMint: TOKEN,
  outputMint: SOL,
  amount: "5000000000",
  outputDecimals: "9",
  intervalMs: String(INTERVAL_MS),
  durationSeconds: String(DURATION_SECONDS)
})

const FRAME = /event: (\w+)\ndata: \{"streamId":"\w+","seq":\d+,"atMs":(\d+),(?:"tick":(\d+))?/gu

const started: Array<number> = []
const arrived: Array<number> = []
let ticks = 0
let broken = 0
const frames: Record<string, number> = {}

const listen = (port: number, secret: string): Promise<unknown> => {
  const socket = connect(port, "127.0.0.1")
  socket.setEncoding("latin1")
  socket.write(
    `GET /api/v1/spot/quote/stream?${query} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${secret}\r\n\r\n`
  )
  let openedAt = 0
  let rest = ""
  socket.on("data", (chunk) => {
    const now = performance.timeOrigin + performance.now()
    const text = rest + String(chunk)
    rest = text.slice(text.lastIndexOf("\n\n") + 2)
    for (const [, event = "", atMs = "0", tick] of text.slice(0, text.length - rest.length).matchAll(FRAME)) {
      frames[event] = (frames[event] ?? 0) + 1
      if (event === "open") {
        openedAt = Number(atMs)
      } else if (tick !== undefined && tick !== "0") {
        const due = openedAt + Number(tick) * INTERVAL_MS
        started.push(Number(atMs) - due)
        arrived.push(now - due)
      }
    }
    ticks += Number(/"reason":"completed","ticks":(\d+)/u.exec(text)?.[1] ?? 0)
  })
  // A connection that breaks is counted by its missing frames.
  socket.on("error", () => broken++)
  return new Promise((resolve) => socket.once("close", resolve))
}

/** Processor time of a process so far, in milliseconds. */
const busyMs = (pid: number): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(" ")
  return (Number(fields[13]) + Number(fields[14])) * 10
}

const portOf = async (output: NodeJS.ReadableStream): Promise<number> => {
  for await (const line of createInterface(output)) {
    if (line.startsWith("{")) {
      return JSON.parse(line).port
    }
  }
  throw new Error("the server ended without a word")
}

const server = spawn(process.execPath, [...START_FLAGS, new URL("http/fathomServer.ts", import.meta.url).pathname], {
  stdio: ["ignore", "pipe", "inherit"]
})
const port = await portOf(server.stdout)
/** Processor time of the server, in milliseconds; null where it cannot be read. */
const serverBusyMs = () => (process.platform === "linux" && server.pid !== undefined ? busyMs(server.pid) : null)
const busyBefore = serverBusyMs()
const begun = performance.now()
const open: Array<Promise<unknown>> = []
for (let n = 0; n < STREAMS; n++) {
  open.push(listen(port, secrets[Math.floor(n / STREAMS_A_KEY)] ?? ""))
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, begun + (n * RAMP_MS) / STREAMS - performance.now())))
}
await Promise.all(open)
const seconds = (performance.now() - begun) / 1000
const busyAfter = serverBusyMs()
const busy = busyAfter === null || busyBefore === null ? null : busyAfter - busyBefore
server.kill()

const sum = (counts: ReadonlyArray<number>) => counts.reduce((total, count) => total + count, 0)
const share = (samples: ReadonlyArray<number>) =>
  Number(((100 * samples.filter((late) => late <= ON_TIME_MS).length) / samples.length).toFixed(3))
const lateness = (samples: ReadonlyArray<number>) => ({
  p50: Math.round(percentile(samples, 0.5) ?? 0),
  p99: Math.round(percentile(samples, 0.99) ?? 0),
  max: Math.round(percentile(samples, 1) ?? 0)
})
const due = (STREAMS * DURATION_SECONDS * 1000) / INTERVAL_MS

const figures = {
  streams: STREAMS,
  ticksPerSecond: (STREAMS * 1000) / INTERVAL_MS,
  rampMs: RAMP_MS,
  ticksDue: due,
  ticksStarted: ticks,
  skippedPct: Number((100 * (1 - ticks / due)).toFixed(3)),
  frames,
  brokenConnections: broken,
  startedWithin50msPct: share(started),
  startLatenessMs: lateness(started),
  arrivedWithin50msPct: share(arrived),
  arrivalLatenessMs: lateness(arrived),
  serverBusyPct: busy === null ? null : Math.round(busy / seconds / 10),
  cpuUsPerFrame: busy === null ? null : Math.round((1000 * busy) / sum(Object.values(frames)))
}

report("streams", figures, [
  atLeast("Frames within 50 ms, in percent", figures.arrivedWithin50msPct, LEAST_ON_TIME_PCT),
  atMost("Streams that did not open", STREAMS - (frames["open"] ?? 0), 0),
  atMost("Skipped ticks, in percent", figures.skippedPct, 100 - LEAST_ON_TIME_PCT),
  atMost("Broken connections", broken, 0)
])
