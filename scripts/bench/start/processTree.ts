/** Memory and processor time of a process and everything it started, from /proc. */
import { readdirSync, readFileSync } from "node:fs"

/** Clock ticks of /proc in a second, on every Linux that Node runs on. */
const TICKS = 100

/** One process: its parent, resident memory and processor time so far. */
interface ProcessUse {
  readonly pid: number
  readonly parent: number
  readonly name: string
  readonly residentMb: number
  /** Resident memory with shared pages divided among their users. */
  readonly shareMb: number
  readonly seconds: number
}

/** Memory in megabytes and processor time in seconds of a service and of its database. */
export interface TreeUse {
  readonly serviceMb: number
  readonly peakMb: number
  /** PostgreSQL, with shared pages counted once. */
  readonly databaseMb: number
  readonly databaseProcesses: number
  readonly serviceSeconds: number
  readonly databaseSeconds: number
}

const textOf = (path: string): string => {
  try {
    return readFileSync(path, "utf8")
  } catch {
    // The process has ended, or belongs to another user.
    return ""
  }
}

const megabytesOf = (text: string, name: string): number =>
  Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "mu").exec(text)?.[1] ?? 0) / 1024

/** What the kernel tells of a process at no cost; null once it has ended. */
const statOf = (pid: number): Pick<ProcessUse, "name" | "parent" | "pid" | "seconds"> | null => {
  const stat = textOf(`/proc/${pid}/stat`)
  // The name is in parentheses and may hold spaces.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  const seconds = (Number(fields[11]) + Number(fields[12])) / TICKS
  const name = stat.slice(stat.indexOf("(") + 1, stat.lastIndexOf(")"))
  return stat === "" ? null : { pid, parent: Number(fields[1]), name, seconds }
}

/** A process and everything it started. Only of these the memory is added up, which takes the kernel some milliseconds each. */
const treeOf = (root: number): ReadonlyArray<ProcessUse> => {
  const all = readdirSync("/proc").flatMap((name) => (/^\d+$/u.test(name) ? (statOf(Number(name)) ?? []) : []))
  const withChildren = (pid: number): typeof all => [
    ...all.filter((one) => one.pid === pid),
    ...all.filter(({ parent }) => parent === pid).flatMap((child) => withChildren(child.pid))
  ]
  return withChildren(root).map((one) => ({
    ...one,
    residentMb: megabytesOf(textOf(`/proc/${one.pid}/status`), "VmRSS"),
    shareMb: megabytesOf(textOf(`/proc/${one.pid}/smaps_rollup`), "Pss")
  }))
}

const sum = (list: ReadonlyArray<ProcessUse>, value: (one: ProcessUse) => number) =>
  list.reduce((total, one) => total + value(one), 0)

/** The use of the service with this process id at this moment. */
export const treeUse = (pid: number): TreeUse => {
  const tree = treeOf(pid)
  const database = tree.filter(({ name }) => name === "postgres")
  const service = tree.filter(({ name }) => name !== "postgres")
  return {
    serviceMb: sum(service, ({ residentMb }) => residentMb),
    peakMb: megabytesOf(textOf(`/proc/${pid}/status`), "VmHWM"),
    databaseMb: sum(database, ({ shareMb }) => shareMb),
    databaseProcesses: database.length,
    serviceSeconds: sum(service, ({ seconds }) => seconds),
    databaseSeconds: sum(database, ({ seconds }) => seconds)
  }
}

/** Memory and processor time of the engine of ClickHouse with its front, as `startEngine` starts it; zeros without one. */
export const engineUse = (pid: number): { readonly residentMb: number; readonly seconds: number } => {
  const engines = treeOf(pid).filter((one) => textOf(`/proc/${one.pid}/cmdline`).includes("clickhouse/front.mjs"))
  return { residentMb: sum(engines, ({ residentMb }) => residentMb), seconds: sum(engines, ({ seconds }) => seconds) }
}

/** Processor time in seconds of every thread of a process, by the thread's name. */
export const threadSeconds = (pid: number): Readonly<Record<string, number>> => {
  const seconds: Record<string, number> = {}
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const stat = textOf(`/proc/${pid}/task/${thread}/stat`)
    const name = stat.slice(stat.indexOf("(") + 1, stat.lastIndexOf(")"))
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
    seconds[name] = (seconds[name] ?? 0) + (Number(fields[11]) + Number(fields[12])) / TICKS
  }
  return seconds
}
