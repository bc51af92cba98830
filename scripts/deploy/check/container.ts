/** A command in a root folder as a container has it: own mounts and processes, read-only root, ordinary user, bounded memory. */
import { type ChildProcess, spawn } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"

const V1 = "/sys/fs/cgroup/memory"
const V2 = "/sys/fs/cgroup"

/** A group of processes with a bound on their memory. */
export interface MemoryGroup {
  readonly folder: string
  /** The most memory that it has held, in megabytes; null where the system does not count it. */
  readonly peakMb: () => number | null
  /** Times that a process of it was killed for memory. */
  readonly kills: () => number
  readonly remove: () => void
}

/** Makes a group; works with both versions of cgroups. */
export const memoryGroup = (name: string, limitMb: number): MemoryGroup => {
  const isV1 = existsSync(join(V1, "memory.limit_in_bytes"))
  const folder = join(isV1 ? V1 : V2, name)
  mkdirSync(folder)
  const fileOf = (v1: string, v2: string) => join(folder, isV1 ? v1 : v2)
  writeFileSync(fileOf("memory.limit_in_bytes", "memory.max"), String(limitMb * 2 ** 20))
  return {
    folder,
    peakMb: () => {
      const file = fileOf("memory.max_usage_in_bytes", "memory.peak")
      return existsSync(file) ? Math.round(Number(readFileSync(file, "utf8")) / 2 ** 20) : null
    },
    kills: () =>
      Number(/oom_kill (\d+)/u.exec(readFileSync(fileOf("memory.oom_control", "memory.events"), "utf8"))?.[1] ?? 0),
    remove: () => rmdirSync(folder)
  }
}

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`

const DEVICES = { null: "1 3", zero: "1 5", full: "1 7", random: "1 8", urandom: "1 9", tty: "5 0" }

/** A command with its root, user, variables and bounds. */
export interface RunOptions {
  readonly root: string
  readonly workdir: string
  readonly uid: number
  readonly env: Readonly<Record<string, string>>
  readonly command: ReadonlyArray<string>
  /** Folders of this machine by their path in the container. */
  readonly volumes: Readonly<Record<string, string>>
  readonly group: MemoryGroup
}

/** The lines of shell that make the mounts and become the command. */
const scriptOf = ({ command, env, group, root, uid, volumes, workdir }: RunOptions): string => {
  const at = (path: string) => quoted(join(root, path))
  const mounts = [
    `echo $$ > ${quoted(join(group.folder, "cgroup.procs"))}`,
    "mount --make-rprivate /",
    `mount --bind ${quoted(root)} ${quoted(root)}`,
    `mount -t tmpfs -o mode=0755 tmpfs ${at("dev")}`,
    ...Object.entries(DEVICES).map(([name, numbers]) => `mknod -m 666 ${at(`dev/${name}`)} c ${numbers}`),
    `mkdir ${at("dev/shm")}`,
    `mount -t tmpfs -o mode=1777,size=64m tmpfs ${at("dev/shm")}`,
    `mount -t tmpfs -o mode=1777 tmpfs ${at("tmp")}`,
    ...Object.entries(volumes).map(([path, folder]) => `mount --bind ${quoted(folder)} ${at(path)}`),
    `mount -o remount,bind,ro ${quoted(root)}`,
    `mount -t proc proc ${at("proc")}`
  ]
  const variables = Object.entries(env).map(([name, value]) => quoted(`${name}=${value}`))
  const user = `setpriv --reuid=${uid} --regid=${uid} --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all`
  const inside = `cd ${quoted(workdir)} && exec ${command.map(quoted).join(" ")}`
  const line = `exec chroot ${quoted(root)} ${user} env -i ${variables.join(" ")} sh -c ${quoted(inside)}`
  return [...mounts, line].join(" && ")
}

/** Starts the command as the first process of its own; its output goes to this process. */
export const runContained = (options: RunOptions): ChildProcess =>
  spawn("unshare", ["--mount", "--pid", "--fork", "--kill-child", "sh", "-c", scriptOf(options)], {
    stdio: ["ignore", 2, 2]
  })

/** The first process inside, by its number outside. */
export const firstProcess = ({ pid }: ChildProcess): number =>
  Number(readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ")[0])
