/** Readers of streams and sockets that check every frame number, leave at random, and resume. */
import { WebSocket } from "ws"
import { type DataFrameJson, TrackerMemory } from "../../src/client/TrackerMemory.ts"
import { at } from "../chaos/repair/answers.ts"

/** A service with the secret of a key. */
export interface Caller {
  readonly baseUrl: string
  readonly secret: string
}

/** Frames and connections of all readers of a kind. */
export interface ReaderCounts {
  frames: number
  /** Frames with a number: data of the stream. */
  numbered: number
  connections: number
  /** Frames whose number was not the next one, without a gap in words. */
  silentGaps: number
  /** Gaps in words. */
  gaps: number
  /** Connections that were refused or closed by the service. */
  closed: number
  readonly closeCodes: Record<string, number>
}

/** Frames and connections of quote streams. */
export interface QuoteCounts extends ReaderCounts {
  /** Frames with a quote: a stream without a price has frames too. */
  priced: number
}

export const noCounts = (): ReaderCounts => ({
  frames: 0,
  numbered: 0,
  connections: 0,
  silentGaps: 0,
  gaps: 0,
  closed: 0,
  closeCodes: {}
})

export const noQuoteCounts = (): QuoteCounts => ({ ...noCounts(), priced: 0 })

/** Time of a connection before its reader leaves, and the pause before the next one. */
const STAY_MS = { least: 10_000, more: 30_000 }
const PAUSE_MS = { least: 200, more: 1500 }

const between = ({ least, more }: { readonly least: number; readonly more: number }) => least + Math.random() * more
const pause = (ms: number) => new Promise<void>((resume) => setTimeout(resume, ms))

/** Stops the loops of a run. */
export interface Stopping {
  isStopping: boolean
}

/** The address of a new connection; null while the service gives none. */
const socketUrl = async ({ baseUrl, secret }: Caller, path: string): Promise<string | null> => {
  try {
    const response = await fetch(baseUrl + path, { headers: { authorization: `Bearer ${secret}` } })
    const url = at(await response.json(), "wsUrl")
    // Empty while nothing is tracked.
    return response.ok && typeof url === "string" && url !== "" ? url : null
  } catch {
    return null
  }
}

interface Reader {
  readonly path: string
  /** Sends what begins a connection. */
  readonly open: (send: (message: string) => void) => void
  readonly take: (frame: Record<string, unknown>, send: (message: string) => void) => void
}

/** One connection until its reader leaves or the service closes it. */
const connection = (url: string, reader: Reader, counts: ReaderCounts, stopping: Stopping) =>
  new Promise<void>((resume) => {
    const ws = new WebSocket(url, { perMessageDeflate: false })
    const send = (message: string) => ws.send(message)
    const leave = setTimeout(() => ws.terminate(), between(STAY_MS))
    const stop = setInterval(() => stopping.isStopping && ws.terminate(), 500)
    ws.on("open", () => {
      counts.connections++
      reader.open(send)
    })
    ws.on("message", (data) => {
      counts.frames++
      reader.take(JSON.parse(String(data)), send)
    })
    ws.on("error", () => undefined)
    ws.on("close", (code) => {
      clearTimeout(leave)
      clearInterval(stop)
      // 1006 is the reader's own way to leave.
      if (code !== 1006) {
        counts.closed++
        counts.closeCodes[code] = (counts.closeCodes[code] ?? 0) + 1
      }
      resume()
    })
  })

const readOn = async (caller: Caller, reader: Reader, counts: ReaderCounts, stopping: Stopping) => {
  while (!stopping.isStopping) {
    const url = await socketUrl(caller, reader.path)
    if (url !== null) {
      await connection(url, reader, counts, stopping)
    }
    await pause(between(PAUSE_MS))
  }
}

const isDataFrame = (frame: object): frame is DataFrameJson => "seq" in frame

