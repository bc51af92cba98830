/** Processes, cores, memory and money for multiples of a number of users, from measured costs and stated assumptions. */
import type { Cores } from "./processes.ts"

/** Assumptions, which no measurement here stands behind. */
export const assumed = {
  /** Users of 1x: active keys, their requests a minute and the kinds of these, and what they hold open. */
  keys: 1000,
  requestsAMinute: 12,
  share: { quotes: 0.6, market: 0.3, wallets: 0.1 },
  streams: 200,
  sockets: 1000,
  /** Part of a core, of its main thread too, that may be in use: the rest is for bursts. */
  usedShare: 0.5,
  /** Fewest processes of a role, so that one may be lost. */
  least: { ingest: 2, api: 2, live: 2, keeper: 2 },
  /** Main thread cores and memory of a process that follows the whole of mainnet, at about 1,000 trades a second. */
  mainnetCores: 0.2,
  mainnetGb: 2,
  databaseGb: 4,
  valkeyGb: 2,
  coreHourUsd: 0.04,
  gbHourUsd: 0.005,
  hoursAMonth: 730
}

/** Cost of an answer or frame in microseconds of processor time; null where nothing was answered. */
interface Cost {
  readonly kind: string
  readonly serving: number
  readonly cpuUs: number | null
  readonly mainCpuUs: number | null
  readonly databaseCpuUs: number | null
  readonly valkeyCpuUs: number | null
}

/** Figures of the benchmark that the table is made of. */
export interface Measured {
  readonly quiet: { readonly processes: Cores }
  readonly api: ReadonlyArray<Cost>
  readonly live: ReadonlyArray<Cost & { readonly readers: number; readonly perSecond: number }>
}

const ROLES = ["ingest", "api", "live", "keeper"] as const

/** The figure with most processes, which is nearest to a large service. */
const lastOf = <A extends Cost>(list: ReadonlyArray<A>, kind: string): A => {
  const found = list.findLast((each) => each.kind === kind)
  if (found === undefined) {
    throw new Error(`nothing is measured of ${kind}`)
  }
  return found
}

const meanOf = (list: ReadonlyArray<number>) => list.reduce((sum, each) => sum + each, 0) / Math.max(1, list.length)
const round = (value: number, digits = 2) => Number(value.toFixed(digits))

/** A row of the table for `times` the users of 1x. A process is given at least one core; an engine likewise. */
export const capacityOf = ({ api, live, quiet }: Measured, times: number) => {
  const requests = (times * assumed.keys * assumed.requestsAMinute) / 60
  const framesOf = (kind: string, readers: number) => {
    const cost = lastOf(live, kind)
    return { role: "live", cost, rate: (times * readers * cost.perSecond) / cost.readers }
  }
  const loads = [
    ...(["quotes", "market", "wallets"] as const).map((kind) => ({
      role: "api",
      cost: lastOf(api, kind),
      rate: requests * assumed.share[kind]
    })),
    framesOf("streams", assumed.streams),
    framesOf("sockets", assumed.sockets)
  ]
  const coresFor = (member: "cpuUs" | "mainCpuUs" | "databaseCpuUs" | "valkeyCpuUs", role?: string) =>
    loads
      .filter((each) => role === undefined || each.role === role)
      .reduce((sum, { cost, rate }) => sum + (Math.max(0, cost[member] ?? 0) * rate) / 1e6, 0)
  const quietOf = (role: string) =>
    meanOf(quiet.processes.filter((each) => each.role === role).map(({ cores }) => cores))
  const room = assumed.usedShare - assumed.mainnetCores
  const roles = ROLES.map((role) => {
    const processes = Math.max(assumed.least[role], Math.ceil(coresFor("mainCpuUs", role) / room))
    const cores = coresFor("cpuUs", role) + processes * Math.max(assumed.mainnetCores, quietOf(role))
    const given = Math.max(processes, Math.ceil(cores / assumed.usedShare))
    return { role, processes, cores: round(cores), coresGiven: given, memoryGb: processes * assumed.mainnetGb }
  })
  const engine = (role: string, cores: number, memoryGb: number) => ({
    role,
    processes: 1,
    cores: round(cores),
    coresGiven: Math.max(1, Math.ceil(cores / assumed.usedShare)),
    memoryGb
  })
  const rows = [
    ...roles,
    engine("postgresql", coresFor("databaseCpuUs") + quietOf("postgresql"), assumed.databaseGb),
    engine("valkey", coresFor("valkeyCpuUs") + quietOf("valkey"), assumed.valkeyGb)
  ]
  const cores = rows.reduce((sum, each) => sum + each.coresGiven, 0)
  const memoryGb = rows.reduce((sum, each) => sum + each.memoryGb, 0)
  const hourUsd = cores * assumed.coreHourUsd + memoryGb * assumed.gbHourUsd
  return {
    times,
    requestsPerSecond: round(requests),
    framesPerSecond: round(loads.reduce((sum, { rate, role }) => sum + (role === "live" ? rate : 0), 0)),
    rows,
    cores,
    memoryGb,
    monthUsd: Math.round(hourUsd * assumed.hoursAMonth)
  }
}
