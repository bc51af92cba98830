/**
 * Kills of PostgreSQL and of the service at random moments, under writes of clients and blocks of a simulated chain:
 * `npm run chaos:database -- [--json] [--stops 50] [--kills 50] [--writes 2000] [--kind embedded|external]`. Stops of PostgreSQL
 * alternate between the immediate shutdown of `pg_ctl stop -m immediate` (SIGQUIT) and SIGKILL; kills of the service are
 * SIGKILL. Writes go on until the service has acknowledged as many. Exits with 1 unless every stop and kill took place, no call was
 * answered 500, every acknowledged write is in the database, every trade that the service served is stored, no block is missing,
 * and the service ends within 30 s while the server is frozen.
 */
import { Duration, Effect, Fiber, Logger, Redacted, Schedule } from "effect"
import { randomBytes } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { KeyStore } from "../../src/access/KeyStore.ts"
import { COMMAND_LINE } from "../../src/api/schemas/KeyAudit.ts"
import { DEFAULT_PLAN } from "../../src/api/schemas/Plan.ts"
import { addressFromBytes } from "../../src/domain/Address.ts"
import { packSignature, unpackText } from "../../src/market/history/tradeRows.ts"
import * as Processes from "../../src/storage/processes.ts"
import { report } from "../bench/report.ts"
import {
  embedded,
  external,
  issue,
  type Kind,
  keyStore,
  pause,
  query,
  ready,
  readyPid,
  type Server,
  service
} from "./service.ts"
import { flagNumber, flagText } from "../options.ts"
import { startChain } from "./repair/startChain.ts"

const ACCOUNTS = 40
/** The first accounts read, and the others write, each by one of the writers. */
const READERS = 10
const WRITERS = 10
const WATCHED_WALLETS = 100
const LEAST_WALLETS = 20
const WALLET_BYTES = 32
/** A service that was killed reads every block since, however many there are. */
const SETTINGS = { SOLANA_BLOCK_CATCH_UP: "5000", DISCOVERY_RATE: "500", KEY_ENVIRONMENT: "test" }
/** Times to look for what is still being written, half a second apart: the machine may be busy. */
const LOOKS = 240
/** Default of `DRAIN_LIMIT`, and half as much for a busy machine. */
const SHUTDOWN_WITHIN_MS = 30_000

/** On a busy machine the kills take so long that writers go far beyond the default plan. */
const PLAN = { ...DEFAULT_PLAN, name: "chaos", trackedWallets: 10_000, alerts: 10_000 }

const stops = flagNumber("stops", 50, { whole: true, least: 0 })
const kills = flagNumber("kills", 50, { whole: true, least: 0 })
const writes = flagNumber("writes", 2000, { whole: true })

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
  keys: 0,
  /** Calls without an answer because the service was killed meanwhile. */
  cut: 0
})
type Observations = ReturnType<typeof makeRecord>

/** Writes that the service acknowledged. Keys are issued beside it. */
const acknowledgedOf = ({ acknowledged: { alerts, tracked_wallets: wallets } }: Observations): number =>
  alerts.size + wallets.size

/** The service as it runs now. `lives` counts its processes; while one is being started, it is a half more. */
interface Service {
  running: Effect.Success<ReturnType<typeof service>>
  lives: number
}

const randomPause = (least: number, most: number) => Effect.sleep(least + Math.random() * (most - least))

/** An answer; `cut` where the service was killed before it came. */
interface Answer {
  readonly status: string
  readonly text: string
}

const send = (asked: Service, { secret }: Caller, path: string, body?: object) =>
  Effect.promise(async (): Promise<Answer> => {
    const { lives } = asked
    try {
      const response = await fetch(asked.running.baseUrl + path, {
        method: body === undefined ? "GET" : "POST",
        headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(30_000)
      })
      return { status: String(response.status), text: await response.text() }
    } catch (cause) {
      return { status: lives === asked.lives && Number.isInteger(lives) ? "no answer" : "cut", text: String(cause) }
    }
  })

const noted = (record: Observations, path: string, { status, text }: Answer) => {
  if (status === "cut") {
    record.cut++
    return null
  }
  record.statuses[status] = (record.statuses[status] ?? 0) + 1
  // On a slow machine so many writes pass during the kills that an account reaches its limit, which is an answer too.
  const isFull = status === "409" && text.includes('"limit_reached"')
  if (!isFull && !["200", "201", "429", "503"].includes(status)) {
    record.failures.push(`${path} ${status} ${text.slice(0, 200)}`)
  }
  return status === "200" || status === "201" ? JSON.parse(text) : null
}

