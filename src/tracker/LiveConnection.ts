import { type ControlFrame, type NoticeCode } from "../domain/wallets/LiveFrame.ts"
import { controlText, type SharedFrame } from "./liveFrames.ts"
import type { Grant } from "./tickets/Tickets.ts"

/** WebSocket close codes of the tracker stream. */
export type CloseCode = 1001 | 1008 | 1012 | 1013 | 4401 | 4403 | 4409 | 4429

/** Transport of one connection. No method waits; bytes that cannot be written at once count as unsent. */
export interface LiveWire {
  /** Sends frames numbered from `firstSeq`. Replayed frames (`again`) do not count as unsent. */
  send(frames: ReadonlyArray<SharedFrame>, firstSeq: number, sentAtMs: number, again?: boolean): void
  /** Sends a text frame without a sequence number. */
  sendText(text: string): void
  unsentBytes(): number
  unsentFrames(): number
  ping(): void
  /** Closes the socket once its send buffer is flushed, or after a few seconds. */
  close(code: CloseCode, reason: string): void
}

/** Unsent bytes and frames beyond which a reader is disconnected. */
export const slowLimits = { bytes: 4 * 1024 * 1024, frames: 1000 } as const
/** Intervals and timeouts of a connection, in milliseconds. */
export const timing = { ping: 20_000, silence: 40_000, heartbeat: 20_000, resumeWithin: 5000 } as const

const MINUTE_MS = 60_000
const MOST_FAULTS = 10
// One per second, with tolerance for network jitter.
const PING_SPACING_MS = 750

type Message =
  | { readonly op: "ping"; readonly id: string | null }
  | { readonly op: "resume"; readonly streamId: string; readonly seq: number }

const isId = (value: unknown): value is string => typeof value === "string" && value.length > 0 && value.length <= 64

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** The parsed client message; null when it is malformed. */
export const readMessage = (text: string): Message | null => {
  const value = parsed(text)
  if (typeof value !== "object" || value === null || !("op" in value)) {
    return null
  }
  if (value.op === "ping") {
    const id = "id" in value ? value.id : null
    return id === null || isId(id) ? { op: "ping", id } : null
  }
  if (value.op === "resume" && "streamId" in value && "seq" in value) {
    const { seq, streamId } = value
    const isSeq = typeof seq === "number" && Number.isSafeInteger(seq) && seq >= 0
    return isSeq && isId(streamId) ? { op: "resume", streamId, seq } : null
  }
  return null
}

/** The numbered stream that a connection reads: its grant and the number of its last frame. */
export interface ReadStream {
  readonly grant: Grant
  readonly last: number
}

/** Resumes an earlier stream for a connection. */
export interface ConnectionOwner {
  readonly resume: (connection: LiveConnection, streamId: string, seq: number, nowMs: number) => void
}

/** Sliding window of faults; `add` returns true once ten fall within a minute. */
class Faults {
  #times: Array<number> = []

  add(nowMs: number): boolean {
    this.#times = this.#times.filter((time) => nowMs - time < MINUTE_MS)
    this.#times.push(nowMs)
    return this.#times.length >= MOST_FAULTS
  }
}

/**
 * Protocol state of one reader: client messages, pings, heartbeats and slow-consumer limits. Synchronous; the caller
 * supplies events and the time.
 */
export class LiveConnection {
  stream: ReadStream
  readonly keyId: string
  readonly accountId: string
  readonly #control: boolean
  readonly #wire: LiveWire
  readonly #owner: ConnectionOwner
  readonly #openedAtMs: number
  #closed = false
  #resumed = false
  #pongAtMs: number
  #pingAtMs: number
  #heartbeatAtMs: number
  #answeredPingAtMs = Number.NEGATIVE_INFINITY
  readonly #invalid = new Faults()
  readonly #early = new Faults()

  constructor(stream: ReadStream, wire: LiveWire, owner: ConnectionOwner, nowMs: number) {
    this.stream = stream
    this.keyId = stream.grant.keyId
    this.accountId = stream.grant.accountId
    this.#control = stream.grant.control
    this.#wire = wire
    this.#owner = owner
    this.#openedAtMs = nowMs
    this.#pongAtMs = nowMs
    this.#pingAtMs = nowMs
    this.#heartbeatAtMs = nowMs
  }

