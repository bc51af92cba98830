import { assert, layer } from "@effect/vitest"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { VERSION } from "../../../src/app/version.ts"
import { SOL } from "../../../src/domain/Address.ts"
import { mcpLimits } from "../../../src/http/mcp/guardSessions.ts"
import { Listening } from "../../../src/http/server/NodeServer.ts"
import { RateLimiter } from "../../../src/access/RateLimiter.ts"
import { DEFAULT_PLAN } from "../../../src/api/schemas/Plan.ts"
import { Tape } from "../../../src/market/tape/Tape.ts"
import { mintOf } from "../../market/tape/tape.ts"
import { call, keyOf, secretOf } from "../../support/http.ts"
import { engineOver, makeMarket, TOKEN } from "../../support/market.ts"
import { block, reading, setSecond } from "../../support/reads.ts"
import { at } from "../../support/views.ts"
import { readerOver } from "../../wallets/readers.ts"
import { MINT, tradeOf, usd, WALLET } from "../../wallets/trades.ts"

interface ToolAnswer {
  readonly isError?: boolean
  readonly content: ReadonlyArray<{ readonly type: string; readonly text: string }>
}

/** A client of the public SDK, connected with the key of that letter. `query` selects tools. */
const connected = Effect.fnUntraced(function* (key: string, query = "") {
  const { url } = yield* Listening
  return yield* Effect.acquireRelease(
    Effect.promise(async () => {
      const headers = { authorization: `Bearer ${secretOf(key)}` }
      const client = new Client({ name: "test", version: "1" })
      await client.connect(
        new StreamableHTTPClientTransport(new URL(`${url}/mcp${query}`), { requestInit: { headers } })
      )
      return client
    }),
    (client) => Effect.promise(() => client.close())
  )
})

interface Said {
  readonly isError: boolean
  readonly text: string
}

const use = (client: Client, name: string, args: Record<string, unknown>): Effect.Effect<Said> =>
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

const CHARTED = mintOf(1)

/** A market of one charted token, and a wallet with a purchase at a known price and a price since. */
const world = reading({
  world: {
    keys: [
      keyOf("a"),
      keyOf("b", { ipPolicy: ["10.0.0.0/8"] }),
      keyOf("c", { scopes: ["perps.read"] }),
      keyOf("e"),
      keyOf("f")
    ],
    engine: engineOver(makeMarket()),
    wallets: readerOver({
      trades: { [WALLET]: [tradeOf({ slot: 1, amount: 10_000_000n, volumeUsdNanos: usd(10) })] },
      marks: { [MINT]: 3n }
    })
  }
})

/** What registries of servers are told. */
const told: {
  readonly name: string
  readonly description: string
  readonly version: string
  readonly remotes: readonly [
    {
      readonly url: string
      readonly variables: object
      readonly headers: ReadonlyArray<{
        readonly name: string
        readonly value: string
        readonly isSecret: boolean
        readonly variables: object
      }>
    }
  ]
} = JSON.parse(readFileSync("server.json", "utf8"))

/** Names of the variables in a template. */
const namesIn = (template: string): ReadonlyArray<string> =>
  Array.from(template.matchAll(/\{(\w+)\}/gu), ([, name = ""]) => name)

/** The JSON of an answer, between the line of its states and the note on what is left out. */
const jsonOf = (text: string): unknown => JSON.parse(text.split("\n").find((line) => line.startsWith("{")) ?? "")

