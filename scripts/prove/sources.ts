/** Where a proof gets programs and pools: a node or a folder. */
import type { Address } from "../../src/domain/Address.ts"
import type { DeployedProgram } from "../../src/quotes/execution/deployment.ts"
import type { PoolSnapshot } from "../../src/quotes/execution/poolSnapshot.ts"
import type { Venue } from "../../src/quotes/execution/swapVenue.ts"

/** Programs and pools of one chain. Each method throws with the reason when it has nothing to give. */
export interface ProofSource {
  readonly program: (programId: Address) => Promise<DeployedProgram>
  /** Up to `count` pools, each with all accounts at one slot. Empty when none is found. */
  readonly pools: (venue: Venue, count: number) => Promise<ReadonlyArray<PoolSnapshot>>
}
