import { assert, describe, it } from "@effect/vitest"
import { IncomingMessage, type ServerResponse } from "node:http"
import { Socket } from "node:net"
import { fairTurns } from "../../src/http/fairTurns.ts"
import { PlainResponse } from "../../src/http/PlainResponse.ts"

/** A handler of which each call takes a millisecond, under a clock and a loop that the test moves. */
const scene = (answer: (response: ServerResponse, key: string) => void) => {
  const handled: Array<string> = []
  const turns: Array<() => void> = []
  let timeMs = 0
  const handle = fairTurns(
    (request, response) => {
      timeMs += 1
      const key = request.headers.authorization ?? request.url ?? ""
      handled.push(key)
      answer(response, key)
    },
    { nowMs: () => timeMs, nextTurn: (run) => turns.push(run), openPaths: new Set(["/readyz"]) }
  )
  const send = (key: string) => {
    const request = new IncomingMessage(new Socket())
    if (key.startsWith("/")) {
      request.url = key
    } else {
      request.headers.authorization = key
    }
    handle(request, new PlainResponse(request))
  }
  /** One turn of the loop; the requests that it handled. */
  const turn = () => {
    const before = handled.length
    turns.splice(0).forEach((run) => run())
    return handled.slice(before)
  }
  return { handled, send, turn }
}

const end = (response: ServerResponse, key: string) => {
  response.statusCode = key.startsWith("unknown") ? 401 : 200
  response.end()
}

describe("fairTurns", () => {
  it("handles requests at once while there is time in the turn of the loop", () => {
    const { handled, send } = scene(end)
    ;["a", "b", "c"].forEach(send)
    assert.deepStrictEqual(handled, ["a", "b", "c"])
  })

  it("answers another key within a turn, however many requests of one key wait", () => {
    const { handled, send, turn } = scene(end)
    ;["flood", "other"].forEach(send)
    turn()
    Array.from({ length: 3000 }, () => send("flood"))
    assert.strictEqual(handled.length, 6)
    send("other")
    const next = turn()
    assert.strictEqual(next.length, 4)
    assert.include(next, "other")
    for (let turns = 0; turns < 749; turns++) {
      turn()
    }
    assert.strictEqual(handled.length, 3003)
  })

  it("gives all unknown keys together the turn of one caller", () => {
    const { send, turn } = scene(end)
    send("good")
    turn()
    Array.from({ length: 3000 }, (_, n) => send(`unknown ${n}`))
    send("good")
    assert.include(turn(), "good")
  })

  it("does not let probes wait behind the unknown keys of their peer", () => {
    const { handled, send, turn } = scene((response, key) => {
      // Unknown keys are looked up in a store that does not answer.
      if (!key.startsWith("unknown")) {
        end(response, key)
      }
    })
    Array.from({ length: 3000 }, (_, n) => send(`unknown ${n}`))
    send("/readyz?x=1")
    send("/other")
    assert.include(turn(), "/readyz?x=1")
    for (let turns = 0; turns < 100; turns++) {
      turn()
    }
    send("/readyz")
    assert.strictEqual(handled.at(-1), "/readyz")
    assert.notInclude(handled, "/other")
  })

  it("lets a caller have 64 unanswered requests, and the next one once one is answered", () => {
    let isSlow = false
    const pending: Array<ServerResponse> = []
    const { handled, send, turn } = scene((response, key) =>
      key === "slow" && isSlow ? pending.push(response) : end(response, key)
    )
    ;["slow", "other"].forEach(send)
    turn()
    isSlow = true
    for (let n = 0; n < 100; n++) {
      send("slow")
      turn()
    }
    assert.strictEqual(pending.length, 64)
    assert.deepStrictEqual(turn(), [])
    send("other")
    assert.strictEqual(handled.at(-1), "other")
    pending[0]?.emit("close")
    assert.deepStrictEqual(turn(), ["slow"])
  })

  it("does not count a stream whose head is written, nor make new keys wait for it", () => {
    const opening: Array<ServerResponse> = []
    const { handled, send, turn } = scene((response) => void opening.push(response))
    const begin = () => opening.splice(0).forEach((response) => response.writeHead(200).write(": hb\n\n"))
    for (let n = 0; n < 200; n++) {
      send(`stream ${n}`)
      begin()
      turn()
    }
    assert.strictEqual(handled.length, 200)
  })

  it("goes on with what waits when the head of a slow answer is written", () => {
    const opening: Array<ServerResponse> = []
    const { handled, send, turn } = scene((response) => void opening.push(response))
    for (let n = 0; n < 65; n++) {
      send(`stream ${n}`)
      turn()
    }
    assert.strictEqual(handled.length, 64)
    opening[0]?.writeHead(200).write(": hb\n\n")
    assert.deepStrictEqual(turn(), ["stream 64"])
  })
})
