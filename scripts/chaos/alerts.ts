/**
 * Faults of the runbooks on a running service, and the alert rules that fire on what is scraped meanwhile:
 * `npm run alerts:check -- [--json] [--only "node lost"]`. Needs promtool, and for the full disk the right to mount a tmpfs.
 *
 * Every fault is scraped every 5 s; afterwards the state of the last scrape goes on for 40 minutes in a test of promtool, so that
 * the `for` of a rule passes. Exits with 1 unless every rule that must fire does, and none fires without a fault. Rules of speed
 * may, where the service waited for a processor (`waitedShare`).
 */
import { Clock, Effect, Fiber, Logger, Redacted, Schedule } from "effect"
import { execFileSync, spawnSync } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { WebSocket } from "ws"
import { report } from "../bench/report.ts"
import { makeProbe, type Probe, quoteQuery } from "../soak/quotes.ts"
import { DISK_MIB, type FaultKind, faults, unexplained, unprovoked } from "./alerts/faults.ts"
import { firedIn, INTERVAL_SECONDS, metricsOf, parseScrape, type Scrape, testOf } from "./alerts/series.ts"
import { ask, type ServiceAccess, at } from "./repair/answers.ts"
import { startChain } from "./repair/startChain.ts"
import { embedded, issueUnlimited, keyStore, pause, type Server, service } from "./service.ts"

const { values } = parseArgs({ options: { json: { type: "boolean" }, only: { type: "string" } } })
const RULES = new URL("../deploy/monitoring/alerts.yml", import.meta.url).pathname
const rules = readFileSync(RULES, "utf8")
const names = metricsOf(rules)

const HELD_SECONDS = 2400
/** Longest time for a scrape: on a busy machine a slow answer is no process that is down. */
const SCRAPE_MS = 60_000
/** Steps in which memory is taken. */
const BALLASTS = 9
const READERS = 4
/** Ids of subscriptions, as many as a socket may have. */
const subscribed = Array.from({ length: 100 }, (_, id) => String(id))
const UNSENT = "fathom_market_unsent_bytes"
/** Over all readers: so many thousand times are above the bound of the rule. */
const UNSENT_BYTES = 400_000
/** The system takes some 4 MB of each socket on this machine before anything is unsent. */
const READERS_LIMIT = "5 minutes"

/** A service with everything that can fail. */
interface Scene {
  readonly asked: ServiceAccess
  readonly metrics: string
  readonly mints: ReadonlyArray<string>
  readonly probe: Probe
  readonly chain: Effect.Success<ReturnType<typeof startChain>>
  readonly database: Server
  /** Folder of a small disk that holds the database; null where none can be mounted. */
  readonly disk: string | null
  readonly kill: Effect.Effect<void>
  /** The service. */
  readonly pid: number
}

/** Seconds for which the first thread of a process has waited for a processor; 0 where the system does not tell. */
const waitedSeconds = (pid: number): number => {
  const file = `/proc/${pid}/schedstat`
  return existsSync(file) ? Number(readFileSync(file, "utf8").split(" ")[1]) / 1e9 : 0
}

const scrapeOf = (url: string): Effect.Effect<Scrape> =>
  Effect.promise(async () => {
    try {
      return parseScrape(await (await fetch(url, { signal: AbortSignal.timeout(SCRAPE_MS) })).text(), names)
    } catch {
      return null
    }
  })

const scrapeFor = (url: string, seconds: number) =>
  Effect.forEach(Array.from({ length: Math.ceil(seconds / INTERVAL_SECONDS) }), () =>
    Effect.andThen(Effect.sleep(INTERVAL_SECONDS * 1000), scrapeOf(url))
  )

/** Quotes all the time, so that requests are counted. */
const load = ({ asked, mints }: Scene) =>
  Effect.gen(function* () {
    for (let n = 0; ; n++) {
      yield* Effect.promise(() => ask(asked, { path: `/api/v1/spot/quote?${quoteQuery(mints, n)}` }))
      yield* Effect.sleep("100 millis")
    }
  })

/** Opens a socket that is read until its first snapshot and never after it, though it goes on to answer. */
const openIdle = async ({ asked }: Scene) => {
  const { content } = await ask(asked, { path: "/api/v1/market/realtime/session" })
  const ws = new WebSocket(String(at(content, "wsUrl")), { perMessageDeflate: false })
  ws.on("error", () => undefined)
  const subscribe = (id: string) => ws.send(JSON.stringify({ op: "subscribe", id, channel: "trades", minUsd: "0.01" }))
  const [first = "", ...others] = subscribed
  ws.on("open", () => subscribe(first))
  await new Promise<void>((resolve, reject) => {
    ws.on("message", (data) => {
      const text = String(data)
      if (text.startsWith('{"type":"snapshot"')) {
        resolve()
      } else if (text.startsWith('{"type":"error"')) {
        reject(new Error(text))
      }
    })
    ws.once("close", (code) => reject(new Error(`the socket was closed with ${code}`)))
  })
  ws.pause()
  others.forEach(subscribe)
  return ws
}

