/** Processor time by room of the source, from the profiles that Node writes at the end of a process. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

interface Frame {
  readonly functionName: string
  readonly url: string
}

/** The form of a profile, as far as it is read. */
interface Profile {
  readonly nodes: ReadonlyArray<{
    readonly id: number
    readonly callFrame: Frame
    readonly children?: ReadonlyArray<number>
  }>
  readonly samples: ReadonlyArray<number>
  readonly timeDeltas: ReadonlyArray<number>
}

/** A part of the time of a thread. */
export interface Share {
  readonly name: string
  readonly percent: number
}

const MOST_SHARES = 16
const IDLE = new Set(["(idle)", "(program)"])

/** The room of a source file, such as `market/tape`; null for code that is not of the project. */
const roomOf = ({ url }: Frame): string | null => /\/src\/((?:[\w-]+\/){1,2})[\w.-]+\.ts$/u.exec(url)?.[1] ?? null

const ownName = ({ functionName, url }: Frame): string =>
  `${functionName || "(anonymous)"} ${url.split("/").pop() ?? ""}`

const shares = (micros: ReadonlyMap<string, number>, total: number): ReadonlyArray<Share> =>
  Array.from(micros, ([name, each]) => ({ name, percent: Math.round((1000 * each) / total) / 10 }))
    .toSorted((a, b) => b.percent - a.percent)
    .slice(0, MOST_SHARES)

const MOST_STRETCHES = 12
const FUNCTIONS_OF_STRETCH = 6

/** The longest times without a pause of a thread, when nobody else was served, with the functions that took most of them. */
const longestOf = ({ samples, timeDeltas }: Profile, nameOf: (id: number) => string | null) => {
  const stretches: Array<{ micros: number; atMicros: number; functions: Map<string, number> }> = []
  let now = 0
  let isBusy = false
  for (const [i, id] of samples.entries()) {
    const micros = timeDeltas[i] ?? 0
    const name = nameOf(id)
    now += micros
    if (name !== null) {
      const stretch = isBusy ? stretches.at(-1) : undefined
      const into = stretch ?? { micros: 0, atMicros: now, functions: new Map<string, number>() }
      into.micros += micros
      into.functions.set(name, (into.functions.get(name) ?? 0) + micros)
      if (stretch === undefined) {
        stretches.push(into)
      }
    }
    isBusy = name !== null
  }
  return stretches
    .toSorted((a, b) => b.micros - a.micros)
    .slice(0, MOST_STRETCHES)
    .map(({ atMicros, functions, micros }) => ({
      ms: Math.round(micros / 1e3),
      atSecond: Math.round(atMicros / 1e5) / 10,
      functions: shares(functions, micros).slice(0, FUNCTIONS_OF_STRETCH)
    }))
}

/** Busy seconds of a thread, its longest times without a pause, and the shares of rooms (with what they call outside of the project) and of single functions. */
export const summaryOf = (profile: Profile) => {
  const { nodes, samples, timeDeltas } = profile
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const parents = new Map(nodes.flatMap(({ children = [], id }) => children.map((child) => [child, id] as const)))
  const roomById = new Map<number, string>()
  const room = (id: number): string => {
    const known = roomById.get(id)
    const node = byId.get(id)
    if (known !== undefined || node === undefined) {
      return known ?? "(none)"
    }
    const parent = parents.get(id)
    const found =
      node.callFrame.functionName === "(garbage collector)"
        ? "(garbage collector)"
        : (roomOf(node.callFrame) ?? (parent === undefined ? "(none)" : room(parent)))
    roomById.set(id, found)
    return found
  }
  const rooms = new Map<string, number>()
  const functions = new Map<string, number>()
  let busy = 0
  for (const [i, id] of samples.entries()) {
    const node = byId.get(id)
    const micros = timeDeltas[i] ?? 0
    if (node === undefined || IDLE.has(node.callFrame.functionName)) {
      continue
    }
    busy += micros
    rooms.set(room(id), (rooms.get(room(id)) ?? 0) + micros)
    const name = ownName(node.callFrame)
    functions.set(name, (functions.get(name) ?? 0) + micros)
  }
  const busyName = (id: number): string | null => {
    const node = byId.get(id)
    return node === undefined || IDLE.has(node.callFrame.functionName) ? null : `${room(id)} ${ownName(node.callFrame)}`
  }
  return {
    busySeconds: Math.round(busy / 1e5) / 10,
    rooms: shares(rooms, busy),
    functions: shares(functions, busy),
    longest: longestOf(profile, busyName)
  }
}

/** A summary of each thread with a profile in the folder. */
export const readProfiles = (folder: string) =>
  readdirSync(folder)
    .filter((name) => name.endsWith(".cpuprofile"))
    .map((name) => {
      const profile: Profile = JSON.parse(readFileSync(join(folder, name), "utf8"))
      return summaryOf(profile)
    })
    .toSorted((a, b) => b.busySeconds - a.busySeconds)
