/** Quotes, timed by the wall one after another, and by the processor time of the main thread of the service in bursts. */
import type { ChildProcess } from "node:child_process"
import { Agent, get } from "node:http"
import { connect } from "node:net"
import { SOL } from "../../src/domain/Address.ts"
import type { MemoryAnswer, ProbeQuestion, ProcessorAnswer } from "./probe.ts"
import type { Caller, Stopping } from "./sockets.ts"
import type { QuoteSamples } from "./verdicts.ts"

/** Quotes at once for one sample of processor time: many for each step of its clock, fewer than a key may have unanswered. */
const BURST = 50
/** Quotes one after another for samples of the wall. */
const ALONE = 20
const PAUSE_MS = 250
const PATIENCE_MS = 30_000

/** Asks the probe in the service; null when it does not answer. */
export const makeProbe = (child: ChildProcess) => {
  const waiting = new Map<number, (answer: unknown) => void>()
  let last = 0
  child.on("message", (answer: { readonly id: number }) => {
    waiting.get(answer.id)?.(answer)
    waiting.delete(answer.id)
  })
  const ask = (question: ProbeQuestion["ask"]) =>
    new Promise<unknown>((resume) => {
      const id = ++last
      waiting.set(id, resume)
      child.send({ id, ask: question } satisfies ProbeQuestion)
      setTimeout(() => waiting.delete(id) && resume(null), PATIENCE_MS).unref()
    })
  return {
    /** Provokes a fault in the process. */
    provoke: async (fault: Exclude<ProbeQuestion["ask"], "memory" | "processor">) => void (await ask(fault)),
    memory: async () => (await ask("memory")) as MemoryAnswer | null,
    processorMs: async () => {
      const answer = (await ask("processor")) as ProcessorAnswer | null
      return answer === null ? Number.NaN : answer.micros / 1000
    }
  }
}

/** The probe of a service. */
export type Probe = ReturnType<typeof makeProbe>

/** Answers of quotes by status, and the samples since they were taken last. */
export interface QuoteRecord {
  readonly statuses: Record<string, number>
  samples: { readonly wallMs: Array<number>; readonly processorMs: Array<number> }
}

/** The samples so far; later ones are collected anew. */
export const takeSamples = (record: QuoteRecord): QuoteSamples => {
  const { samples } = record
  record.samples = { wallMs: [], processorMs: [] }
  return samples
}

const agent = new Agent({ keepAlive: true, maxSockets: 1 })

/** Status of one quote, 0 without an answer, and its time in milliseconds. */
const quoteOnce = ({ baseUrl, secret }: Caller, query: string) =>
  new Promise<{ readonly status: number; readonly ms: number }>((resume) => {
    const begin = performance.now()
    const end = (status: number) => resume({ status, ms: performance.now() - begin })
    const request = get(
      `${baseUrl}/api/v1/spot/quote?${query}`,
      { agent, headers: { authorization: `Bearer ${secret}` }, timeout: PATIENCE_MS },
      (response) => response.resume().on("end", () => end(response.statusCode ?? 0))
    )
    request.on("timeout", () => request.destroy()).on("error", () => end(0))
  })

/** Statuses of quotes that are sent at once over a new connection, so that little else is done between them. */
const quoteBurst = ({ baseUrl, secret }: Caller, queries: ReadonlyArray<string>) =>
  new Promise<ReadonlyArray<string>>((resume) => {
    const { host, hostname, port } = new URL(baseUrl)
    const socket = connect(Number(port), hostname)
    let text = ""
    const statuses = () => Array.from(text.matchAll(/HTTP\/1\.1 (\d{3})/gu), ([, status = ""]) => status)
    const end = () => {
      socket.destroy()
      resume(statuses())
    }
    socket.setEncoding("latin1").setTimeout(PATIENCE_MS, end)
    socket.on("error", end).on("close", end)
    socket.on("data", (chunk) => {
      text += String(chunk)
      if (statuses().length === queries.length) {
        end()
      }
    })
    const head = `Host: ${host}\r\nAuthorization: Bearer ${secret}\r\n\r\n`
    socket.write(queries.map((query) => `GET /api/v1/spot/quote?${query} HTTP/1.1\r\n${head}`).join(""))
  })

/** The query of the nth quote. */
export const quoteQuery = (mints: ReadonlyArray<string>, n: number): string => {
  const mint = mints[n % mints.length] ?? ""
  return `inputMint=${SOL}&outputMint=${mint}&amount=${1_000_000_000 + ((n * 7919) % 1000) * 1_000_000}`
}

const sequence = (length: number, from: number) => Array.from({ length }, (_, i) => from + i)

/** Asks for quotes until the run stops. A burst counts for processor time when every answer was a quote. */
export const quoteOn = async (
  caller: Caller,
  mints: ReadonlyArray<string>,
  probe: Probe,
  record: QuoteRecord,
  stopping: Stopping
) => {
  const noted = (status: string) => (record.statuses[status] = (record.statuses[status] ?? 0) + 1)
  for (let n = 0; !stopping.isStopping; n += ALONE + BURST) {
    const { samples } = record
    for (const i of sequence(ALONE, n)) {
      const { ms, status } = await quoteOnce(caller, quoteQuery(mints, i))
      noted(String(status))
      if (status === 200) {
        samples.wallMs.push(ms)
      }
    }
    const before = await probe.processorMs()
    const statuses = await quoteBurst(
      caller,
      sequence(BURST, n + ALONE).map((i) => quoteQuery(mints, i))
    )
    const each = ((await probe.processorMs()) - before) / BURST
    statuses.forEach(noted)
    if (statuses.filter((status) => status === "200").length === BURST && Number.isFinite(each)) {
      samples.processorMs.push(each)
    }
    await new Promise((resume) => setTimeout(resume, PAUSE_MS))
  }
}
