/**
 * Processor time of compressing an answer, user and system of this process with its thread pool:
 * `node scripts/bench/encoding.ts [--json]`. The answers are JSON lists of trades; `serialise` is what making their text costs.
 */
import { Effect } from "effect"
import { brotliDecompressSync, gunzipSync } from "node:zlib"
import { compressed, type Encoding } from "../../src/http/middleware/contentEncoding.ts"
import { percentile, report } from "./report.ts"
import { secrets } from "./http/world.ts"

const ROUNDS = 9
const EACH = 200
const ROWS = [4, 20, 100, 500]

const answerOf = (rows: number) => ({
  data: Array.from({ length: rows }, (_, n) => ({
    signature: (secrets[n] ?? "").slice(9) + (secrets[n + 7] ?? "").slice(9),
    wallet: (secrets[(n * 31) % secrets.length] ?? "").slice(9),
    slot: 371_204_454 + n,
    atMs: 1_791_633_600_000 + n * 400,
    side: n % 3 === 0 ? "buy" : "sell",
    amount: String(((n + 1) * 7_919_777_333) % 1_000_000_007),
    valueUsd: ((n * 104_729) % 1_000_003) / 97
  })),
  nextCursor: null
})

/** Least and median processor time of one run of the work, in microseconds, over the rounds. */
const costOf = async (work: () => Promise<unknown> | string) => {
  const costs: Array<number> = []
  for (let round = 0; round <= ROUNDS; round++) {
    const since = process.cpuUsage()
    for (let n = 0; n < EACH; n++) {
      await work()
    }
    const { system, user } = process.cpuUsage(since)
    costs.push((system + user) / EACH)
  }
  // The first round warms up.
  const measured = costs.slice(1)
  return { cpuUs: Math.round(percentile(measured, 0.5) ?? 0), cpuUsLeast: Math.round(Math.min(...measured)) }
}

const compressing = async (text: string, encoding: Encoding) => {
  const bytes = await Effect.runPromise(compressed(text, encoding))
  const back = bytes === null ? text : (encoding === "br" ? brotliDecompressSync(bytes) : gunzipSync(bytes)).toString()
  if (back !== text) {
    throw new Error(`${encoding} lost something`)
  }
  return {
    bytes: bytes?.length ?? text.length,
    ...(await costOf(() => Effect.runPromise(compressed(text, encoding))))
  }
}

const figures: Record<string, unknown> = {}
for (const rows of ROWS) {
  const answer = answerOf(rows)
  const text = JSON.stringify(answer)
  figures[`${text.length} bytes`] = {
    serialise: await costOf(() => JSON.stringify(answer)),
    gzip: await compressing(text, "gzip"),
    br: await compressing(text, "br")
  }
}
report("encoding", figures)
