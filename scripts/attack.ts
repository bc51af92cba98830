/**
 * Attacks a service of its own inside 512 MiB: `npm run attack -- --json [--short] [--seed attack] [--memory 512]
 * [--bound heap] [--parts fuzz,mcp]`.
 *
 * Random parameters and bodies for every operation, odd bytes on the socket, races for budgets and names, keys of other scopes and
 * forged changes, odd messages of /mcp, sockets that misbehave, and floods. `memory.kind` says what bounded the memory: `cgroup`, with
 * the database inside, or `heap` where no control group can be made or `--bound heap` asks for it; then the resident memory of the service is compared with the limit.
 * The service starts as `npm start` starts it, from its bundle, which is made first where it is missing or old. Needs Node and npm alone. Exits with 1 when a guarantee is broken, and with 2 for an argument that is wrong.
 */
import { Effect, Redacted } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { KeyStore } from "../src/access/KeyStore.ts"
import { ApiScope } from "../src/api/schemas/ApiKey.ts"
import { COMMAND_LINE } from "../src/api/schemas/KeyAudit.ts"
import { DEFAULT_PLAN } from "../src/api/schemas/Plan.ts"
import { access } from "./attack/access.ts"
import { floods, pageLimit } from "./attack/floods.ts"
import { fuzz } from "./attack/fuzz.ts"
import { mcp } from "./attack/mcp.ts"
import { boundTo, heapOf, type MemoryBound } from "./attack/memory.ts"
import { races } from "./attack/races.ts"
import { raw } from "./attack/raw.ts"
import { sockets } from "./attack/sockets.ts"
import { ask, type Keys, seeded, type Target, useOf, verdict, type Verdict } from "./attack/target.ts"
import { report } from "./bench/report.ts"
import { embedded, keyStore, service } from "./chaos/service.ts"
import { numberOption } from "./options.ts"

/** What `bundle.mjs` offers. */
interface Bundle {
  readonly bundleService: () => Promise<void>
  /** The address of the bundle; null when it is missing or older than its sources. */
  readonly freshBundle: () => string | null
}

const BUNDLE = new URL("bundle.mjs", import.meta.url).href

/** Makes the bundle of the service where there is none of these sources. */
const bundle = async (): Promise<void> => {
  const { bundleService, freshBundle }: Bundle = await import(BUNDLE)
  if (freshBundle() === null) {
    await bundleService()
  }
}

/** Floods come last: they spend the budget of pages. */
const parts = { fuzz, raw, access, races, mcp, sockets, floods }

type Part = keyof typeof parts

const isPart = (name: string): name is Part => Object.hasOwn(parts, name)

const { values } = parseArgs({
  options: {
    json: { type: "boolean" },
    short: { type: "boolean", default: false },
    seed: { type: "string", default: "attack" },
    memory: { type: "string", default: "512" },
    bound: { type: "string", default: "cgroup" },
    parts: { type: "string", default: Object.keys(parts).join() }
  }
})
const limitMiB = numberOption("--memory", values.memory, { least: 64, whole: true })
const wanted = values.parts.split(",").filter(isPart)
if (wanted.length !== values.parts.split(",").length) {
  process.stderr.write(`--parts must name parts of ${Object.keys(parts).join()}, not "${values.parts}"\n`)
  process.exit(2)
}

const UNLIMITED = {
  ...DEFAULT_PLAN,
  name: "attack",
  rest: 100_000_000,
  quote: 100_000_000,
  streams: 1000,
  sockets: 1000
}

/** Keys of accounts of their own, so that what one does is not seen by another. */
const issueKeys = Effect.gen(function* () {
  const keys = yield* KeyStore
  yield* keys.setPlan(UNLIMITED, COMMAND_LINE)
  const issue = (name: string, scopes: ReadonlyArray<ApiScope>, plan: string) =>
    keys
      .issue({ accountId: `attack_${name}`, name, scopes, ipPolicy: null, plan }, COMMAND_LINE)
      .pipe(Effect.map(({ secret }) => Redacted.value(secret)))
  const all = ApiScope.literals
  return {
    all: yield* issue("all", all, UNLIMITED.name),
    plain: yield* issue("plain", ["md.read"], DEFAULT_PLAN.name),
    perps: yield* issue("perps", ["perps.read"], UNLIMITED.name),
    others: yield* issue(
      "others",
      all.filter((scope) => scope !== "perps.read"),
      UNLIMITED.name
    )
  } satisfies Keys
})

/** The service is still the process that was started, and answers. */
const survived = async (target: Target, hasEnded: boolean, bound: MemoryBound): Promise<ReadonlyArray<Verdict>> => {
  const { status } = await ask(target, "/livez")
  const peakMiB = bound.peakMiB() ?? Math.round(useOf(target.pid)?.peakMb ?? 0)
  const kills = bound.kills()
  return [
    verdict("the service survives", !hasEnded && status === 200, { hasEnded, livez: status }),
    verdict("its memory stays within the limit", peakMiB <= limitMiB && (kills ?? 0) === 0, {
      kind: bound.kind,
      limitMiB,
      peakMiB,
      kills
    })
  ]
}

const run = Effect.fnUntraced(function* (folder: string) {
  const bound = yield* Effect.acquireRelease(
    Effect.sync(() => (values.bound === "heap" ? heapOf(limitMiB) : boundTo(limitMiB))),
    ({ remove }) => Effect.sync(remove)
  )
  const database = embedded(folder)
  const settings = {
    ...database.settings,
    SIMULATOR_HISTORY: "0",
    LOG_FORMAT: "json",
    PAGE_REQUESTS: String(pageLimit)
  }
  const running = yield* service(folder, settings, { ...bound, entry: "scripts/start.mjs" })
  const keys = yield* issueKeys.pipe(Effect.provide(keyStore(database.url)), Effect.orDie)
  const target: Target = {
    baseUrl: running.baseUrl,
    port: Number(new URL(running.baseUrl).port),
    pid: running.child.pid ?? 0,
    keys,
    link: running.link ?? "",
    isShort: values.short,
    random: seeded(values.seed)
  }
  const verdicts: Array<Verdict & { readonly part: string }> = []
  const seconds: Record<string, number> = {}
  for (const part of wanted) {
    process.stderr.write(`${part}\n`)
    const startedAt = performance.now()
    const found = yield* Effect.promise(() => parts[part](target))
    verdicts.push(...found.map((one) => ({ part, ...one })))
    seconds[part] = Math.round((performance.now() - startedAt) / 100) / 10
  }
  const end = yield* Effect.promise(() => survived(target, running.child.exitCode !== null, bound))
  verdicts.push(...end.map((one) => ({ part: "end", ...one })))
  return { memory: { kind: bound.kind, limitMiB }, seconds, verdicts }
})

const folder = mkdtempSync(join(tmpdir(), "fathom-attack-"))
try {
  await bundle()
  const { memory, seconds, verdicts } = await Effect.runPromise(Effect.scoped(run(folder)))
  const broken = verdicts.filter(({ holds }) => !holds).map(({ property }) => property)
  report("attack", { seed: values.seed, short: values.short, memory, seconds, broken, verdicts })
  process.exitCode = broken.length === 0 ? 0 : 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
