import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo, Socket } from "node:net"
import { WebSocket, WebSocketServer } from "ws"
import { SocketWire } from "../../../src/http/streams/SocketWire.ts"
import { encodeFrame } from "../../../src/live/frames.ts"

const FRAMES = 400

/** A server of wires, in the order in which they were opened. */
const serving = Effect.acquireRelease(
  Effect.promise(async () => {
    const sockets = new WebSocketServer({ noServer: true })
    const wires: Array<SocketWire> = []
    const server = createServer()
    server.on("upgrade", (request, carrier: Socket, head) =>
      sockets.handleUpgrade(request, carrier, head, (ws) => wires.push(new SocketWire(ws, carrier)))
    )
    await once(server.listen(0, "127.0.0.1"), "listening")
    return { server, wires, port: (server.address() as AddressInfo).port }
  }),
  ({ server }) =>
    Effect.sync(() => {
      server.closeAllConnections()
      server.close()
    })
)

const openReader = (port: number) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const received: Array<{ readonly reader: number; readonly place: number; readonly seq: number }> = []
      const ws = new WebSocket(`ws://127.0.0.1:${port}`)
      ws.on("message", (data) => received.push(JSON.parse(String(data))))
      await once(ws, "open")
      return { ws, received }
    }),
    ({ ws }) => Effect.sync(() => ws.terminate())
  )

describe("the frames of a socket", () => {
  it.live("arrive as they were sent, also at a reader that takes none at first", () =>
    Effect.gen(function* () {
      const { port, wires } = yield* serving
      const readers = [yield* openReader(port), yield* openReader(port)]
      readers[0]?.ws.pause()
      for (let place = 0; place < FRAMES; place++) {
        for (const [reader, wire] of wires.entries()) {
          const json = `{"reader":${reader},"place":${place},"text":"${"x".repeat(20_000)}"}`
          wire.send([{ frames: [encodeFrame({ type: "trade", json })], firstSeq: place }], place)
        }
      }
      assert.isAbove(wires[0]?.unsentBytes() ?? 0, 0)
      readers[0]?.ws.resume()
      for (const [reader, { received, ws }] of readers.entries()) {
        yield* Effect.promise(async () => {
          while (received.length < FRAMES) {
            await once(ws, "message")
          }
        })
        assert.deepStrictEqual(
          received.map((frame) => [frame.reader, frame.place, frame.seq]),
          Array.from({ length: FRAMES }, (_, place) => [reader, place, place])
        )
      }
    })
  )
})
