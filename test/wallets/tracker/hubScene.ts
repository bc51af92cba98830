/** A hub with fake readers: no socket, and time is a number. */
import type { Address } from "../../../src/domain/Address.ts"
import { MAIN_GROUP, type TrackedWallet } from "../../../src/api/schemas/Tracker.ts"
import { wholeOf } from "../../../src/market/memory/MarketState.ts"
import type { PricedBatch } from "../../../src/market/model/TradeBatch.ts"
import { copyRest, type FrameRun, headOf } from "../../../src/live/frames.ts"
import type { LiveConnection } from "../../../src/live/LiveConnection.ts"
import type { HubLimits } from "../../../src/live/LiveHub.ts"
import type { CloseCode, Control, LiveWire } from "../../../src/live/LiveWire.ts"
import type { LiveStream } from "../../../src/wallets/tracker/LiveStream.ts"
import { TrackerHub } from "../../../src/wallets/tracker/TrackerHub.ts"
import type { Grant } from "../../../src/wallets/tracker/Tickets.ts"
import { secondOf } from "../../../src/wallets/tracker/overview.ts"
import { TrackerState } from "../../../src/wallets/tracker/TrackerState.ts"
import type { FeedHealth } from "../../../src/live/FeedHealth.ts"
import { type Marks, named, marksOf, START } from "./liveScene.ts"

/** A parsed frame. */
export type ReceivedFrame = Record<string, unknown> & { readonly type: string; readonly seq: number }

/** A transport that records frames, texts and the close code. */
export class FakeWire implements LiveWire {
  readonly texts: Array<string> = []
  /** Frames in each write. */
  readonly writes: Array<number> = []
  readonly controls: Array<Record<string, unknown>> = []
  pings = 0
  closedWith: CloseCode | null = null
  unsent = { bytes: 0, frames: 0 }

  send(runs: ReadonlyArray<FrameRun>, sentAtMs: number): void {
    this.writes.push(runs.reduce((sum, { frames }) => sum + frames.length, 0))
    for (const { firstSeq, frames, mark } of runs) {
      for (const [at, frame] of frames.entries()) {
        const rest = Buffer.alloc(frame.length)
        copyRest(frame, rest, 0)
        this.texts.push(headOf(frame.type, firstSeq + at, sentAtMs, mark) + String(rest))
      }
    }
  }
  sendControl(frame: Control): void {
    this.controls.push(JSON.parse(JSON.stringify(frame)))
  }
  unsentBytes(): number {
    return this.unsent.bytes
  }
  unsentFrames(): number {
    return this.unsent.frames
  }
  ping(): void {
    this.pings++
  }
  close(code: CloseCode): void {
    this.closedWith = code
  }

  /** Every data frame received. */
  get frames(): ReadonlyArray<ReceivedFrame> {
    return this.texts.map((text) => JSON.parse(text))
  }
}

/** A tracked wallet with overrides. */
export const tracked = (wallet: Address, overrides: Partial<TrackedWallet> = {}): TrackedWallet => ({
  wallet,
  label: null,
  emoji: null,
  notes: null,
  groups: [MAIN_GROUP],
  groupId: MAIN_GROUP,
  status: "pending",
  lastEventAtMs: null,
  addedAtMs: START,
  ...overrides
})

/** A hub with the tracker state behind it, and the time. */
export class HubScene {
  nowMs = START
  readonly marks: Marks = { usd: 1n }
  health: FeedHealth = { ingestLagMs: 0, heardAtMs: START }
  /** Seconds from which wallets are tracked. */
  readonly sinces = new Map<Address, Set<number>>()
  readonly books = new TrackerState({
    sincesOf: (wallet) => this.sinces.get(wallet) ?? new Set(),
    tokenOf: () => named,
    marksAt: (nowMs) => marksOf(this.marks, nowMs),
    commitment: "confirmed"
  })
  readonly hub: TrackerHub
  #streams = 0

  constructor(limits: Partial<HubLimits> = {}) {
    this.hub = new TrackerHub(
      {
        health: () => this.health,
        lastEventAtMs: (wallet) => this.books.lastEventAtMs(wallet),
        newestOf: (asked, each, limit) => this.books.newestOf(asked, each, limit),
        pnlSnapshotOf: (asked, limit, nowMs) => this.books.pnlSnapshotOf(asked, limit, nowMs)
      },
      { replayBytes: 64 * 1024 * 1024, sockets: 100, ...limits }
    )
  }

  /** Starts tracking these wallets. */
  track(wallets: ReadonlyArray<Address>, addedAtMs = START): void {
    const sinceMs = secondOf(addedAtMs)
    wallets.forEach((wallet) => this.sinces.set(wallet, (this.sinces.get(wallet) ?? new Set()).add(sinceMs)))
  }

  /** Connects a reader of these wallets. */
  connect(wallets: ReadonlyArray<Address>, overrides: Partial<Grant> = {}, addedAtMs = START) {
    this.track(wallets, addedAtMs)
    const streamId = `str_${++this.#streams}`
    const grant = {
      keyId: "key_a",
      session: null,
      accountId: "a",
      wallets,
      group: null,
      control: true,
      streamId,
      ...overrides
    }
    const wire = new FakeWire()
    const items = wallets.map((wallet) => tracked(wallet, { addedAtMs }))
    const connection = this.hub.open(grant, items, wire, this.nowMs)
    return { wire, streamId, connection }
  }

  /** Connects a reader below the connection limit. */
  reader(wallets: ReadonlyArray<Address>, overrides: Partial<Grant> = {}, addedAtMs = START) {
    const { connection, ...rest } = this.connect(wallets, overrides, addedAtMs)
    if (connection === null) {
      throw new Error("no room for a reader")
    }
    return { ...rest, connection }
  }

  /** Applies a block and sends due figures. */
  block(batch: PricedBatch): void {
    const { events } = this.books.apply(batch, this.nowMs, (wallet, sinceMs) => this.hub.wants(wallet, sinceMs))
    this.hub.take(events, this.nowMs)
    this.#due()
  }

  /** Advances the time and sends due figures. */
  pass(ms: number): void {
    this.nowMs += ms
    this.#due()
    wholeOf(this.hub.tickInSteps(this.nowMs))
  }

  /** Handles a client message. */
  say(connection: LiveConnection<LiveStream>, message: unknown): void {
    connection.message(JSON.stringify(message), this.nowMs)
  }

  #due(): void {
    const events = this.books.due(this.nowMs, (wallet, sinceMs) => this.hub.wants(wallet, sinceMs))
    this.hub.take(events, this.nowMs)
  }
}
