/**
 * The clients of the live benchmark, in a separate process controlled over IPC. They read and check every frame.
 * `{tickets, url}` opens readers, `{stopped, url}` one that stops reading at once, `{report: true}` requests the results,
 * `{fresh: true}` resets the latencies.
 */
import { WebSocket } from "ws"
import { percentile } from "./report.ts"

const FRAME = /^\{"type":"(\w+)","seq":(\d+),/u
const WALLET = /"wallet":"(\w+)"/u
const TS = /"ts":(\d+)/u
const SLOT = /"slot":(\d+)/u
const INDEX = /"index":(\d+)/u

let latencies: Array<number> = []
const kinds: Record<string, number> = {}
const faults = { seq: 0, order: 0, closed: 0 }
const stopped: { code: number | null; frames: number } = { code: null, frames: 0 }
let bytes = 0
/** Seconds in which a frame came later than STALL_MS. */
const STALL_MS = 250
let stalledSeconds = new Set<number>()
let open = 0

const now = () => performance.timeOrigin + performance.now()

// Frames are checked after the whole block has arrived, so that a check does not delay the next frame.
const JUDGE_AFTER_MS = 150
const waiting: Array<() => void> = []
const later = (work: () => void): void => {
  if (waiting.length === 0) {
    setTimeout(() => waiting.splice(0).forEach((each) => each()), JUDGE_AFTER_MS)
  }
  waiting.push(work)
}

const read = (url: string, ticket: string): void => {
  const ws = new WebSocket(`${url}?ticket=${ticket}`, { perMessageDeflate: false })
  let next = 0
  const places = new Map<string, number>()
  ws.on("open", () => open++)
  ws.on("error", () => undefined)
  ws.on("close", () => faults.closed++)
  const judge = (text: string, at: number): void => {
    bytes += text.length
    const [, type = "", seq = ""] = FRAME.exec(text) ?? []
    kinds[type] = (kinds[type] ?? 0) + 1
    faults.seq += Number(seq) === next++ ? 0 : 1
    if (type === "trade") {
      // One trade per transaction: a place that does not grow is a duplicate or out of order.
      const wallet = WALLET.exec(text)?.[1] ?? ""
      const place = Number(SLOT.exec(text)?.[1]) * 2 ** 20 + Number(INDEX.exec(text)?.[1])
      faults.order += place > (places.get(wallet) ?? -1) ? 0 : 1
      places.set(wallet, place)
    }
    if (type === "trade" || type === "balance_update") {
      const ms = at - Number(TS.exec(text)?.[1])
      latencies.push(ms)
      if (ms > STALL_MS) {
        stalledSeconds.add(Math.floor(at / 1000))
      }
    }
  }
  ws.on("message", (data) => {
    const at = now()
    later(() => judge(String(data), at))
  })
}

const readNothing = (url: string, ticket: string): void => {
  const ws = new WebSocket(`${url}?ticket=${ticket}`, { perMessageDeflate: false })
  ws.on("error", () => undefined)
  ws.on("message", () => stopped.frames++)
  ws.on("open", () => {
    open++
    ws.pause()
  })
  ws.on("close", (code) => (stopped.code = code))
  process.on("message", (message) => {
    if (typeof message === "object" && message !== null && "wake" in message) {
      ws.resume()
    }
  })
}

const summary = () => {
  const results = {
    open,
    kinds,
    faults,
    stopped,
    bytes,
    samples: latencies.length,
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
    stalledSeconds: stalledSeconds.size,
    max: percentile(latencies, 1)
  }
  return results
}

/** A command of the parent process. `fresh` resets the latencies. */
interface ReaderCommand {
  readonly url: string
  readonly tickets?: ReadonlyArray<string>
  readonly stopped?: string
  readonly report?: boolean
  readonly fresh?: boolean
}

process.on("message", (message: ReaderCommand) => {
  if (message.fresh === true) {
    latencies = []
    stalledSeconds = new Set()
  }
  message.tickets?.forEach((ticket) => read(message.url, ticket))
  if (message.stopped !== undefined) {
    readNothing(message.url, message.stopped)
  }
  if (message.report === true) {
    process.send?.(summary())
  }
})
