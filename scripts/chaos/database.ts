/**
 * Immediate stops of PostgreSQL at random moments, under writes of clients and blocks of the simulated market:
 * `npm run chaos:database -- [--json] [--stops 30] [--kind embedded|external]`. Stops alternate between the immediate shutdown
 * of `pg_ctl stop -m immediate` (SIGQUIT) and SIGKILL. Exits with 1 unless no call was answered 500, every acknowledged write
 * is in the database, every trade that the service served is stored within 10 s of the last start, and the service ends within
 * 20 s while the server is frozen.
 */
import { Clock, Duration, Effect, Logger, Redacted, Ref, Schedule } from "effect"
import { randomBytes } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { addressFromBytes } from "../../src/domain/Address.ts"
import { packSignature } from "../../src/market/history/tradeRows.ts"
import * as Processes from "../../src/storage/processes.ts"
import { report } from "../bench/report.ts"
import { embedded, external, issue, type Kind, keyStore, pause, query, ready, readyPid, service } from "./service.ts"
import { flagNumber } from "../options.ts"

const ACCOUNTS = 40
const WATCHED_WALLETS = 100
const STORED_WITHIN_MS = 10_000
/** Default of `DRAIN_LIMIT`. */
const SHUTDOWN_WITHIN_MS = 20_000

const option = (name: string): string | undefined => {
  const at = process.argv.indexOf(`--${name}`)
  return at === -1 ? undefined : process.argv[at + 1]
}
const stops = flagNumber("stops", 30, { whole: true })

interface Caller {
  readonly accountId: string
  readonly secret: string
}

/** Acknowledged writes by table, packed signatures of trades that were served, and answers by status. */
const makeRecord = () => ({
  acknowledged: { tracked_wallets: new Set<string>(), alerts: new Set<string>(), api_keys: new Set<string>() },
  served: new Set<string>(),
  statuses: {} as Record<string, number>,
  failures: [] as Array<string>,
  keyFailures: 0,
  keys: 0
})
type Observations = ReturnType<typeof makeRecord>

const randomPause = (least: number, most: number) => Effect.sleep(least + Math.random() * (most - least))

const send = (base: string, { secret }: Caller, path: string, body?: object) =>
  Effect.promise(async () => {
    try {
      const response = await fetch(base + path, {
        method: body === undefined ? "GET" : "POST",
        headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(30_000)
      })
      return { status: String(response.status), text: await response.text() }
    } catch (cause) {
      return { status: "no answer", text: String(cause) }
    }
  })

const noted = (
  record: Observations,
  path: string,
  { status, text }: { readonly status: string; readonly text: string }
) => {
  record.statuses[status] = (record.statuses[status] ?? 0) + 1
  if (!["200", "201", "429", "503"].includes(status)) {
    record.failures.push(`${path} ${status} ${text.slice(0, 200)}`)
  }
  return status === "200" || status === "201" ? JSON.parse(text) : null
}

/** Writes wallets and alerts in turn until it is interrupted. */
const writer = (base: string, callers: ReadonlyArray<Caller>, mint: string, record: Observations) =>
  Effect.forever(
    Effect.forEach(
      callers,
      Effect.fnUntraced(function* (caller) {
        const wallet = addressFromBytes(randomBytes(32))
        const tracked = yield* send(base, caller, "/api/v1/tracker/wallets", { wallet })
        if (noted(record, "POST /tracker/wallets", tracked) !== null) {
          record.acknowledged.tracked_wallets.add(wallet)
        }
        const condition = { metric: "price_usd", operator: "crosses_above", threshold: "1000000" }
        const created = noted(record, "POST /alerts", yield* send(base, caller, "/api/v1/alerts", { mint, condition }))
        const id = created?.data?.id ?? created?.id
        if (typeof id === "string") {
          record.acknowledged.alerts.add(id)
        }
        yield* randomPause(20, 80)
      }),
      { discard: true }
    )
  )

const keyWriter = (record: Observations) =>
  Effect.suspend(() => issue(`chaos_key_${record.keys++}`)).pipe(
    Effect.map(({ key }) => record.acknowledged.api_keys.add(key.id)),
    Effect.catch(() => Effect.sync(() => record.keyFailures++)),
    Effect.andThen(randomPause(100, 300)),
    Effect.forever
  )

/** Collects the trades that the service serves from memory; false while it cannot check the key. */
const readTrades = Effect.fnUntraced(function* (base: string, callers: ReadonlyArray<Caller>, record: Observations) {
  const caller = callers[Math.floor(Math.random() * callers.length)]
  if (caller === undefined) {
    return false
  }
  const answer = noted(record, "GET trades", yield* send(base, caller, "/api/v1/tracker/trades?limit=500"))
  for (const { signature } of answer?.trades ?? []) {
    record.served.add(Buffer.from(packSignature(signature)).toString("hex"))
  }
  return answer !== null
})

const missingOf = Effect.fnUntraced(function* (url: string, table: string, column: string, ids: ReadonlySet<string>) {
  const statement = `select id from unnest($1::text[]) as id where not exists (select from ${table} where ${column} = id)`
  const rows = yield* query<{ id: string }>(url, statement, [`{${Array.from(ids).join(",")}}`])
  return rows.length
})

