/** A scripted Solana node on real sockets of the loopback interface. */
import { NodeHttpServer, NodeHttpServerRequest } from "@effect/platform-node"
import { Effect, Queue, type Scope } from "effect"
import { HttpServer, type HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import { createServer } from "node:http"
import type { OnChainAccount } from "../../src/domain/OnChainAccount.ts"
import type { Address } from "../../src/domain/Address.ts"
import { CLOCK } from "../../src/chain/clockSysvar.ts"

interface Call {
  readonly id: number
  readonly method: string
  readonly params: ReadonlyArray<unknown>
}

/** Fault of the next HTTP answer. */
export interface Refusal {
  readonly status: number
  readonly headers?: Record<string, string>
  readonly body?: string
}

interface Client {
  send: (frame: string) => void
  readonly cut: () => void
  readonly addressOf: Map<number, string>
  slots: number | null
}

const accountJson = ({ owner, lamports, data }: OnChainAccount) => ({
  data: [Buffer.from(data).toString("base64"), "base64"],
  executable: false,
  lamports: Number(lamports),
  owner,
  space: data.length
})

const record = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null ? Object.fromEntries(Object.entries(value)) : {}

const texts = (value: unknown): ReadonlyArray<string> => (Array.isArray(value) ? value.map(String) : [])

const fits = (account: OnChainAccount, filters: unknown): boolean =>
  (Array.isArray(filters) ? filters : []).map(record).every(({ dataSize, memcmp }) => {
    const { offset, bytes } = record(memcmp)
    const wanted = Buffer.from(String(bytes), "base64")
    return dataSize === undefined
      ? wanted.equals(account.data.subarray(Number(offset), Number(offset) + wanted.length))
      : account.data.length === dataSize
  })

/** State and switches of one node. */
export class FakeNode {
  rpcUrl = ""
  wsUrl = ""
  /** The slot that reads are of. */
  slot = 100
  readonly accounts = new Map<string, OnChainAccount>()
  /** Hash of the genesis of its chain; null where the node does not offer the method. */
  genesis: string | null = null
  /** Accounts whose data is spelled so that it cannot be read. */
  readonly garbled = new Set<string>()
  /** Every call, over HTTP and over sockets. */
  readonly calls: Array<Call> = []
  /** Ways in which coming HTTP requests are refused; `null` is no refusal. */
  readonly refusals: Array<Refusal | null> = []
  /** Accounts that may not be subscribed to. */
  readonly barred = new Set<string>()
  connections = 0
  /** Connections that may be open at a time; further ones are refused, and counted. */
  mostConnections = Number.POSITIVE_INFINITY
  refusedConnections = 0
  /** Accepts connections without answering. */
  mute = false
  /** Takes requests, and never answers. */
  frozen = false
  /** Runs before an HTTP answer is made up. */
  beforeAnswer: (call: Call) => Effect.Effect<void> = () => Effect.void
  readonly #clients = new Set<Client>()
  #subscriptions = 0

  /** Changes accounts without notifications. */
  put(...accounts: ReadonlyArray<OnChainAccount>): void {
    for (const account of accounts) {
      this.accounts.set(account.address, account)
    }
  }

  /** Changes accounts in a slot and notifies subscribers. */
  write(slot: number, ...accounts: ReadonlyArray<OnChainAccount>): void {
    this.slot = Math.max(this.slot, slot)
    this.put(...accounts)
    for (const account of accounts) {
      this.tell(slot, account.address, accountJson(account))
    }
  }

  /** Deletes an account and notifies subscribers as nodes do. */
  close(slot: number, address: Address): void {
    this.slot = Math.max(this.slot, slot)
    this.accounts.delete(address)
    const owner = "11111111111111111111111111111111"
    this.tell(slot, address, { data: ["", "base64"], executable: false, lamports: 0, owner, space: 0 })
  }

  /** Notifies subscribers of the account with any content. */
  tell(slot: number, address: string, value: unknown): void {
    for (const client of this.#clients) {
      for (const [subscription, followed] of client.addressOf) {
        if (followed === address) {
          const params = { result: { context: { slot }, value }, subscription }
          client.send(JSON.stringify({ jsonrpc: "2.0", method: "accountNotification", params }))
        }
      }
    }
  }

  /** Begins a slot, on top of the previous one unless a parent is given. */
  begin(slot: number, root = slot - 32, parent = slot - 1): void {
    for (const client of this.#clients) {
      if (client.slots !== null) {
        const params = { result: { slot, parent, root }, subscription: client.slots }
        client.send(JSON.stringify({ jsonrpc: "2.0", method: "slotNotification", params }))
      }
    }
  }

  /** Sends a frame as it stands. */
  send(frame: string): void {
    this.#clients.forEach((client) => client.send(frame))
  }

  /** Cuts every connection without a closing handshake. */
  drop(): void {
    this.#clients.forEach((client) => client.cut())
  }

  /** Addresses that each open connection subscribes to, in the order of the connections. */
  shares(): ReadonlyArray<ReadonlyArray<string>> {
    return Array.from(this.#clients, ({ addressOf }) => Array.from(addressOf.values()))
  }

  /** Cuts the connection at this place, or leaves it open without another notification. */
  lose(place: number, how: "cut" | "silence" = "cut"): void {
    const client = Array.from(this.#clients)[place]
    if (how === "cut") {
      client?.cut()
    } else if (client !== undefined) {
      client.slots = null
      client.addressOf.clear()
    }
  }

  /** Holds back what the connection at this place is sent; each call of the result sends so many frames of it, or all from then on. */
  hold(place: number): (frames?: number) => void {
    const client = Array.from(this.#clients)[place]
    if (client === undefined) {
      return () => {}
    }
    const { send } = client
    const held: Array<string> = []
    client.send = (frame) => void held.push(frame)
    return (frames) => {
      client.send = frames === undefined ? send : client.send
      held.splice(0, frames ?? held.length).forEach(send)
    }
  }

  /** Addresses that are subscribed to. */
  followed(): ReadonlySet<string> {
    return new Set(Array.from(this.#clients).flatMap(({ addressOf }) => Array.from(addressOf.values())))
  }

  callsOf(method: string): ReadonlyArray<Call> {
    return this.calls.filter((call) => call.method === method)
  }

  #spell(address: string, account: OnChainAccount | undefined): unknown {
    if (account === undefined) {
      return null
    }
    return this.garbled.has(address)
      ? { ...accountJson(account), data: ["not*base64", "base64"] }
      : accountJson(account)
  }

  /** The result of a read, or an error. */
  answer({ method, params }: Call): Record<string, unknown> {
    const options = record(params[1])
    const context = { slot: this.slot }
    if (Number(options["minContextSlot"] ?? 0) > this.slot) {
      return { error: { code: -32016, message: "Minimum context slot has not been reached" } }
    }
    switch (method) {
      case "getSlot":
        return { result: this.slot }
      case "getGenesisHash":
        return this.genesis === null
          ? { error: { code: -32601, message: "Method not found" } }
          : { result: this.genesis }
      case "getHealth":
        return { result: "ok" }
      case "getAccountInfo": {
        const address = String(params[0])
        return { result: { context, value: this.#spell(address, this.accounts.get(address)) } }
      }
      case "getMultipleAccounts": {
        const value = texts(params[0]).map((address) => this.#spell(address, this.accounts.get(address)))
        return { result: { context, value } }
      }
      case "getProgramAccounts": {
        const value = Array.from(this.accounts.values())
          .filter((account) => account.owner === params[0] && fits(account, options["filters"]))
          .map((account) => ({ pubkey: account.address, account: this.#spell(account.address, account) }))
        return { result: { context, value } }
      }
      default:
        return { error: { code: -32601, message: "Method not found" } }
    }
  }

  /** On a chain that moves, a follower of the clock hears of it at once. */
  #greet({ method, params }: Call): void {
    const clock = this.accounts.get(CLOCK)
    if (method === "accountSubscribe" && params[0] === CLOCK && clock !== undefined) {
      this.tell(this.slot, CLOCK, accountJson(clock))
    }
  }

  /** Handles one call of a socket. */
  subscribe(client: Client, { method, params }: Call): Record<string, unknown> {
    switch (method) {
      case "slotSubscribe":
        client.slots = ++this.#subscriptions
        return { result: client.slots }
      case "accountSubscribe": {
        const address = String(params[0])
        if (this.barred.has(address)) {
          return { error: { code: -32005, message: "Too many subscriptions" } }
        }
        client.addressOf.set(++this.#subscriptions, address)
        return { result: this.#subscriptions }
      }
      case "accountUnsubscribe":
        return { result: client.addressOf.delete(Number(params[0])) }
      default:
        return { error: { code: -32601, message: "Method not found" } }
    }
  }

  /** Serves one socket until it ends. */
  readonly serveSocket = Effect.fnUntraced(
    function* (this: FakeNode, request: HttpServerRequest.HttpServerRequest) {
      if (this.#clients.size >= this.mostConnections) {
        this.refusedConnections++
        return HttpServerResponse.text("Too many connections", { status: 429 })
      }
      const wire = NodeHttpServerRequest.toIncomingMessage(request).socket
      const socket = yield* request.upgrade
      const outbox = yield* Queue.unbounded<string>()
      const client: Client = {
        send: (frame) => (this.mute ? undefined : void Queue.offerUnsafe(outbox, frame)),
        cut: () => wire.destroy(),
        addressOf: new Map(),
        slots: null
      }
      this.connections++
      yield* Effect.acquireRelease(
        Effect.sync(() => this.#clients.add(client)),
        () =>
          Effect.sync(() => {
            this.#clients.delete(client)
            wire.end()
          })
      )
      const { pull } = yield* socket.reader
      const writer = yield* socket.writer
      const read = Effect.map(pull, (frames) => {
        for (const frame of frames) {
          const call: Call = JSON.parse(String(frame))
          this.calls.push(call)
          client.send(JSON.stringify({ jsonrpc: "2.0", id: call.id, ...this.subscribe(client, call) }))
          this.#greet(call)
        }
      })
      const write = Effect.flatMap(Queue.take(outbox), (frame) => writer.write(frame))
      yield* Effect.ignore(Effect.raceFirst(Effect.forever(read), Effect.forever(write)))
      return HttpServerResponse.empty()
    }.bind(this),
    Effect.scoped
  )

  /** Answers one HTTP request. */
  readonly serveHttp = Effect.fnUntraced(
    function* (this: FakeNode, request: HttpServerRequest.HttpServerRequest) {
      const call: Call = JSON.parse(yield* request.text)
      this.calls.push(call)
      const refusal = this.refusals.shift() ?? null
      // Not for ever: a request that is never answered would keep the server from closing.
      while (this.frozen) {
        yield* Effect.sleep("10 millis")
      }
      if (refusal !== null) {
        const { status, headers, body = "" } = refusal
        return HttpServerResponse.text(body, { status, ...(headers === undefined ? {} : { headers }) })
      }
      yield* this.beforeAnswer(call)
      return HttpServerResponse.jsonUnsafe({ jsonrpc: "2.0", id: call.id, ...this.answer(call) })
    }.bind(this)
  )
}

/** Starts a node on a free port; it ends with the scope. */
export const startNode: Effect.Effect<FakeNode, HttpServerError.ServeError, Scope.Scope> = Effect.gen(function* () {
  const node = new FakeNode()
  const server = yield* NodeHttpServer.make(createServer, {
    port: 0,
    host: "127.0.0.1",
    disablePreemptiveShutdown: true
  })
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      node.frozen = false
    })
  )
  yield* server.serve(
    Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      return yield* request.headers["upgrade"]?.toLowerCase() === "websocket"
        ? node.serveSocket(request)
        : node.serveHttp(request)
    })
  )
  node.rpcUrl = HttpServer.formatAddress(server.address)
  node.wsUrl = node.rpcUrl.replace(/^http/u, "ws")
  return node
})