/** The value of a metric without labels; 0 where it is absent. */
const valueOf = (scrape: Scrape, metric: string): number => scrape?.get(metric) ?? 0

/**
 * Opens readers that do not read, and ends their subscriptions once the system takes no more of what is sent to them, so that
 * they stay below the bound at which they would be closed.
 */
const openReaders = Effect.fnUntraced(function* (scene: Scene) {
  const sockets = yield* Effect.forEach(Array.from({ length: READERS }), () => Effect.promise(() => openIdle(scene)), {
    concurrency: "unbounded"
  })
  const answering = yield* Effect.sync(() => sockets.forEach((ws) => ws.pong())).pipe(
    Effect.repeat(Schedule.spaced("5 seconds")),
    Effect.forkDetach
  )
  const isFull = Effect.map(scrapeOf(scene.metrics), (scrape) => valueOf(scrape, UNSENT) >= UNSENT_BYTES)
  yield* isFull.pipe(
    Effect.repeat({ until: (full) => full, schedule: Schedule.spaced("100 millis") }),
    Effect.timeoutOption(READERS_LIMIT)
  )
  for (const ws of sockets) {
    subscribed.forEach((id) => ws.send(JSON.stringify({ op: "unsubscribe", id })))
  }
  return Effect.andThen(
    Fiber.interrupt(answering),
    Effect.sync(() => sockets.forEach((ws) => ws.terminate()))
  )
})

const filler = (disk: string) => join(disk, "filler")

const fill = (disk: string) => Effect.sync(() => spawnSync("dd", ["if=/dev/zero", `of=${filler(disk)}`, "bs=64k"]))

/** Provokes a fault; returns its end. Null when it cannot be provoked here. */
const provoke = Effect.fnUntraced(function* (scene: Scene, { fault }: FaultKind) {
  const { chain, database, disk, kill, probe } = scene
  const inService = (change: Parameters<typeof probe.provoke>[0]) => Effect.promise(() => probe.provoke(change))
  switch (fault) {
    case "none": {
      return Effect.void
    }
    case "blocks that the node cuts in half": {
      const from = (yield* chain.newest) + 3
      yield* chain.command({ ailing: { truncatedBlocks: { from, to: from + 10 } } })
      return chain.command({ ailing: { truncatedBlocks: null } })
    }
    case "blocks slower than the chain": {
      yield* chain.command({ ailing: { blockLagMs: 1500 } })
      return chain.command({ ailing: { blockLagMs: 0 } })
    }
    case "node lost": {
      yield* chain.command({ ailing: { http: "503", sockets: "refused" }, dropSockets: true })
      return chain.command({ ailing: { http: "ok", sockets: "ok" } })
    }
    case "database that does not answer": {
      yield* pause(database.data, true)
      return pause(database.data, false)
    }
    case "event loop held": {
      const holding = yield* Effect.forkDetach(Effect.forever(inService("busy")))
      return Fiber.interrupt(holding)
    }
    case "readers that do not read": {
      return yield* openReaders(scene)
    }
    case "memory taken": {
      const taking = inService("ballast").pipe(
        Effect.andThen(Effect.sleep(INTERVAL_SECONDS * 1000)),
        Effect.repeat({ times: BALLASTS - 1 })
      )
      const loading = yield* Effect.forkDetach(taking)
      return Effect.andThen(Fiber.interrupt(loading), inService("unload"))
    }
    case "disk of the database full": {
      if (disk === null) {
        return null
      }
      yield* fill(disk)
      return Effect.sync(() => rmSync(filler(disk), { force: true }))
    }
    case "killed process": {
      yield* kill
      return Effect.void
    }
  }
})

const scaledBy = ({ scaled }: FaultKind, scrape: Scrape): Scrape =>
  scaled === undefined || scrape === null
    ? scrape
    : new Map(
        Array.from(scrape, ([series, value]) => [series, series.startsWith(scaled.metric) ? value * scaled.by : value])
      )

/** True when a metric is above zero. */
const hasValue = (scrape: Scrape, metric: string): boolean =>
  Array.from(scrape ?? []).some(([series, value]) => series.startsWith(metric) && value > 0)

const evaluate = (folder: string, scrapes: ReadonlyArray<Scrape>): ReadonlyArray<string> => {
  const file = join(folder, "rules.test.yml")
  writeFileSync(file, testOf(RULES, scrapes, HELD_SECONDS))
  const { error, status, stderr, stdout } = spawnSync("promtool", ["test", "rules", file], { encoding: "utf8" })
  if (error !== undefined) {
    throw error
  }
  return firedIn({ status, output: `${stdout}${stderr}` })
}

