/** What a message of `/mcp` must pass, by raw requests: the public SDK would not send most of these. */
import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { KeyStore } from "../../../src/access/KeyStore.ts"
import { COMMAND_LINE } from "../../../src/api/schemas/KeyAudit.ts"
import { TransactionStatus, UnknownTransaction } from "../../../src/chain/rpc/TransactionStatus.ts"
import { SOL } from "../../../src/domain/Address.ts"
import { MESSAGE_BYTES, rpcCodes } from "../../../src/http/mcp/messages.ts"
import { type Answer, call, keyOf } from "../../support/http.ts"
import { engineOver, makeMarket, TOKEN } from "../../support/market.ts"
import { reading } from "../../support/reads.ts"

interface Sent {
  readonly key?: string | null
  readonly session?: string
  readonly headers?: Record<string, string>
}

const send = (body: string | Uint8Array<ArrayBuffer>, { headers = {}, key = "a", session }: Sent = {}) =>
  call("/mcp", {
    method: "POST",
    body,
    key,
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...(session !== undefined && { "mcp-session-id": session }),
      ...headers
    }
  })

const request = (method: string, params: object = {}, id: unknown = 1): string =>
  JSON.stringify({ jsonrpc: "2.0", id, method, params })

const PING = request("ping")

const initialize = (protocolVersion: string) =>
  request("initialize", { protocolVersion, capabilities: {}, clientInfo: { name: "test", version: "1" } })

/** Opens a session with the key of that letter. */
const opened = Effect.fnUntraced(function* (key: string, version = "2025-06-18") {
  const answer = yield* send(initialize(version), { key })
  assert.strictEqual(answer.status, 200, answer.text)
  return { key, session: answer.headers.get("mcp-session-id") ?? "" }
})

const left = (answer: Answer) => Number(answer.headers.get("x-ratelimit-remaining"))

/** Units of `rest` that the key of that letter has after one read, which costs one of them. */
const leftAfterRead = (key: string) => Effect.map(call("/api/v1/account/usage", { key }), left)

const quote = { inputMint: SOL, outputMint: TOKEN, amount: "1000000" }
const quoteCall = (args: object, id: unknown = 1) => request("tools/call", { name: "spot_quote", arguments: args }, id)

/** A node that says when it is asked for a transaction, and answers when it may. */
const asked = Deferred.makeUnsafe<void>()
const known = Deferred.makeUnsafe<void>()
const slowNode = Layer.succeed(TransactionStatus, {
  find: (signature) =>
    Deferred.succeed(asked, undefined).pipe(
      Effect.andThen(Deferred.await(known)),
      Effect.andThen(Effect.fail(new UnknownTransaction({ signature })))
    )
})

const world = reading({
  world: {
    keys: [..."acdefghijk"].map((letter) => keyOf(letter)).concat([keyOf("b", { ipPolicy: ["10.0.0.0/8"] })]),
    engine: engineOver(makeMarket()),
    statuses: slowNode
  }
})

