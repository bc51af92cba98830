/** Two nodes of one chain behind a client and sockets in memory, for tests on the test clock. */
import { Effect, Layer } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import { Socket } from "effect/socket"
import { TestClock } from "effect/testing"
import { Address } from "../../../src/domain/Address.ts"
import { CLOCK } from "../../../src/chain/clockSysvar.ts"
import { clockOf, holding } from "./accounts.ts"
import { json } from "./feedScene.ts"

export const GENESIS = "EsUtxf9iambveeqnPHnEuzHvbxrXipLcMtwPgoBHwQuj"

/** Milliseconds of a slot. */
const SLOT_MS = 400

interface Call {
  readonly id: number
  readonly method: string
  readonly params: ReadonlyArray<unknown>
}

type Event = "open" | "message" | "error" | "close"
type Listener = (event: Socket.WebSocketEvent) => void

/** The client's end of a connection to a node. */
class MemorySocket implements Socket.WebSocketLike {
  readyState = 0
  readonly followed = new Map<number, Address>()
  slots: number | null = null
  readonly #node: MemoryNode
  readonly #listeners = new Map<Event, Set<Listener>>()

  constructor(node: MemoryNode) {
    this.#node = node
    queueMicrotask(() => {
      if (node.state === "refused" || node.state === "socketless") {
        this.emit("error", {})
        this.close()
      } else if (node.state === "well") {
        this.readyState = 1
        node.sockets.add(this)
        this.emit("open", {})
      }
    })
  }

  addEventListener(type: Event, listener: Listener): void {
    const all = this.#listeners.get(type) ?? new Set()
    this.#listeners.set(type, all.add(listener))
  }

  removeEventListener(type: Event, listener: Listener): void {
    this.#listeners.get(type)?.delete(listener)
  }

  emit(type: Event, event: Socket.WebSocketEvent): void {
    this.#listeners.get(type)?.forEach((listener) => listener(event))
  }

  tell(value: object): void {
    this.emit("message", { data: JSON.stringify({ jsonrpc: "2.0", ...value }) })
  }

  close(): void {
    if (this.readyState !== 3) {
      this.readyState = 3
      this.#node.sockets.delete(this)
      this.emit("close", { code: 1006, reason: "" })
    }
  }

  send(data: string | Uint8Array): void {
    const call: Call = JSON.parse(String(data))
    queueMicrotask(() => {
      if (this.#node.state === "well" && this.readyState === 1) {
        this.tell({ id: call.id, result: this.#node.subscribe(this, call) })
      }
    })
  }
}

/** A node whose accounts all hold the number of the slot, so that states of different slots cannot be confused. */
export class MemoryNode {
  slot: number
  /**
   * `frozen` takes calls and never answers. `refused` answers 503 and has no sockets. `socketless` answers calls, but
   * has no sockets.
   */
  state: "well" | "frozen" | "refused" | "socketless" = "well"
  readonly sockets = new Set<MemorySocket>()
  #subscriptions = 0

  constructor(slot: number) {
    this.slot = slot
  }

  /** The account at this node's slot. */
  accountAt(address: string) {
    return address === CLOCK
      ? clockOf(7, 1_700_000_000 + this.slot, this.slot)
      : holding(CLOCK, [this.slot & 255, this.slot >> 8], this.slot)
  }

  /** Writes every account in the slot, and begins the next one. */
  advance(): void {
    this.slot += 1
    if (this.state !== "well") {
      return
    }
    const { slot } = this
    for (const socket of this.sockets) {
      for (const [subscription, address] of socket.followed) {
        const result = { context: { slot }, value: json(this.accountAt(address)) }
        socket.tell({ method: "accountNotification", params: { result, subscription } })
      }
      const result = { slot: slot + 1, parent: slot, root: slot - 32 }
      socket.tell({ method: "slotNotification", params: { result, subscription: socket.slots ?? 0 } })
    }
  }

  /** The node stops answering calls or subscriptions. Every state but `frozen` also cuts its connections. */
  fail(state: "frozen" | "refused" | "socketless"): void {
    this.state = state
    if (state !== "frozen") {
      this.sockets.forEach((socket) => socket.close())
    }
  }

  subscribe(socket: MemorySocket, { method, params }: Call): unknown {
    const id = ++this.#subscriptions
    if (method === "slotSubscribe") {
      socket.slots = id
    } else if (method === "accountSubscribe") {
      socket.followed.set(id, Address.make(String(params[0])))
    }
    return id
  }

  answer({ method, params }: Call): object {
    const context = { slot: this.slot }
    const [addresses, options] = params
    const least = typeof options === "object" && options !== null && "minContextSlot" in options
    if (least && Number(options.minContextSlot ?? 0) > this.slot) {
      return { error: { code: -32016, message: "Minimum context slot has not been reached" } }
    }
    switch (method) {
      case "getGenesisHash":
        return { result: GENESIS }
      case "getSlot":
        return { result: this.slot }
      case "getMultipleAccounts": {
        const list = Array.isArray(addresses) ? addresses.map(String) : []
        return { result: { context, value: list.map((address) => json(this.accountAt(address))) } }
      }
      default:
        return { error: { code: -32601, message: "Method not found" } }
    }
  }
}

/** The client and the sockets of the nodes, by their host names. */
export const connectionsTo = (nodes: ReadonlyMap<string, MemoryNode>) => {
  const nodeAt = (url: string) => nodes.get(new URL(url).host) ?? new MemoryNode(0)
  const client = HttpClient.make((request) =>
    Effect.gen(function* () {
      const node = nodeAt(request.url)
      if (node.state === "frozen") {
        return yield* Effect.never
      }
      const body = request.body._tag === "Uint8Array" ? new TextDecoder().decode(request.body.body) : "{}"
      const response =
        node.state === "refused"
          ? new Response("no", { status: 503 })
          : new Response(JSON.stringify({ jsonrpc: "2.0", id: 1, ...node.answer(JSON.parse(body)) }))
      return HttpClientResponse.fromWeb(request, response)
    })
  )
  return Layer.merge(
    Layer.succeed(HttpClient.HttpClient, client),
    Layer.succeed(Socket.WebSocketConstructor, (url) => new MemorySocket(nodeAt(url)))
  )
}

/** Runs everything that is ready, without letting time pass. */
const settle = Effect.promise(() => new Promise<void>((resume) => setImmediate(resume)))

/**
 * Lets time pass in steps of 50 ms, with a new slot on the nodes every 400 ms. Ends when the condition holds, and
 * returns the milliseconds that took.
 */
export const passUntil = Effect.fnUntraced(function* (
  nodes: Iterable<MemoryNode>,
  condition: () => boolean,
  mostMs: number
) {
  const all = Array.from(nodes)
  for (let ms = 0; ms <= mostMs; ms += 50) {
    if (ms % SLOT_MS === 0) {
      all.forEach((node) => node.advance())
    }
    yield* TestClock.adjust("50 millis")
    // Reading a body takes several turns of the event loop.
    yield* Effect.repeat(settle, { times: 10 })
    if (condition()) {
      return ms + 50
    }
  }
  return Number.POSITIVE_INFINITY
})
