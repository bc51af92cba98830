/**
 * The index of pools on the embedded PostgreSQL as it is shipped: bytes of a pool on disk, the time in which a snapshot is stored,
 * the memory that the process needs meanwhile, and the time of one question for a token. The first argument is the number of pools
 * (500,000). Half of the pools trade SOL; each token has about six of the other pools. `--json` prints one line.
 */
import { NodeFileSystem } from "@effect/platform-node"
import { ConfigProvider, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { addressFromBytes } from "../../src/domain/Address.ts"
import { PoolEntries } from "../../src/quotes/pools/PoolEntries.ts"
import { PoolIndexStore } from "../../src/quotes/pools/PoolIndexStore.ts"
import * as PoolIndexStorePg from "../../src/quotes/pools/PoolIndexStorePg.ts"
import * as Database from "../../src/storage/Database.ts"
import { countArgument } from "../options.ts"
import { percentile, report } from "./report.ts"

const POOLS = countArgument("The number of pools", 500_000)
const QUESTIONS = 2000
const MEBIBYTE = 2 ** 20

const program = addressFromBytes(new Uint8Array(32).fill(7))
const tokens = randomBytes(32 * Math.ceil(POOLS / 4))
const tokenAt = (n: number) => {
  const at = (n % (tokens.length / 32)) * 32
  return tokens.subarray(at, at + 32)
}

const snapshot = () => {
  const entries = new PoolEntries([program])
  for (let n = 0; n < POOLS; n++) {
    const pool = randomBytes(32)
    entries.add(0, tokenAt(n), pool)
    if (n % 2 === 1) {
      entries.add(0, tokenAt(n * 7 + 3), pool)
    }
  }
  return entries
}

const rounded = (value: number | null) => (value === null ? null : Number(value.toFixed(2)))

const measure = Effect.gen(function* () {
  const store = yield* PoolIndexStore
  const sql = yield* SqlClient.SqlClient
  const writer = yield* store.claim
  yield* writer.open("bench", new Map([[program, "bench"]]))
  yield* store.poolsOf(addressFromBytes(tokenAt(0)), { through: 0, most: 2000 })
  const idle = process.memoryUsage().rss
  const entries = snapshot()
  const begun = performance.now()
  const used = process.cpuUsage()
  const stored = yield* writer.replace(program, entries, 1)
  const cpu = process.cpuUsage(used)
  const seconds = (performance.now() - begun) / 1000
  const needed = process.memoryUsage().rss - idle
  const [size] = yield* Effect.flatMap(
    sql`select pg_total_relation_size('indexed_pools')::double precision as bytes`,
    Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ bytes: Schema.Finite })))
  )
  const times: Array<number> = []
  let found = 0
  for (let n = 0; n < QUESTIONS; n++) {
    const asked = performance.now()
    const { pools } = yield* store.poolsOf(addressFromBytes(tokenAt(n * 31)), { through: 0, most: 2000 })
    times.push(performance.now() - asked)
    found += pools.length
  }
  report("poolIndex", {
    pools: POOLS,
    entries: stored,
    bytesPerPool: Math.round((size?.bytes ?? 0) / POOLS),
    diskMebibytes: Math.round((size?.bytes ?? 0) / MEBIBYTE),
    storeSeconds: rounded(seconds),
    storeNodeSeconds: rounded((cpu.user + cpu.system) / 1e6),
    memoryMebibytes: Math.round(needed / MEBIBYTE),
    poolsPerQuestion: rounded(found / QUESTIONS),
    questionMsP50: rounded(percentile(times, 0.5)),
    questionMsP99: rounded(percentile(times, 0.99))
  })
})

const folder = mkdtempSync(join(tmpdir(), "fathom-bench-"))
const stores = PoolIndexStorePg.layer.pipe(
  Layer.provideMerge(Database.layer),
  Layer.provide(NodeFileSystem.layer),
  Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({ DATA_DIR: folder })))
)

await Effect.runPromise(measure.pipe(Effect.provide(stores), Effect.scoped)).finally(() =>
  rmSync(folder, { recursive: true, force: true })
)
