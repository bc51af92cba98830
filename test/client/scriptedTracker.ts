/** A scripted tracker over fake sockets. */
import { Effect, Layer } from "effect"
import { Socket } from "effect/socket"
import type { FathomError } from "../../src/client/FathomError.ts"
import type { RealtimeSession } from "../../src/api/schemas/Tracker.ts"

type Listener = (event: Socket.WebSocketEvent) => void

/** One connection as the service sees it. */
export class ScriptedSocket {
  readonly url: string
  readonly readyState = 1
  readonly heard: Array<unknown> = []
  /** The code with which the client closed it; null while it is open. */
  closedWith: number | null = null
  private readonly listeners = new Map<string, Set<Listener>>()

  constructor(url: string) {
    this.url = url
  }

  addEventListener(type: string, listener: Listener): void {
    this.listeners.set(type, (this.listeners.get(type) ?? new Set()).add(listener))
  }

  removeEventListener(type: string, listener: Listener): void {
    this.listeners.get(type)?.delete(listener)
  }

  send(data: unknown): void {
    this.heard.push(JSON.parse(String(data)))
  }

  close(code = 1005): void {
    this.closedWith ??= code
  }

  open(): void {
    this.emit("open", {})
  }

  say(frame: object): void {
    this.emit("message", { data: JSON.stringify(frame) })
  }

  end(code: number): void {
    this.emit("close", { code, reason: "" })
  }

  private emit(type: string, event: Socket.WebSocketEvent): void {
    for (const listener of this.listeners.get(type) ?? []) {
      listener(event)
    }
  }
}

/** Sessions and sockets of one test. */
export class ScriptedTracker {
  readonly sockets: Array<ScriptedSocket> = []
  /** Failures of the next session requests, in order. */
  readonly refusals: Array<FathomError> = []
  sessions = 0
  wsUrl = "ws://tracker.test/"

  readonly session = Effect.suspend((): Effect.Effect<RealtimeSession, FathomError> => {
    this.sessions += 1
    const refusal = this.refusals.shift()
    return refusal === undefined
      ? Effect.succeed({
          wsUrl: this.wsUrl === "" ? "" : `${this.wsUrl}${this.sessions}`,
          wallets: [],
          expiresInSeconds: 60,
          ticketExpiresAtMs: null,
          streamId: null
        })
      : Effect.fail(refusal)
  })

  readonly layer = Layer.succeed(Socket.WebSocketConstructor, (url) => {
    const socket = new ScriptedSocket(url)
    this.sockets.push(socket)
    return socket
  })

  /** The newest connection. */
  get latest(): ScriptedSocket {
    const socket = this.sockets.at(-1)
    if (socket === undefined) {
      throw new Error("no connection yet")
    }
    return socket
  }
}

const state = {
  walletsTracked: 0,
  walletsLive: 0,
  walletsPending: 0,
  walletLimit: 500,
  lastEventAtMs: null,
  ingestLagMs: null,
  observedAtMs: 1,
  state: "live"
}

/** An empty snapshot. */
export const snapshot = (seq: number, given: object = {}) => ({
  type: "snapshot",
  seq,
  sentAtMs: 1,
  streamId: "str_1",
  reason: "connect",
  resumed: false,
  gap: null,
  wallets: [],
  trades: [],
  pnl: [],
  summaries: [],
  status: state,
  ...given
})

const wallet = "B8nmkjxmcUjVxFe65rPx4vVYPhGFUHRZ63BHW8SRD6et"
const signature = "1".repeat(64)

/** A trade with this id. */
export const trade = (seq: number, eventId = `${signature}:${seq}`) => ({
  type: "trade",
  seq,
  sentAtMs: 1,
  eventId,
  wallet,
  mint: wallet,
  side: "buy",
  price_usd: null,
  volume_usd: null,
  volume_sol: null,
  market_cap_usd: null,
  amount: "2000000000000000000000",
  decimals: 6,
  ts: 1,
  slot: 1,
  index: seq,
  commitment: "confirmed",
  signature,
  pool: null,
  dex: null,
  quotable: null,
  fees: { priorityLamports: "0", tipLamports: "0", frontEndUsd: "0", frontEndLamports: "0" },
  symbol: null,
  name: null,
  image: null,
  imageProxyUrl: null,
  imageStatus: "missing"
})

export const heartbeat = (seq: number) => ({ type: "heartbeat", seq, sentAtMs: 1, ingestLagMs: null })
