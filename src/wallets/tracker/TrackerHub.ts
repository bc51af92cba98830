import { Schema } from "effect"
import type { Address } from "../../domain/Address.ts"
import type { AlertFired } from "../../api/schemas/Alert.ts"
import {
  type LiveEvent,
  type LiveGap,
  ResumeMessage,
  type SnapshotGap,
  type SnapshotReason
} from "../../api/schemas/LiveFrame.ts"
import type { TrackedWallet } from "../../api/schemas/Tracker.ts"
import type { FeedHealth } from "../../live/FeedHealth.ts"
import type { SharedFrame } from "../../live/frames.ts"
import { MOST_KEPT } from "../../live/FrameSequence.ts"
import { type ConnectionOwner, type Fault, LiveConnection } from "../../live/LiveConnection.ts"
import { type HubLimits, LiveHub } from "../../live/LiveHub.ts"
import type { LiveWire } from "../../live/LiveWire.ts"
import type { LiveFollower } from "./LiveFollower.ts"
import { LiveStream } from "./LiveStream.ts"
import { secondOf } from "./overview.ts"
import { type SnapshotSources, snapshotOf } from "./snapshot.ts"
import type { Grant } from "./Tickets.ts"
import { firingFrames, framesOf, snapshotFrame } from "./trackerFrames.ts"

/** A connection may resume a stream within this time after it opened, in milliseconds. */
const RESUME_WITHIN_MS = 5000

type Connection = LiveConnection<LiveStream>

/** One gap that spans both. Its start is unknown when either start is. A gap of the chain may hide firings too. */
const mergedGap = (before: SnapshotGap | null, gap: SnapshotGap): SnapshotGap =>
  before === null
    ? gap
    : {
        fromMs: before.fromMs === null || gap.fromMs === null ? null : Math.min(before.fromMs, gap.fromMs),
        toMs: Math.max(before.toMs, gap.toMs),
        reason: gap.reason === "alerts_missed" ? before.reason : gap.reason
      }

const isResume = Schema.is(ResumeMessage)

/** The streams of the tracker. A frame is encoded once, however many streams receive it. */
export class TrackerHub extends LiveHub<Grant, LiveStream> implements LiveFollower, ConnectionOwner<LiveStream> {
  readonly #sources: SnapshotSources
  // Streams by wallet, then by the second from which they include it.
  readonly #byWallet = new Map<Address, Map<number, Set<LiveStream>>>()
  readonly #byAccount = new Map<string, Set<LiveStream>>()
  readonly #resumed = new WeakSet<Connection>()

  constructor(sources: SnapshotSources, limits: HubLimits) {
    super(limits)
    this.#sources = sources
  }

  /** Opens a stream and sends its first snapshot; null at the connection limit. */
  open(grant: Grant, items: ReadonlyArray<TrackedWallet>, wire: LiveWire, nowMs: number): Connection | null {
    if (this.isFull) {
      return null
    }
    const stream = new LiveStream(grant, nowMs)
    const connection = new LiveConnection(stream, wire, this, nowMs)
    stream.connection = connection
    this.admit(connection, nowMs)
    this.#byAccount.set(grant.accountId, (this.#byAccount.get(grant.accountId) ?? new Set()).add(stream))
    this.#list(stream, items)
    this.#sendSnapshot(stream, "connect", null, nowMs)
    return connection
  }

  handle(connection: Connection, message: object | null, nowMs: number): Fault | null {
    if (!isResume(message)) {
      return { code: "invalid_message", message: "Send a ping or a resume as JSON text." }
    }
    if (this.#resumed.has(connection) || nowMs - connection.openedAtMs > RESUME_WITHIN_MS) {
      return { code: "resume_too_late", message: "Resume once, within five seconds of connecting." }
    }
    this.#resumed.add(connection)
    this.#resume(connection, message, nowMs)
    return null
  }

  heartbeat({ last }: LiveStream): { readonly seq: number } {
    return { seq: last }
  }

  wants(wallet: Address, sinceMs?: number): boolean {
    const streams = this.#byWallet.get(wallet)
    return streams !== undefined && (sinceMs === undefined || streams.has(sinceMs))
  }