const isCurrent = ({ asked }: Scene) =>
  Effect.promise(async () => {
    const { content, status } = await ask(asked, { path: "/readyz" })
    const lagging = at(content, "lagging") ?? at(content, "data", "lagging")
    return status === 200 && (!Array.isArray(lagging) || lagging.length === 0)
  })

const check = Effect.fnUntraced(function* (scene: Scene, kind: FaultKind, folder: string) {
  const beganMs = yield* Clock.currentTimeMillis
  const waitedBefore = waitedSeconds(scene.pid)
  const before = yield* scrapeFor(scene.metrics, 2 * INTERVAL_SECONDS)
  const startedMs = yield* Clock.currentTimeMillis
  const end = yield* provoke(scene, kind)
  if (end === null) {
    return { fault: kind.fault, provoked: false, fires: kind.fires, fired: [], holds: null }
  }
  const during = yield* scrapeFor(scene.metrics, kind.seconds)
  const endedMs = yield* Clock.currentTimeMillis
  const seconds = Math.round((endedMs - startedMs) / 1000)
  const waited = Math.max(0, waitedSeconds(scene.pid) - waitedBefore) / ((endedMs - beganMs) / 1000)
  yield* end
  const { scaled, stretch = 1 } = kind
  if (scaled !== undefined && !during.some((scrape) => hasValue(scrape, scaled.metric))) {
    return { fault: kind.fault, provoked: false, fires: kind.fires, fired: [], holds: null }
  }
  const scrapes = [...before, ...during].map((scrape) => scaledBy(kind, scrape))
  const fired = evaluate(
    folder,
    scrapes.flatMap((scrape) => Array.from({ length: stretch }, () => scrape))
  )
  const missing = kind.fires.filter((rule) => !fired.includes(rule))
  const holds = missing.length === 0 && (kind.fires.length > 0 || unexplained(fired, waited).length === 0)
  const waitedShare = Math.round(waited * 100) / 100
  const result = { fault: kind.fault, provoked: true, seconds, waitedShare, fires: kind.fires, fired, holds }
  if (kind.fault !== "killed process") {
    yield* isCurrent(scene).pipe(
      Effect.repeat({ until: (current) => current, schedule: Schedule.spaced("500 millis") }),
      Effect.timeoutOption("2 minutes")
    )
  }
  return result
})

/** A disk of its own, so that filling it fills no other; null where it cannot be mounted. */
const smallDisk = (folder: string) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const disk = join(folder, "disk")
      mkdirSync(disk)
      const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${DISK_MIB}m`, "tmpfs", disk])
      return status === 0 ? disk : null
    }),
    (disk) => Effect.sync(() => disk !== null && execFileSync("umount", ["-l", disk]))
  )

const run = Effect.fnUntraced(function* (folder: string) {
  const disk = yield* smallDisk(folder)
  const chain = yield* startChain({ seed: "alerts", swapsPerSecond: 5, history: 0 })
  const database = embedded(disk ?? folder)
  const running = yield* service(
    disk ?? folder,
    {
      ...database.settings,
      SOLANA_RPC_URL: chain.ailingUrl,
      HISTORY: "0 seconds",
      ADMIN_PORT: "0",
      LOG_FORMAT: "json"
    },
    { flags: ["--import", new URL("../soak/probe.ts", import.meta.url).href] }
  )
  const { secret } = yield* issueUnlimited("alerts").pipe(Effect.provide(keyStore(database.url)), Effect.orDie)
  const metrics = running
    .output()
    .map((line) => /"url":"([^"]+\/metrics)"/u.exec(line)?.[1])
    .find((url) => url !== undefined)
  const scene: Scene = {
    asked: { baseUrl: running.baseUrl, secret: Redacted.value(secret) },
    metrics: metrics ?? "",
    mints: running.mints.filter((mint) => !mint.startsWith("So1111")),
    probe: makeProbe(running.child),
    chain,
    database,
    disk,
    kill: Effect.asVoid(running.kill),
    pid: running.child.pid ?? 0
  }
  yield* Effect.forkChild(load(scene))
  const wanted = faults.filter(({ fault }) => values.only === undefined || values.only === fault)
  const results = yield* Effect.forEach(wanted, (kind) =>
    Effect.tap(check(scene, kind, folder), (result) =>
      Effect.sync(() => process.stderr.write(`${JSON.stringify(result)}\n`))
    )
  )
  return { isGood: results.every(({ holds }) => holds !== false), results }
})

const folder = mkdtempSync(join(tmpdir(), "fathom-alerts-"))
const fiber = Effect.runFork(Effect.scoped(run(folder)).pipe(Effect.provide(Logger.layer([]))))
// The processes that it started end with it.
for (const signal of ["SIGINT", "SIGTERM"]) {
  process.once(signal, () => fiber.interruptUnsafe())
}
const result = await Effect.runPromise(Fiber.join(fiber))
report("alerts:check", { ...result, unprovoked })
rmSync(folder, { recursive: true, force: true })
process.exit(result.isGood ? 0 : 1)
