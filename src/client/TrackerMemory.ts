import type { ControlFrame, DataFrame, SnapshotGap } from "../api/schemas/LiveFrame.ts"

/** Missing events, reported by the service or noticed as missing frames (`lost`). `fromMs` is null when unknown. */
export interface TrackerGap {
  readonly type: "gap"
  readonly fromMs: number | null
  readonly toMs: number
  readonly reason: SnapshotGap["reason"] | "lost"
}

/** A data frame as it is on the wire. */
export type DataFrameJson = (typeof DataFrame)["Encoded"]

/** An event of a subscription: a frame of the stream or a gap between frames. */
export type TrackerEvent<Frame = DataFrame> = Frame | ControlFrame | TrackerGap

/** Most trade ids that are remembered; more than the service ever sends twice. */
const MOST_SEEN = 4096

/**
 * State that outlives a connection: position in the stream, and which trades were delivered. Frames are decoded, or as
 * on the wire.
 */
export class TrackerMemory<Frame extends DataFrame | DataFrameJson = DataFrame> {
  /** Stream to resume; null before its first snapshot. */
  streamId: string | null = null
  /** Number of the last frame that was handled. */
  seq = -1
  /** Consecutive connections without a snapshot. */
  failures = 0
  /** Number of a snapshot that was delivered ahead of the missed frames, which follow it. */
  #ahead = -1
  /** True until the service answers a resumption. Frames before that answer belong to a new stream. */
  #isResuming = false
  readonly #seen = new Set<string>()

  /** The message that resumes the stream on a new connection; null when there is no stream to resume. */
  resumeMessage(): string | null {
    this.#isResuming = this.streamId !== null
    return this.#isResuming ? JSON.stringify({ op: "resume", streamId: this.streamId, seq: this.seq }) : null
  }

  /** True when the service sends an error or a heartbeat instead of answering a resumption. */
  isStuck(frame: ControlFrame): boolean {
    return this.#isResuming && (frame.type === "error" || frame.type === "heartbeat")
  }

  /** Events of a frame. Events that were delivered before are left out. */
  take(frame: Frame): ReadonlyArray<TrackerEvent<Frame>> {
    if (this.#isResuming) {
      if (frame.type !== "snapshot" || frame.reason !== "resume") {
        return []
      }
      this.#isResuming = false
    }
    if (frame.type === "snapshot") {
      return [frame, ...this.#takeSnapshot(frame)]
    }
    if (frame.seq <= this.seq) {
      return []
    }
    const next = this.seq + 1 === this.#ahead ? this.#ahead + 1 : this.seq + 1
    const lost: ReadonlyArray<TrackerGap> =
      frame.seq > next ? [{ type: "gap", fromMs: null, toMs: frame.sentAtMs, reason: "lost" }] : []
    this.seq = frame.seq
    return frame.type === "trade" && !this.#isNew(frame.eventId) ? lost : [...lost, frame]
  }

  /** Remembers where a snapshot stands in the stream; returns the gap before it. */
  #takeSnapshot(
    frame: Pick<DataFrame & { readonly type: "snapshot" }, "seq" | "resumed" | "streamId" | "gap">
  ): ReadonlyArray<TrackerGap> {
    this.failures = 0
    if (frame.resumed && frame.streamId === this.streamId) {
      // The missed frames follow with their own numbers.
      this.#ahead = frame.seq
    } else {
      this.seq = frame.seq
    }
    this.streamId = frame.streamId
    return frame.gap === null ? [] : [{ type: "gap", ...frame.gap }]
  }

  #isNew(eventId: string): boolean {
    if (this.#seen.has(eventId)) {
      return false
    }
    this.#seen.add(eventId)
    const [oldest] = this.#seen
    if (this.#seen.size > MOST_SEEN && oldest !== undefined) {
      this.#seen.delete(oldest)
    }
    return true
  }
}