/** Writes wallets and alerts in turn until it is interrupted. */
const writer = (asked: Service, callers: ReadonlyArray<Caller>, mint: string, record: Observations) =>
  Effect.forever(
    Effect.forEach(
      callers,
      Effect.fnUntraced(function* (caller) {
        const wallet = addressFromBytes(randomBytes(32))
        const tracked = yield* send(asked, caller, "/api/v1/tracker/wallets", { wallet })
        if (noted(record, "POST /tracker/wallets", tracked) !== null) {
          record.acknowledged.tracked_wallets.add(wallet)
        }
        const condition = { metric: "price_usd", operator: "crosses_above", threshold: "1000000" }
        const created = noted(record, "POST /alerts", yield* send(asked, caller, "/api/v1/alerts", { mint, condition }))
        const id = created?.data?.id ?? created?.id
        if (typeof id === "string") {
          record.acknowledged.alerts.add(id)
        }
        yield* randomPause(50, 200)
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
const readTrades = Effect.fnUntraced(function* (asked: Service, callers: ReadonlyArray<Caller>, record: Observations) {
  const caller = callers[Math.floor(Math.random() * callers.length)]
  if (caller === undefined) {
    return false
  }
  const answer = noted(record, "GET trades", yield* send(asked, caller, "/api/v1/tracker/trades?limit=500"))
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

/** The wallets that trade most, once there are so many. */
const activeWallets = (url: string) =>
  query<{ wallet: Uint8Array }>(
    url,
    `select wallet from trades where role <> 'pool' group by wallet order by count(*) desc limit ${WATCHED_WALLETS}`
  ).pipe(
    Effect.map((rows) => rows.map(({ wallet }) => unpackText(wallet, WALLET_BYTES))),
    Effect.repeat({ until: (found) => found.length >= LEAST_WALLETS, schedule: Schedule.spaced("500 millis") })
  )

/** Stops PostgreSQL at once, and waits until it is back. False where it did not run. */
const stopServer = Effect.fnUntraced(function* (kind: Kind, server: Server, turn: number) {
  const pid = readyPid(server.data)
  if (pid === null) {
    return false
  }
  Processes.signal(pid, turn % 2 === 0 ? "SIGQUIT" : "SIGKILL")
  yield* kind === "external" ? Effect.andThen(randomPause(0, 1500), server.start) : Effect.void
  yield* ready(server.data, pid)
  return true
})

/** Kills the service, and starts it anew. */
const killService = Effect.fnUntraced(function* (asked: Service, start: StartService) {
  asked.lives += 0.5
  yield* asked.running.kill
  yield* randomPause(0, 500)
  asked.running = yield* start
  asked.lives += 0.5
})

type StartService = ReturnType<typeof service>

/** Stops and kills in turn, at random moments. Returns how many took place. */
const provoke = Effect.fnUntraced(function* (kind: Kind, server: Server, asked: Service, start: StartService) {
  const done = { stops: 0, kills: 0 }
  for (let turn = 0; turn < Math.max(stops, kills); turn++) {
    if (turn < stops) {
      yield* randomPause(200, 2500)
      done.stops += (yield* stopServer(kind, server, turn)) ? 1 : 0
    }
    if (turn < kills) {
      yield* randomPause(200, 2500)
      yield* killService(asked, start)
      done.kills++
    }
  }
  return done
})

/** True when nothing is lost. */
const areNone = (lost: Readonly<Record<string, number>>): boolean => Object.values(lost).every((count) => count === 0)

/** What is lost in the end: acknowledged writes, trades that were served, and blocks. */
const lossesOf = Effect.fnUntraced(function* (url: string, record: Observations) {
  const { acknowledged, served } = record
  const breaks = query<{ breaks: number }>(url, "select count(*)::int as breaks from block_gaps")
  return {
    wallets: yield* missingOf(url, "tracked_wallets", "wallet", acknowledged.tracked_wallets),
    alerts: yield* missingOf(url, "alerts", "id", acknowledged.alerts),
    keys: yield* missingOf(url, "api_keys", "id", acknowledged.api_keys),
    trades: yield* missingOf(url, "trades", "encode(signature, 'hex')", served),
    blocks: yield* Effect.map(breaks, ([row]) => row?.breaks ?? 1)
  }
})

/** Time in which the service ends while the server is there and answers nothing, as behind a network that has gone. */
const endFrozen = Effect.fnUntraced(function* ({ data }: Server, { running }: Service) {
  yield* pause(data, true)
  yield* Effect.sleep("1 second")
  const [shutdown] = yield* Effect.timed(Effect.timeoutOption(running.stop, "90 seconds"))
  yield* pause(data, false)
  return Math.round(Duration.toMillis(shutdown))
})

/** Tracks wallets that trade, ten for each reader. False where one was refused. */
const watch = (asked: Service, readers: ReadonlyArray<Caller>, active: ReadonlyArray<string>) =>
  Effect.forEach(readers, (caller, i) =>
    Effect.forEach(active.slice(i * 10, i * 10 + 10), (wallet) =>
      Effect.map(send(asked, caller, "/api/v1/tracker/wallets", { wallet }), ({ status }) => /^20[01]$/u.test(status))
    )
  ).pipe(Effect.map((tracked) => tracked.flat().every(Boolean)))

const run = Effect.fnUntraced(function* (kind: Kind, folder: string) {
  const chain = yield* startChain({ history: 0, swapsPerSecond: 20 })
  const mints = yield* chain.command({})
  const server = kind === "embedded" ? embedded(folder) : yield* external(folder)
  const settings = { SOLANA_RPC_URL: chain.rpcUrl, PRELOAD_MINTS: mints.join(), HISTORY: "0 seconds" }
  const start = service(folder, { ...SETTINGS, ...server.settings, ...settings })
  const asked: Service = { running: yield* start, lives: 1 }
  const record = makeRecord()
  return yield* Effect.gen(function* () {
    yield* KeyStore.use((keys) => keys.setPlan(PLAN, COMMAND_LINE))
    const callers = yield* Effect.forEach(
      Array.from({ length: ACCOUNTS }, (_, i) => `chaos_${i}`),
      (accountId) =>
        Effect.map(issue(accountId, PLAN.name), ({ secret }) => ({ accountId, secret: Redacted.value(secret) }))
    )
    const readers = callers.slice(0, READERS)
    const isWatched = yield* watch(asked, readers, yield* activeWallets(server.url))
    const mint = mints[1] ?? mints[0] ?? ""
    const background = yield* Effect.forEach(
      [
        ...Array.from({ length: WRITERS }, (_, n) =>
          writer(
            asked,
            callers.filter((_caller, i) => i >= READERS && i % WRITERS === n),
            mint,
            record
          )
        ),
        keyWriter(record),
        Effect.forever(Effect.andThen(readTrades(asked, readers, record), Effect.sleep("400 millis")))
      ],
      (loop) => Effect.forkChild(loop)
    )
    const done = yield* provoke(kind, server, asked, start)
    yield* Effect.sync(() => acknowledgedOf(record)).pipe(
      Effect.repeat({ until: (count) => count >= writes, schedule: Schedule.spaced("500 millis") }),
      Effect.timeoutOption("10 minutes")
    )
    yield* Effect.forEach(background, (fiber) => Fiber.interrupt(fiber), { discard: true })
    const lost = yield* lossesOf(server.url, record).pipe(
      Effect.repeat({ until: areNone, times: LOOKS, schedule: Schedule.spaced("500 millis") })
    )
    const frozenShutdownMs = yield* endFrozen(server, asked)
    const isGood =
      isWatched &&
      done.stops === stops &&
      done.kills === kills &&
      frozenShutdownMs <= SHUTDOWN_WITHIN_MS &&
      record.failures.length === 0 &&
      acknowledgedOf(record) >= writes &&
      Object.values(record.acknowledged).every((ids) => ids.size > 0) &&
      record.served.size > 0 &&
      areNone(lost)
    return {
      isGood,
      ...done,
      statuses: record.statuses,
      cut: record.cut,
      unexpected: record.failures.slice(0, 5),
      acknowledged: {
        wallets: record.acknowledged.tracked_wallets.size,
        alerts: record.acknowledged.alerts.size,
        keys: record.acknowledged.api_keys.size
      },
      served: record.served.size,
      lost,
      frozenShutdownMs
    }
  }).pipe(Effect.provide(keyStore(server.url)))
})

const chosenKind = flagText(process.argv, "kind")
const kinds: ReadonlyArray<Kind> = ["embedded", "external"].filter(
  (each): each is Kind => chosenKind === undefined || chosenKind === each
)

if (kinds.length === 0) {
  process.stderr.write(`--kind must be embedded or external, not "${chosenKind}"\n`)
  process.exit(2)
}

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
