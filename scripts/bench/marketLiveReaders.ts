/**
 * The clients of the benchmark of the market socket, in a separate process controlled over IPC. `{sockets, url}` opens
 * readers with their subscriptions, `{report: true}` requests the results, `{fresh: true}` resets the latencies.
 */
import { WebSocket } from "ws"
import { percentile } from "./report.ts"

const FRAME = /^\{"type":"(\w+)"(?:,"id":"([^"]+)")?(?:,"seq":(\d+))?/u
const TIME = /"timeMs":(\d+)/u
const SENT = /"sentAtMs":(\d+)/u

/** One reader: its ticket and its subscriptions. */
export interface Reader {
  readonly ticket: string
  readonly subscriptions: ReadonlyArray<Readonly<Record<string, unknown>>>
}

/** A command of the parent process. */
interface ReaderCommand {
  readonly url: string
  readonly sockets?: ReadonlyArray<Reader>
  readonly report?: boolean
  readonly fresh?: boolean
}

/** Readers that connect at a time. */
const TOGETHER = 100

// Trades leave with their block; candles and prices at most four times a second, so theirs are counted apart.
const latencies = { trade: new Array<number>(), price: new Array<number>() }
// From the block to the time in the frame's head, which is the sending process's clock.
let written = new Array<number>()
const kinds: Record<string, number> = {}
const faults = { seq: 0, closed: 0, errors: 0 }
let bytes = 0

const now = () => performance.timeOrigin + performance.now()

// Frames are read after the whole block has arrived, so that reading one does not delay the next.
const READ_AFTER_MS = 100
const waiting: Array<() => void> = []
const later = (work: () => void): void => {
  if (waiting.length === 0) {
    setTimeout(() => waiting.splice(0).forEach((each) => each()), READ_AFTER_MS)
  }
  waiting.push(work)
}

const read = (url: string, { subscriptions, ticket }: Reader): Promise<void> =>
  new Promise((resolve) => {
    const ws = new WebSocket(`${url}?ticket=${ticket}`, { perMessageDeflate: false, skipUTF8Validation: true })
    const places = new Map<string, number>()
    let snapshots = 0
    ws.on("error", () => faults.errors++)
    ws.on("close", () => {
      faults.closed++
      resolve()
    })
    ws.on("open", () => subscriptions.forEach((terms) => ws.send(JSON.stringify({ op: "subscribe", ...terms }))))
    const take = (text: string, at: number): void => {
      bytes += text.length
      const [, type = "", id, seq] = FRAME.exec(text) ?? []
      kinds[type] = (kinds[type] ?? 0) + 1
      if (type === "snapshot" && ++snapshots === subscriptions.length) {
        resolve()
      }
      if (id !== undefined && seq !== undefined) {
        faults.seq += Number(seq) === (places.get(id) ?? -1) + 1 ? 0 : 1
        places.set(id, Number(seq))
      }
      if (type === "trade" || type === "price") {
        const fromMs = Number(TIME.exec(text)?.[1])
        latencies[type].push(at - fromMs)
        if (type === "trade") {
          written.push(Number(SENT.exec(text)?.[1]) - fromMs)
        }
      }
    }
    ws.on("message", (data) => {
      const at = now()
      later(() => take(String(data), at))
    })
  })

const openAll = async (url: string, all: ReadonlyArray<Reader>): Promise<void> => {
  const rest = Array.from(all)
  const next = async (): Promise<void> => {
    for (let reader = rest.pop(); reader !== undefined; reader = rest.pop()) {
      await read(url, reader)
    }
  }
  await Promise.all(Array.from({ length: TOGETHER }, next))
}

const figures = (samples: ReadonlyArray<number>) => ({
  samples: samples.length,
  p50: percentile(samples, 0.5),
  p99: percentile(samples, 0.99),
  max: percentile(samples, 1)
})

const summary = () => ({
  kinds,
  faults,
  bytes,
  trade: figures(latencies.trade),
  price: figures(latencies.price),
  written: figures(written)
})

/** The results of the readers. Latencies in milliseconds; null without a frame. */
export type ReaderReport = ReturnType<typeof summary>

process.on("message", ({ fresh, report, sockets, url }: ReaderCommand) => {
  if (fresh === true) {
    latencies.trade = []
    latencies.price = []
    written = []
  }
  if (sockets !== undefined) {
    void openAll(url, sockets)
  }
  if (report === true) {
    process.send?.(summary())
  }
})
