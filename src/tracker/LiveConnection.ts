import { type ControlFrame, type NoticeCode } from "../domain/wallets/LiveFrame.ts"
import { controlText, type SharedFrame } from "./liveFrames.ts"
import type { Grant } from "./Tickets.ts"

/** Why the service ends a connection, as it says on the wire. */
export type CloseCode = 1001 | 1008 | 1012 | 1013 | 4401 | 4403 | 4409 | 4429

/** What a connection is made of. Nothing here waits; what cannot be sent at once is counted as unsent. */
export interface LiveWire {
  /** Sends frames with consecutive numbers. Those that are sent `again` do not count as unsent. */
  send(frames: ReadonlyArray<SharedFrame>, firstSeq: number, sentAtMs: number, again?: boolean): void
  /** Sends a text that has no number. */
  say(text: string): void
  unsentBytes(): number
  unsentFrames(): number
  ping(): void
  /** Ends it once everything that was sent has gone out, or after a few seconds. */
  close(code: CloseCode, reason: string): void
}

/** What a reader may be behind before it is given up. */
export const slowLimits = { bytes: 4 * 1024 * 1024, frames: 1000 } as const
/** The rhythm of a connection, in milliseconds. */
export const rhythm = { ping: 20_000, silence: 40_000, heartbeat: 20_000, resumeWithin: 5000 } as const

const MINUTE_MS = 60_000
const MOST_FAULTS = 10
// One a second; the network may bring two closer together than they were sent.
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

/** What a client said; null when it makes no sense. */
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
    const isPlace = typeof seq === "number" && Number.isSafeInteger(seq) && seq >= 0
    return isPlace && isId(streamId) ? { op: "resume", streamId, seq } : null
  }
  return null
}

/** The numbered stream that a connection reads: the grant it was opened with, and the number of its last frame. */
export interface ReadStream {
  readonly grant: Grant
  readonly last: number
}

/** What a connection asks of those who keep the streams. */
export interface ConnectionOwner {
  readonly resume: (connection: LiveConnection, streamId: string, seq: number, nowMs: number) => void
}

/** Counts faults; true once there are too many in a minute. */
class Faults {
  #times: Array<number> = []

  add(nowMs: number): boolean {
    this.#times = this.#times.filter((time) => nowMs - time < MINUTE_MS)
    this.#times.push(nowMs)
    return this.#times.length >= MOST_FAULTS
  }
}

/** One reader: what it may say, how it is kept alive, and when it is given up. Fed with what happens and the time. */
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
  #askedAtMs = Number.NEGATIVE_INFINITY
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

  /** Whether it has been told to end. Nothing is sent afterwards. */
  get closed(): boolean {
    return this.#closed
  }

  /** Sends frames, unless the reader is too far behind: then it is given up. */
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

  /** Sends a snapshot in the place of frame `seq`, and again what followed it. */
  replay(snapshot: ReadonlyArray<SharedFrame>, frames: ReadonlyArray<SharedFrame>, seq: number, nowMs: number): void {
    if (!this.#closed) {
      this.#wire.send(snapshot, seq, nowMs, true)
      this.#wire.send(frames, seq + 1, nowMs, true)
    }
  }

  /** The client said something; null when it was no text. */
  message(text: string | null, nowMs: number): void {
    if (this.#closed) {
      return
    }
    const message = text === null ? null : readMessage(text)
    if (message === null) {
      this.#fault("invalid_message", "Send a ping or a resume as JSON text.", nowMs)
    } else if (message.op === "ping") {
      this.#ping(message.id, nowMs)
    } else if (this.#resumed || nowMs - this.#openedAtMs > rhythm.resumeWithin) {
      this.#fault("resume_too_late", "Resume once, within five seconds of connecting.", nowMs)
    } else {
      this.#resumed = true
      this.#owner.resume(this, message.streamId, message.seq, nowMs)
    }
  }

  /** The client answered a ping. */
  pong(nowMs: number): void {
    this.#pongAtMs = nowMs
  }

  /** Time has passed. */
  tick(nowMs: number, ingestLagMs: number | null): void {
    if (this.#closed) {
      return
    }
    if (nowMs - this.#pongAtMs >= rhythm.silence) {
      this.close(1001, "no pong")
      return
    }
    if (nowMs - this.#pingAtMs >= rhythm.ping) {
      this.#pingAtMs = nowMs
      this.#wire.ping()
    }
    if (nowMs - this.#heartbeatAtMs >= rhythm.heartbeat) {
      this.#heartbeatAtMs = nowMs
      this.#say({ type: "heartbeat", sentAtMs: nowMs, seq: this.stream.last, ingestLagMs })
    }
  }

  /** Says what is going on, to who asked for it. */
  notice(code: NoticeCode, message: string, nowMs: number): void {
    this.#say({ type: "notice", code, message, sentAtMs: nowMs })
  }

  /** Ends it. Only the first call counts. */
  close(code: CloseCode, reason: string): void {
    if (!this.#closed) {
      this.#closed = true
      this.#wire.close(code, reason)
    }
  }

  #ping(id: string | null, nowMs: number): void {
    if (nowMs - this.#askedAtMs >= PING_SPACING_MS) {
      this.#askedAtMs = nowMs
      this.#say({ type: "pong", id, sentAtMs: nowMs })
      return
    }
    this.#say({ type: "error", code: "rate_limited", message: "Ping once a second at most.", sentAtMs: nowMs })
    if (this.#early.add(nowMs)) {
      this.close(4429, "too many messages")
    }
  }

  #fault(code: string, message: string, nowMs: number): void {
    this.#say({ type: "error", code, message, sentAtMs: nowMs })
    if (this.#invalid.add(nowMs)) {
      this.close(1008, "too many invalid messages")
    }
  }

  #say(frame: ControlFrame): void {
    if (this.#control && !this.#closed) {
      this.#wire.say(controlText(frame))
    }
  }
}
