/**
 * State of a market stream that outlives its connections: how far each subscription was read. The pages use it too, so
 * it needs no package.
 */
import type { MarketControlFrame, MarketDataFrame, SubscribeMessage } from "../api/schemas/MarketFrame.ts"
import type { LiveGap } from "../api/schemas/LiveFrame.ts"
import { jsonOf } from "../domain/jsonOf.ts"

/** A subscription of `watchMarket`: channel, parameters and a name. Without a name, its place in the list names it. */
export type MarketSubscription = SubscribeMessage extends infer M
  ? M extends unknown
    ? Omit<M, "op" | "id" | "resume"> & { readonly id?: string }
    : never
  : never

/** Missing events of a subscription, reported by the service or noticed as missing frames (`lost`). */
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
  /** Stream and number of the last frame; null before the first frame. */
  at: { streamId: string; seq: number } | null
  isEnded: boolean
}

/** Codes of an end that does not last: the client requests the subscription again. */
const PASSING: ReadonlySet<string> = new Set([
  "rate_limited",
  "limiter_unavailable",
  "data_unavailable",
  "state_cold",
  "state_stale"
])
/** Shortest pause in milliseconds before a subscription is requested again. */
const PAUSE_MS = 2000

/** A subscription to request again. */
export interface Again {
  readonly id: string
  readonly afterMs: number
}

/** The subscriptions of a stream, and how far each was read. */
export class MarketMemory {
  /** Consecutive connections without a snapshot. */
  failures = 0
  #streamId = ""
  readonly #places = new Map<string, Place>()

  constructor(subscriptions: ReadonlyArray<MarketSubscription>) {
    subscriptions.forEach((one, n) => this.add({ ...one, id: one.id ?? String(n) }))
  }

  /** Adds a subscription, or begins it anew. */
  add({ id = "", ...terms }: { readonly id?: string }): void {
    this.#places.set(id, { message: { op: "subscribe", id, ...terms }, at: null, isEnded: false })
  }

  /** Forgets a subscription. Its late frames are ignored. */
  drop(id: string): void {
    this.#places.delete(id)
  }

  /** Messages that open a connection: every subscription that has not ended, each resuming where it stopped. */
  opening(): ReadonlyArray<string> {
    return Array.from(this.#places).flatMap(([id, { isEnded }]) => (isEnded ? [] : [this.messageOf(id)]))
  }

  /** The message that subscribes, resuming where the subscription stopped. */
  messageOf(id: string): string {
    const place = this.#places.get(id)
    const message = { ...place?.message, ...(place?.at != null && { resume: place.at }) }
    return jsonOf(message)
  }

  /** Remembers the stream of a new connection. */
  open(streamId: string): void {
    this.#streamId = streamId
  }

  /** True once every subscription has ended. */
  get isOver(): boolean {
    return Array.from(this.#places.values()).every(({ isEnded }) => isEnded)
  }

  /** The subscription to request again after an end; null when the end is final. */
  ended({ code, id, retryAfterMs }: Ended): Again | null {
    const place = this.#places.get(id)
    if (place === undefined) {
      return null
    }
    place.isEnded = !PASSING.has(code)
    return place.isEnded ? null : { id, afterMs: Math.max(PAUSE_MS, retryAfterMs ?? 0) }
  }

  /** Events of a numbered frame: a gap if frames are missing before it, then the frame. */
  take<Frame extends MarketDataFrame>(frame: Frame): ReadonlyArray<MarketEvent> {
    const { id, seq } = frame
    const place = this.#places.get(id)
    if (place === undefined || place.isEnded) {
      return []
    }
    const before = place.at
    place.at = { streamId: this.#streamId, seq }
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
