import type { Address } from "../domain/Address.ts"
import type { LiveEvent, LiveGap, SnapshotReason } from "../domain/wallets/LiveFrame.ts"
import type { TrackedWallet } from "../domain/wallets/Tracker.ts"
import { ReplayBuffer, KEPT_MS } from "./ReplayBuffer.ts"
import { type CloseCode, type ConnectionOwner, LiveConnection, type LiveWire } from "./LiveConnection.ts"
import { framesOf, type SharedFrame, snapshotFrame } from "./liveFrames.ts"
import { LiveStream, MOST_KEPT } from "./LiveStream.ts"
import { secondOf } from "./overview.ts"
import { LagMonitor } from "./LagMonitor.ts"
import { type SnapshotSources, snapshotOf } from "./snapshot.ts"
import type { Grant } from "./tickets/Tickets.ts"
import type { LiveFollower } from "./LiveFollower.ts"

/** Connections per key; one more replaces the oldest. */
export const MOST_PER_KEY = 5

/** Limits of the live streams of one process. */
export interface HubLimits {
  /** Bytes of frames kept for replay, over all streams. */
  readonly replayBytes: number
  readonly sockets: number
}

/**
 * The live streams of this process and their connections. Synchronous; the caller supplies events and the time. A frame
 * is encoded once, however many streams receive it.
 */
export class LiveHub implements LiveFollower, ConnectionOwner {
  readonly #sources: SnapshotSources
  readonly #limits: HubLimits
  readonly #replay: ReplayBuffer
  readonly #lag = new LagMonitor()
  readonly #streams = new Map<string, LiveStream>()
  // Streams by wallet, then by the second from which they include it.
  readonly #byWallet = new Map<Address, Map<number, Set<LiveStream>>>()
  // Connections by key, oldest first.
  readonly #byKey = new Map<string, Set<LiveConnection>>()

  constructor(sources: SnapshotSources, limits: HubLimits) {
    this.#sources = sources
    this.#limits = limits
    this.#replay = new ReplayBuffer(limits.replayBytes)
  }

