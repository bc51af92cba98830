/** Random parameters and bodies for every operation of the contract. */
import { type Operation, operations } from "./operations.ts"
import { ask, many, none, oneOf, type Reply, type Target, type Verdict } from "./target.ts"

const SOL = "So11111111111111111111111111111111111111112"

/** Values that break careless code. Those with `%` are put into URLs as they are. */
const values: readonly [string, ...ReadonlyArray<string>] = [
  SOL,
  "",
  "0",
  "-1",
  "1",
  "1e400",
  "18446744073709551616",
  "9007199254740993",
  "0x10",
  "NaN",
  "null",
  "true",
  "__proto__",
  "../../etc/passwd",
  "' or 1=1 --",
  "%00",
  "%ff",
  "%e0%a4%a",
  "%zz",
  "%ed%a0%80",
  "\u{1F600}",
  "\u202e<script>",
  "solana",
  "usd",
  "a".repeat(3000)
]

const inUrl = (value: string): string => (value.startsWith("%") ? value : encodeURIComponent(value))

/** A path that shows its operation, with a random value or the example for each parameter. */
const urlOf = ({ parameters, path }: Operation, random: () => number): string => {
  const valueOf = (example: unknown) => {
    const given = typeof example === "string" || typeof example === "number" ? String(example) : SOL
    return inUrl(random() < 0.5 ? given : oneOf(values, random))
  }
  const target = parameters
    .filter((parameter) => parameter.in === "path")
    .reduce((url, { example, name }) => url.replace(`{${name}}`, () => valueOf(example) || "-"), path)
  const query = parameters
    .filter((parameter) => parameter.in === "query" && random() < 0.6)
    .map(({ example, name }) => `${name}=${valueOf(example)}`)
  const extra = random() < 0.15 ? [`${oneOf(["unknown", "__proto__", "limit", "cursor"], random)}=1`] : []
  return query.length + extra.length === 0 ? target : `${target}?${[...query, ...extra].join("&")}`
}

/** The value with one part of it replaced or removed. */
const mutated = (value: unknown, random: () => number): unknown => {
  if (Array.isArray(value) && value.length > 0 && random() < 0.7) {
    return value.map((each: unknown, index) => (index === 0 ? mutated(each, random) : each))
  }
  if (typeof value === "object" && value !== null && random() < 0.8) {
    const entries = Object.entries(value)
    const at = Math.floor(random() * entries.length)
    return Object.fromEntries(
      entries.flatMap(([key, inner], index) =>
        index !== at ? [[key, inner]] : random() < 0.2 ? [] : [[key, mutated(inner, random)]]
      )
    )
  }
  const others: readonly [unknown, ...ReadonlyArray<unknown>] = [null, [], {}, -1, 1e300, 0.1, true, "", "\ud800"]
  return random() < 0.5 ? oneOf(others, random) : oneOf(values, random)
}

const broken: readonly [string, ...ReadonlyArray<string>] = [
  "",
  "{",
  "null",
  "[]",
  '{"a":1,"a":2}',
  '{"__proto__":{"x":1}}',
  `${"[".repeat(20_000)}`,
  `{"a":"${"x".repeat(200_000)}"}`,
  '{"a":"\\ud800"}'
]

const bodyOf = ({ example }: Operation, random: () => number): string =>
  example === undefined || random() < 0.25 ? oneOf(broken, random) : JSON.stringify(mutated(example, random))

interface Sent {
  readonly operation: Operation
  readonly url: string
  readonly reply: Reply
}

/** Statuses that the server itself answers before an operation is found. */
const OF_SERVER = new Set([400, 404, 405, 413, 414, 415, 431])

const isDeclared = ({ operation, reply: { status } }: Sent): boolean =>
  operation.statuses.has(status) || OF_SERVER.has(status)

const isEnveloped = ({ reply: { headers, status, text } }: Sent): boolean => {
  if (status < 400) {
    return true
  }
  try {
    const { error, requestId } = JSON.parse(text) as {
      error?: { code?: unknown; message?: unknown }
      requestId?: unknown
    }
    return (
      typeof error?.code === "string" &&
      typeof error.message === "string" &&
      requestId === headers.get("x-request-id") &&
      (status !== 503 || headers.has("retry-after"))
    )
  } catch {
    return false
  }
}

const shown = ({ operation, reply, url }: Sent) => ({
  operation: operation.id,
  url: url.slice(0, 200),
  status: reply.status,
  text: reply.text.slice(0, 200)
})

/** Sends the requests and judges the answers. */
export const fuzz = async (target: Target): Promise<ReadonlyArray<Verdict>> => {
  const { isShort, keys, random } = target
  const all = operations().filter(({ takesKey, isOpen }) => takesKey || isOpen)
  const rounds = isShort ? 2 : 40
  const sent = await many(all.length * rounds, 8, async (index): Promise<Sent> => {
    const operation = all[index % all.length] ?? all[0]
    if (operation === undefined) {
      throw new Error("the contract has no operations")
    }
    const url = urlOf(operation, random)
    const body = operation.hasBody
      ? { body: bodyOf(operation, random), headers: { "content-type": "application/json" } }
      : {}
    const reply = await ask(target, url, { method: operation.method, key: keys.all, ...body })
    return { operation, url, reply }
  })
  return [
    none(
      "no random request fails the service",
      sent.filter(({ reply }) => reply.status === 500).map(shown),
      sent.length
    ),
    none("every random request is answered", sent.filter(({ reply }) => reply.status === 0).map(shown), sent.length),
    none("every status is declared", sent.filter((one) => !isDeclared(one)).map(shown), sent.length),
    none("every error has the envelope", sent.filter((one) => !isEnveloped(one)).map(shown), sent.length)
  ]
}
