/**
 * One client of the overload bench, in a process of its own: reads a job as JSON from its input, prints the results as
 * one JSON line. Plain sockets, because a thousand requests must leave at once.
 */
import { Agent, request } from "node:http"
import { connect } from "node:net"
import { text } from "node:stream/consumers"
import { percentile } from "./report.ts"

/** Requests of one kind, sent at once over `connections`, or one after the other with `everyMs` between their starts. */
export interface Job {
  readonly port: number
  readonly calls: ReadonlyArray<{ readonly path: string; readonly key: string }>
  readonly connections: number
  readonly everyMs?: number
}

/** Counts by status, latencies in milliseconds, and the range of `Retry-After`. */
export interface Outcome {
  readonly statuses: Record<string, number>
  readonly p50Ms: number | null
  readonly p99Ms: number | null
  readonly maxMs: number | null
  readonly retryAfter: { readonly min: number | null; readonly max: number | null }
}

const DEADLINE_MS = 60_000
const job: Job = JSON.parse(await text(process.stdin))
const agent = new Agent({ keepAlive: true, maxSockets: job.connections })
const latencies: Array<number> = []
const waits: Array<number> = []
const statuses: Record<string, number> = {}

const STATUS = /^HTTP\/1\.1 (?<status>[0-9]{3})/u
const WAIT = /\r\nretry-after: (?<seconds>[0-9]+)\r\n/iu

/** A request on a connection of its own. */
const callAlone = ({ key, path }: Job["calls"][number]) =>
  new Promise<void>((resolve) => {
    const startedAt = performance.now()
    let head = ""
    const socket = connect(job.port, "127.0.0.1", () => {
      socket.write(`GET ${path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n\r\n`)
    })
    socket.setEncoding("latin1")
    socket.setTimeout(DEADLINE_MS, () => socket.destroy())
    socket.on("data", (chunk) => (head += chunk))
    socket.on("error", () => {})
    socket.once("close", () => {
      const status = STATUS.exec(head)?.groups?.["status"] ?? "error"
      statuses[status] = (statuses[status] ?? 0) + 1
      latencies.push(performance.now() - startedAt)
      const seconds = WAIT.exec(head)?.groups?.["seconds"]
      if (seconds !== undefined) {
        waits.push(Number(seconds))
      }
      resolve()
    })
  })

const call = ({ key, path }: Job["calls"][number]) =>
  new Promise<void>((resolve) => {
    const startedAt = performance.now()
    const done = (status: string) => {
      statuses[status] = (statuses[status] ?? 0) + 1
      latencies.push(performance.now() - startedAt)
      resolve()
    }
    const sent = request(
      {
        agent,
        host: "127.0.0.1",
        port: job.port,
        path,
        headers: { authorization: `Bearer ${key}` },
        timeout: DEADLINE_MS
      },
      (response) => {
        const wait = response.headers["retry-after"]
        if (wait !== undefined) {
          waits.push(Number(wait))
        }
        response.resume()
        response.once("end", () => done(String(response.statusCode)))
      }
    )
    sent.once("timeout", () => sent.destroy(new Error("timeout")))
    sent.once("error", () => done("error"))
    sent.end()
  })

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

const { everyMs } = job
if (everyMs === undefined) {
  await Promise.all(job.calls.map(job.connections === job.calls.length ? callAlone : call))
} else {
  const pending: Array<Promise<void>> = []
  for (const each of job.calls) {
    pending.push(call(each))
    await pause(everyMs)
  }
  await Promise.all(pending)
}

const rounded = (ms: number | null) => (ms === null ? null : Math.round(ms * 10) / 10)
const outcome: Outcome = {
  statuses,
  p50Ms: rounded(percentile(latencies, 0.5)),
  p99Ms: rounded(percentile(latencies, 0.99)),
  maxMs: rounded(percentile(latencies, 1)),
  retryAfter: { min: percentile(waits, 0.0001), max: percentile(waits, 1) }
}
process.stdout.write(`${JSON.stringify(outcome)}\n`)
agent.destroy()