  /** Open connections. */
  get connections(): ReadonlyArray<LiveConnection> {
    return Array.from(this.#byKey.values()).flatMap((some) => Array.from(some))
  }

  get streams(): Iterable<LiveStream> {
    return this.#streams.values()
  }

  /** Bytes kept for replay. */
  get replayBytes(): number {
    return this.#replay.bytes
  }

  /** Opens a stream and sends its first snapshot; null at the connection limit. */
  open(grant: Grant, items: ReadonlyArray<TrackedWallet>, wire: LiveWire, nowMs: number): LiveConnection | null {
    if (this.connections.length >= this.#limits.sockets) {
      return null
    }
    const stream = new LiveStream(grant, nowMs)
    const connection = new LiveConnection(stream, wire, this, nowMs)
    stream.connection = connection
    this.#streams.set(grant.streamId, stream)
    const others = this.#byKey.get(grant.keyId) ?? new Set<LiveConnection>()
    this.#byKey.set(grant.keyId, others.add(connection))
    // More than one where the plan has a lower limit than before. The new one is the last, and every plan has one.
    const excess = Array.from(others).slice(0, -(grant.sockets ?? MOST_PER_KEY))
    for (const oldest of excess) {
      oldest.close(4409, "replaced by a newer connection")
      this.closed(oldest, nowMs)
    }
    this.#list(stream, items)
    this.#sendSnapshot(stream, "connect", null, nowMs)
    return connection
  }

  /** Detaches a closed connection. Its stream stays available for `resume` until it expires. */
  closed(connection: LiveConnection, nowMs: number): void {
    const others = this.#byKey.get(connection.keyId)
    others?.delete(connection)
    if (others?.size === 0) {
      this.#byKey.delete(connection.keyId)
    }
    const stream = this.#streams.get(connection.stream.grant.streamId)
    if (stream?.connection === connection) {
      stream.connection = null
      stream.left = { atMs: nowMs, seq: stream.last }
    }
  }

  wants(wallet: Address, sinceMs?: number): boolean {
    const streams = this.#byWallet.get(wallet)
    return streams !== undefined && (sinceMs === undefined || streams.has(sinceMs))
  }

  take(events: ReadonlyArray<LiveEvent>, nowMs: number): void {
    const wanted = events.filter(({ wallet }) => this.#byWallet.has(wallet))
    const frames = framesOf(wanted)
    const batches = new Map<LiveStream, Array<SharedFrame>>()
    for (const [at, frame] of frames.entries()) {
      const event = wanted[at]
      for (const stream of event === undefined ? [] : this.#readersOf(event)) {
        const batch = batches.get(stream) ?? []
        batches.set(stream, batch)
        batch.push(frame)
      }
    }
    for (const [stream, batch] of batches) {
      this.#send(stream, batch, nowMs)
    }
    // After delivery, because frames that do not fit are dropped at once.
    frames.forEach((frame) => this.#replay.add(frame, nowMs))
  }

  lost(gap: LiveGap): void {
    for (const stream of this.#streams.values()) {
      stream.pendingGap = { ...gap, fromMs: stream.pendingGap?.fromMs ?? gap.fromMs }
    }
  }

  /** Sends the resync snapshot of one stream that missed blocks; false when none is pending. */
  resyncOne(nowMs: number): boolean {
    for (const stream of this.#streams.values()) {
      if (stream.pendingGap !== null) {
        const gap = stream.pendingGap
        stream.pendingGap = null
        this.#sendSnapshot(stream, "resync", gap, nowMs)
        return true
      }
    }
    return false
  }

  /** Replaces the wallets of a stream and sends a snapshot. */
  changed(stream: LiveStream, items: ReadonlyArray<TrackedWallet>, nowMs: number): void {
    if (this.#streams.get(stream.grant.streamId) === stream) {
      this.#list(stream, items)
      this.#sendSnapshot(stream, "wallets_changed", null, nowMs)
    }
  }

  resume(connection: LiveConnection, streamId: string, seq: number, nowMs: number): void {
    const begun = this.#streams.get(connection.stream.grant.streamId)
    const old = this.#streams.get(streamId)
    if (begun === undefined) {
      return
    }
    const isResumable =
      old !== undefined &&
      old !== begun &&
      old.grant.accountId === begun.grant.accountId &&
      old.grant.keyId === begun.grant.keyId &&
      old.grant.session === begun.grant.session &&
      old.grant.group === begun.grant.group
    const missed = isResumable ? old.after(seq) : null
    if (!isResumable || missed === null) {
      const fromMs = isResumable ? old.openedAtMs : null
      const reason = isResumable ? ("expired" as const) : ("unknown_stream" as const)
      this.#sendSnapshot(begun, "resume", { fromMs, toMs: nowMs, reason }, nowMs)
      return
    }
    if (old.connection !== null) {
      const { connection: stale } = old
      stale.close(4409, "resumed elsewhere")
      this.closed(stale, nowMs)
    }
    this.#forget(begun)
    old.connection = connection
    old.left = null
    connection.stream = old
    const snapshot = snapshotFrame(
      snapshotOf(this.#sources, old, { reason: "resume", resumed: true, gap: null }, nowMs)
    )
    connection.replay(snapshot, missed, seq, nowMs)
  }

  /** Closes the connections whose key or session has ended with 4403 and discards their streams. */
  revoke(hasEnded: (grant: Grant) => boolean, nowMs: number): void {
    const ended = this.connections.filter(({ stream }) => hasEnded(stream.grant))
    this.#closeAll(ended, 4403, "the key may no longer do this", nowMs)
    for (const stream of Array.from(this.#streams.values())) {
      if (hasEnded(stream.grant)) {
        this.#forget(stream)
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

  /** Expires replay frames and abandoned streams, and runs the timers of every connection. */
  tick(nowMs: number): void {
    this.#replay.expire(nowMs)
    for (const stream of Array.from(this.#streams.values())) {
      const { last, left } = stream
      if (left !== null && (nowMs - left.atMs > KEPT_MS || last - left.seq > MOST_KEPT)) {
        this.#forget(stream)
      }
    }
    const health = this.#sources.health(nowMs)
    const notice = this.#lag.check(health, nowMs)
    for (const connection of this.connections) {
      if (notice !== null) {
        connection.notice(notice.code, notice.message, nowMs)
      }
      connection.tick(nowMs, health.ingestLagMs)
      if (connection.closed) {
        this.closed(connection, nowMs)
      }
    }
  }

  /** The streams that receive the event: figures go to the streams of their `sinceMs`, others to streams that began before. */
  #readersOf(event: LiveEvent): Iterable<LiveStream> {
    const streams = this.#byWallet.get(event.wallet) ?? new Map<number, Set<LiveStream>>()
    if ("sinceMs" in event) {
      return streams.get(event.sinceMs) ?? []
    }
    return Array.from(streams).flatMap(([sinceMs, some]) => (event.body.ts >= sinceMs ? Array.from(some) : []))
  }

  #closeAll(connections: Iterable<LiveConnection>, code: CloseCode, reason: string, nowMs: number): void {
    for (const connection of Array.from(connections)) {
      connection.close(code, reason)
      this.closed(connection, nowMs)
    }
  }

  #send(stream: LiveStream, frames: ReadonlyArray<SharedFrame>, nowMs: number): void {
    const first = stream.push(frames)
    const { connection } = stream
    connection?.deliver(frames, first, nowMs)
    if (connection?.closed === true) {
      this.closed(connection, nowMs)
    }
  }

  #sendSnapshot(stream: LiveStream, reason: SnapshotReason, gap: LiveGap | null, nowMs: number): void {
    const frames = snapshotFrame(snapshotOf(this.#sources, stream, { reason, resumed: false, gap }, nowMs))
    this.#send(stream, frames, nowMs)
    frames.forEach((frame) => this.#replay.add(frame, nowMs))
  }

  #list(stream: LiveStream, items: ReadonlyArray<TrackedWallet>): void {
    this.#unlist(stream)
    stream.items = items
    stream.wallets = new Map(items.map(({ addedAtMs, wallet }) => [wallet, secondOf(addedAtMs)]))
    for (const [wallet, sinceMs] of stream.wallets) {
      const streams = this.#byWallet.get(wallet) ?? new Map<number, Set<LiveStream>>()
      this.#byWallet.set(wallet, streams.set(sinceMs, (streams.get(sinceMs) ?? new Set()).add(stream)))
    }
  }

  #unlist(stream: LiveStream): void {
    for (const [wallet, sinceMs] of stream.wallets) {
      const streams = this.#byWallet.get(wallet)
      const some = streams?.get(sinceMs)
      some?.delete(stream)
      if (some?.size === 0) {
        streams?.delete(sinceMs)
      }
      if (streams?.size === 0) {
        this.#byWallet.delete(wallet)
      }
    }
  }

  #forget(stream: LiveStream): void {
    this.#unlist(stream)
    this.#streams.delete(stream.grant.streamId)
  }
}
