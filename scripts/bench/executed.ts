/**
 * Quotes by execution: how many a second one thread gives, how long one takes, what it costs beside a computed quote, and
 * what it needs of memory. `npm run bench:executed -- --programs DIR --accounts DIR [--json]`: programs from
 * DIR/PROGRAM_ID.so, pools from the fixtures DIR/*.json (format: npm run exactness -- --help). One line a program.
 */
import { existsSync, globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { isUnpriceable } from "../../src/programs/interface/Program.ts"
import { derive } from "../../src/quotes/execution/decodeFixture.ts"
import { executeSwap, feePayer } from "../../src/quotes/execution/executeSwap.ts"
import { executedVenues } from "../../src/quotes/execution/executedVenues.ts"
import { readFixture } from "../../src/quotes/execution/poolFixture.ts"
import { type PoolSnapshot, siteOf } from "../../src/quotes/execution/poolSnapshot.ts"
import { loadRuntime, type Runtime } from "../../src/quotes/execution/programRuntime.ts"
import { obstacle } from "../../src/quotes/execution/provePool.ts"
import type { Venue } from "../../src/quotes/execution/swapVenue.ts"
import { venues } from "../../src/quotes/execution/swapVenues.ts"
import { fillIn } from "../prove/fillIn.ts"
import { percentile, report } from "./report.ts"

const { values } = parseArgs({
  options: {
    programs: { type: "string", default: "test/vectors/programs" },
    accounts: { type: "string", default: "test/vectors/pools" },
    swaps: { type: "string", default: "400" },
    json: { type: "boolean", default: false }
  }
})
const { accounts: folder, programs } = values
const SWAPS = Number(values.swaps)

/** The first pool of the venue whose swap the program pays, ready in the runtime. */
const place = (runtime: Runtime, venue: Venue): { readonly snapshot: PoolSnapshot; readonly aToB: boolean } | null => {
  for (const path of globSync(join(folder, "*.json")).toSorted()) {
    const fixture = readFixture(path)
    const pool = [...fixture.accounts.values()].find((account) => venue.program.isPool(account))
    if (pool === undefined) {
      continue
    }
    const snapshot = fillIn(venue, pool, fixture)
    const sides = venue.sides(siteOf(snapshot))
    if (sides === null || obstacle(venue, snapshot) !== null) {
      continue
    }
    snapshot.accounts.forEach((account) =>
      runtime.setAccount({ ...account, lamports: account.lamports + 1_000_000_000n })
    )
    runtime.setAccount(feePayer())
    runtime.setClock(snapshot.clock)
    for (const aToB of [true, false]) {
      const done = executeSwap(runtime, venue, siteOf(snapshot), sides, { aToB, exactOut: false, amount: 1_000_000n })
      if (done !== null && !("error" in done.result)) {
        return { snapshot, aToB }
      }
    }
  }
  return null
}

/** Nanoseconds of a computed quote; null for a venue without one. */
const computedNs = (venue: Venue, { accounts, clock, foundBy, pool }: PoolSnapshot, aToB: boolean): number | null => {
  const decoded = venue.program.decode(pool, (address) => accounts.get(address) ?? null, derive, foundBy)
  if (isUnpriceable(decoded)) {
    return null
  }
  const rounds = 20 * SWAPS
  for (let round = 0; round < rounds; round++) {
    decoded.swap(aToB, 1_000_000n + BigInt(round), clock)
  }
  const start = process.hrtime.bigint()
  for (let round = 0; round < rounds; round++) {
    decoded.swap(aToB, 1_000_000n + BigInt(round), clock)
  }
  return Number(process.hrtime.bigint() - start) / rounds
}

const measure = (makeRuntime: () => Runtime, venue: Venue, calls: ReadonlyArray<string>): void => {
  const { dex, programId } = venue.program
  const files = [programId, ...calls].map((one) => [one, join(programs, `${one}.so`)] as const)
  const absent = files.find(([, path]) => !existsSync(path))
  if (absent !== undefined) {
    return report(`executed:${dex}`, { left: `no ${absent[1]}` })
  }
  const before = process.memoryUsage().rss
  const runtime = makeRuntime()
  files.forEach(([, path], index) => runtime.deploy([programId, ...calls][index] as never, readFileSync(path)))
  const found = place(runtime, venue)
  if (found === null) {
    return report(`executed:${dex}`, { left: `no pool in ${folder} whose swap its program pays` })
  }
  const { aToB, snapshot } = found
  const site = siteOf(snapshot)
  const sides = venue.sides(site)
  if (sides === null) {
    return report(`executed:${dex}`, { left: "an account that names its mints is missing" })
  }
  const times: Array<number> = []
  let units = 0
  const swap = (index: number) =>
    executeSwap(runtime, venue, site, sides, { aToB, exactOut: false, amount: 1_000_000n + BigInt(index) })
  for (let index = 0; index < SWAPS / 4; index++) {
    swap(index)
  }
  const cpu = process.cpuUsage()
  const start = process.hrtime.bigint()
  for (let index = 0; index < SWAPS; index++) {
    const from = process.hrtime.bigint()
    units = swap(index)?.result.units ?? 0
    times.push(Number(process.hrtime.bigint() - from) / 1000)
  }
  const wall = Number(process.hrtime.bigint() - start) / 1e9
  const { system, user } = process.cpuUsage(cpu)
  const computed = computedNs(venue, snapshot, aToB)
  const executedUs = (system + user) / SWAPS
  return report(`executed:${dex}`, {
    quotesPerSecond: Math.round(SWAPS / wall),
    p50Us: Math.round(percentile(times, 0.5) ?? 0),
    p99Us: Math.round(percentile(times, 0.99) ?? 0),
    cpuUs: Math.round(executedUs),
    computeUnits: units,
    memoryMiB: Math.round((process.memoryUsage().rss - before) / 2 ** 20),
    computedUs: computed === null ? null : Math.round(computed) / 1000,
    timesComputed: computed === null ? null : Math.round((executedUs * 1000) / computed)
  })
}

const makeRuntime = loadRuntime()
if (typeof makeRuntime === "function") {
  venues.forEach((venue) => measure(makeRuntime, venue, []))
  executedVenues.forEach((venue) => measure(makeRuntime, venue, venue.calls))
} else {
  report("executed", { left: makeRuntime.reason })
}
