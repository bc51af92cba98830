/** Bytes on the socket that no client would send. */
import { connect } from "node:net"
import { many, none, type Target, type Verdict } from "./target.ts"

/** Longest time until the service has answered and closed. It waits 13 s for the rest of headers that never end. */
const PATIENCE_MS = 40_000

/** Writes the bytes and reads until the connection ends; null when it does not end. */
const exchange = ({ port }: Target, bytes: Buffer): Promise<string | null> =>
  new Promise((resolve) => {
    let heard = ""
    const socket = connect(port, "127.0.0.1", () => socket.end(bytes))
    const timer = setTimeout(() => {
      resolve(null)
      socket.destroy()
    }, PATIENCE_MS)
    socket.setEncoding("latin1")
    socket.on("data", (chunk: string) => (heard += chunk))
    socket.on("error", () => undefined)
    socket.on("close", () => {
      clearTimeout(timer)
      resolve(heard)
    })
  })

const get = (target: string, ...lines: ReadonlyArray<string>) =>
  [`GET ${target} HTTP/1.1`, ...lines, "Connection: close", "", ""].join("\r\n")

const HOST = "Host: x"

/** Requests with the one status that is right. */
const exact: ReadonlyArray<readonly [string, string, number]> = [
  ["a plain request", get("/livez", HOST), 200],
  ["a target in absolute form", get("http://x/livez", HOST), 200],
  ["two Host headers", get("/livez", HOST, "Host: y"), 400],
  ["no Host header", get("/livez"), 400],
  ["a target that is no path", get("*", HOST), 400],
  ["HTTP/2.0", "GET /livez HTTP/2.0\r\nHost: x\r\n\r\n", 505],
  ["the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505],
  [
    "length and chunks together",
    "POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    400
  ],
  ["two lengths", "POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nabcd", 400],
  ["a line feed in a header", get("/livez", HOST, "a: b\nc: d"), 400],
  ["a header of 200 KB", get("/livez", HOST, `a: ${"x".repeat(200_000)}`), 431],
  ["a URL of 9 KB", get(`/livez?${"x".repeat(9000)}`, HOST), 414],
  ["a parameter that cannot be decoded", get("/api/v1/launches/%e0%a4", HOST), 400],
  ["a document in absolute form", get("http://x/llms.txt", HOST), 200]
]

const statusOf = (answer: string | null): number => Number(/^HTTP\/1\.1 (\d{3}) /u.exec(answer ?? "")?.[1] ?? 0)

/** A plain request with some of its bytes replaced. */
const garbled = (random: () => number): Buffer => {
  const bytes = Buffer.from(get("/api/v1/freshness?a=b", HOST, "X-API-Key: x", "Accept: */*"), "latin1")
  const flips = 1 + Math.floor(random() * 12)
  for (let flip = 0; flip < flips; flip++) {
    bytes[Math.floor(random() * bytes.length)] = Math.floor(random() * 256)
  }
  return random() < 0.2 ? bytes.subarray(0, Math.floor(random() * bytes.length)) : bytes
}

/** Sends the bytes and judges what comes back. */
export const raw = async (target: Target): Promise<ReadonlyArray<Verdict>> => {
  const answers = await many(exact.length, 4, async (index) => {
    const [what, bytes, status] = exact[index] ?? ["", "", 0]
    const answer = await exchange(target, Buffer.from(bytes, "latin1"))
    return { what, expected: status, status: statusOf(answer) }
  })
  const random = await many(target.isShort ? 150 : 3000, 16, async () => {
    const bytes = garbled(target.random)
    return { bytes: bytes.toString("base64"), answer: await exchange(target, bytes) }
  })
  return [
    none(
      "odd requests get the status that is right for them",
      answers.filter((one) => one.status !== one.expected),
      exact.length
    ),
    none(
      "random bytes end with an answer or a closed connection",
      random.filter(({ answer }) => answer === null),
      random.length
    ),
    none(
      "random bytes fail nothing",
      random.filter(({ answer }) => statusOf(answer) === 500),
      random.length
    )
  ]
}