layer(world)("admission to /mcp", (it) => {
  it.effect("takes no batch, whatever the version of the protocol", () =>
    Effect.gen(function* () {
      for (const version of ["2025-03-26", "2025-06-18", "2025-11-25"]) {
        const answer = yield* send(`[${PING},${PING}]`, yield* opened("a", version))
        assert.strictEqual(answer.status, 400)
        assert.strictEqual(answer.json("error.code"), rpcCodes.invalid)
        assert.match(String(answer.json("error.message")), /Batches are not accepted/u)
      }
    })
  )

  it.effect("charges what calls no tool, and a tool call with a fault, one unit", () =>
    Effect.gen(function* () {
      const mine = yield* opened("c")
      const before = yield* leftAfterRead("c")
      const messages = [
        PING,
        request("tools/list"),
        request("resources/list"),
        request("prompts/list"),
        request("tools/call", { name: "no_such_tool", arguments: {} }),
        quoteCall({ ...quote, extra: 1 }),
        JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }),
        "{"
      ]
      for (const message of messages) {
        const answer = yield* send(message, mine)
        assert.strictEqual(answer.headers.get("x-ratelimit-budget"), "rest", message)
      }
      assert.strictEqual(before - (yield* leftAfterRead("c")), messages.length + 1)
      assert.isFalse(
        (yield* send(quoteCall(quote), mine)).headers.has("x-ratelimit-budget"),
        "the quote is charged itself"
      )
    })
  )

  it.effect("answers 429 with the time to wait once the budget is spent", () =>
    Effect.gen(function* () {
      const mine = yield* opened("d")
      const answers = yield* Effect.replicateEffect(send(request("tools/list"), mine), 130)
      const refused = answers.filter(({ status }) => status === 429)
      assert.lengthOf(refused, 11)
      assert.isAtLeast(Number(refused[0]?.headers.get("retry-after")), 1)
      assert.strictEqual(refused[0]?.json("error.code"), "rate_limited")
    })
  )

  it.effect("answers a list from the text of the first answer, with the id of the request", () =>
    Effect.gen(function* () {
      for (const method of ["tools/list", "resources/list"]) {
        const mine = yield* opened("e")
        const [first, second] = [
          yield* send(request(method, {}, 1), mine),
          yield* send(request(method, {}, "two"), mine)
        ]
        assert.strictEqual(second.json("id"), "two")
        assert.deepStrictEqual(second.json("result"), first.json("result"))
        assert.isNotEmpty(first.json("result") as object)
      }
    })
  )

  it.effect("admits each message by the key: address, revocation, and the session's own key", () =>
    Effect.gen(function* () {
      const mine = yield* opened("f")
      assert.strictEqual((yield* send(PING, { session: mine.session, key: "b" })).status, 403)
      assert.strictEqual((yield* send(PING, { session: mine.session, key: null })).status, 401)
      const foreign = yield* send(request("tools/list"), { session: mine.session, key: "g" })
      assert.strictEqual(foreign.status, 404)
      assert.strictEqual(foreign.json("error.code"), rpcCodes.noSession)
      assert.strictEqual((yield* send(PING, mine)).status, 200)
      yield* KeyStore.use((store) => store.revoke("key_f", COMMAND_LINE))
      for (const message of [PING, request("tools/list"), request("resources/read", { uri: "fathom:///llms.txt" })]) {
        assert.strictEqual((yield* send(message, mine)).status, 401)
      }
    })
  )

  it.effect("lets only the key of a session end it", () =>
    Effect.gen(function* () {
      const mine = yield* opened("h")
      const end = (key: string | null) =>
        Effect.map(
          call("/mcp", { method: "DELETE", key, headers: { "mcp-session-id": mine.session } }),
          ({ status }) => status
        )
      assert.deepStrictEqual([yield* end(null), yield* end("g")], [401, 404])
      assert.strictEqual((yield* send(PING, mine)).status, 200)
      assert.strictEqual(yield* end("h"), 204)
      assert.strictEqual((yield* send(PING, mine)).status, 404)
    })
  )

  it.effect("names the fault of a message", () =>
    Effect.gen(function* () {
      const mine = yield* opened("i")
      const deep = `${'{"a":'.repeat(100)}1${"}".repeat(100)}`
      const faults: ReadonlyArray<readonly [string | Uint8Array<ArrayBuffer>, number, RegExp]> = [
        ["{", rpcCodes.parse, /not JSON/u],
        ["", rpcCodes.parse, /as the body/u],
        [new Uint8Array([0x22, 0xff, 0x22]), rpcCodes.parse, /not JSON in UTF-8/u],
        ['{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', rpcCodes.invalid, /id is sent twice/u],
        ['{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}', rpcCodes.invalid, /id must be/u],
        ['{"jsonrpc":"2.0","id":1e999,"method":"ping"}', rpcCodes.invalid, /id must be/u],
        ['{"jsonrpc":"2.0","id":null,"method":"ping"}', rpcCodes.invalid, /id must be/u],
        ['{"jsonrpc":"1.0","id":1,"method":"ping"}', rpcCodes.invalid, /jsonrpc must be/u],
        ['{"jsonrpc":"2.0","id":1,"method":7}', rpcCodes.invalid, /method must be/u],
        ['{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', rpcCodes.invalid, /params must be/u],
        [`{"jsonrpc":"2.0","id":1,"method":"ping","params":${deep}}`, rpcCodes.invalid, /levels deep/u],
        ["7", rpcCodes.invalid, /must be an object/u]
      ]
      for (const [body, code, message] of faults) {
        const answer = yield* send(body, mine)
        assert.strictEqual(answer.status, 400, String(body))
        assert.strictEqual(answer.json("error.code"), code, String(body))
        assert.match(String(answer.json("error.message")), message)
      }
      const long = yield* send(request("ping", { text: "x".repeat(MESSAGE_BYTES) }), mine)
      assert.strictEqual(long.status, 413)
      assert.match(String(long.json("error.message")), /65536 bytes/u)
    })
  )

  it.effect("names the argument of a tool call that is wrong", () =>
    Effect.gen(function* () {
      const mine = yield* opened("j")
      const faults: ReadonlyArray<readonly [object, RegExp]> = [
        [{ ...quote, colour: "red" }, /colour is unknown/u],
        [{ inputMint: SOL, outputMint: TOKEN, amount: ["1"] }, /amount must be text/u],
        [{ inputMint: SOL }, /outputMint is missing/u],
        [{ ...quote, inputMint: "\ud800" }, /inputMint holds half/u],
        [{ ...quote, amount: 2 ** 60 }, /amount is too large for an exact number/u],
        [{ ...quote, maxBytes: 10 }, /maxBytes must be an integer from 1000 to 100000/u],
        [{ ...quote, maxBytes: "4000" }, /maxBytes must be an integer/u],
        [{ ...quote, fromElement: -1 }, /fromElement must be an integer/u],
        [{ ...quote, fromElement: 5 }, /fromElement is out of range/u],
        [{ ...quote, slippageBps: 100_000 }, /slippageBps/u]
      ]
      for (const [args, message] of faults) {
        const answer = yield* send(quoteCall(args), mine)
        assert.isTrue(answer.json("result.isError"), answer.text)
        assert.match(answer.text, message)
        assert.match(answer.text, /400 invalid_request/u)
      }
      const path = request("tools/call", { name: "market_chart", arguments: { token: "a\udc00" } })
      assert.match((yield* send(path, mine)).text, /token holds half/u)
    })
  )

  it.effect("refuses an id that a running request has", () =>
    Effect.gen(function* () {
      const mine = yield* opened("k")
      const status = request("tools/call", { name: "routing_status", arguments: { id: "1".repeat(64) } }, 5)
      const running = yield* Effect.forkChild(send(status, mine))
      yield* Deferred.await(asked)
      const answer = yield* send(quoteCall(quote, 5), mine)
      assert.strictEqual(answer.status, 400)
      assert.match(String(answer.json("error.message")), /The id 5 is in use/u)
      assert.strictEqual((yield* send(quoteCall(quote, "5"), mine)).status, 200, "text is another id")
      yield* Deferred.succeed(known, undefined)
      yield* Fiber.join(running)
      assert.strictEqual((yield* send(quoteCall(quote, 5), mine)).status, 200, "an answered id is free again")
    })
  )
})
