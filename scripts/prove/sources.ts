/** The source of programs and pools for a proof: a node, or a folder. */
import type { Address } from "../../src/domain/Address.ts"
import type { DeployedProgram } from "../../src/proofs/deployment.ts"
import type { PoolSnapshot } from "../../src/proofs/execution/poolSnapshot.ts"
import type { Venue } from "../../src/proofs/execution/swapVenues.ts"

/** Programs and pools of one chain. Each method throws with the reason when there is nothing to give. */
export interface ProofSource {
  readonly program: (programId: Address) => Promise<DeployedProgram>
  /** Up to so many pools, each with all accounts at one slot. Empty when none is found. */
  readonly pools: (venue: Venue, count: number) => Promise<ReadonlyArray<PoolSnapshot>>
}