/** Reads the tracked wallets of an account. */
export const readTracker = (caller: Caller, counts: ReaderCounts, stopping: Stopping) => {
  const memory = new TrackerMemory<DataFrameJson>()
  const reader: Reader = {
    path: "/api/v1/tracker/realtime/session",
    open: (send) => {
      const message = memory.resumeMessage()
      if (message !== null) {
        send(message)
      }
    },
    take: (frame) => {
      if (isDataFrame(frame)) {
        counts.numbered++
        for (const event of memory.take(frame).filter(({ type }) => type === "gap")) {
          const isSilent = "reason" in event && event.reason === "lost"
          counts.silentGaps += isSilent ? 1 : 0
          counts.gaps += isSilent ? 0 : 1
        }
      }
    }
  }
  return readOn(caller, reader, counts, stopping)
}

/** The place of a subscription in its numbers. */
interface Place {
  seq: number
  isResuming: boolean
}

/** Reads channels of the market socket. */
export const readMarket = (
  caller: Caller,
  channels: ReadonlyArray<Readonly<Record<string, unknown>>>,
  counts: ReaderCounts,
  stopping: Stopping
) => {
  const places = new Map<string, Place>()
  const state: { streamId: string | null } = { streamId: null }
  const subscribe = (send: (message: string) => void) => {
    for (const [n, channel] of channels.entries()) {
      const id = String(n)
      const place = places.get(id)
      const resume =
        place === undefined || state.streamId === null ? {} : { resume: { streamId: state.streamId, seq: place.seq } }
      if (place !== undefined) {
        place.isResuming = true
      }
      send(JSON.stringify({ op: "subscribe", id, ...channel, ...resume }))
    }
  }
  const takeNumbered = (id: string, frame: Record<string, unknown>) => {
    const place = places.get(id) ?? { seq: -1, isResuming: false }
    const seq = Number(frame["seq"])
    places.set(id, place)
    const skipped = Number(frame["skipped"] ?? 0)
    if (frame["type"] === "snapshot") {
      const isAt = frame["resumed"] === true ? place.seq : 0
      counts.silentGaps += seq === isAt ? 0 : 1
      // Numbers begin anew: everything between is lost, which the snapshot has to name.
      counts.silentGaps += place.isResuming && frame["resumed"] !== true && frame["gap"] === null ? 1 : 0
      counts.gaps += frame["gap"] === null ? 0 : 1
      place.isResuming = false
    } else {
      counts.silentGaps += seq === place.seq + 1 + skipped ? 0 : 1
      counts.gaps += frame["type"] === "gap" ? 1 : 0
    }
    place.seq = seq
  }
  const reader: Reader = {
    path: "/api/v1/market/realtime/session",
    open: () => undefined,
    take: (frame, send) => {
      if (frame["type"] === "open") {
        subscribe(send)
        state.streamId = String(frame["streamId"])
      } else if (typeof frame["id"] === "string" && typeof frame["seq"] === "number") {
        counts.numbered++
        takeNumbered(frame["id"], frame)
      } else if (typeof frame["id"] === "string") {
        // A subscription that was refused or has ended begins again with the next connection.
        places.delete(frame["id"])
      }
    }
  }
  return readOn(caller, reader, counts, stopping)
}

/** Reads quote streams of a minute one after another. */
export const readQuotes = async (caller: Caller, query: string, counts: QuoteCounts, stopping: Stopping) => {
  while (!stopping.isStopping) {
    let next = 0
    let rest = ""
    try {
      const response = await fetch(
        `${caller.baseUrl}/api/v1/spot/quote/stream?${query}&intervalMs=500&durationSeconds=20`,
        {
          headers: { authorization: `Bearer ${caller.secret}` }
        }
      )
      counts.connections += response.ok ? 1 : 0
      counts.closed += response.ok ? 0 : 1
      const decoder = new TextDecoder()
      for await (const chunk of response.body ?? []) {
        rest += decoder.decode(chunk, { stream: true })
        const frames = rest.split("\n\n")
        rest = frames.pop() ?? ""
        for (const frame of frames.filter((text) => text.includes('"seq":'))) {
          const seq = Number(/"seq":(\d+)/u.exec(frame)?.[1])
          counts.silentGaps += seq === next ? 0 : 1
          counts.frames++
          counts.numbered++
          counts.priced += /^event: ?quote$/mu.test(frame) ? 1 : 0
          next = seq + 1
        }
      }
    } catch {
      counts.closed++
    }
    await pause(between(PAUSE_MS))
  }
}
