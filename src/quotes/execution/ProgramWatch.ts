/** Watches the deployments of the quoted programs. After an upgrade, prices that were exact may be wrong. */
import { Clock, type Config, Context, Duration, Effect, Layer, Option, Semaphore } from "effect"
import type { Address } from "../../domain/Address.ts"
import type { ProgramState } from "../../api/schemas/ProgramState.ts"
import { keepGoing, keepRunning } from "../../operations/keepRunning.ts"
import { Readings } from "../../operations/Readings.ts"
import { noteFailure, SourceMonitor, type SourceState, stateByAge } from "../../operations/SourceMonitor.ts"
import type { Program } from "../../programs/interface/Program.ts"
import { programs } from "../../programs/registry.ts"
import { VenueProofs } from "../VenueProofs.ts"
import { ChainFeed } from "../../chain/ChainFeed.ts"
import { makeDeriveAddress } from "../../chain/programAddress.ts"
import { TransactionHistory } from "../../chain/rpc/TransactionHistory.ts"
import { deploymentOf, HEADER, programDataAddress } from "./deployment.ts"
import { deploymentSlot, isAmiss, type KnownProgram, programState, refusalOf } from "./programState.ts"
import { accepted, policy, refresh } from "./proofSettings.ts"
import { type ProofOutcome, type ProofRecord, ProofStore, type SeenDeployment } from "./ProofStore.ts"

/** Name of the source in `/freshness`. */
export const PROGRAMS = "programs"

/** After this many failed reads in a row the states count as stale. */
const MISSED_READS = 3
/** Pause after a failed read. */
const RETRY = Duration.seconds(10)
/** How long the start waits for the first read: a venue that was found wrong must not be quoted before it. */
const FIRST_READ = Duration.seconds(2)

const STATES = ["unchanged", "proven", "unproven", "wrong", "unknown"] as const satisfies ReadonlyArray<
  ProgramState["state"]
>

/** A watched program with its deployment and record. */
export interface WatchedProgram extends KnownProgram {
  readonly program: Program
}

/** The deployments of the quoted programs. */
export class ProgramWatch extends Context.Service<
  ProgramWatch,
  {
    /** Every quoted program, in the order of the registry. */
    readonly known: () => ReadonlyArray<WatchedProgram>
    /** The programs' states, in the same order. */
    readonly states: () => ReadonlyArray<ProgramState>
    /** Sets why a program cannot be proven here; null when it can. */
    readonly setObstacle: (programId: Address, obstacle: string | null) => void
    /**
     * Applies the proof of a deployment at once, unless a later deployment is known. Also stores it, and retries
     * until that works.
     */
    proved(deployment: SeenDeployment, proof: ProofOutcome): Effect.Effect<void>
  }
>()("fathom/quotes/execution/ProgramWatch") {
  /** Reads the headers of the programs' accounts with one call every `PROGRAM_REFRESH` (60 s). */
  static readonly layer: Layer.Layer<ProgramWatch, Config.ConfigError, ChainFeed | ProofStore | TransactionHistory> =
    Layer.effect(
      ProgramWatch,
      Effect.suspend(() => make)
    )
}

/** The watched programs, and when the node was last read. */
class Watched {
  readonly #programs: Map<Address, WatchedProgram>
  readAtMs: number | null = null

  constructor(acceptedSlots: ReadonlyMap<string, number>) {
    this.#programs = new Map(
      programs.map((program) => {
        const acceptedSlot = acceptedSlots.get(program.dex) ?? null
        const known = { program, dex: program.dex, deployment: null, record: null, acceptedSlot, obstacle: null }
        return [program.programId, known]
      })
    )
  }

  all(): ReadonlyArray<WatchedProgram> {
    return [...this.#programs.values()]
  }

  states(): ReadonlyArray<ProgramState> {
    return this.all().map(programState)
  }

  /** How well the reads are going, as a source. */
  read(interval: Duration.Duration, nowMs: number): SourceState {
    return stateByAge(this.readAtMs, MISSED_READS * Duration.toMillis(interval), nowMs)
  }

  recordOf(programId: Address): ProofRecord | null {
    return this.#programs.get(programId)?.record ?? null
  }

  set(programId: Address, change: Partial<KnownProgram>): void {
    const known = this.#programs.get(programId)
    if (known !== undefined) {
      this.#programs.set(programId, { ...known, ...change })
    }
  }

  /** The deployed programs with the slots of their deployments. */
  seen(): ReadonlyArray<SeenDeployment> {
    return this.all().flatMap(({ deployment, program: { programId }, record }) =>
      deployment === null || "reason" in deployment
        ? []
        : [{ programId, slot: record === null ? deployment.slot : deploymentSlot(deployment, record) }]
    )
  }
}

