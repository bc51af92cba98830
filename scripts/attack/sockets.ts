/** Live connections that misbehave. Each must end with a close frame, and none may end the others. */
import { WebSocket } from "ws"
import { ask, none, type Target, verdict, type Verdict } from "./target.ts"

const PATIENCE_MS = 20_000

/** The code of the close frame once the behaviour is over; 1006 without a frame, null when the connection stays open. */
const closeCode = (url: string, behave: (ws: WebSocket) => void): Promise<number | null> =>
  new Promise((resolve) => {
    const ws = new WebSocket(url, { perMessageDeflate: false })
    const timer = setTimeout(() => {
      resolve(null)
      ws.terminate()
    }, PATIENCE_MS)
    ws.on("error", () => undefined)
    ws.on("open", () => behave(ws))
    ws.on("close", (code) => {
      clearTimeout(timer)
      resolve(code)
    })
  })

const repeat = (count: number, send: () => void) => {
  for (let sent = 0; sent < count; sent++) {
    send()
  }
}

const behaviours: ReadonlyArray<readonly [string, number, (ws: WebSocket) => void]> = [
  ["1,000 ping frames", 4429, (ws) => repeat(1000, () => ws.ping())],
  ["1,000 pong frames", 4429, (ws) => repeat(1000, () => ws.pong())],
  ["1,000 ping messages", 4429, (ws) => repeat(1000, () => ws.send('{"op":"ping"}'))],
  ["1,000 binary messages", 1008, (ws) => repeat(1000, () => ws.send(Buffer.alloc(8)))],
  ["a message of 4 MB", 1009, (ws) => ws.send("x".repeat(4_000_000))]
]

/** The URL of a new connection. Without a ticket it is one that nothing listens at, so that verdicts fail by name. */
const ticket = async (target: Target): Promise<string> => {
  const { status, text } = await ask(target, "/api/v1/market/realtime/session", { key: target.keys.all })
  const url = /"wsUrl":"([^"]+)"/u.exec(text)?.[1]
  if (url === undefined) {
    process.stderr.write(`no ticket: ${status} ${text.slice(0, 300)}\n`)
  }
  return url ?? "ws://127.0.0.1:1/"
}

/** Opens one connection for each behaviour, and one that only listens. */
export const sockets = async (target: Target): Promise<ReadonlyArray<Verdict>> => {
  const quiet = new WebSocket(await ticket(target))
  quiet.on("error", () => undefined)
  const seen: Array<{ readonly what: string; readonly expected: number; readonly code: number | null }> = []
  for (const [what, expected, behave] of behaviours) {
    seen.push({ what, expected, code: await closeCode(await ticket(target), behave) })
  }
  const used = await ticket(target)
  const first = new WebSocket(used)
  await new Promise((resolve) => first.once("open", resolve).once("error", resolve))
  const second = await closeCode(used, () => undefined)
  const stayed = quiet.readyState === WebSocket.OPEN
  quiet.terminate()
  first.terminate()
  return [
    none(
      "a connection that misbehaves ends with the close code for it",
      seen.filter((one) => one.code !== one.expected),
      seen.length
    ),
    verdict("a ticket opens one connection", second !== null && second >= 4000 && second < 5000, second),
    verdict("a connection that only listens stays open beside them", stayed, stayed)
  ]
}