  take(events: ReadonlyArray<LiveEvent>, nowMs: number): void {
    const wanted = events.filter(({ wallet }) => this.#byWallet.has(wallet))
    this.#sendEach(wanted, framesOf(wanted), (event) => this.#readersOf(event), nowMs)
  }

  /** Accounts with a stream. */
  get accounts(): ReadonlySet<string> {
    return new Set(this.#byAccount.keys())
  }

  /** Sends firings to the streams of their accounts that may read alerts. */
  fired(firings: ReadonlyArray<AlertFired>, mayRead: (grant: Grant) => boolean, nowMs: number): void {
    const wanted = firings.filter(({ accountId }) => this.#byAccount.has(accountId))
    const frames = firingFrames(wanted.map(({ event }) => event))
    const readersOf = ({ accountId }: AlertFired) =>
      Array.from(this.#byAccount.get(accountId) ?? []).filter(({ grant }) => mayRead(grant))
    this.#sendEach(wanted, frames, readersOf, nowMs)
  }

  lost(gap: LiveGap): void {
    for (const stream of this.held.values()) {
      stream.pendingGap = mergedGap(stream.pendingGap, gap)
    }
  }

  /**
   * Tells streams that firings from `fromMs` on may be missing. Null stands for the beginning of each stream. Applies
   * to every account unless `accounts` is given.
   */
  missedFirings(fromMs: number | null, nowMs: number, accounts: ReadonlySet<string> = this.accounts): void {
    for (const accountId of accounts) {
      for (const stream of this.#byAccount.get(accountId) ?? []) {
        const { openedAtMs, pendingGap } = stream
        const sinceMs = Math.max(fromMs ?? openedAtMs, openedAtMs)
        stream.pendingGap = mergedGap(pendingGap, { fromMs: sinceMs, toMs: nowMs, reason: "alerts_missed" })
      }
    }
  }

  /** Sends the resync snapshot of one stream that missed blocks; false when none is pending. */
  resyncOne(nowMs: number): boolean {
    for (const stream of this.held.values()) {
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
    if (this.held.get(stream.grant.streamId) === stream) {
      this.#list(stream, items)
      this.#sendSnapshot(stream, "wallets_changed", null, nowMs)
    }
  }

  #resume(connection: Connection, { seq, streamId }: typeof ResumeMessage.Type, nowMs: number): void {
    const opened = this.held.get(connection.stream.grant.streamId)
    const old = this.held.get(streamId)
    if (opened === undefined) {
      return
    }
    const isResumable =
      old !== undefined &&
      old !== opened &&
      old.grant.accountId === opened.grant.accountId &&
      old.grant.keyId === opened.grant.keyId &&
      old.grant.session === opened.grant.session &&
      old.grant.group === opened.grant.group
    const missed = isResumable ? old.after(seq) : null
    if (!isResumable || missed === null) {
      const fromMs = isResumable ? old.openedAtMs : null
      const reason = isResumable ? ("expired" as const) : ("unknown_stream" as const)
      this.#sendSnapshot(opened, "resume", { fromMs, toMs: nowMs, reason }, nowMs)
      return
    }
    if (old.connection !== null) {
      const { connection: stale } = old
      stale.close(4409, "resumed elsewhere")
      this.closed(stale, nowMs)
    }
    this.forget(opened)
    old.connection = connection
    old.left = null
    connection.stream = old
    const snapshot = snapshotFrame(
      snapshotOf(this.#sources, old, { reason: "resume", resumed: true, gap: null }, nowMs)
    )
    connection.replay([{ frames: snapshot, firstSeq: seq }], nowMs)
    connection.replay([{ frames: missed, firstSeq: seq + 1 }], nowMs)
  }

  protected override health(nowMs: number): FeedHealth {
    return this.#sources.health(nowMs)
  }

  protected override detach(connection: Connection, nowMs: number): void {
    const stream = this.held.get(connection.stream.grant.streamId)
    if (stream?.connection === connection) {
      stream.connection = null
      stream.left = { atMs: nowMs, seq: stream.last }
    }
  }

  protected override drop(stream: LiveStream): void {
    const { accountId } = stream.grant
    const others = this.#byAccount.get(accountId)
    others?.delete(stream)
    if (others?.size === 0) {
      this.#byAccount.delete(accountId)
    }
    this.#unlist(stream)
  }

  protected override isExpired(stream: LiveStream, nowMs: number): boolean {
    const { last, left } = stream
    return super.isExpired(stream, nowMs) || (left !== null && last - left.seq > MOST_KEPT)
  }

  /**
   * The streams that receive the event: figures go to streams with the same `sinceMs`, fills to all streams of the
   * wallet, and other events to streams that began before.
   */
  #readersOf(event: LiveEvent): Iterable<LiveStream> {
    const streams = this.#byWallet.get(event.wallet) ?? new Map<number, Set<LiveStream>>()
    if ("sinceMs" in event) {
      return streams.get(event.sinceMs) ?? []
    }
    return Array.from(streams).flatMap(([sinceMs, some]) =>
      event.isOfFill === true || event.body.ts >= sinceMs ? Array.from(some) : []
    )
  }

  /** Sends each frame to the readers of its event, and keeps it for replay. */
  #sendEach<Event>(
    events: ReadonlyArray<Event>,
    frames: ReadonlyArray<SharedFrame>,
    readersOf: (event: Event) => Iterable<LiveStream>,
    nowMs: number
  ): void {
    const batches = new Map<LiveStream, Array<SharedFrame>>()
    for (const [at, frame] of frames.entries()) {
      const event = events[at]
      for (const stream of event === undefined ? [] : readersOf(event)) {
        const batch = batches.get(stream) ?? []
        batches.set(stream, batch)
        batch.push(frame)
      }
    }
    for (const [stream, batch] of batches) {
      this.#send(stream, batch, nowMs)
    }
    // After the frames were sent, because frames that do not fit into the buffer are dropped at once.
    frames.forEach((frame) => this.replay.add(frame, nowMs))
  }

  #send(stream: LiveStream, frames: ReadonlyArray<SharedFrame>, nowMs: number): void {
    const first = stream.push(frames)
    const { connection } = stream
    connection?.deliver([{ frames, firstSeq: first }], nowMs)
    if (connection?.closed === true) {
      this.closed(connection, nowMs)
    }
  }

  #sendSnapshot(stream: LiveStream, reason: SnapshotReason, gap: SnapshotGap | null, nowMs: number): void {
    const frames = snapshotFrame(snapshotOf(this.#sources, stream, { reason, resumed: false, gap }, nowMs))
    this.#send(stream, frames, nowMs)
    frames.forEach((frame) => this.replay.add(frame, nowMs))
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
}