const reportWatch = Effect.fnUntraced(function* (watched: Watched, interval: Duration.Duration) {
  const readings = yield* Readings
  yield* (yield* SourceMonitor).report(PROGRAMS, (nowMs): SourceState => {
    const states = watched.states()
    const read = watched.read(interval, nowMs)
    return { ...read, ...(read.status === "known" && states.some(isAmiss) && { status: "partial" }), programs: states }
  })
  yield* readings.report(
    {
      name: "fathom_program_state",
      help: "1 for the current state of a program's prices, 0 for the other states.",
      kind: "gauge"
    },
    () =>
      watched
        .states()
        .flatMap(({ dex, state: own }) =>
          STATES.map((state) => ({ value: state === own ? 1 : 0, labels: { dex, state } }))
        )
  )
  yield* readings.report(
    {
      name: "fathom_program_upgraded",
      help: "1 while a program's deployment differs from the one that was proven last or seen first; absent while unknown.",
      kind: "gauge"
    },
    () =>
      watched
        .states()
        .flatMap(({ dex, upgraded }) => (upgraded === null ? [] : [{ value: upgraded ? 1 : 0, labels: { dex } }]))
  )
})

/** Keeps the stored records of the watched programs, and this process's proofs that are not stored yet. */
const keepRecords = Effect.fnUntraced(function* (watched: Watched) {
  const history = yield* TransactionHistory
  const store = yield* ProofStore
  let chain: string | null = null
  const genesis = Effect.suspend(() =>
    chain === null
      ? Effect.tap(history.genesis, (hash) =>
          Effect.sync(() => {
            chain = hash
          })
        )
      : Effect.succeed(chain)
  )
  const unsaved = new Map<Address, { readonly deployment: SeenDeployment; readonly proof: ProofOutcome }>()
  /** One reader or writer at a time: otherwise a slow read could replace a record that was stored meanwhile. */
  const turns = yield* Semaphore.make(1)

  const saveAll = Effect.fnUntraced(function* (genesisHash: string) {
    for (const [programId, one] of Array.from(unsaved)) {
      const record = yield* store.save(genesisHash, one.deployment, one.proof)
      if (unsaved.get(programId) === one) {
        unsaved.delete(programId)
        watched.set(programId, { record })
      }
    }
  })

  return {
    /** Stores the pending proofs, then reads every record. */
    read: Effect.gen(function* () {
      const hash = yield* genesis
      yield* saveAll(hash)
      const records = yield* store.records(hash, watched.seen())
      records.forEach((record, programId) => {
        // A proof that arrived meanwhile is newer than the record.
        if (!unsaved.has(programId)) {
          watched.set(programId, { record })
        }
      })
    }).pipe(turns.withPermit),
    /** Applies a proof in memory, unless a later deployment is known, and keeps it until it is stored. */
    add: (deployment: SeenDeployment, proof: ProofOutcome) => {
      const { programId, slot } = deployment
      const { knownSlot, soundSlot } = watched.recordOf(programId) ?? { knownSlot: null, soundSlot: null }
      if (knownSlot === null || (slot !== null && slot >= knownSlot)) {
        watched.set(programId, { record: { knownSlot: slot, soundSlot: proof.wrong === 0 ? slot : soundSlot, proof } })
      }
      unsaved.set(programId, { deployment, proof })
    },
    /** Stores the pending proofs. */
    save: Effect.flatMap(genesis, saveAll).pipe(turns.withPermit)
  }
})

