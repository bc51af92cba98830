/** The live trades of tracked wallets: one socket at a time, resumed after a loss. */
import { afterClose, pauseMs } from "../../client/reconnect.ts"
import { type DataFrameJson, type TrackerGap, TrackerMemory } from "../../client/TrackerMemory.ts"
import type { Answer } from "./contract.ts"
import { call, RequestFailed } from "./request.ts"

/** A trade of a tracked wallet. */
export type TrackedTrade = Answer<"GET /api/v1/tracker/trades">["trades"][number]

/** State of the connection: `lost` until the next one is made, `refused` for good, `idle` without tracked wallets. */
export type StreamState = "connecting" | "live" | "lost" | "refused" | "idle"

/** Events of the stream in order. */
export interface StreamListener {
  readonly state: (state: StreamState) => void
  /** The newest trades as a whole, the newest first. */
  readonly replace: (trades: ReadonlyArray<TrackedTrade>) => void
  readonly add: (trade: TrackedTrade) => void
  readonly gap: (gap: TrackerGap) => void
}

/** Timeout of a silent connection: two and a half heartbeats of twenty seconds. */
const SILENCE_MS = 50_000
/** Local code of a connection that is given up. */
const GIVEN_UP = 1006

type Frame = DataFrameJson | Parameters<TrackerMemory["isStuck"]>[0]

const isData = (frame: Frame): frame is DataFrameJson => "seq" in frame && frame.type !== "heartbeat"

/** The address of the socket on the host of this page: other hosts are refused by the content security policy. */
export const socketUrl = (wsUrl: string, page: { readonly protocol: string; readonly host: string }): string => {
  const { pathname, search } = new URL(wsUrl)
  return `${page.protocol === "https:" ? "wss:" : "ws:"}//${page.host}${pathname}${search}`
}

/** Follows the trades of a group, or of all groups for null, until the returned function is called. */
export const followTracker = (group: string | null, listener: StreamListener): (() => void) => {
  const memory = new TrackerMemory<DataFrameJson>()
  const stop = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  let socket: WebSocket | null = null

  const later = (ms: number) => {
    clearTimeout(timer)
    timer = setTimeout(() => void connect(), ms)
  }

  const closed = (code: number) => {
    clearTimeout(timer)
    const reaction = afterClose(code)
    if (reaction === "stop") {
      return listener.state("refused")
    }
    listener.state("lost")
    memory.failures += 1
    return later(reaction === "at-once" && memory.failures === 1 ? 0 : pauseMs(memory.failures, Math.random()))
  }

  /** Takes a socket out of use and handles its end; its own close event is then ignored. */
  const giveUp = (open: WebSocket) => {
    if (socket === open) {
      socket = null
      open.close()
      closed(GIVEN_UP)
    }
  }

  const take = (open: WebSocket, frame: Frame) => {
    if (!isData(frame)) {
      return memory.isStuck(frame) ? giveUp(open) : undefined
    }
    for (const event of memory.take(frame)) {
      if (event.type === "snapshot") {
        listener.state("live")
        listener.replace(event.trades)
      } else if (event.type === "trade") {
        listener.add(event)
      } else if (event.type === "gap") {
        listener.gap(event)
      }
    }
    return undefined
  }

  const listen = (open: WebSocket) => {
    const isAlive = () => {
      clearTimeout(timer)
      timer = setTimeout(() => giveUp(open), SILENCE_MS)
    }
    isAlive()
    open.addEventListener("open", () => {
      const message = memory.resumeMessage()
      if (message !== null) {
        open.send(message)
      }
    })
    open.addEventListener("message", ({ data }) => {
      if (socket === open) {
        isAlive()
        take(open, JSON.parse(String(data)) as Frame)
      }
    })
    open.addEventListener("close", ({ code }) => {
      if (socket === open) {
        socket = null
        closed(code)
      }
    })
  }

  const connect = async () => {
    try {
      const { wsUrl } = await call("GET /api/v1/tracker/realtime/session", {
        query: { control: "true", group: group ?? undefined },
        signal: stop.signal
      })
      if (wsUrl === "") {
        return listener.state("idle")
      }
      socket = new WebSocket(socketUrl(wsUrl, globalThis.location))
      return listen(socket)
    } catch (cause) {
      if (stop.signal.aborted) {
        return undefined
      }
      listener.state("lost")
      memory.failures += 1
      const asked = cause instanceof RequestFailed ? cause.retryAfterMs : null
      return later(asked ?? pauseMs(memory.failures, Math.random()))
    }
  }

  listener.state("connecting")
  void connect()
  return () => {
    stop.abort()
    clearTimeout(timer)
    const open = socket
    socket = null
    open?.close()
  }
}
