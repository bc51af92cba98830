/** The tracker's stream of one group, for every page that follows it: one socket, resumed after a lost connection. */
import { type DataFrameJson, type TrackerGap, TrackerMemory } from "../../client/TrackerMemory.ts"
import type { Answer } from "./contract.ts"
import { LiveSocket, type StreamState } from "./liveSocket.ts"
import { call } from "./request.ts"

export type TrackedTrade = Answer<"GET /api/v1/tracker/trades">["trades"][number]

/** An event of the tracker. `replace` brings all trades that are shown, newest first. */
export type TrackerEvent =
  | { readonly type: "state"; readonly state: StreamState }
  | { readonly type: "replace"; readonly trades: ReadonlyArray<TrackedTrade> }
  | { readonly type: "add"; readonly trade: TrackedTrade }
  | { readonly type: "alert_fired" | "balance_update" | "pnl" | "pnl_summary" }
  | TrackerGap

type Frame = DataFrameJson | Parameters<TrackerMemory["isStuck"]>[0]
type Listener = (event: TrackerEvent) => void

/** Most trades that are kept for pages that follow later. */
const MOST_TRADES = 200

const isData = (frame: Frame): frame is DataFrameJson => "seq" in frame && frame.type !== "heartbeat"

/** Trades with a new one in front, each once. */
export const withTrade = (trades: ReadonlyArray<TrackedTrade>, trade: TrackedTrade): ReadonlyArray<TrackedTrade> =>
  [trade, ...trades.filter(({ eventId }) => eventId !== trade.eventId)].slice(0, MOST_TRADES)

/** The stream of a group, or of all groups for null. */
export class TrackerStream {
  readonly #memory = new TrackerMemory<DataFrameJson>()
  readonly #listeners = new Set<Listener>()
  readonly #socket: LiveSocket
  #state: StreamState = "connecting"
  #trades: ReadonlyArray<TrackedTrade> | null = null

  constructor(group: string | null) {
    this.#socket = new LiveSocket({
      memory: this.#memory,
      session: async (signal) => {
        const query = { control: "true" as const, group: group ?? undefined }
        return (await call("GET /api/v1/tracker/realtime/session", { query, signal })).wsUrl
      },
      opening: () => [this.#memory.resumeMessage()].filter((message) => message !== null),
      take: (frame) => this.#take(frame as Frame),
      state: (state) => this.#tell({ type: "state", state })
    })
  }

  get isUnused(): boolean {
    return this.#listeners.size === 0
  }

  /** Tells a listener what is known, and connects for the first listener or after a refusal. */
  add(listener: Listener): void {
    if (this.isUnused || this.#state === "idle" || this.#state === "refused") {
      this.#state = "connecting"
      this.#socket.close()
      void this.#socket.connect()
    }
    this.#listeners.add(listener)
    listener({ type: "state", state: this.#state })
    if (this.#trades !== null) {
      listener({ type: "replace", trades: this.#trades })
    }
  }

  remove(listener: Listener): void {
    this.#listeners.delete(listener)
    if (this.isUnused) {
      this.#socket.close()
    }
  }

  #tell(event: TrackerEvent): void {
    if (event.type === "state") {
      this.#state = event.state
    } else if (event.type === "replace") {
      this.#trades = event.trades.slice(0, MOST_TRADES)
    } else if (event.type === "add") {
      this.#trades = withTrade(this.#trades ?? [], event.trade)
    }
    this.#listeners.forEach((listener) => listener(event))
  }

  #take(frame: Frame): boolean {
    if (!isData(frame)) {
      return !this.#memory.isStuck(frame)
    }
    for (const event of this.#memory.take(frame)) {
      switch (event.type) {
        case "snapshot":
          this.#tell({ type: "state", state: "live" })
          this.#tell({ type: "replace", trades: event.trades })
          break
        case "trade":
          this.#tell({ type: "add", trade: event })
          break
        case "gap":
          this.#tell(event)
          break
        case "alert_fired":
        case "balance_update":
        case "pnl":
        case "pnl_summary":
          this.#tell({ type: event.type })
          break
        default:
      }
    }
    return true
  }
}
