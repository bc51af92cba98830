/** Many requests at once, with the memory and the processor time that they take. */
import { request } from "node:http"
import { checksum } from "../../src/access/keyFormat.ts"
import {
  ask,
  many,
  none,
  processorSeconds,
  type Reply,
  tally,
  type Target,
  useOf,
  verdict,
  type Verdict
} from "./target.ts"

/** Growth of the service's memory that 300 readers of one document may take. It was 366 MiB when each compressed it. */
const MOST_GROWTH_MB = 150

const unknownKey = (index: number): string => {
  const body = `svc_test_${String(index).padStart(30, "0")}`
  return body + checksum(body)
}

/** Reads a document as it was sent, without decompressing or keeping it. Status 0 without a whole answer. */
const readRaw = ({ port }: Target, path: string): Promise<{ readonly status: number; readonly bytes: number }> =>
  new Promise((resolve) => {
    let bytes = 0
    request({ port, path, agent: false, headers: { "accept-encoding": "br" } }, (response) => {
      response.on("data", (chunk: Buffer) => (bytes += chunk.length))
      response.on("end", () => resolve({ status: response.statusCode ?? 0, bytes }))
      response.on("error", () => resolve({ status: 0, bytes }))
    })
      .on("error", () => resolve({ status: 0, bytes }))
      .end()
  })

/** Growth of the memory of the service in megabytes while the task runs; 0 where it cannot be measured. */
const growth = async <A>({ pid }: Target, task: () => Promise<A>) => {
  const memory = () => useOf(pid)?.serviceMb ?? 0
  const before = memory()
  let most = before
  const timer = setInterval(() => (most = Math.max(most, memory())), 50)
  const result = await task()
  clearInterval(timer)
  return { result, grownMb: Math.round(Math.max(most, memory()) - before) }
}

/** Pages that an address may request of this service, which is fewer than usual, so that the flood is short. */
export const pageLimit = 400

/** Rounds of requests until a budget of a minute must be spent, however slow the machine is. */
const PAGE_ROUNDS = 50

/** Requests pages until one is refused, and returns the answers. */
const readPages = async (target: Target) => {
  const answers: Array<Reply> = []
  for (let round = 0; round < PAGE_ROUNDS && !answers.some(({ status }) => status === 429); round++) {
    const more = await many(64, 64, () => ask(target, "/llms.txt", { headers: { "if-none-match": "*" } }))
    answers.push(...more)
  }
  return answers
}

/** Everybody reads one document, then one address reads too much, and invented keys knock. */
export const floods = async (target: Target): Promise<ReadonlyArray<Verdict>> => {
  const documents = await growth(target, () =>
    processorSeconds(target, () => many(300, 300, () => readRaw(target, "/openapi.json")))
  )
  const { result, seconds } = documents.result
  const invented = await many(target.isShort ? 300 : 3000, 64, (index) =>
    ask(target, "/api/v1/account/key", { key: unknownKey(index) })
  )
  const pages = await readPages(target)
  const refused = pages.filter(({ status }) => status === 429)
  const probe = await ask(target, "/livez")
  return [
    verdict(
      "300 readers of a document share one compressed form",
      documents.grownMb < MOST_GROWTH_MB && result.every(({ status }) => status === 200 || status === 429),
      { grownMb: documents.grownMb, processorSeconds: seconds, ...tally(result) }
    ),
    none(
      "invented keys open nothing",
      invented.filter(({ status }) => status !== 401),
      invented.length
    ),
    verdict(
      "an address has a budget of pages, and hears when it has room",
      refused.length > 0 && refused.every((one) => Number(one.headers.get("retry-after")) >= 1),
      tally(pages)
    ),
    verdict("probes are answered beside a spent budget of pages", probe.status === 200, probe.status)
  ]
}
