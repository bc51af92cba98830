import { Context, type Effect, Schema } from "effect"
import type { Address } from "../../domain/Address.ts"

/** Outcome of the last proof of a deployment. */
export interface ProofOutcome {
  /** Newest slot of the state that the swaps ran on. */
  readonly slot: number
  /** When the proof ended, in milliseconds since the Unix epoch. */
  readonly atMs: number
  /** SHA-256 of the program's bytes, in hex. */
  readonly sha256: string
  readonly pools: number
  /** Executed swaps that paid exactly their quote. */
  readonly exact: number
  /** Swaps without a quote, whether they were executed or not. */
  readonly refused: number
  /** Swaps that paid something else than their quote, or that failed although they were quoted. */
  readonly wrong: number
}

/** What is stored about a program. */
export interface ProofRecord {
  /**
   * Slot of the last proven deployment, or of the first one seen when there is no proof. Null under a loader that
   * keeps no slot.
   */
  readonly knownSlot: number | null
  /**
   * Slot of the last deployment without a wrong swap: proven, or seen first. Null when there is none, and under a
   * loader that keeps no slot.
   */
  readonly soundSlot: number | null
  /** Proof of that deployment; null when there is none. */
  readonly proof: ProofOutcome | null
}

/** A program and the slot of its deployment as the node reports it. */
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

/** Deployments and proofs of programs, separately for each chain. Chains are named by genesis hash. */
export class ProofStore extends Context.Service<
  ProofStore,
  {
    /** The records of a chain. A program without a record first gets one with the deployment that was seen. */
    records(
      genesis: string,
      seen: ReadonlyArray<SeenDeployment>
    ): Effect.Effect<ReadonlyMap<Address, ProofRecord>, ProofStoreUnavailable>
    /**
     * Stores a proof and makes its deployment the known one, unless a later deployment is known. Returns the stored
     * record.
     */
    save(
      genesis: string,
      deployment: SeenDeployment,
      proof: ProofOutcome
    ): Effect.Effect<ProofRecord, ProofStoreUnavailable>
  }
>()("fathom/quotes/execution/ProofStore") {}
