/** The endpoint for language models, by raw messages. */
import { ask, many, none, processorSeconds, type Reply, tally, type Target, verdict, type Verdict } from "./target.ts"

/** Processor time that four refused batches may take together. One answered batch took 5.5 s. */
const MOST_SECONDS = 2

interface Sent {
  readonly key?: string
  readonly session?: string
}

const send = (target: Target, body: string, { key, session }: Sent = {}) =>
  ask(target, "/mcp", {
    method: "POST",
    body,
    ...(key !== undefined && { key }),
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...(session !== undefined && { "mcp-session-id": session })
    }
  })

const message = (method: string, params: object = {}, id = 1) => JSON.stringify({ jsonrpc: "2.0", id, method, params })

const INITIALIZE = message("initialize", {
  protocolVersion: "2025-03-26",
  capabilities: {},
  clientInfo: { name: "attack", version: "1" }
})

const BATCH = `[${Array.from({ length: 1200 }, () => '{"jsonrpc":"2.0","id":1,"method":"tools/list"}').join()}]`

const odd: ReadonlyArray<string> = [
  "",
  "{",
  "[]",
  "7",
  '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}',
  '{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}',
  '{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}',
  `{"jsonrpc":"2.0","id":1,"method":"ping","params":${'{"a":'.repeat(5000)}1${"}".repeat(5000)}}`,
  message("ping", { text: "x".repeat(100_000) })
]

const faultyCalls: ReadonlyArray<object> = [
  { name: "spot_quote", arguments: { inputMint: "\ud800", outputMint: "x", amount: "1" } },
  { name: "spot_quote", arguments: { unknown: 1 } },
  { name: "market_chart", arguments: { token: "../../x", maxBytes: -1 } },
  { name: "market_chart", arguments: { token: 2 ** 70 } }
]

const isNamed = ({ status, text }: Reply): boolean => status >= 400 && status < 500 && /"message":"[^"]+/u.test(text)

/** What each message must pass, and what a large or odd one may cost. */
export const mcp = async (target: Target): Promise<ReadonlyArray<Verdict>> => {
  const { all: key, others } = target.keys
  const opened = await send(target, INITIALIZE, { key })
  const session = opened.headers.get("mcp-session-id") ?? ""
  const mine = { key, session }
  const batches = await processorSeconds(target, () => many(4, 4, () => send(target, BATCH, mine)))
  const bytes = batches.result.reduce((sum, { text }) => sum + text.length, 0)
  const lists = await many(target.isShort ? 50 : 500, 8, (index) =>
    send(target, message("tools/list", {}, index), mine)
  )
  const results = new Set(lists.map(({ text }) => text.slice(text.indexOf('"result"')).trimEnd()))
  const foreign = [
    await send(target, message("tools/list"), { session }),
    await send(target, message("tools/list"), { session, key: others }),
    await ask(target, "/mcp", { method: "DELETE", headers: { "mcp-session-id": session } }),
    await ask(target, "/mcp", { method: "DELETE", key: others, headers: { "mcp-session-id": session } })
  ]
  const oddOnes = await many(odd.length, 1, (index) => send(target, odd[index] ?? "", mine))
  const calls = await many(faultyCalls.length, 1, (index) =>
    send(target, message("tools/call", faultyCalls[index] ?? {}), mine)
  )
  const charged = [...lists.slice(0, 3), ...oddOnes].filter(
    ({ headers }) => headers.get("x-ratelimit-budget") !== "rest"
  )
  return [
    verdict(
      "a batch is refused and costs next to nothing",
      tally(batches.result)[400] === 4 && batches.seconds < MOST_SECONDS,
      {
        processorSeconds: batches.seconds,
        bytes,
        ...tally(batches.result)
      }
    ),
    verdict("a list is one text for everybody", results.size === 1 && lists.every(({ status }) => status === 200), {
      texts: results.size,
      ...tally(lists)
    }),
    verdict(
      "a session serves its own key alone",
      JSON.stringify(foreign.map(({ status }) => status)) === "[401,404,401,404]",
      foreign.map(({ status }) => status)
    ),
    none(
      "odd messages get an error with a name",
      oddOnes.filter((reply) => !isNamed(reply)).map(({ text }) => text.slice(0, 200)),
      odd.length
    ),
    none(
      "faulty calls get an error of the tool with a name",
      calls.filter(({ text }) => !text.includes("400 invalid_request: ")).map(({ text }) => text.slice(0, 200)),
      calls.length
    ),
    none(
      "what calls no tool is charged",
      charged.map(({ status }) => status),
      oddOnes.length + 3
    )
  ]
}
