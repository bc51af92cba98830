import { assert, describe, it } from "@effect/vitest"
import { Clock, Deferred, Duration, Effect, Exit, Fiber, Layer, Scope } from "effect"
import { subscribe, unsubscribe } from "node:diagnostics_channel"
import { Agent, get } from "node:http"
import { connect, type Socket } from "node:net"
import { Listening } from "../../../src/http/server/NodeServer.ts"
import { call, feed, running, secretOf } from "../../support/http.ts"
import { Gate, probing } from "../../support/probe.ts"
import { until } from "../../support/sse.ts"

const CLIENTS = 16

const quick = { drainQuiet: Duration.millis(300), drainLimit: Duration.seconds(3) }

/** Builds a service that the test itself takes down. */
const start = <A, E>(service: Layer.Layer<A, E>) =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const context = yield* Layer.buildWithScope(service, scope)
    return { context, stop: Scope.close(scope, Exit.void) }
  })

type Ports = ReadonlySet<number | undefined>

/** Ports of the clients whose connections a server of this process has accepted. */
const acceptedPorts = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => {
      const ports = new Set<number | undefined>()
      const note = (message: unknown) => {
        ports.add((message as { readonly socket: Socket }).socket.remotePort)
      }
      subscribe("net.server.socket", note)
      return { ports, note }
    }),
    ({ note }) => Effect.sync(() => unsubscribe("net.server.socket", note))
  ),
  ({ ports }): Ports => ports
)

/** Result of one request, a status or the error of its connection, and the local port of that connection. */
const request = (agent: Agent, url: string) =>
  Effect.callback<{ readonly outcome: number | string; readonly port: number | undefined }>((resume) => {
    let port: number | undefined
    const end = (outcome: number | string) => resume(Effect.succeed({ outcome, port }))
    const sent = get(url, { agent, headers: { authorization: `Bearer ${secretOf("a")}` } }, (response) => {
      response.on("data", () => undefined)
      response.on("end", () => end(response.statusCode ?? 0))
      response.on("error", (error) => end(error.message))
    })
    sent.on("socket", (socket: Socket) => {
      port = socket.localPort
      socket.once("connect", () => {
        port = socket.localPort
      })
    })
    sent.on("error", (error) => end("code" in error ? String(error.code) : error.message))
  })

const knock = (agent: Agent, url: string) => Effect.map(request(agent, url), ({ outcome }) => outcome)

/**
 * Sends one request after another, over a kept connection or a new one, until the listener is closed. The kernel resets
 * a connection that waited to be accepted when the listener closed: that one counts as refused.
 */
const hammer = Effect.fnUntraced(function* (url: string, accepted: Ports, outcomes: Array<number | string>) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  let last: number | string = 0
  while (last !== "ECONNREFUSED") {
    const { outcome, port } = yield* request(agent, url)
    last = outcome === "ECONNRESET" && !accepted.has(port) ? "ECONNREFUSED" : outcome
    outcomes.push(last)
  }
  agent.destroy()
})

/** Has a connection rest from its first request on; what `wake` gives is the end of the second. */
const rest = Effect.fnUntraced(function* (url: string) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const first = yield* knock(agent, url)
  const wake = (afterMs: number) =>
    Effect.map(Effect.delay(knock(agent, url), afterMs), (second) => {
      agent.destroy()
      return [first, second]
    })
  return { wake }
})