  /** Bytes that the reader has not taken yet. */
  get unsentBytes(): number {
    return this.#wire.unsentBytes()
  }

  /** True after `close`. Nothing is sent afterwards. */
  get closed(): boolean {
    return this.#closed
  }

  /** Sends frames, or closes with 1013 when the reader is beyond `slowLimits`. */
  deliver(frames: ReadonlyArray<SharedFrame>, firstSeq: number, nowMs: number): void {
    if (this.#closed) {
      return
    }
    const bytes = frames.reduce((sum, { length }) => sum + length, this.#wire.unsentBytes())
    if (bytes > slowLimits.bytes || this.#wire.unsentFrames() > slowLimits.frames) {
      this.notice("slow_consumer", "Too much is unsent.", nowMs)
      this.close(1013, "slow consumer")
      return
    }
    this.#wire.send(frames, firstSeq, nowMs)
  }

  /** Sends a snapshot numbered `seq` and then the frames that followed it. */
  replay(snapshot: ReadonlyArray<SharedFrame>, frames: ReadonlyArray<SharedFrame>, seq: number, nowMs: number): void {
    if (!this.#closed) {
      this.#wire.send(snapshot, seq, nowMs, true)
      this.#wire.send(frames, seq + 1, nowMs, true)
    }
  }

  /** Handles a client message; null stands for a binary message. */
  message(text: string | null, nowMs: number): void {
    if (this.#closed) {
      return
    }
    const message = text === null ? null : readMessage(text)
    if (message === null) {
      this.#fault("invalid_message", "Send a ping or a resume as JSON text.", nowMs)
    } else if (message.op === "ping") {
      this.#ping(message.id, nowMs)
    } else if (this.#resumed || nowMs - this.#openedAtMs > timing.resumeWithin) {
      this.#fault("resume_too_late", "Resume once, within five seconds of connecting.", nowMs)
    } else {
      this.#resumed = true
      this.#owner.resume(this, message.streamId, message.seq, nowMs)
    }
  }

  /** Records a pong of the client. */
  pong(nowMs: number): void {
    this.#pongAtMs = nowMs
  }

  /** Sends pings and heartbeats that are due, and closes after `timing.silence` without a pong. */
  tick(nowMs: number, ingestLagMs: number | null): void {
    if (this.#closed) {
      return
    }
    if (nowMs - this.#pongAtMs >= timing.silence) {
      this.close(1001, "no pong")
      return
    }
    if (nowMs - this.#pingAtMs >= timing.ping) {
      this.#pingAtMs = nowMs
      this.#wire.ping()
    }
    if (nowMs - this.#heartbeatAtMs >= timing.heartbeat) {
      this.#heartbeatAtMs = nowMs
      this.#sendControl({ type: "heartbeat", sentAtMs: nowMs, seq: this.stream.last, ingestLagMs })
    }
  }

  /** Sends a notice, if the client requested control frames. */
  notice(code: NoticeCode, message: string, nowMs: number): void {
    this.#sendControl({ type: "notice", code, message, sentAtMs: nowMs })
  }

  /** Closes the connection. Later calls have no effect. */
  close(code: CloseCode, reason: string): void {
    if (!this.#closed) {
      this.#closed = true
      this.#wire.close(code, reason)
    }
  }

  #ping(id: string | null, nowMs: number): void {
    if (nowMs - this.#answeredPingAtMs >= PING_SPACING_MS) {
      this.#answeredPingAtMs = nowMs
      this.#sendControl({ type: "pong", id, sentAtMs: nowMs })
      return
    }
    this.#sendControl({ type: "error", code: "rate_limited", message: "Ping once a second at most.", sentAtMs: nowMs })
    if (this.#early.add(nowMs)) {
      this.close(4429, "too many messages")
    }
  }

  #fault(code: string, message: string, nowMs: number): void {
    this.#sendControl({ type: "error", code, message, sentAtMs: nowMs })
    if (this.#invalid.add(nowMs)) {
      this.close(1008, "too many invalid messages")
    }
  }

  #sendControl(frame: ControlFrame): void {
    if (this.#control && !this.#closed) {
      this.#wire.sendText(controlText(frame))
    }
  }
}
