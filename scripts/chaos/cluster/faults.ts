/** The faults of a service of several processes. */
import { type Duration, Effect, type Scope } from "effect"
import type { PartRole } from "../../cluster/parts.ts"
import { olderClickHouse, olderPostgres, stopPostgres } from "./olderCopies.ts"
import { type Proof, seeStaleBus, seeTaken } from "./proofs.ts"
import { ADDED, BEHIND_PROXY, type Scene } from "./scene.ts"

/** Names of the faults, in their order. */
export const FAULTS = [
  "replica",
  "frozen-replica",
  "leader",
  "frozen-leader",
  "keeper",
  "valkey",
  "flush",
  "full-valkey",
  "postgres",
  "older-postgres",
  "clickhouse",
  "older-clickhouse",
  "partition",
  "deploy",
  "scale"
] as const
export type FaultName = (typeof FAULTS)[number]

/** True for the name of a fault. */
export const isFault = (name: string): name is FaultName => FAULTS.some((fault) => fault === name)

/** True for a fault that needs the engine of ClickHouse. */
export const needsEngine = (name: FaultName): boolean => name === "clickhouse" || name === "older-clickhouse"

/** True for a fault during which every request still has to be answered. */
export const isSilent = (name: FaultName): boolean => name === "scale"

/** True for a fault that takes Valkey away from every process. */
export const losesValkey = (name: FaultName): boolean => name === "valkey" || name === "full-valkey"

/** True for a fault in which processes decide about budgets alone. */
export const losesBudgets = (name: FaultName): boolean => losesValkey(name) || name === "partition"

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
  /** Looks for a property of this fault while it is held. */
  readonly during?: Effect.Effect<Proof>
  /** Looks for a property of this fault once the service has recovered. */
  readonly after?: Effect.Effect<Proof, never, Scope.Scope>
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
  begin: stopPostgres(database),
  end: database.start
})

/** Budgets, leases, blocks and ends are gone; every connection stays. */
const valkeyFlushed = (scene: Scene): Fault => ({
  what: "FLUSHALL",
  victims: null,
  begin: scene.flushValkey,
  held: 0,
  end: Effect.void
})

/** Less than an empty server takes, so that every write is refused from now on. */
const NO_ROOM = "1048576"

/** Valkey answers reads and refuses writes. */
const valkeyFull = (scene: Scene): Fault => {
  const { send } = scene.parts.valkey
  return {
    what: "a server without room",
    victims: null,
    begin: Effect.gen(function* () {
      yield* send("CONFIG", "SET", "maxmemory", NO_ROOM)
      const reply = yield* send("SET", "chaos", "1")
      return reply.startsWith("-OOM") ? null : yield* Effect.die(new Error(`Valkey is not full: ${reply}`))
    }),
    during: seeStaleBus(scene),
    held: 0,
    end: send("CONFIG", "SET", "maxmemory", "0")
  }
}

const replicasAdded = (scene: Scene): Fault => {
  const first = scene.running.length
  const added = Array.from({ length: ADDED }, (_, n) => first + n)
  return {
    what: `${ADDED} more processes of api`,
    victims: [],
    begin: Effect.forEach(added, scene.add, { discard: true }),
    during: seeTaken(scene, added),
    end: Effect.void
  }
}

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
    case "flush":
      return [valkeyFlushed(scene)]
    case "full-valkey":
      return [valkeyFull(scene)]
    case "postgres":
      return [postgresStopped(scene)]
    case "older-postgres":
      return olderPostgres(scene)
    case "clickhouse":
      return clickHouseKilled(scene)
    case "older-clickhouse":
      return olderClickHouse(scene)
    case "partition":
      return [
        { what: named(scene, BEHIND_PROXY), victims: [BEHIND_PROXY], begin: parts.proxy.cut, end: parts.proxy.mend }
      ]
    case "scale":
      return [replicasAdded(scene)]
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
