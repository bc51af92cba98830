import { Schema } from "effect"
import { type NoticeCode, PingMessage } from "../api/schemas/LiveFrame.ts"
import { bytesOf, type FrameRun } from "./frames.ts"
import type { GrantedStream } from "./LiveGrant.ts"
import { type CloseCode, type Control, type LiveWire, slowLimits } from "./LiveWire.ts"

/** Intervals and timeouts of a connection, in milliseconds. */
export const timing = { ping: 20_000, silence: 40_000, heartbeat: 20_000 } as const

const MINUTE_MS = 60_000
const MOST_FAULTS = 10
// Least milliseconds between two pings of a client: one second, minus a tolerance for network jitter.
const PING_SPACING_MS = 750

/** The error of a client message. */
export interface Fault {
  readonly code: string
  readonly message: string
  /** Further fields of the error frame. */
  readonly detail?: Readonly<Record<string, unknown>>
}

const isPing = Schema.is(PingMessage)

/** The JSON object of a client message; null when it is malformed. */
export const readMessage = (text: string): { readonly op: unknown } | null => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === "object" && value !== null && "op" in value ? value : null
  } catch {
    return null
  }
}

/** The id of a ping; undefined when the message is not a well-formed ping. */
const pingId = (message: { readonly op: unknown }): string | null | undefined =>
  message.op === "ping" && isPing(message) ? (message.id ?? null) : undefined

/** The protocol of the messages of one kind of stream. */
export interface ConnectionOwner<S extends GrantedStream> {
  /** Handles a message other than a ping. Null stands for a malformed or binary message. Returns its fault, or null. */
  handle(connection: LiveConnection<S>, message: { readonly op: unknown } | null, nowMs: number): Fault | null
  /** Fields of a heartbeat beside its time and the lag. */
  heartbeat(stream: S): Readonly<Record<string, unknown>>
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
export class LiveConnection<S extends GrantedStream> {
  stream: S
  readonly keyId: string
  readonly accountId: string
  readonly openedAtMs: number
  readonly #control: boolean
  readonly #wire: LiveWire
  readonly #owner: ConnectionOwner<S>
  #closed = false
  #pongAtMs: number
  #pingAtMs: number
  #heartbeatAtMs: number
  #answeredPingAtMs = Number.NEGATIVE_INFINITY
  // When the last ping or pong frame came.
  #controlAtMs = Number.NEGATIVE_INFINITY
  // Created with the first fault, because most connections have none.
  #invalid: Faults | null = null
  #early: Faults | null = null

  constructor(stream: S, wire: LiveWire, owner: ConnectionOwner<S>, nowMs: number) {
    this.stream = stream
    this.keyId = stream.grant.keyId
    this.accountId = stream.grant.accountId
    this.#control = stream.grant.control
    this.#wire = wire
    this.#owner = owner
    this.openedAtMs = nowMs
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
  deliver(runs: ReadonlyArray<FrameRun>, nowMs: number): void {
    if (this.#closed) {
      return
    }
    const bytes = runs.reduce((sum, { frames }) => sum + bytesOf(frames), this.#wire.unsentBytes())
    if (bytes > slowLimits.bytes || this.#wire.unsentFrames() > slowLimits.frames) {
      this.notice("slow_consumer", "Too much is unsent.", nowMs)
      this.close(1013, "slow consumer")
      return
    }
    this.#wire.send(runs, nowMs)
  }

  /** Sends frames that were made before a resumption, in order. They do not count as unsent. */
  replay(runs: ReadonlyArray<FrameRun>, nowMs: number): void {
    if (!this.#closed) {
      this.#wire.send(runs, nowMs, true)
    }
  }

  /** Handles a client message; null stands for a binary message. */
  message(text: string | null, nowMs: number): void {
    if (this.#closed) {
      return
    }
    const message = text === null ? null : readMessage(text)
    const id = message === null ? undefined : pingId(message)
    if (id !== undefined) {
      this.#ping(id, nowMs)
      return
    }
    const fault = this.#owner.handle(this, message?.op === "ping" ? null : message, nowMs)
    if (fault !== null) {
      this.#fault(fault, nowMs)
    }
  }

  /** Records a pong of the client. It comes after each ping of this side, so that many of them were not asked for. */
  pong(nowMs: number): void {
    this.#pongAtMs = nowMs
    this.#controlFrame(nowMs)
  }

  /** Records a ping frame of the client. True when it may be answered. */
  pinged(nowMs: number): boolean {
    this.#controlFrame(nowMs)
    return !this.#closed
  }

  /** Sends due pings and heartbeats. Closes after `timing.silence` without a pong. */
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
      this.control({ type: "heartbeat", sentAtMs: nowMs, ...this.#owner.heartbeat(this.stream), ingestLagMs })
    }
  }

  /** Sends a notice, if the client requested control frames. */
  notice(code: NoticeCode, message: string, nowMs: number): void {
    this.control({ type: "notice", code, message, sentAtMs: nowMs })
  }

  /** Sends a frame without a number, if the client requested control frames. */
  control<F extends Control>(frame: F): void {
    if (this.#control && !this.#closed) {
      this.#wire.sendControl(frame)
    }
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
      this.control({ type: "pong", id, sentAtMs: nowMs })
      return
    }
    this.control({ type: "error", code: "rate_limited", message: "Ping once a second at most.", sentAtMs: nowMs })
    this.#early ??= new Faults()
    if (this.#early.add(nowMs)) {
      this.close(4429, "too many messages")
    }
  }

  /** Counts ping and pong frames that follow another one within PING_SPACING_MS. */
  #controlFrame(nowMs: number): void {
    const isEarly = nowMs - this.#controlAtMs < PING_SPACING_MS
    this.#controlAtMs = nowMs
    if (!this.#closed && isEarly) {
      this.#early ??= new Faults()
      if (this.#early.add(nowMs)) {
        this.close(4429, "too many messages")
      }
    }
  }

  #fault({ code, detail, message }: Fault, nowMs: number): void {
    this.control({ type: "error", code, message, ...detail, sentAtMs: nowMs })
    this.#invalid ??= new Faults()
    if (this.#invalid.add(nowMs)) {
      this.close(1008, "too many invalid messages")
    }
  }
}