layer(world)("/mcp", (it) => {
  it.effect(
    "lists a dozen tools, the search first, each with when to use it and the schemas of question and answer",
    () =>
      Effect.gen(function* () {
        const client = yield* connected("a")
        const { tools } = yield* Effect.promise(() => client.listTools())
        assert.isAtMost(tools.length, 12)
        assert.strictEqual(tools[0]?.name, "search_tokens")
        assert.isEmpty(tools.filter(({ outputSchema }) => outputSchema === undefined))
        assert.isEmpty(
          tools.filter(({ description }) => !/^.{60,500}Costs 1 of the \w+ budget\.$/u.test(description ?? ""))
        )
        const bytes = JSON.stringify(tools).length
        assert.isBelow(bytes, 30_000, "a model reads the list with every conversation")
      })
  )

  it.effect(
    "lists the tools that the address selects, by group and by name, and refuses a word that selects none",
    () =>
      Effect.gen(function* () {
        const listed = Effect.fnUntraced(function* (query: string) {
          const client = yield* connected("a", query)
          return (yield* Effect.promise(() => client.listTools())).tools.map(({ name }) => name)
        })
        assert.deepStrictEqual(yield* listed("?tools=perps,spot_quote"), [
          "spot_quote",
          "perps_quote",
          "perps_funding",
          "perps_markets"
        ])
        assert.includeMembers(yield* listed("?tools=usual,wallets"), ["search_tokens", "wallets_trades"])
        assert.isAbove((yield* listed("?tools=all")).length, 45)
        const refused = yield* call("/mcp?tools=perps,trading", {
          method: "POST",
          body: INITIALIZE,
          headers: { "content-type": "application/json", accept: "application/json, text/event-stream" }
        })
        assert.strictEqual(refused.status, 400)
        assert.match(
          String(refused.json("error.message")),
          /^tools: "trading" is unknown. It takes all, usual, a tool, or a group: /u
        )
      })
  )

  it.effect("answers in parts beside the text, as the schema says", () =>
    Effect.gen(function* () {
      const client = yield* connected("a")
      // The client of the SDK refuses an answer that its listed schema does not allow.
      yield* Effect.promise(() => client.listTools())
      const { content, structuredContent } = (yield* Effect.promise(() =>
        client.callTool({ name: "spot_quote", arguments: quote })
      )) as unknown as ToolAnswer & { readonly structuredContent: { readonly answer: { readonly outAmount: string } } }
      assert.deepStrictEqual<unknown>(structuredContent.answer, jsonOf(content[0]?.text ?? ""))
    })
  )

  it.effect("is what server.json tells a registry: name, version, address and header", () =>
    Effect.gen(function* () {
      const { url } = yield* Listening
      assert.match(told.name, /^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/u)
      assert.isAtMost(told.description.length, 100)
      const [remote] = told.remotes
      assert.deepStrictEqual(namesIn(remote.url), Object.keys(remote.variables))
      const headers = Object.fromEntries(
        remote.headers.map(({ isSecret, name, value, variables }) => {
          assert.deepStrictEqual(namesIn(value), Object.keys(variables))
          assert.isTrue(isSecret)
          return [name, value.replace("{key}", secretOf("a"))]
        })
      )
      // Only the scheme differs from an address that a proxy serves over TLS.
      const address = remote.url.replace("{host}", new URL(url).host).replace("https:", "http:")
      const client = yield* Effect.acquireRelease(
        Effect.promise(async () => {
          const asked = new Client({ name: "test", version: "1" })
          await asked.connect(new StreamableHTTPClientTransport(new URL(address), { requestInit: { headers } }))
          return asked
        }),
        (asked) => Effect.promise(() => asked.close())
      )
      const { name, version } = client.getServerVersion() ?? assert.fail("the server has no name")
      assert.deepStrictEqual({ name, version }, { name: told.name.split("/")[1] ?? "", version: told.version })
      assert.strictEqual(version, VERSION)
      assert.isNotEmpty((yield* Effect.promise(() => client.listTools())).tools)
    })
  )

  it.effect("has prompts for common tasks, which name the tools to use", () =>
    Effect.gen(function* () {
      const client = yield* connected("a")
      const { prompts } = yield* Effect.promise(() => client.listPrompts())
      assert.isAtLeast(prompts.length, 5)
      for (const { arguments: args = [], name } of prompts) {
        const values = Object.fromEntries(args.map((argument) => [argument.name, `the ${argument.name}`]))
        const { messages } = yield* Effect.promise(() => client.getPrompt({ name, arguments: values }))
        const { content } = messages[0] ?? assert.fail("there is no message")
        const text = content.type === "text" ? content.text : ""
        assert.isEmpty(args.filter((argument) => !text.includes(`the ${argument.name}`)))
        const named = Array.from(text.matchAll(/\b[a-z]\w*_[a-zA-Z]+\b/gu), ([tool]) => tool)
        const { tools } = yield* Effect.promise(() => client.listTools())
        assert.isAtLeast(named.length, 2, text)
        assert.includeMembers(
          tools.map((tool) => tool.name),
          named
        )
      }
      const missing = Effect.tryPromise(() => client.getPrompt({ name: "judge-wallet", arguments: { wallet: " " } }))
      assert.include(String((yield* Effect.flip(missing)).cause), "wallet is missing")
    })
  )

  it.effect("lists a tool for every read, with the schema of its question", () =>
    Effect.gen(function* () {
      const client = yield* connected("a", "?tools=all")
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
      const { outAmount } = jsonOf(text) as { readonly outAmount: string }
      assert.strictEqual(outAmount, before.json("outAmount"))
      const after = yield* call(`/api/v1/spot/quote?${new URLSearchParams(quote)}`)
      const remaining = (answer: typeof before) => Number(answer.headers.get("x-ratelimit-remaining"))
      assert.strictEqual(remaining(before) - remaining(after), 2)
    })
  )

  it.effect("answers a chart in pages of at most 4 kB, which together are the chart of the endpoint", () =>
    Effect.gen(function* () {
      const tape = yield* Tape
      const minutes = Array.from({ length: 100 }, (_, minute) => minute)
      yield* setSecond(6000)
      const traded = minutes.map((minute) => at(minute * 60, { mint: CHARTED, priceUsd: 1 + minute }))
      yield* tape.apply(block(6000, { trades: traded }))
      const client = yield* connected("a")
      const bars: Array<unknown> = []
      for (let next: number | null = 0; next !== null;) {
        const args: Record<string, unknown> = { token: CHARTED, resolution: "1m", limit: 100, fromElement: next }
        const { isError, text }: Said = yield* use(client, "market_chart", args)
        assert.isFalse(isError, text)
        assert.isAtMost(Buffer.byteLength(text), 4000)
        assert.match(text, /^Answer: partial \(not_captured\)\.\n/u)
        bars.push(...(jsonOf(text) as { readonly data: { readonly bars: ReadonlyArray<unknown> } }).data.bars)
        const more: string | undefined = /fromElement (\d+) for more/u.exec(text)?.[1]
        next = more === undefined ? null : Number(more)
      }
      const whole = yield* call(`/api/v1/market/chart/${CHARTED}?resolution=1m&limit=100`)
      assert.lengthOf(bars, 100)
      assert.deepStrictEqual<unknown>(bars, whole.json("data.bars"))
    })
  )

  it.effect("answers the summary of a wallet, with the states of its parts", () =>
    Effect.gen(function* () {
      const client = yield* connected("a")
      const { isError, text } = yield* use(client, "wallets_summary", { body: { wallets: [WALLET] } })
      assert.isFalse(isError, text)
      assert.match(text, /^Parts: (?:\d+ \w+(?:, )?)+\.\n/u)
      const asked = { method: "POST", body: JSON.stringify({ wallets: [WALLET] }) }
      const plain = yield* call("/api/v1/wallets/summary", {
        ...asked,
        headers: { "content-type": "application/json" }
      })
      const { data } = jsonOf(text) as { readonly data: { readonly wallets: ReadonlyArray<unknown> } }
      assert.deepStrictEqual<unknown>(data.wallets, plain.json("data.wallets"))
    })
  )

  it.effect("reads the documents that /llms.txt lists, for a unit each", () =>
    Effect.gen(function* () {
      const client = yield* connected("a")
      const { resources } = yield* Effect.promise(() => client.listResources())
      const list = yield* call("/llms.txt", { key: null })
      const listed = Array.from(list.text.matchAll(/\]\((\/(?:docs\/[^)]+|changelog))\)/gu), ([, path = ""]) => path)
      assert.isAbove(listed.length, 10)
      assert.sameMembers(
        resources.map(({ uri }) => uri),
        ["/llms.txt", ...listed].map((path) => new URL(path, "fathom:///llms.txt").href)
      )
      const ask = call(`/api/v1/market/chart/${CHARTED}`)
      const before = yield* ask
      for (const { description, mimeType, size, uri } of resources) {
        const { contents } = yield* Effect.promise(() => client.readResource({ uri }))
        const page = yield* call(new URL(uri).pathname, { key: null })
        assert.isNotEmpty(description)
        assert.strictEqual(size, Buffer.byteLength(page.text))
        assert.deepStrictEqual<unknown>(contents, [{ uri, mimeType, text: page.text }])
        assert.strictEqual(page.headers.get("content-type"), `${mimeType}; charset=utf-8`)
      }
      const after = yield* ask
      const remaining = (answer: typeof before) => Number(answer.headers.get("x-ratelimit-remaining"))
      assert.strictEqual(remaining(before) - remaining(after), resources.length + 1)
      const missing = Effect.tryPromise(() => client.readResource({ uri: "fathom:///docs/none.md" }))
      assert.include(String((yield* Effect.flip(missing)).cause), "not found")
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
      assert.match(yield* said("e", quote), /^429 rate_limited: .*Try again in \d+ s\.$/u)
    })
  )

  it.effect("opens a session only for a key that may be used from the caller's address", () =>
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

  it.effect("refuses pages of other origins, and reads by GET", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* post(PING, { origin: "https://elsewhere.example" })).status, 403)
      assert.strictEqual((yield* call("/mcp")).status, 405)
    })
  )
})
