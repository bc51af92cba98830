/** Watches the deployments of the quoted programs, because a price that was exact may be wrong once its program is upgraded. */
import { Clock, type Config, Context, Duration, Effect, Layer } from "effect"
import type { Address } from "../domain/Address.ts"
import type { ProgramState } from "../domain/market/ProgramState.ts"
import { keepRunning } from "../health/keepRunning.ts"
import { Readings } from "../health/Readings.ts"
import { noteFailure, SourceMonitor, type SourceState, stateByAge } from "../health/SourceMonitor.ts"
import type { Program } from "../programs/Program.ts"
import { programs } from "../programs/registry.ts"
import { VenueProofs } from "../quotes/VenueProofs.ts"
import { ChainFeed } from "../solana/accounts/ChainFeed.ts"
import { makeDeriveAddress } from "../solana/programAddress.ts"
import { TransactionHistory } from "../solana/rpc/TransactionHistory.ts"
import { deploymentOf, HEADER, programDataAddress } from "./deployment.ts"
import { deploymentSlot, isAmiss, type KnownProgram, programState } from "./programState.ts"
import { accepted, policy, refresh } from "./proofSettings.ts"
import { ProofStore, type ProofStoreUnavailable, type ProofOutcome, type SeenDeployment } from "./ProofStore.ts"

/** Name of the deployments among the sources. */
export const PROGRAMS = "programs"

/** Reads that may fail in a row before the states count as stale. */
const MISSED_READS = 3
/** After a read that failed. */
const RETRY = Duration.seconds(10)

const STATES = ["unchanged", "proven", "unproven", "wrong", "unknown"] as const satisfies ReadonlyArray<
  ProgramState["state"]
>

/** A watched program, its deployment and its record. */
export interface WatchedProgram extends KnownProgram {
  readonly program: Program
}

/** The deployments of the quoted programs. */
export class ProgramWatch extends Context.Service<
  ProgramWatch,
  {
    /** Every quoted program, in the order of the registry. */
    readonly known: () => ReadonlyArray<WatchedProgram>
    /** Their states, in the same order. */
    readonly states: () => ReadonlyArray<ProgramState>
    /** Notes the reason for which a program cannot be proven here; null when it can. */
    readonly setObstacle: (programId: Address, obstacle: string | null) => void
    /** Stores the proof of a deployment. */
    proved(deployment: SeenDeployment, proof: ProofOutcome): Effect.Effect<void, ProofStoreUnavailable>
  }
>()("fathom/proofs/ProgramWatch") {
  /** Reads the headers of the programs' accounts with one call every `PROGRAM_REFRESH` (60 s). */
  static readonly layer: Layer.Layer<ProgramWatch, Config.ConfigError, ChainFeed | ProofStore | TransactionHistory> =
    Layer.effect(
      ProgramWatch,
      Effect.suspend(() => make)
    )
}

/** The known programs, and the time at which the node was last asked. */
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

  set(programId: Address, change: Partial<KnownProgram>): void {
    const known = this.#programs.get(programId)
    if (known !== undefined) {
      this.#programs.set(programId, { ...known, ...change })
    }
  }

  /** Programs that are deployed, with the slots of their deployments. */
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
    const read = stateByAge(watched.readAtMs, MISSED_READS * Duration.toMillis(interval), nowMs)
    return { ...read, ...(read.status === "known" && states.some(isAmiss) && { status: "partial" }), programs: states }
  })
  yield* readings.report(
    {
      name: "fathom_program_state",
      help: "1 for the state that the prices of a program are in, 0 for the others.",
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
      help: "1 while the deployment of a program is another than the one that was proven last or seen first; absent while unknown.",
      kind: "gauge"
    },
    () =>
      watched
        .states()
        .flatMap(({ dex, upgraded }) => (upgraded === null ? [] : [{ value: upgraded ? 1 : 0, labels: { dex } }]))
  )
})

const make = Effect.gen(function* () {
  const feed = yield* ChainFeed
  const history = yield* TransactionHistory
  const store = yield* ProofStore
  const proofs = yield* VenueProofs
  const interval = yield* refresh
  const refuses = (yield* policy) === "refuse"
  const watched = new Watched(yield* accepted)
  const derive = makeDeriveAddress()
  const addresses = programs.flatMap(({ programId }) => [programId, programDataAddress(programId, derive)])
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

  const readDeployments = Effect.gen(function* () {
    const { accounts } = yield* feed.read(addresses, HEADER)
    for (const { programId } of programs) {
      watched.set(programId, { deployment: deploymentOf(programId, (address) => accounts.get(address)) })
    }
    watched.readAtMs = yield* Clock.currentTimeMillis
  })

  const readRecords = Effect.gen(function* () {
    const seen = watched.seen()
    const records = seen.length === 0 ? new Map() : yield* store.records(yield* genesis, seen)
    records.forEach((record, programId) => watched.set(programId, { record }))
  })

  /** Hands the proofs to quotes. */
  const publish = Effect.sync(() =>
    proofs.replace(
      new Map(
        watched.states().map(({ detail, dex, provenAtSlot, state }) => {
          const refusal = refuses && state === "wrong" ? `its prices were found wrong: ${detail}` : null
          return [dex, { provenAtSlot, refusal }]
        })
      )
    )
  )

  /** Logs each upgrade once. */
  const reported = new Set<string>()
  const tell = Effect.suspend(() => {
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

  const look = readDeployments.pipe(
    Effect.andThen(readRecords),
    Effect.ensuring(Effect.andThen(publish, tell)),
    Effect.as(interval),
    Effect.catchTag(["ChainUnavailable", "ProofStoreUnavailable"], (error) =>
      Effect.as(noteFailure(PROGRAMS, error), Duration.min(RETRY, interval))
    )
  )

  // A recorded market never changes, and has no programs.
  if (feed.freshness().state !== "recorded") {
    yield* reportWatch(watched, interval)
    yield* Effect.flatMap(look, (pause) => Effect.sleep(pause)).pipe(
      Effect.forever,
      keepRunning("Watching the deployments of programs", PROGRAMS),
      Effect.forkScoped
    )
  }

  return ProgramWatch.of({
    known: () => watched.all(),
    states: () => watched.states(),
    setObstacle: (programId, obstacle) => watched.set(programId, { obstacle }),
    proved: (deployment, proof) =>
      Effect.gen(function* () {
        yield* store.save(yield* Effect.orDie(genesis), deployment, proof)
        watched.set(deployment.programId, { record: { knownSlot: deployment.slot, proof } })
        yield* Effect.andThen(publish, tell)
      })
  })
})
