import { assert, describe, it } from "@effect/vitest"
import { type IncomingHttpHeaders, IncomingMessage, type ServerResponse } from "node:http"
import { Socket } from "node:net"
import { fairTurns } from "../../../src/http/server/fairTurns.ts"
import { secretIn } from "../../../src/http/middleware/bearer.ts"
import { keepContext, openRequest } from "../../../src/http/middleware/RequestContext.ts"
import { PlainResponse } from "../../../src/http/server/PlainResponse.ts"

const OPEN = "/readyz"

/** A handler of which each call takes a millisecond, under a clock and a loop that the test moves. */
const scene = (answer: (response: ServerResponse, key: string, request: IncomingMessage) => void) => {
  const handled: Array<string> = []
  const turns: Array<() => void> = []
  let timeMs = 0
  const handle = fairTurns(
    (request, response) => {
      timeMs += 1
      const key = secretIn(request.headers) ?? request.url ?? ""
      handled.push(key)
      answer(response, key, request)
    },
    { nowMs: () => timeMs, nextTurn: (run) => turns.push(run), openPaths: new Set([OPEN]) }
  )
  const sendWith = (headers: IncomingHttpHeaders, url = "/api") => {
    const request = new IncomingMessage(new Socket())
    Object.assign(request.headers, headers)
    request.url = url
    handle(request, new PlainResponse(request))
  }
  const send = (key: string) => (key.startsWith("/") ? sendWith({}, key) : sendWith({ authorization: `Bearer ${key}` }))
  /** One turn of the loop; the requests that it handled. */
  const turn = () => {
    const before = handled.length
    turns.splice(0).forEach((run) => run())
    return handled.slice(before)
  }
  return { handled, send, sendWith, turn }
}

/** Accepts every key but those that begin with "unknown", and checks none on an open path. */
const end = (response: ServerResponse, key: string, request: IncomingMessage) => {
  const isOpen = request.url === OPEN
  const isKnown = !isOpen && !key.startsWith("/") && !key.startsWith("unknown")
  keepContext(request, { ...openRequest("", undefined), caller: isKnown ? { id: key, accountId: "a" } : undefined })
  response.statusCode = isKnown || isOpen ? 200 : 401
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

  it("knows a key once it was accepted, and by no other answer", () => {
    const { send, sendWith, turn } = scene(end)
    send("good")
    turn()
    for (let n = 0; n < 100; n++) {
      sendWith({ authorization: `Bearer unknown ${n}` }, OPEN)
      turn()
    }
    Array.from({ length: 100 }, (_, n) => send(`unknown ${n}`))
    send("good")
    assert.include(turn(), "good")
  })

  it("forgets no accepted key for the keys that are invented", () => {
    const { send, sendWith, turn } = scene(end)
    send("good")
    turn()
    for (let n = 0; n < 10_001; n++) {
      sendWith({ authorization: `Bearer unknown ${n}` }, OPEN)
      turn()
    }
    Array.from({ length: 100 }, () => send("/api"))
    send("good")
    assert.include(turn(), "good")
  })

  it("does not count requests without a key as a caller, whatever headers were sent before", () => {
    const { handled, send, sendWith, turn } = scene((response, key, request) =>
      key === "/slow" ? undefined : end(response, key, request)
    )
    sendWith({ authorization: "" }, OPEN)
    turn()
    for (let n = 0; n < 70; n++) {
      send("/slow")
      turn()
    }
    send(OPEN)
    assert.strictEqual(handled.at(-1), OPEN)
  })

  it("gives a key the same turn in either header and in both", () => {
    const { send, sendWith, turn } = scene(end)
    sendWith({ "x-api-key": "flood" })
    sendWith({ "x-api-key": "other" })
    turn()
    Array.from({ length: 100 }, (_, n) =>
      sendWith(n % 2 === 0 ? { "x-api-key": "flood" } : { "x-api-key": "flood", authorization: "Bearer flood" })
    )
    send("other")
    assert.include(turn(), "other")
  })

  it("does not let probes wait behind the unknown keys of their peer", () => {
    const { handled, send, turn } = scene((response, key, request) => {
      // Unknown keys are looked up in a store that does not answer.
      if (!key.startsWith("unknown")) {
        end(response, key, request)
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

  it("lets a caller have 64 unanswered requests, and another one after each answer", () => {
    let isSlow = false
    const pending: Array<ServerResponse> = []
    const { handled, send, turn } = scene((response, key, request) =>
      key === "slow" && isSlow ? pending.push(response) : end(response, key, request)
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

  it("continues with waiting requests once the head of a slow answer is written", () => {
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
