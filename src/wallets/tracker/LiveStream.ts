import type { Address } from "../../domain/Address.ts"
import type { SnapshotGap } from "../../api/schemas/LiveFrame.ts"
import type { TrackedWallet } from "../../api/schemas/Tracker.ts"
import { FrameSequence } from "../../live/FrameSequence.ts"
import type { LiveConnection } from "../../live/LiveConnection.ts"
import type { Grant } from "./Tickets.ts"

/** The numbered frames of one client. It outlives its connection, so that a client can resume it. */
export class LiveStream extends FrameSequence {
  readonly grant: Grant
  readonly openedAtMs: number
  /** Tracked wallets with the account's labels. */
  items: ReadonlyArray<TrackedWallet> = []
  /** Start of tracking by wallet, in milliseconds: earlier events are not sent. */
  wallets: ReadonlyMap<Address, number> = new Map()
  /** The current reader; null while disconnected. */
  connection: LiveConnection<LiveStream> | null = null
  /** Time of the disconnect and the last frame number at that time; null while connected. */
  left: { readonly atMs: number; readonly seq: number } | null = null
  /** The gap that the next resync snapshot covers; null when none is pending. */
  pendingGap: SnapshotGap | null = null

  constructor(grant: Grant, nowMs: number) {
    super()
    this.grant = grant
    this.openedAtMs = nowMs
  }
}
