/** State of a market stream that survives its connections: the place of each subscription. Needs no package. */
import type { MarketControlFrame, MarketDataFrame, SubscribeMessage } from "../domain/market/MarketFrame.ts"
import type { LiveGap } from "../domain/wallets/LiveFrame.ts"

/** A subscription of `watchMarket`: channel and parameters, with a name of its own or the number of its place in the list. */
export type MarketSubscription = SubscribeMessage extends infer M
  ? M extends unknown
    ? Omit<M, "op" | "id" | "resume"> & { readonly id?: string }
    : never
  : never

/** Missing events of a subscription, reported by the service or detected as missing frames (`lost`). */
export interface MarketGap {
  readonly type: "gap"
  readonly id: string
  /** Null when unknown. */
  readonly fromMs: number | null
  readonly toMs: number
  readonly reason: LiveGap["reason"] | "lost"
}

type Ended = Extract<MarketControlFrame, { readonly type: "ended" }>

/** An event of a market stream: a frame, the end of a subscription, or a gap between frames. */
export type MarketEvent<Frame extends { readonly type: string } = MarketDataFrame> =
  | Exclude<Frame, { readonly type: "gap" }>
  | Ended
  | MarketGap

interface Place {
  readonly message: object
  /** The stream and number of its last frame; null before the first. */
  at: { streamId: string; seq: number } | null
  isEnded: boolean
}

/** Ends after which a subscription is asked for again. */
const PASSING: ReadonlySet<string> = new Set([
  "rate_limited",
  "limiter_unavailable",
  "data_unavailable",
  "state_cold",
  "state_stale"
])
/** Least pause before it is, in milliseconds. */
const PAUSE_MS = 2000

/** A subscription to ask for again. */
export interface Again {
  readonly id: string
  readonly afterMs: number
}

/** The subscriptions of a stream and their places in it. */
export class MarketMemory {
  /** Consecutive connections without a snapshot. */
  failures = 0
  private streamId = ""
  private readonly places: ReadonlyMap<string, Place>

  constructor(subscriptions: ReadonlyArray<MarketSubscription>) {
    this.places = new Map(
      subscriptions.map((one, n) => {
        const { id = String(n), ...terms } = one
        return [id, { message: { op: "subscribe", id, ...terms }, at: null, isEnded: false }]
      })
    )
  }

  /** Messages for the beginning of a connection: every subscription that goes on, each from its place. */
  opening(): ReadonlyArray<string> {
    return Array.from(this.places).flatMap(([id, { isEnded }]) => (isEnded ? [] : [this.messageOf(id)]))
  }

  /** The message that asks for a subscription, from its place if it has one. */
  messageOf(id: string): string {
    const place = this.places.get(id)
    const message = { ...place?.message, ...(place?.at != null && { resume: place.at }) }
    return JSON.stringify(message, (_, part: unknown) => (typeof part === "bigint" ? part.toString() : part))
  }

  /** Takes the stream of a new connection. */
  open(streamId: string): void {
    this.streamId = streamId
  }

  /** True once no subscription goes on. */
  get isOver(): boolean {
    return Array.from(this.places.values()).every(({ isEnded }) => isEnded)
  }

  /** The subscription to ask for again after an end; null when it stays ended. */
  ended({ code, id, retryAfterMs }: Ended): Again | null {
    const place = this.places.get(id)
    if (place === undefined) {
      return null
    }
    place.isEnded = !PASSING.has(code)
    return place.isEnded ? null : { id, afterMs: Math.max(PAUSE_MS, retryAfterMs ?? 0) }
  }

  /** Events of a numbered frame: the gap before it, and the frame. */
  take<Frame extends MarketDataFrame>(frame: Frame): ReadonlyArray<MarketEvent> {
    const { id, seq } = frame
    const place = this.places.get(id)
    if (place === undefined || place.isEnded) {
      return []
    }
    const before = place.at
    place.at = { streamId: this.streamId, seq }
    if (frame.type === "snapshot") {
      this.failures = 0
      return [...(frame.gap === null ? [] : [{ type: "gap" as const, id, ...frame.gap }]), frame]
    }
    const next = before === null ? 1 : before.seq + 1 + (frame.skipped ?? 0)
    const lost: ReadonlyArray<MarketGap> =
      seq > next ? [{ type: "gap", id, fromMs: null, toMs: frame.sentAtMs, reason: "lost" }] : []
    return [...lost, frame.type === "gap" ? { type: "gap", id, ...frame.data } : frame]
  }
}
