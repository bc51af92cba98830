import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { WebSocket, WebSocketServer } from "ws"
import { balance } from "../../scripts/cluster/balancer.ts"

/** A server that answers with its name and what it was asked, and returns what its sockets send. */
const target = (name: string) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.callback<ReturnType<typeof createServer>>((resume) => {
        const server = createServer((incoming, outgoing) => {
          incoming.setEncoding("utf8")
          let body = ""
          incoming.on("data", (chunk) => (body += chunk))
          incoming.on("end", () => {
            outgoing.writeHead(201, { "x-host": incoming.headers.host })
            outgoing.end(`${name} ${incoming.method} ${incoming.url} ${body}`)
          })
        })
        new WebSocketServer({ server }).on("connection", (ws) =>
          ws.on("message", (data) => ws.send(`${name} ${String(data)}`))
        )
        server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
      }),
      (server) =>
        Effect.sync(() => {
          server.close()
          server.closeAllConnections()
        })
    ),
    (server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  )

/** A server that ends each connection once a request has come. */
const losing = Effect.map(
  Effect.acquireRelease(
    Effect.callback<ReturnType<typeof createServer>>((resume) => {
      const server = createServer((incoming) => incoming.socket.destroy())
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) => Effect.sync(() => server.close())
  ),
  (server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
)

const textOf = (url: string, init?: RequestInit) => Effect.promise(async () => (await fetch(url, init)).text())

const echoed = (url: string) =>
  Effect.callback<string>((resume) => {
    const ws = new WebSocket(url)
    ws.on("open", () => ws.send("hello"))
    ws.on("message", (data) => resume(Effect.succeed(String(data))))
    ws.on("error", (cause) => resume(Effect.die(cause)))
    return Effect.sync(() => ws.terminate())
  })

describe("the balancer", () => {
  it.live("divides requests by path, and those of a kind among its processes", () =>
    Effect.gen(function* () {
      const [one, two, live] = yield* Effect.all([target("one"), target("two"), target("live")])
      const url = yield* balance({ api: [one, two], live: [live] }, 0)
      assert.strictEqual(yield* textOf(`${url}/quote?a=1`), "one GET /quote?a=1 ")
      assert.strictEqual(yield* textOf(`${url}/alerts`, { method: "POST", body: "x" }), "two POST /alerts x")
      assert.strictEqual(yield* textOf(`${url}/quote/stream?a=1`), "live GET /quote/stream?a=1 ")
      assert.strictEqual(yield* textOf(`${url}/streams`), "two GET /streams ")
      assert.strictEqual(yield* echoed(`${url.replace("http", "ws")}/market/realtime?ticket=1`), "live hello")
      const answer = yield* Effect.promise(() => fetch(`${url}/host`))
      assert.deepStrictEqual([answer.status, answer.headers.get("x-host")], [201, new URL(url).host])
    }).pipe(Effect.scoped)
  )

  it.live("passes by processes that take no connection, with the body of the request", () =>
    Effect.gen(function* () {
      const gone = yield* Effect.scoped(target("gone"))
      const here = yield* target("here")
      const heard: Array<readonly [string, number]> = []
      const url = yield* balance({ api: [gone, here], live: [gone] }, 0, (...answer) => heard.push(answer))
      for (const body of ["a", "b"]) {
        assert.strictEqual(yield* textOf(`${url}/alerts`, { method: "POST", body }), `here POST /alerts ${body}`)
      }
      const { status } = yield* Effect.promise(() => fetch(`${url}/stream`))
      assert.strictEqual(status, 503)
      // Only a process that answered is heard of.
      assert.deepStrictEqual(heard, [
        [here, 201],
        [here, 201]
      ])
    }).pipe(Effect.scoped)
  )

  it.live("sends a read again that a process took and did not answer, and no write", () =>
    Effect.gen(function* () {
      const [lost, here] = yield* Effect.all([losing, target("here")])
      const url = yield* balance({ api: [lost, here], live: [] }, 0)
      // Of two requests, one comes to the process that ends its connections first.
      const reads = [yield* textOf(`${url}/quote`), yield* textOf(`${url}/quote`)]
      assert.deepStrictEqual(reads, ["here GET /quote ", "here GET /quote "])
      const write = Effect.promise(async () => (await fetch(`${url}/alerts`, { method: "POST", body: "x" })).status)
      assert.sameMembers([yield* write, yield* write], [502, 201])
    }).pipe(Effect.scoped)
  )
})
