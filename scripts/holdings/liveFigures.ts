/** The figures of tracked wallets as a client of the live connection holds them: a snapshot, then each newer frame. */
import { type Caller, request } from "./service.ts"

/** A position of a frame, as far as it is checked. */
export interface LivePosition {
  readonly wallet: string
  readonly mint: string
  readonly holding: string | null
  readonly realized: string | null
  readonly unrealized: string | null
  readonly total: string | null
  readonly markUsd: string | null
  readonly buys: number
  readonly sells: number
}

/** The sums of a wallet of a frame, as far as they are checked. */
export interface LiveSummary {
  readonly wallet: string
  readonly total: string | null
  readonly trades: number
  readonly coverage: { readonly reason: string | null }
  readonly known: {
    readonly realized: string
    readonly total: string | null
    readonly volumeShare: string | null
    readonly unpricedTrades: number
    readonly unmarkedPositions: number
  }
}

type LiveFrame =
  | ({ readonly type: "pnl" } & LivePosition)
  | ({ readonly type: "pnl_summary" } & LiveSummary)
  | {
      readonly type: "snapshot"
      readonly reason: string
      readonly pnl: ReadonlyArray<LivePosition>
      readonly summaries: ReadonlyArray<LiveSummary>
    }
  | { readonly type: "balance_update" | "trade" }

/** Positions that a snapshot has room for: with fewer it has all. */
const SNAPSHOT_POSITIONS = 200
const RECONNECT_MS = 6000

/** Frames read so far, and connections made. */
export interface LiveCounts {
  frames: number
  connections: number
}

/** A client that stays connected until it is closed. */
export class LiveFigures {
  readonly counts: LiveCounts = { frames: 0, connections: 0 }
  readonly #caller: Caller
  readonly #positions = new Map<string, Map<string, LivePosition>>()
  readonly #summaries = new Map<string, LiveSummary>()
  #socket: WebSocket | null = null
  #isClosed = false

  constructor(caller: Caller) {
    this.#caller = caller
  }

  /** Connects, and resolves once the first snapshot was read. */
  async open(): Promise<void> {
    const session = (await request(this.#caller, "/api/v1/tracker/realtime/session")) as { readonly wsUrl: string }
    await new Promise<void>((resolve, reject) => {
      const socket = new WebSocket(session.wsUrl)
      this.#socket = socket
      this.counts.connections++
      socket.addEventListener("message", ({ data }) => {
        this.#take(JSON.parse(String(data)) as LiveFrame)
        resolve()
      })
      socket.addEventListener("error", () => reject(new Error("the live connection failed")))
      socket.addEventListener("close", () => {
        reject(new Error("the live connection was closed before its snapshot"))
        this.#again()
      })
    })
  }

  close(): void {
    this.#isClosed = true
    this.#socket?.close()
  }

  /** The positions of a wallet by mint. */
  positionsOf(wallet: string): ReadonlyMap<string, LivePosition> {
    return this.#positions.get(wallet) ?? new Map()
  }

  summaryOf(wallet: string): LiveSummary | null {
    return this.#summaries.get(wallet) ?? null
  }

  /** True once nothing of these wallets waits for a read of their accounts. */
  isRestored(wallets: ReadonlyArray<string>): boolean {
    return wallets.every((wallet) => {
      const summary = this.#summaries.get(wallet)
      return summary !== undefined && summary.coverage.reason !== "backfill_running"
    })
  }

  /** Connects again after a pause: sessions are given ten a minute. */
  #again(): void {
    if (!this.#isClosed) {
      setTimeout(() => {
        void (this.#isClosed ? undefined : this.open().catch(() => undefined))
      }, RECONNECT_MS)
    }
  }

  #take(frame: LiveFrame): void {
    this.counts.frames++
    if (frame.type === "pnl") {
      this.#keep(frame)
    } else if (frame.type === "pnl_summary") {
      this.#summaries.set(frame.wallet, frame)
    } else if (frame.type === "snapshot") {
      if (frame.pnl.length < SNAPSHOT_POSITIONS) {
        this.#positions.clear()
      }
      frame.pnl.forEach((position) => this.#keep(position))
      frame.summaries.forEach((summary) => this.#summaries.set(summary.wallet, summary))
    }
  }

  #keep(position: LivePosition): void {
    const own = this.#positions.get(position.wallet) ?? new Map<string, LivePosition>()
    this.#positions.set(position.wallet, own.set(position.mint, position))
  }
}
