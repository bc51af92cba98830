import type { ControlFrame, DataFrame, LiveGap } from "../domain/wallets/LiveFrame.ts"

/** Something is missing: the service says so, or frames never came (`lost`). What it covers is null where nobody knows. */
export interface TrackerGap {
  readonly type: "gap"
  readonly fromMs: number | null
  readonly toMs: number
  readonly reason: LiveGap["reason"] | "lost"
}

/** What a listener is told: the frames of the stream, and what is missing between them. */
export type TrackerEvent = DataFrame | ControlFrame | TrackerGap

/** Trades whose ids are remembered: more than the service would ever tell twice. */
const MOST_SEEN = 4096

/** What survives a connection: where the stream stands, and which trades were told. */
export class TrackerMemory {
  /** The stream to take up again; null before its first snapshot. */
  streamId: string | null = null
  /** The last frame that was taken in. */
  seq = -1
  /** Connections since the last that said anything. */
  failures = 0
  /** A snapshot told ahead of the frames it follows. */
  private ahead = -1
  /** Whether the service still owes the answer to a resumption; until then it tells of a stream that begins. */
  private isResuming = false
  private readonly seen = new Set<string>()

  /** What to say to a new connection, to take the stream up where it was left; null when there is none yet. */
  greet(): string | null {
    this.isResuming = this.streamId !== null
    return this.isResuming ? JSON.stringify({ op: "resume", streamId: this.streamId, seq: this.seq }) : null
  }

  /** Whether nothing more is to be expected of this connection: the service says other things than the answer it owes. */
  isStuck(frame: ControlFrame): boolean {
    return this.isResuming && (frame.type === "error" || frame.type === "heartbeat")
  }

  /** What a listener is told of a frame: nothing of what it knows already. */
  take(frame: DataFrame): ReadonlyArray<TrackerEvent> {
    if (this.isResuming) {
      if (frame.type !== "snapshot" || frame.reason !== "resume") {
        return []
      }
      this.isResuming = false
    }
    if (frame.type === "snapshot") {
      return this.takeSnapshot(frame)
    }
    if (frame.seq <= this.seq) {
      return []
    }
    const next = this.seq + 1 === this.ahead ? this.ahead + 1 : this.seq + 1
    const lost: ReadonlyArray<TrackerEvent> =
      frame.seq > next ? [{ type: "gap", fromMs: null, toMs: frame.sentAtMs, reason: "lost" }] : []
    this.seq = frame.seq
    return frame.type === "trade" && !this.isNew(frame.eventId) ? lost : [...lost, frame]
  }

  private takeSnapshot(frame: DataFrame & { readonly type: "snapshot" }): ReadonlyArray<TrackerEvent> {
    this.failures = 0
    if (frame.resumed && frame.streamId === this.streamId) {
      // What was missed follows under its own numbers.
      this.ahead = frame.seq
    } else {
      this.seq = frame.seq
    }
    this.streamId = frame.streamId
    return frame.gap === null ? [frame] : [frame, { type: "gap", ...frame.gap }]
  }

  private isNew(eventId: string): boolean {
    if (this.seen.has(eventId)) {
      return false
    }
    this.seen.add(eventId)
    const [oldest] = this.seen
    if (this.seen.size > MOST_SEEN && oldest !== undefined) {
      this.seen.delete(oldest)
    }
    return true
  }
}
