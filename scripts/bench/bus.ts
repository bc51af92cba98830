/**
 * Memory of Valkey: `npm run bench:bus -- --json [--mib 512] [--block 513] [--keys 10000] [--charges 12]`, on a `valkey-server`
 * or `redis-server` of its own. Fills both buses beyond their bounds, blocks of `--block` KiB and account writes of 202 KiB, then
 * charges the budget of `--keys` keys `--charges` times. Reports the bytes that each adds (`used_memory`), the most in use, and
 * what the server has taken from the system. The bodies do not compress.
 */
import { Clock, Effect } from "effect"
import { randomBytes } from "node:crypto"
import { parseArgs } from "node:util"
import { ACCOUNT_BOUNDS } from "../../src/storage/bus/AccountBus.ts"
import { blockBounds, BLOCKS_MIB } from "../../src/storage/bus/BlockBus.ts"
import type { LogBounds } from "../../src/storage/bus/busLog.ts"
import { makeConnection, type Send } from "../../src/storage/valkey/busConnection.ts"
import { makeValkeyLog } from "../../src/storage/valkey/busLogValkey.ts"
import { LOGS_LUA } from "../../src/storage/valkey/SharedLogs.ts"
import { startValkey } from "../cluster/parts.ts"
import { numberOption } from "../options.ts"
import { report } from "./report.ts"

const { values } = parseArgs({
  options: {
    json: { type: "boolean" },
    mib: { type: "string", default: String(BLOCKS_MIB) },
    block: { type: "string", default: "513" },
    keys: { type: "string", default: "10000" },
    charges: { type: "string", default: "12" }
  }
})
const mib = numberOption("--mib", values.mib, { whole: true })
const blockKib = numberOption("--block", values.block, { whole: true })
const keys = numberOption("--keys", values.keys, { whole: true })
const charges = numberOption("--charges", values.charges, { whole: true })

const KIB = 1024
const MIB = KIB * KIB
const ACCOUNTS_KIB = 202
/** Appended, as a multiple of the bound. */
const BEYOND = 1.2
const WINDOW_MS = 60_000

/** Appends bodies of a size until more than the bound has been written. Returns how many. */
const fill = Effect.fnUntraced(function* (
  url: string,
  send: Send,
  kind: string,
  bounds: Required<LogBounds>,
  bytes: number
) {
  const log = yield* makeValkeyLog({ ...bounds, url, kind, title: kind }, send)
  const entries = Math.ceil((BEYOND * bounds.mostBytes) / bytes)
  for (let place = 1; place <= entries; place++) {
    yield* log.append("bench", { after: place - 1, place, body: randomBytes(bytes) })
  }
  return entries
})

/** Charges every key, as requests of many callers do. */
const charge = (send: Send) =>
  Effect.forEach(
    Array.from({ length: keys * charges }, (_, i) => i),
    (i) => {
      const log = `fathom:{key_${String(i % keys).padStart(20, "0")}}:rest`
      return send("EVAL", LOGS_LUA, "2", log, `${log}:sum`, "admit", `${2 ** 47 + i}`, `${WINDOW_MS}`, "120", "1")
    },
    { concurrency: 64, discard: true }
  )

/** Rounded to a tenth. */
const inMib = (bytes: number) => Math.round((10 * bytes) / MIB) / 10

const measure = Effect.gen(function* () {
  const { port } = yield* startValkey
  const url = `redis://127.0.0.1:${port}`
  const send = yield* makeConnection(url)
  const info = (name: string) =>
    Effect.map(send("INFO", "memory"), (reply) => Number(new RegExp(`^${name}:(\\d+)`, "mu").exec(String(reply))?.[1]))
  const used = info("used_memory")
  const empty = yield* used
  yield* fill(url, send, "blocks", blockBounds(mib), blockKib * KIB)
  const blocks = yield* used
  yield* fill(
    url,
    send,
    "accounts",
    { ...ACCOUNT_BOUNDS, mostBytes: ACCOUNT_BOUNDS.mostBytes ?? 0 },
    ACCOUNTS_KIB * KIB
  )
  const accounts = yield* used
  const begunMs = yield* Clock.currentTimeMillis
  yield* charge(send)
  const tookMs = (yield* Clock.currentTimeMillis) - begunMs
  const budgets = yield* used
  return {
    blocksMib: inMib(blocks - empty),
    accountsMib: inMib(accounts - blocks),
    // Charges leave after a window, so a slow machine holds fewer of them.
    budgetBytesOfKey: tookMs < WINDOW_MS ? Math.round((budgets - accounts) / keys) : null,
    peakMib: inMib(yield* info("used_memory_peak")),
    residentMib: inMib(yield* info("used_memory_rss"))
  }
})

report("bus", { mib, blockKib, keys, charges, ...(await Effect.runPromise(Effect.scoped(measure))) })