/** Logs each state that needs the operator once. */
const makeLog = (watched: Watched) => {
  const reported = new Set<string>()
  return Effect.suspend(() => {
    const changed = watched.states().filter((state) => isAmiss(state) && !reported.has(JSON.stringify(state)))
    return Effect.forEach(
      changed,
      (state) => {
        const { deployedAtSlot, detail, dex } = state
        reported.add(JSON.stringify(state))
        return Effect.andThen(
          Effect.logWarning(`The prices of a program are ${state.state}`, { dex, deployedAtSlot, detail }),
          noteFailure(PROGRAMS, `${dex}: ${detail}`)
        )
      },
      { discard: true }
    )
  })
}

const make = Effect.gen(function* () {
  const feed = yield* ChainFeed
  const proofs = yield* VenueProofs
  const interval = yield* refresh
  const applied = yield* policy
  const watched = new Watched(yield* accepted)
  const records = yield* keepRecords(watched)
  const logChanges = makeLog(watched)
  const derive = makeDeriveAddress()
  const addresses = programs.flatMap(({ programId }) => [programId, programDataAddress(programId, derive)])

  const readDeployments = Effect.gen(function* () {
    const { accounts } = yield* feed.read(addresses, HEADER)
    for (const { programId } of programs) {
      watched.set(programId, { deployment: deploymentOf(programId, (address) => accounts.get(address)) })
    }
    watched.readAtMs = yield* Clock.currentTimeMillis
  })

  /**
   * Hands the proofs to the quotes. Without a recent read no proof counts, because programs may have been upgraded.
   */
  const publish = Effect.map(Clock.currentTimeMillis, (nowMs) => {
    const isRecent = watched.read(interval, nowMs).status === "known"
    proofs.replace(
      new Map(
        watched.all().map((known) => {
          const { dex, provenAtSlot } = programState(known)
          const refusal = refusalOf(applied, known, isRecent)
          return [dex, { provenAtSlot: isRecent ? provenAtSlot : null, refusal }]
        })
      )
    )
  })

  // Records are read even when deployments cannot be: only the records say which prices are wrong.
  const look = Effect.exit(readDeployments).pipe(
    Effect.flatMap((exit) => Effect.andThen(records.read, exit)),
    Effect.ensuring(Effect.andThen(publish, logChanges)),
    Effect.as(interval),
    Effect.catchTag(["ChainUnavailable", "ProofStoreUnavailable"], (error) =>
      Effect.as(noteFailure(PROGRAMS, error), Duration.min(RETRY, interval))
    )
  )

  // A recorded market never changes, and has no programs.
  if (feed.freshness().state !== "recorded") {
    yield* reportWatch(watched, interval)
    const first = yield* keepGoing("The first look at the deployments of programs")(
      Effect.timeoutOption(look, FIRST_READ)
    )
    yield* Effect.sleep(Option.getOrElse(first ?? Option.none(), () => Duration.zero)).pipe(
      Effect.andThen(Effect.forever(Effect.flatMap(look, (pause) => Effect.sleep(pause)))),
      keepRunning("Watching the deployments of programs", PROGRAMS),
      Effect.forkScoped
    )
  }

  return ProgramWatch.of({
    known: () => watched.all(),
    states: () => watched.states(),
    setObstacle: (programId, obstacle) => watched.set(programId, { obstacle }),
    proved: Effect.fnUntraced(function* (deployment, proof) {
      records.add(deployment, proof)
      yield* Effect.andThen(publish, logChanges)
      yield* records.save.pipe(
        Effect.andThen(publish),
        Effect.catchTag(["ChainUnavailable", "ProofStoreUnavailable"], (error) =>
          Effect.andThen(
            Effect.logWarning("A proof is not stored yet", { programId: deployment.programId }, error),
            noteFailure(PROGRAMS, error)
          )
        )
      )
    })
  })
})
