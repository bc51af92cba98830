import { assert, it } from "@effect/vitest"
import { createServer, get, type IncomingMessage } from "node:http"
import { once } from "node:events"
import type { AddressInfo } from "node:net"
import { Readable } from "node:stream"
import { PlainResponse } from "../../../src/http/server/PlainResponse.ts"

/** The answer of a server that streams these parts, and the writes to its socket so far. */
const answerOf = async (parts: Iterable<string | Buffer>) => {
  const writes: Array<unknown> = []
  const server = createServer({ ServerResponse: PlainResponse }, (_request, response) => {
    const { socket } = response
    const write = socket?.write
    if (socket !== null && write !== undefined) {
      Reflect.set(socket, "write", (...args: ReadonlyArray<unknown>) => {
        writes.push(args[0])
        return Reflect.apply(write, socket, args)
      })
    }
    response.writeHead(200, { "content-type": "text/event-stream" })
    Readable.from(parts, { objectMode: true }).pipe(response)
  })
  await once(server.listen(0), "listening")
  const { port } = server.address() as AddressInfo
  const response = await new Promise<IncomingMessage>((resolve) => {
    get({ port, agent: false }, resolve)
  })
  return { response, server, writes }
}

const textOf = async ({ response, server }: Awaited<ReturnType<typeof answerOf>>) => {
  const text = Buffer.concat(await response.toArray()).toString()
  server.close()
  return text
}

it("a streamed response has every part once and in order, texts and bytes alike", async () => {
  const parts = ["first", Buffer.from("bytes"), "grün", "last"]
  assert.strictEqual(await textOf(await answerOf(parts)), "firstbytesgrünlast")
})

it("each text after the first part is one write, and an empty text ends nothing", async () => {
  const answer = await answerOf(["first", "second", "", "third"])
  assert.strictEqual(await textOf(answer), "firstsecondthird")
  assert.deepStrictEqual(
    answer.writes.filter((text) => typeof text === "string" && /second|third/u.test(text)),
    ["6\r\nsecond\r\n", "5\r\nthird\r\n"]
  )
})

it("a reader who reads late gets everything, and the source waits meanwhile", async () => {
  const parts = Array.from({ length: 2000 }, (_, n) => `${n} ${"å".repeat(4000)}\n`)
  let taken = 0
  const lazy = (function* () {
    for (const part of parts) {
      taken++
      yield part
    }
  })()
  const answer = await answerOf(lazy)
  await once(answer.response, "readable")
  const takenBefore = taken
  assert.isBelow(takenBefore, parts.length)
  assert.strictEqual(await textOf(answer), parts.join(""))
  assert.strictEqual(taken, parts.length)
})
