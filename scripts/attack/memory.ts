/** A bound on the memory of the service: a control group where one can be made, otherwise the heap alone. */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"

/** How memory is bounded, and how much was used. */
export interface MemoryBound {
  /** `cgroup` bounds the service and its database together, `heap` only the heap of the service. */
  readonly kind: "cgroup" | "heap"
  /** Flags of Node for the service. */
  readonly flags: ReadonlyArray<string>
  /** A command that is followed by the service and becomes it. */
  readonly within: ReadonlyArray<string>
  /** Most memory in use so far in MiB; null where only the process itself can be measured. */
  readonly peakMiB: () => number | null
  /** Processes that the system has killed for memory, PostgreSQL included; null where it does not count them. */
  readonly kills: () => number | null
  readonly remove: () => void
}

const MIB = 2 ** 20

/** Names of the files of a control group, version 2 and version 1. */
const versions = [
  {
    root: "/sys/fs/cgroup",
    limit: "memory.max",
    swap: "memory.swap.max",
    peak: "memory.peak",
    events: "memory.events"
  },
  {
    root: "/sys/fs/cgroup/memory",
    limit: "memory.limit_in_bytes",
    swap: "memory.memsw.limit_in_bytes",
    peak: "memory.max_usage_in_bytes",
    events: "memory.oom_control"
  }
] as const

const tryTo = (act: () => void): boolean => {
  try {
    act()
    return true
  } catch {
    return false
  }
}

/** A group with this limit; null where this user may not make one. */
const group = (mib: number): MemoryBound | null => {
  for (const { events, limit, peak, root, swap } of versions) {
    const folder = join(root, `fathom-attack-${process.pid}`)
    const isMade = tryTo(() => mkdirSync(folder))
    // A folder elsewhere than in a file system of groups has no files of its own.
    const isGroup = existsSync(join(folder, peak))
    if (isGroup && tryTo(() => writeFileSync(join(folder, limit), String(mib * MIB)))) {
      tryTo(() => writeFileSync(join(folder, swap), swap === "memory.swap.max" ? "0" : String(mib * MIB)))
      return {
        kind: "cgroup",
        flags: [],
        // Inside before Node starts, as in a container: V8 sizes its heaps by the limit, which it reads only once.
        within: ["sh", "-c", 'echo $$ > "$0/cgroup.procs" && exec "$@"', folder],
        peakMiB: () => Math.round(Number(readFileSync(join(folder, peak), "utf8")) / MIB),
        kills: () => Number(/^oom_kill (\d+)$/mu.exec(readFileSync(join(folder, events), "utf8"))?.[1] ?? 0),
        remove: () => void tryTo(() => rmdirSync(folder))
      }
    }
    if (isMade) {
      tryTo(() => rmdirSync(folder))
    }
  }
  return null
}

/** A bound on the heap of the service: half of the memory. The rest is for buffers, threads and code. */
export const heapOf = (mib: number): MemoryBound => ({
  kind: "heap",
  flags: [`--max-old-space-size=${Math.floor(mib / 2)}`],
  within: [],
  peakMiB: () => null,
  kills: () => null,
  remove: () => undefined
})

/** The bound for so many MiB. */
export const boundTo = (mib: number): MemoryBound => group(mib) ?? heapOf(mib)
