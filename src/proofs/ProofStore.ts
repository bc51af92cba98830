import { Context, type Effect, Schema } from "effect"
import type { Address } from "../domain/Address.ts"

/** Outcome of the last proof of a deployment. */
export interface ProofOutcome {
  /** Slot of the newest state that swaps were executed on. */
  readonly slot: number
  /** Its end, in milliseconds since the Unix epoch. */
  readonly atMs: number
  /** SHA-256 of the program's bytes, in hex. */
  readonly sha256: string
  readonly pools: number
  /** Executed swaps that paid what is quoted. */
  readonly exact: number
  /** Swaps that are not quoted, or neither quoted nor executed. */
  readonly refused: number
  /** Swaps that paid another amount than is quoted, or that are quoted and were not executed. */
  readonly wrong: number
}

/** The stored state of a program. */
export interface ProofRecord {
  /** Slot of the deployment that was proven last or, without a proof, seen first; null under a loader that keeps none. */
  readonly knownSlot: number | null
  /** The proof of that deployment; null where there is none. */
  readonly proof: ProofOutcome | null
}

/** A program and the slot of its deployment. */
export interface SeenDeployment {
  readonly programId: Address
  readonly slot: number | null
}

/** The store did not answer in time, or failed. */
export class ProofStoreUnavailable extends Schema.TaggedError<ProofStoreUnavailable>()("ProofStoreUnavailable", {
  cause: Schema.Defect()
}) {
  override get message(): string {
    return "the store of proofs does not answer"
  }
}

/** Deployments and proofs of programs, by the genesis hash of their chain. */
export class ProofStore extends Context.Service<
  ProofStore,
  {
    /** The records of a chain. Deployments of programs without a record become known to it first. */
    records(
      genesis: string,
      seen: ReadonlyArray<SeenDeployment>
    ): Effect.Effect<ReadonlyMap<Address, ProofRecord>, ProofStoreUnavailable>
    /** Stores the proof of a deployment, which is then the known one, unless a later one is. Returns the record as it is then. */
    save(
      genesis: string,
      deployment: SeenDeployment,
      proof: ProofOutcome
    ): Effect.Effect<ProofRecord, ProofStoreUnavailable>
  }
>()("fathom/proofs/ProofStore") {}
