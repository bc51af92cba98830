/** The faults of a service of several processes. */
import { type Duration, Effect, Schedule, type Scope } from "effect"
import * as Processes from "../../../src/storage/processes.ts"
import type { PartRole } from "../../cluster/parts.ts"
import { readyPid } from "../service.ts"
import { BEHIND_PROXY, type Scene } from "./scene.ts"

/** Names of the faults, in their order. */
export const FAULTS = [
  "replica",
  "frozen-replica",
  "leader",
  "frozen-leader",
  "keeper",
  "valkey",
  "postgres",
  "clickhouse",
  "partition",
  "deploy"
] as const
export type FaultName = (typeof FAULTS)[number]

/** True for the name of a fault. */
export const isFault = (name: string): name is FaultName => FAULTS.some((fault) => fault === name)

/** A fault: how it begins and ends. */
export interface Fault {
  readonly what: string
  /** Places of the processes without which the service has to recover; null where it cannot before the fault ends. */
  readonly victims: ReadonlyArray<number> | null
  readonly begin: Effect.Effect<unknown, never, Scope.Scope>
  /** Time for which it is held, once the service has recovered where it can; 3 s unless given. */
  readonly held?: Duration.Input
  /** Place of a process whose quotes are compared with another process's once the fault is over. */
  readonly missedWrites?: number
  /** Reads of every process before the fault, while it is held, and once it is over, where it takes some of them away. */
  readonly reads?: true
  readonly end: Effect.Effect<unknown, never, Scope.Scope>
}

const indexOf = ({ running }: Scene, role: PartRole) => running.findIndex((each) => each.role === role)

/** The place of the process that began to read the chain last. */
const leaderOf = ({ running }: Scene) => {
  const times = running.map((each) =>
    each.role === "ingest"
      ? (each
          .output()
          .findLast((line) => line.includes("This process reads the chain"))
          ?.slice(1, 13) ?? "")
      : ""
  )
  return times.indexOf(times.toSorted().at(-1) ?? "")
}

const named = ({ running }: Scene, place: number) => `${running[place]?.role ?? "?"}-${place}`

const killed = (scene: Scene, place: number): Fault => ({
  what: named(scene, place),
  victims: [place],
  begin: Effect.suspend(() => scene.running[place]?.kill ?? Effect.void),
  end: scene.restart(place)
})

const frozen = (scene: Scene, place: number): Fault => ({
  what: named(scene, place),
  victims: [place],
  begin: Effect.sync(() => scene.running[place]?.child.kill("SIGSTOP")),
  end: Effect.sync(() => scene.running[place]?.child.kill("SIGCONT"))
})

/**
 * Longer than the lease of its accounts. The others are not waited for meanwhile: a write that was sent to the process cannot be
 * sent to another one.
 */
const FROZEN_FOR = "20 seconds"

const replaced = (scene: Scene, place: number): Fault => ({
  what: named(scene, place),
  victims: [place],
  begin: Effect.suspend(() => scene.running[place]?.stop ?? Effect.void),
  end: scene.restart(place)
})

const postgresStopped = ({ parts: { database } }: Scene): Fault => ({
  what: "an immediate stop",
  victims: null,
  begin: Effect.suspend(() => {
    const pid = readyPid(database.data)
    if (pid === null) {
      return Effect.die(new Error("PostgreSQL does not run"))
    }
    Processes.signal(pid, "SIGQUIT")
    return Effect.sync(() => Processes.signal(pid, 0)).pipe(
      Effect.repeat({ until: (isThere) => !isThere, schedule: Schedule.spaced("20 millis") })
    )
  }),
  end: database.start
})

/** The others go on without it, and the blocks of the meantime wait on disk. */
const clickHouseKilled = ({ clickHouse }: Scene): ReadonlyArray<Fault> =>
  clickHouse === null
    ? []
    : [{ what: "killed", victims: [], reads: true, begin: clickHouse.kill, end: clickHouse.start }]

/** The steps of a fault, on the processes as they are now: each is over before the next one begins. */
export const stepsOf = (scene: Scene, name: FaultName): ReadonlyArray<Fault> => {
  const { parts, running } = scene
  switch (name) {
    case "replica":
      return [killed(scene, indexOf(scene, "api"))]
    case "frozen-replica":
      return [indexOf(scene, "api"), indexOf(scene, "live")].map((place) => ({
        ...frozen(scene, place),
        victims: null,
        held: FROZEN_FOR,
        missedWrites: place
      }))
    case "leader":
      return [killed(scene, leaderOf(scene))]
    case "frozen-leader":
      return [frozen(scene, leaderOf(scene))]
    case "keeper":
      return [killed(scene, indexOf(scene, "keeper"))]
    case "valkey":
      return [{ what: "killed, without its data", victims: null, begin: parts.valkey.kill, end: scene.emptyValkey }]
    case "postgres":
      return [postgresStopped(scene)]
    case "clickhouse":
      return clickHouseKilled(scene)
    case "partition":
      return [
        { what: named(scene, BEHIND_PROXY), victims: [BEHIND_PROXY], begin: parts.proxy.cut, end: parts.proxy.mend }
      ]
    case "deploy": {
      // Readers of the bus before its writers.
      const places = running.map((_, place) => place)
      const isWriter = (place: number) => running[place]?.role === "ingest"
      return [...places.filter((place) => !isWriter(place)), ...places.filter(isWriter)].map((place) =>
        replaced(scene, place)
      )
    }
  }
}
