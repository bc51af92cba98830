import type { FeedHealth } from "./FeedHealth.ts"
import { LagMonitor, type LagNotice } from "./LagMonitor.ts"
import type { LiveConnection } from "./LiveConnection.ts"
import type { GrantedStream, LiveGrant } from "./LiveGrant.ts"
import type { CloseCode } from "./LiveWire.ts"
import { KEPT_MS, ReplayBuffer } from "./ReplayBuffer.ts"

/** Most connections per key. A further one replaces the oldest. */
export const MOST_PER_KEY = 5

/** Limits of the live streams of one process. */
export interface HubLimits {
  /** Bytes of frames kept for replay, over all streams. */
  readonly replayBytes: number
  readonly sockets: number
}

/** A stream that outlives its connection for a while, so that a client can resume it. */
export interface HeldStream<G extends LiveGrant> extends GrantedStream<G> {
  /** Time of the disconnect; null while connected. */
  readonly left: { readonly atMs: number } | null
}

/**
 * The streams of one socket path in this process and their connections: limits, replacement, revocation, drain and
 * timers. Each hub decides what its streams carry. Synchronous; the caller supplies events and the time.
 */
export abstract class LiveHub<G extends LiveGrant, S extends HeldStream<G>> {
  protected readonly replay: ReplayBuffer
  protected readonly held = new Map<string, S>()
  readonly #sockets: number
  readonly #lag = new LagMonitor()
  // Connections by key, oldest first.
  readonly #byKey = new Map<string, Set<LiveConnection<S>>>()
  #open = 0

  constructor({ replayBytes, sockets }: HubLimits) {
    this.#sockets = sockets
    this.replay = new ReplayBuffer(replayBytes)
  }

  /** Age of the chain data. */
  protected abstract health(nowMs: number): FeedHealth
  /** Notes when the stream of a closed connection was left. A stream that another connection reads stays as it is. */
  protected abstract detach(connection: LiveConnection<S>, nowMs: number): void
  /** Removes what a discarded stream holds. */
  protected abstract drop(stream: S): void

  /** Open connections. */
  get connections(): ReadonlyArray<LiveConnection<S>> {
    return Array.from(this.#byKey.values()).flatMap((some) => Array.from(some))
  }

  /** Number of open connections. */
  get size(): number {
    return this.#open
  }

  get streams(): Iterable<S> {
    return this.held.values()
  }

  /** Bytes kept for replay. */
  get replayBytes(): number {
    return this.replay.bytes
  }

  /** True at the connection limit. */
  protected get isFull(): boolean {
    return this.#open >= this.#sockets
  }

  /** Adds a connection and its stream. Closes the oldest connections of the key beyond its limit with 4409. */
  protected admit(connection: LiveConnection<S>, nowMs: number): void {
    const { grant } = connection.stream
    this.held.set(grant.streamId, connection.stream)
    const others = this.#byKey.get(grant.keyId) ?? new Set<LiveConnection<S>>()
    this.#byKey.set(grant.keyId, others.add(connection))
    this.#open++
    if (grant.sockets === null) {
      return
    }
    const counted = Array.from(others).filter(({ stream }) => stream.grant.sockets !== null)
    // More than one when the plan's limit was lowered. The new connection is the last one, and every plan allows at
    // least one.
    const excess = counted.slice(0, -(grant.sockets ?? MOST_PER_KEY))
    for (const oldest of excess) {
      oldest.close(4409, "replaced by a newer connection")
      this.closed(oldest, nowMs)
    }
  }

  /** Detaches a closed connection. Its stream stays available for `resume` until it expires. */
  closed(connection: LiveConnection<S>, nowMs: number): void {
    const others = this.#byKey.get(connection.keyId)
    if (others?.delete(connection) === true) {
      this.#open--
    }
    if (others?.size === 0) {
      this.#byKey.delete(connection.keyId)
    }
    this.detach(connection, nowMs)
  }

  /** Closes connections whose key or session has ended with 4403, and discards their streams. */
  revoke(hasEnded: (grant: G) => boolean, nowMs: number): void {
    const ended = this.connections.filter(({ stream }) => hasEnded(stream.grant))
    this.#closeAll(ended, 4403, "the key may no longer do this", nowMs)
    for (const stream of Array.from(this.held.values())) {
      if (hasEnded(stream.grant)) {
        this.forget(stream)
      }
    }
  }

  /** Sends the draining notice to every connection. */
  announceDrain(nowMs: number): void {
    this.connections.forEach((connection) =>
      connection.notice("draining", "The service restarts; ask for a new session and resume.", nowMs)
    )
  }

  /** Closes every connection. */
  closeAll(code: CloseCode, reason: string, nowMs: number): void {
    this.#closeAll(this.connections, code, reason, nowMs)
  }

  /**
   * Expires replay frames and abandoned streams, then runs the timers of every connection. Each step is one connection.
   */
  *tickInSteps(nowMs: number): Generator<void, void> {
    for (const stream of Array.from(this.held.values())) {
      if (this.isExpired(stream, nowMs)) {
        this.forget(stream)
      }
    }
    // No stream can ask for these frames, and without streams there is no later tick.
    this.replay.expire(this.held.size === 0 ? Number.POSITIVE_INFINITY : nowMs)
    const health = this.health(nowMs)
    const notice = this.#lag.check(health, nowMs)
    for (const connection of this.connections) {
      this.#tickOne(connection, nowMs, health, notice)
      yield
    }
  }

  #tickOne(connection: LiveConnection<S>, nowMs: number, { ingestLagMs }: FeedHealth, notice: LagNotice | null): void {
    if (notice !== null) {
      connection.notice(notice.code, notice.message, nowMs)
    }
    connection.tick(nowMs, ingestLagMs)
    if (connection.closed) {
      this.closed(connection, nowMs)
    }
  }

  /** True for a stream that can no longer be resumed. */
  protected isExpired({ left }: S, nowMs: number): boolean {
    return left !== null && nowMs - left.atMs > KEPT_MS
  }

  /** Discards a stream. */
  protected forget(stream: S): void {
    this.held.delete(stream.grant.streamId)
    this.drop(stream)
  }

  #closeAll(connections: Iterable<LiveConnection<S>>, code: CloseCode, reason: string, nowMs: number): void {
    for (const connection of Array.from(connections)) {
      connection.close(code, reason)
      this.closed(connection, nowMs)
    }
  }
}
