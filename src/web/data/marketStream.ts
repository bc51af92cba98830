/** The market socket with the subscriptions of every page: one connection, on which each subscription resumes. */
import type { Channel, MarketControlFrame, MarketDataFrame, subscribeMessages } from "../../api/schemas/MarketFrame.ts"
import { type MarketEvent as Event, MarketMemory } from "../../client/MarketMemory.ts"
import { LiveSocket, type StreamState } from "./liveSocket.ts"
import { call } from "./request.ts"

type TermsOf<Message> = Message extends unknown ? Omit<Message, "op" | "id" | "resume"> : never

/** Channel and parameters of a subscription, as on the wire. */
export type MarketTerms = TermsOf<(typeof subscribeMessages)[Channel]["Encoded"]>

type DataFrame = (typeof MarketDataFrame)["Encoded"]
type Frame = DataFrame | (typeof MarketControlFrame)["Encoded"]

/** An event of a subscription, as on the wire. */
export type MarketEvent =
  | { readonly type: "state"; readonly state: StreamState }
  | DataFrame
  | Exclude<Event, MarketDataFrame>
type Listener = (event: MarketEvent) => void

/** How long the connection stays open without a subscription, so that the next page finds it. */
const LINGER_MS = 10_000

export class MarketStream {
  readonly #memory = new MarketMemory([])
  readonly #listeners = new Map<string, Listener>()
  readonly #socket: LiveSocket
  #state: StreamState = "idle"
  #linger: ReturnType<typeof setTimeout> | undefined

  constructor() {
    this.#socket = new LiveSocket({
      memory: this.#memory,
      session: async (signal) => (await call("GET /api/v1/market/realtime/session", { signal })).wsUrl,
      opening: () => this.#memory.opening(),
      take: (frame) => this.#take(frame as Frame),
      state: (state) => {
        this.#state = state
        this.#listeners.forEach((listener) => listener({ type: "state", state }))
      }
    })
  }

  add(id: string, terms: MarketTerms, listener: Listener): void {
    clearTimeout(this.#linger)
    this.#listeners.set(id, listener)
    this.#memory.add({ ...terms, id })
    if (this.#state === "idle" || this.#state === "refused") {
      this.#state = "connecting"
      this.#socket.close()
      void this.#socket.connect()
    } else {
      this.#socket.send(this.#memory.messageOf(id))
    }
    listener({ type: "state", state: this.#state })
  }

  remove(id: string): void {
    this.#listeners.delete(id)
    this.#memory.drop(id)
    this.#socket.send(JSON.stringify({ op: "unsubscribe", id }))
    if (this.#listeners.size === 0) {
      clearTimeout(this.#linger)
      this.#linger = setTimeout(() => {
        this.#state = "idle"
        this.#socket.close()
      }, LINGER_MS)
    }
  }

  #take(frame: Frame): boolean {
    if ("seq" in frame) {
      this.#state = "live"
      for (const event of this.#memory.take(frame as MarketDataFrame)) {
        this.#listeners.get(event.id)?.(event as MarketEvent)
      }
      return true
    }
    switch (frame.type) {
      case "open":
        this.#memory.open(frame.streamId)
        return true
      case "ended":
        this.#ended(frame)
        return true
      case "error":
        return frame.code !== "rate_limited"
      default:
        return true
    }
  }

  #ended(frame: Extract<Frame, { readonly type: "ended" }>): void {
    this.#listeners.get(frame.id)?.(frame)
    const again = this.#memory.ended(frame)
    if (again !== null) {
      setTimeout(() => {
        if (this.#listeners.has(again.id)) {
          this.#socket.send(this.#memory.messageOf(again.id))
        }
      }, again.afterMs)
    }
  }
}