const run = Effect.fnUntraced(function* (kind: Kind, folder: string) {
  const server = kind === "embedded" ? embedded(folder) : yield* external(folder)
  const { baseUrl: base, mints, output, stop: stopService } = yield* service(folder, server.settings)
  const record = makeRecord()
  return yield* Effect.gen(function* () {
    const callers = yield* Effect.forEach(
      Array.from({ length: ACCOUNTS }, (_, i) => `chaos_${i}`),
      (accountId) => Effect.map(issue(accountId), ({ secret }) => ({ accountId, secret: Redacted.value(secret) }))
    )
    const reader = callers.slice(0, 10)
    const active = yield* query<{ wallet: string }>(
      server.url,
      `select wallet from trades where role <> 'pool' group by wallet order by count(*) desc limit ${WATCHED_WALLETS}`
    )
    yield* Effect.forEach(reader, (caller, i) =>
      Effect.forEach(active.slice(i * 10, i * 10 + 10), ({ wallet }) =>
        send(base, caller, "/api/v1/tracker/wallets", { wallet })
      )
    )
    const background = yield* Effect.forEach(
      [
        writer(base, callers.slice(10, 25), mints[1] ?? mints[0] ?? "", record),
        writer(base, callers.slice(25), mints[1] ?? mints[0] ?? "", record),
        keyWriter(record),
        Effect.forever(Effect.andThen(readTrades(base, reader, record), Effect.sleep("400 millis")))
      ],
      (loop) => Effect.forkChild(loop)
    )
    const starts = yield* Ref.make(0)
    for (let stop = 0; stop < stops; stop++) {
      yield* randomPause(200, 2500)
      const pid = readyPid(server.data)
      if (pid !== null) {
        Processes.signal(pid, stop % 2 === 0 ? "SIGQUIT" : "SIGKILL")
        yield* kind === "external" ? Effect.andThen(randomPause(0, 1500), server.start) : Effect.void
        yield* ready(server.data, pid)
        yield* Ref.update(starts, (n) => n + 1)
      }
    }
    const lastStartMs = yield* Clock.currentTimeMillis
    const unstored = Effect.gen(function* () {
      yield* readTrades(base, reader, record)
      return yield* missingOf(server.url, "trades", "encode(signature, 'hex')", record.served)
    })
    // Includes the trades that happened while the database was down. Later ones are still on their way.
    yield* Effect.forEach(Array.from({ length: 20 }), () =>
      readTrades(base, reader, record).pipe(
        Effect.repeat({ until: (isRead) => isRead, schedule: Schedule.spaced("50 millis"), times: 200 })
      )
    )
    const before = new Set(record.served)
    const missing = yield* missingOf(server.url, "trades", "encode(signature, 'hex')", before).pipe(
      Effect.repeat({ until: (count) => count === 0, schedule: Schedule.spaced("100 millis"), times: 200 })
    )
    const storedAfterMs = (yield* Clock.currentTimeMillis) - lastStartMs
    yield* Effect.sleep("5 seconds")
    yield* Effect.forEach(background, (fiber) => Effect.sync(() => fiber.interruptUnsafe()))
    const missingAtEnd = yield* unstored.pipe(
      Effect.repeat({ until: (count) => count === 0, schedule: Schedule.spaced("500 millis"), times: 20 })
    )
    const lost = yield* Effect.all({
      wallets: missingOf(server.url, "tracked_wallets", "wallet", record.acknowledged.tracked_wallets),
      alerts: missingOf(server.url, "alerts", "id", record.acknowledged.alerts),
      keys: missingOf(server.url, "api_keys", "id", record.acknowledged.api_keys)
    })
    const freshness = yield* Effect.promise(async () => JSON.parse(await (await fetch(`${base}/freshness`)).text()))
    const chain = yield* query<{ lag: number; breaks: number }>(
      server.url,
      `select extract(epoch from now() - slot_at)::float8 as lag,
        (select count(*)::int from block_gaps where chain = id) as breaks
       from chains where slot is not null order by written_at desc limit 1`
    )
    // The server is there and answers nothing, as behind a network that has gone.
    yield* pause(server.data, true)
    yield* Effect.sleep("1 second")
    const [shutdown] = yield* Effect.timed(Effect.timeoutOption(stopService, "90 seconds"))
    const frozenShutdownMs = Math.round(Duration.toMillis(shutdown))
    yield* pause(server.data, false)
    const isGood =
      frozenShutdownMs <= SHUTDOWN_WITHIN_MS &&
      record.failures.length === 0 &&
      missing === 0 &&
      missingAtEnd === 0 &&
      storedAfterMs <= STORED_WITHIN_MS &&
      lost.wallets + lost.alerts + lost.keys === 0 &&
      chain[0]?.breaks === 0
    return {
      isGood,
      stops,
      starts: yield* Ref.get(starts),
      statuses: record.statuses,
      unexpected: record.failures.slice(0, 5),
      acknowledged: {
        wallets: record.acknowledged.tracked_wallets.size,
        alerts: record.acknowledged.alerts.size,
        keys: record.acknowledged.api_keys.size
      },
      lost,
      trades: { served: record.served.size, missing, missingAtEnd, storedAfterMs },
      chain: chain[0],
      frozenShutdownMs,
      freshness: freshness.data,
      errors: output().filter((line) => /stopped and restarts|is skipped|left out|not stored/u.test(line)).length
    }
  }).pipe(Effect.provide(keyStore(server.url)))
})

const kinds: ReadonlyArray<Kind> = ["embedded", "external"].filter(
  (kind): kind is Kind => option("kind") === undefined || option("kind") === kind
)

const figures: Record<string, unknown> = {}
let isGood = true
for (const kind of kinds) {
  const folder = mkdtempSync(join(tmpdir(), "fathom-chaos-"))
  const result = await Effect.runPromise(Effect.scoped(run(kind, folder)).pipe(Effect.provide(Logger.layer([]))))
  isGood &&= result.isGood
  figures[kind] = result
  if (result.isGood) {
    rmSync(folder, { recursive: true, force: true })
  } else {
    process.stderr.write(`Logs of the failed run are in ${folder}\n`)
  }
}
report("chaos:database", figures)
process.exit(isGood ? 0 : 1)
