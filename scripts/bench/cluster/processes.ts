/** Processor time and memory of the processes of a service of several, from /proc, and the cost of what they answered. */
import { readdirSync, readFileSync } from "node:fs"

/** Clock ticks of /proc in a second, on every Linux that Node runs on. */
const TICKS = 100

/** Process ids of one part of the service: one id, or the ids of all backends of a database. */
export interface Part {
  readonly name: string
  readonly role: string
  readonly pids: () => ReadonlyArray<number>
}

/** The use of a part so far: processor time in seconds, of all threads and of the main one, and resident memory now. */
export interface Use {
  readonly name: string
  readonly role: string
  readonly seconds: number
  readonly mainSeconds: number
  readonly residentMb: number
}

const textOf = (path: string): string => {
  try {
    return readFileSync(path, "utf8")
  } catch {
    // The process has ended.
    return ""
  }
}

// The name before these fields is in parentheses and may hold spaces.
const fieldsOf = (stat: string) => stat.slice(stat.lastIndexOf(")") + 2).split(" ")
const nameOf = (stat: string) => stat.slice(stat.indexOf("(") + 1, stat.lastIndexOf(")"))

/** Processor time of a process in seconds, plus the time of its children that have ended where `withEnded`. */
const secondsOf = (stat: string, withEnded: boolean): number => {
  const fields = fieldsOf(stat)
  const ticks = (withEnded ? [11, 12, 13, 14] : [11, 12]).map((place) => Number(fields[place] ?? 0))
  return ticks.reduce((sum, each) => sum + each, 0) / TICKS
}

/** Processes that this one started and that run. */
export const childrenOf = (parent: number): ReadonlyArray<{ readonly pid: number; readonly name: string }> =>
  readdirSync("/proc").flatMap((pid) => {
    const stat = /^\d+$/u.test(pid) ? textOf(`/proc/${pid}/stat`) : ""
    return stat !== "" && Number(fieldsOf(stat)[1]) === parent ? [{ pid: Number(pid), name: nameOf(stat) }] : []
  })

/** Resident memory of a process in MB; pages that several share are divided among them. */
const megabytesOf = (pid: number): number =>
  Number(/^Pss:\s+(\d+) kB/mu.exec(textOf(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0) / 1024

/** The use of a part at this moment. */
export const useOf = ({ name, pids, role }: Part): Use => {
  const all = pids()
  const sum = (value: (pid: number, place: number) => number) =>
    all.reduce((total, pid, place) => total + value(pid, place), 0)
  return {
    name,
    role,
    seconds: sum((pid, place) => secondsOf(textOf(`/proc/${pid}/stat`), place === 0)),
    mainSeconds: sum((pid) => secondsOf(textOf(`/proc/${pid}/task/${pid}/stat`), false)),
    residentMb: sum(megabytesOf)
  }
}

const round = (value: number, digits: number) => Number(value.toFixed(digits))

/** Cores that each part used between two moments, with its memory at the second one. */
export const coresOf = (before: ReadonlyArray<Use>, after: ReadonlyArray<Use>, seconds: number) =>
  after.map(({ mainSeconds, name, residentMb, role, seconds: used }, place) => ({
    name,
    role,
    cores: round((used - (before[place]?.seconds ?? 0)) / seconds, 4),
    mainCores: round((mainSeconds - (before[place]?.mainSeconds ?? 0)) / seconds, 4),
    residentMb: round(residentMb, 0)
  }))

export type Cores = ReturnType<typeof coresOf>

/** Answers or frames within a time in seconds, by the first `serving` processes of a role. */
interface Answered {
  readonly role: string
  readonly serving: number
  readonly count: number
  readonly seconds: number
}

/**
 * The cost of answers, beyond the use of a service without callers. Processor time is in microseconds an
 * answer; `perCoreSecond` is the number of answers for one second of one core of the role that gives them, null where their
 * cost is below what can be seen.
 */
export const costOf = ({ count, role, seconds, serving }: Answered, quiet: Cores, busy: Cores) => {
  const processes = busy.map(({ cores, mainCores, name, residentMb, role: own }, place) => ({
    name,
    role: own,
    cores,
    residentMb,
    cpuUs: count === 0 ? null : round(((cores - (quiet[place]?.cores ?? 0)) * seconds * 1e6) / count, 0),
    mainCpuUs: count === 0 ? null : round(((mainCores - (quiet[place]?.mainCores ?? 0)) * seconds * 1e6) / count, 0)
  }))
  const total = (of: string, value: (each: (typeof processes)[number]) => number | null) =>
    count === 0
      ? null
      : processes
          .filter((each) => each.role === of)
          // The others of the role have no callers.
          .slice(0, of === role ? serving : undefined)
          .reduce((sum, each) => sum + (value(each) ?? 0), 0)
  const cpuUs = total(role, (each) => each.cpuUs)
  return {
    count,
    perSecond: round(count / seconds, 1),
    cpuUs,
    mainCpuUs: total(role, (each) => each.mainCpuUs),
    databaseCpuUs: total("postgresql", (each) => each.cpuUs),
    valkeyCpuUs: total("valkey", (each) => each.cpuUs),
    perCoreSecond: cpuUs === null || cpuUs <= 0 ? null : Math.round(1e6 / cpuUs),
    processes
  }
}