describe("a shutdown", () => {
  it.live("loses no request of clients that never stop, not even on the connections they open last", () =>
    Effect.gen(function* () {
      const { context, stop } = yield* start(probing({ settings: quick }))
      const { url } = yield* Listening.pipe(Effect.provideContext(context))
      const accepted = yield* acceptedPorts
      const outcomes: Array<number | string> = []
      const clients = yield* Effect.forkChild(
        Effect.replicateEffect(hammer(`${url}/probe/free`, accepted, outcomes), CLIENTS, { concurrency: "unbounded" })
      )
      yield* until("a hundred answers", () => outcomes.length > 100)
      yield* stop
      yield* Fiber.join(clients)
      assert.deepStrictEqual(new Set(outcomes), new Set([200, "ECONNREFUSED"]))
      assert.lengthOf(
        outcomes.filter((outcome) => outcome === "ECONNREFUSED"),
        CLIENTS
      )
    })
  )

  it.live("still answers connections that wake up, whether before or after the listener has closed", () =>
    Effect.gen(function* () {
      const { context, stop } = yield* start(probing({ settings: quick }))
      const { url } = yield* Listening.pipe(Effect.provideContext(context))
      const resting = yield* Effect.replicateEffect(rest(`${url}/probe/free`), CLIENTS, { concurrency: "unbounded" })
      // They wake up from 100 to 475 ms after the shutdown began; the listener closes at 300 ms.
      const clients = yield* Effect.forkChild(
        Effect.forEach(resting, ({ wake }, at) => wake(100 + at * 25), { concurrency: "unbounded" }),
        { startImmediately: true }
      )
      yield* stop
      assert.deepStrictEqual(new Set((yield* Fiber.join(clients)).flat()), new Set([200]))
    })
  )

  it.live("turns readiness off and asks callers to leave while it still answers", () =>
    Effect.gen(function* () {
      const { context, stop } = yield* start(running({ settings: quick }))
      yield* Effect.gen(function* () {
        const before = yield* call("/readyz")
        assert.strictEqual(before.status, 200)
        const stopping = yield* Effect.forkChild(stop, { startImmediately: true })
        yield* Effect.sleep("50 millis")
        const ready = yield* call("/readyz")
        assert.strictEqual(ready.status, 503)
        assert.strictEqual(ready.json("error.code"), "data_unavailable")
        assert.strictEqual(ready.headers.get("retry-after"), "1")
        const live = yield* call("/livez")
        assert.strictEqual(live.status, 200)
        assert.strictEqual(live.headers.get("connection"), "close")
        yield* Fiber.join(stopping)
      }).pipe(Effect.provideContext(context))
    })
  )

  it.live("finishes running requests, and then does not wait any longer", () =>
    Effect.gen(function* () {
      const { context, stop } = yield* start(probing({ settings: quick }))
      yield* Effect.gen(function* () {
        const gate = yield* Gate
        const held = yield* Effect.forkChild(call("/probe/held"), { startImmediately: true })
        while (gate.waiting === 0) {
          yield* Effect.sleep("5 millis")
        }
        const stopping = yield* Effect.forkChild(stop, { startImmediately: true })
        yield* Effect.sleep("600 millis")
        assert.isUndefined(stopping.pollUnsafe())
        yield* Deferred.succeed(gate.release, undefined)
        assert.strictEqual((yield* Fiber.join(held)).status, 200)
        yield* Fiber.join(stopping).pipe(Effect.timeout("1 second"))
      }).pipe(Effect.provideContext(context))
    })
  )

  it.live("ends open streams with a close frame", () =>
    Effect.gen(function* () {
      const { context, stop } = yield* start(probing({ settings: quick }))
      yield* Effect.gen(function* () {
        const stream = yield* Effect.forkChild(call("/probe/stream"), { startImmediately: true })
        yield* Effect.sleep("100 millis")
        yield* stop.pipe(Effect.timeout("2 seconds"))
        const { text } = yield* Fiber.join(stream)
        assert.match(text, /data: "?open"?\n\n[^]*data: "?close"?\n\n$/u)
      }).pipe(Effect.provideContext(context))
    })
  )

  it.live("does not wait for connections without a request", () =>
    Effect.gen(function* () {
      const minute = Duration.minutes(1)
      const settings = { drainQuiet: Duration.millis(50), drainLimit: minute, headersTimeout: minute }
      const { context, stop } = yield* start(probing({ settings: { ...settings, requestTimeout: minute } }))
      const { port } = yield* Listening.pipe(Effect.provideContext(context))
      const silent = connect(port, "127.0.0.1")
      const closed = Effect.callback<void>((resume) => {
        silent.once("close", () => resume(Effect.void))
      })
      const gone = yield* Effect.forkChild(closed, { startImmediately: true })
      yield* Effect.callback<void>((resume) => {
        silent.once("connect", () => resume(Effect.void))
      })
      yield* stop
      yield* Fiber.join(gone)
    })
  )

  it.live("gives up on requests that do not end", () =>
    Effect.gen(function* () {
      const limit = { drainQuiet: Duration.millis(50), drainLimit: Duration.millis(400) }
      const { context, stop } = yield* start(probing({ settings: limit }))
      const { url } = yield* Listening.pipe(Effect.provideContext(context))
      const agent = new Agent()
      const held = yield* Effect.forkChild(knock(agent, `${url}/probe/held`), { startImmediately: true })
      yield* Effect.sleep("50 millis")
      yield* stop.pipe(Effect.timeout("2 seconds"))
      assert.strictEqual(yield* Fiber.join(held), "ECONNRESET")
    })
  )
})

const readiness = (state: "live" | "loading" | "down" | "recorded") =>
  Effect.flatMap(Clock.currentTimeMillis, (heardAtMs) =>
    Effect.map(call("/readyz", { key: null }), ({ status }) => status).pipe(
      Effect.provide(running({ feed: feed(() => ({ slot: 1, heardAtMs: state === "down" ? 0 : heardAtMs, state })) }))
    )
  )

describe("readiness", () => {
  it.live("waits for the chain to be followed", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* readiness("loading"), 503)
      assert.strictEqual(yield* readiness("down"), 503)
      assert.strictEqual(yield* readiness("live"), 200)
      assert.strictEqual(yield* readiness("recorded"), 200)
    })
  )
})
