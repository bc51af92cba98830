import { Context, type Effect, Schema } from "effect"
import type { Address } from "../../domain/Address.ts"

/** Outcome of the last proof of a deployment. */
export interface ProofOutcome {
  /** Newest slot of the state that swaps were executed on. */
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
  /** Swaps that paid something else than their quote, or that were quoted and failed. */
  readonly wrong: number
}

/** The stored state of a program. */
export interface ProofRecord {
  /**
   * Slot of the deployment that was proven last, or seen first when there is no proof; null under a loader that keeps
   * no slot.
   */
  readonly knownSlot: number | null
  /** The proof of that deployment; null without one. */
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

/** Deployments and proofs of programs, by the genesis hash of the chain. */
export class ProofStore extends Context.Service<
  ProofStore,
  {
    /** The records of a chain. A program without a record is first recorded with the deployment that was seen. */
    records(
      genesis: string,
      seen: ReadonlyArray<SeenDeployment>
    ): Effect.Effect<ReadonlyMap<Address, ProofRecord>, ProofStoreUnavailable>
    /**
     * Stores the proof of a deployment, which then becomes the known one. Keeps a later deployment if one is known.
     * Returns the stored record.
     */
    save(
      genesis: string,
      deployment: SeenDeployment,
      proof: ProofOutcome
    ): Effect.Effect<ProofRecord, ProofStoreUnavailable>
  }
>()("fathom/quotes/execution/ProofStore") {}
