import { assert, layer } from "@effect/vitest"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { Effect } from "effect"
import { SOL } from "../../../src/domain/Address.ts"
import { mcpLimits } from "../../../src/http/mcp/guardSessions.ts"
import { Listening } from "../../../src/http/NodeServer.ts"
import { RateLimiter } from "../../../src/access/RateLimiter.ts"
import { DEFAULT_PLAN } from "../../../src/domain/keys/Plan.ts"
import { call, keyOf, running, secretOf } from "../../support/http.ts"
import { engineOver, makeMarket, TOKEN } from "../../support/market.ts"

interface ToolAnswer {
  readonly isError?: boolean
  readonly content: ReadonlyArray<{ readonly type: string; readonly text: string }>
}

/** A client of the public SDK, connected with the key of that letter. */
const connected = Effect.fnUntraced(function* (key: string) {
  const { url } = yield* Listening
  return yield* Effect.acquireRelease(
    Effect.promise(async () => {
      const headers = { authorization: `Bearer ${secretOf(key)}` }
      const client = new Client({ name: "test", version: "1" })
      await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } }))
      return client
    }),
    (client) => Effect.promise(() => client.close())
  )
})

const use = (client: Client, name: string, args: Record<string, unknown>) =>
  Effect.promise(async () => {
    const { content, isError } = (await client.callTool({ name, arguments: args })) as unknown as ToolAnswer
    return { isError: isError === true, text: content.map(({ text }) => text).join("") }
  })

const post = (body: string, headers: Record<string, string> = {}, key: string | null = "a") =>
  call("/mcp", {
    method: "POST",
    body,
    key,
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers }
  })

const PING = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" })
const INITIALIZE = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } }
})

const quote = { inputMint: SOL, outputMint: TOKEN, amount: "1000000" }

const world = running({
  keys: [
    keyOf("a"),
    keyOf("b", { ipPolicy: ["10.0.0.0/8"] }),
    keyOf("c", { scopes: ["perps.read"] }),
    keyOf("e"),
    keyOf("f")
  ],
  engine: engineOver(makeMarket())
})

layer(world)("/mcp", (it) => {
  it.effect("lists a tool for every read, with the schema of its question", () =>
    Effect.gen(function* () {
      const client = yield* connected("a")
      assert.strictEqual(client.getServerVersion()?.name, "fathom")
      const { tools } = yield* Effect.promise(() => client.listTools())
      const names = tools.map(({ name }) => name)
      for (const name of [
        "spot_quote",
        "market_chart",
        "wallets_summary",
        "tokens_prices",
        "tokenBatch_read",
        "priceHistory_atMany",
        "perps_quote"
      ]) {
        assert.include(names, name)
      }
      assert.isEmpty(names.filter((name) => /accountKeys|[sS]tream|_session$|closed|create|sessions/u.test(name)))
      const tool = tools.find(({ name }) => name === "spot_quote")
      assert.includeMembers(Array.from(tool?.inputSchema.required ?? []), ["inputMint", "outputMint"])
      assert.include(tool?.description, "quote budget")
      assert.isTrue(tool?.annotations?.readOnlyHint)
    })
  )

  it.effect("answers a quote as the endpoint does, and charges it", () =>
    Effect.gen(function* () {
      const client = yield* connected("a")
      const before = yield* call(`/api/v1/spot/quote?${new URLSearchParams(quote)}`)
      const { isError, text } = yield* use(client, "spot_quote", quote)
      assert.isFalse(isError, text)
      const { outAmount } = JSON.parse(text.slice(text.indexOf("{"))) as { readonly outAmount: string }
      assert.strictEqual(outAmount, before.json("outAmount"))
      const after = yield* call(`/api/v1/spot/quote?${new URLSearchParams(quote)}`)
      const remaining = (answer: typeof before) => Number(answer.headers.get("x-ratelimit-remaining"))
      assert.strictEqual(remaining(before) - remaining(after), 2)
    })
  )

  it.effect("answers refusals with their code, as errors of the tool", () =>
    Effect.gen(function* () {
      const said = Effect.fnUntraced(function* (key: string, args: Record<string, unknown>) {
        const { isError, text } = yield* use(yield* connected(key), "spot_quote", args)
        assert.isTrue(isError, text)
        return text
      })
      assert.match(yield* said("c", quote), /^403 \w+: /u)
      assert.match(yield* said("a", { ...quote, amount: "-1" }), /^400 .*amount/u)
      const limiter = yield* RateLimiter
      yield* Effect.orDie(limiter.admit({ key: { id: "key_e", plan: DEFAULT_PLAN }, budget: "quote", cost: 300 }))
      assert.match(yield* said("e", quote), /^429 rate_limited: .*Ask again in \d+ s\.$/u)
    })
  )

  it.effect("opens a session for a key that may be used from there, and for no one else", () =>
    Effect.gen(function* () {
      const statuses = yield* Effect.forEach([null, "b", "a"], (key) =>
        Effect.map(post(INITIALIZE, {}, key), ({ status }) => status)
      )
      assert.deepStrictEqual(statuses, [401, 403, 200])
      assert.strictEqual((yield* post(INITIALIZE, {}, null)).json("error.code"), "missing_api_key")
    })
  )

  it.effect("ends the session of a key that was used least recently when it opens too many", () =>
    Effect.gen(function* () {
      const opened = yield* Effect.replicateEffect(post(INITIALIZE, {}, "f"), mcpLimits.perHolder + 1)
      const ids = opened.map(({ headers }) => headers.get("mcp-session-id") ?? "")
      assert.lengthOf(new Set(ids), mcpLimits.perHolder + 1)
      const [first = "", second = ""] = ids
      const ping = (id: string) => Effect.map(post(PING, { "mcp-session-id": id }, "f"), ({ status }) => status)
      assert.strictEqual(yield* ping(first), 404)
      assert.strictEqual(yield* ping(second), 200)
      yield* post(INITIALIZE, {}, "f")
      assert.strictEqual(yield* ping(second), 200, "it was used, so the third has gone")
      assert.strictEqual(yield* ping(ids[2] ?? ""), 404)
    })
  )

  it.effect("reads no message that is too long", () =>
    Effect.gen(function* () {
      const long = JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "ping",
        params: { text: "x".repeat(mcpLimits.bodyBytes) }
      })
      assert.isNumber((yield* post(long)).json("error.code"))
    })
  )

  it.effect("keeps errors of the protocol in its own form, and refuses pages of other origins", () =>
    Effect.gen(function* () {
      const malformed = yield* post("{")
      assert.isUndefined(malformed.json("requestId"))
      assert.isNumber(malformed.json("error.code"))
      assert.strictEqual((yield* post(PING, { origin: "https://elsewhere.example" })).status, 403)
      assert.strictEqual((yield* call("/mcp")).status, 405)
    })
  )
})
