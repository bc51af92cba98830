/**
 * Reading one wallet's history into Postgres: processor time, time, and the most memory in use after a step, over the
 * transactions that a node in this process gives. The first argument is their number (10,000); `--json` prints one line.
 */
import { NodeFileSystem } from "@effect/platform-node"
import { ConfigProvider, Duration, Effect, Layer } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as MarketStoresPg from "../../src/market/history/MarketStoresPg.ts"
import * as Database from "../../src/storage/Database.ts"
import { makeBackfill } from "../../src/wallets/backfill.ts"
import { HistoryStore } from "../../src/wallets/HistoryStore.ts"
import * as HistoryStorePg from "../../src/wallets/HistoryStorePg.ts"
import { longHistory } from "../../test/wallets/longHistory.ts"
import { report } from "./report.ts"
import { countArgument } from "../options.ts"
import { marketStores } from "../../src/market/model/MarketStores.ts"

const COUNT = countArgument("The number of count", 10_000)
const GENESIS = "bench-history"
const MIB = 1_048_576

const memory = (): number => {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed / MIB
}

const measured = Effect.gen(function* () {
  const store = yield* HistoryStore
  yield* (yield* marketStores).blocks.open({ genesis: GENESIS, isSandbox: true })
  const { node, wallet } = longHistory(COUNT, GENESIS)
  const settings = { most: COUNT, rate: 1_000_000, kept: Duration.days(30) }
  const { ask, progressOf, step } = yield* makeBackfill(node, store, settings)
  yield* step
  yield* ask([wallet], "bench")
  const [before, cpu, startedMs] = [memory(), process.cpuUsage(), Date.now()]
  let peak = before
  while (progressOf(wallet, Date.now())?.state === "running") {
    yield* step
    peak = Math.max(peak, memory())
  }
  const { system, user } = process.cpuUsage(cpu)
  const trades = yield* store.ofWallet(wallet, COUNT)
  report("history", {
    transactions: COUNT,
    trades: trades.length,
    seconds: (Date.now() - startedMs) / 1000,
    cpuMsPerTransaction: Number(((system + user) / 1000 / COUNT).toFixed(3)),
    heapGrowthMiB: Number((peak - before).toFixed(1))
  })
})

const folder = mkdtempSync(join(tmpdir(), "fathom-bench-"))
const stores = Layer.mergeAll(MarketStoresPg.layer, HistoryStorePg.layer).pipe(Layer.provide(Database.layer))
const settings = ConfigProvider.layer(ConfigProvider.fromUnknown({ DATA_DIR: folder }))
const provided = measured.pipe(Effect.scoped, Effect.provide(stores), Effect.provide([settings, NodeFileSystem.layer]))
await Effect.runPromise(provided).finally(() => rmSync(folder, { recursive: true, force: true }))
