/** Callers of a service of several processes: requests at a steady rate, quote streams and market sockets. */
import { Agent, get, request } from "node:http"
import { WebSocket } from "ws"
import { MARKET_REALTIME_PATH } from "../../../src/api/MarketRealtime.ts"
import { percentile } from "../report.ts"

/** One request, with a body where it is a POST. */
export interface Call {
  readonly path: string
  readonly body?: string
}

/** Address of the balancer, and the keys that take turns. */
export interface Access {
  readonly baseUrl: string
  readonly secrets: ReadonlyArray<string>
}

const DEADLINE_MS = 30_000
/** Unanswered requests at which no further one is sent. */
const MOST_OPEN = 256

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
const pick = <A>(list: ReadonlyArray<A>, n: number): A => {
  const picked = list[n % list.length]
  if (picked === undefined) {
    throw new Error("an empty list")
  }
  return picked
}

const send = (agent: Agent, baseUrl: string, secret: string, { body, path }: Call) =>
  new Promise<{ readonly status: string; readonly text: string }>((resolve) => {
    const headers = { authorization: `Bearer ${secret}`, "content-type": "application/json" }
    const method = body === undefined ? "GET" : "POST"
    const sent = request(baseUrl + path, { agent, method, headers, timeout: DEADLINE_MS }, (response) => {
      let text = ""
      response.setEncoding("utf8")
      response.on("data", (chunk) => (text += chunk))
      response.on("error", () => resolve({ status: "error", text }))
      response.once("end", () => resolve({ status: String(response.statusCode), text }))
    })
    sent.once("timeout", () => sent.destroy(new Error("timeout")))
    sent.once("error", () => resolve({ status: "error", text: "" }))
    sent.end(body)
  })

/** The calls that are answered with 200, each sent once. */
export const answered = async ({ baseUrl, secrets }: Access, calls: ReadonlyArray<Call>) => {
  const agent = new Agent({ keepAlive: true })
  const found: Array<Call> = []
  for (const [n, call] of calls.entries()) {
    const { status } = await send(agent, baseUrl, pick(secrets, n), call)
    found.push(...(status === "200" ? [call] : []))
  }
  agent.destroy()
  return found
}

/**
 * Sends the calls in turn for `seconds`, `rate` a second, and waits for the answers. `count` is the answers of 200 alone, and
 * latencies, in milliseconds, are theirs; `statuses` has all. `unsent` requests were not sent because too many were unanswered.
 */
export const callAtRate = async (
  { baseUrl, secrets }: Access,
  calls: ReadonlyArray<Call>,
  rate: number,
  seconds: number
) => {
  const agent = new Agent({ keepAlive: true, maxSockets: MOST_OPEN })
  const statuses: Record<string, number> = {}
  const latencies: Array<number> = []
  const open = new Set<Promise<void>>()
  let unsent = 0
  const begunMs = performance.now()
  for (let n = 0; n < rate * seconds; n++) {
    await pause(Math.max(0, begunMs + (n * 1000) / rate - performance.now()))
    if (open.size >= MOST_OPEN) {
      unsent++
      continue
    }
    const sentMs = performance.now()
    const one = send(agent, baseUrl, pick(secrets, n), pick(calls, n)).then(({ status }) => {
      statuses[status] = (statuses[status] ?? 0) + 1
      if (status === "200") {
        latencies.push(performance.now() - sentMs)
      }
      open.delete(one)
    })
    open.add(one)
  }
  await Promise.all(open)
  agent.destroy()
  const ms = (p: number) => Math.round(10 * (percentile(latencies, p) ?? 0)) / 10
  const count = latencies.length
  return { count, statuses, unsent, p50Ms: count === 0 ? null : ms(0.5), p99Ms: count === 0 ? null : ms(0.99) }
}

/** Open streams or sockets: frames so far, those that were refused or ended early, and their end. */
export interface Readers {
  readonly frames: () => number
  readonly lost: () => number
  readonly close: () => void
}

/** Opens quote streams of one tick a second, and returns once each has had a frame or is lost. */
export const openStreams = async ({ baseUrl, secrets }: Access, paths: ReadonlyArray<string>): Promise<Readers> => {
  const state = { frames: 0, lost: 0, isClosed: false }
  const lose = () => (state.lost += state.isClosed ? 0 : 1)
  const agent = new Agent({ keepAlive: false })
  const opening = paths.map(
    (path, n) =>
      new Promise<void>((resolve) => {
        const sent = get(
          baseUrl + path,
          { agent, headers: { authorization: `Bearer ${pick(secrets, n)}` } },
          (response) => {
            response.setEncoding("utf8")
            if (response.statusCode !== 200) {
              response.resume()
            }
            response.on("data", (chunk) => {
              state.frames += String(chunk).split("event: ").length - 1
              resolve()
            })
            response.on("error", () => undefined)
            response.once("close", () => {
              lose()
              resolve()
            })
          }
        )
        sent.once("error", () => {
          lose()
          resolve()
        })
      })
  )
  await Promise.all(opening)
  return {
    frames: () => state.frames,
    lost: () => state.lost,
    close: () => {
      state.isClosed = true
      agent.destroy()
    }
  }
}

/** Opens market sockets, each with the trades, the price and the candles of a mint; returns once each has its snapshots or is lost. */
export const openSockets = async (
  { baseUrl, secrets }: Access,
  mints: ReadonlyArray<string>,
  count: number
): Promise<Readers> => {
  const state = { frames: 0, lost: 0, isClosed: false }
  const agent = new Agent({ keepAlive: true })
  const sockets: Array<WebSocket> = []
  const open = async (n: number): Promise<void> => {
    const { text } = await send(agent, baseUrl, pick(secrets, n), { path: `${MARKET_REALTIME_PATH}/session` })
    const ticket = /ticket=(?<ticket>[^"&]+)/u.exec(text)?.groups?.["ticket"]
    if (ticket === undefined) {
      state.lost++
      return
    }
    const url = `${baseUrl.replace("http", "ws")}${MARKET_REALTIME_PATH}?ticket=${ticket}`
    const ws = new WebSocket(url, { perMessageDeflate: false })
    sockets.push(ws)
    await new Promise<void>((resolve) => {
      let snapshots = 0
      ws.on("error", () => undefined)
      ws.on("close", () => {
        state.lost += state.isClosed ? 0 : 1
        resolve()
      })
      ws.on("open", () => {
        for (const channel of ["trades", "price", "candles"]) {
          const terms = { op: "subscribe", id: channel, channel, mint: pick(mints, n) }
          ws.send(JSON.stringify({ ...terms, ...(channel === "candles" && { resolution: "1m" }) }))
        }
      })
      ws.on("message", (data) => {
        state.frames++
        snapshots += String(data).startsWith('{"type":"snapshot"') ? 1 : 0
        if (snapshots === 3) {
          resolve()
        }
      })
    })
  }
  await Promise.all(Array.from({ length: count }, (_, n) => open(n)))
  agent.destroy()
  return {
    frames: () => state.frames,
    lost: () => state.lost,
    close: () => {
      state.isClosed = true
      sockets.forEach((ws) => ws.terminate())
    }
  }
}
