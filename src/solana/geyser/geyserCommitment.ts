import { blockCommitment, type Commitment } from "../Commitment.ts"

/** The number of the commitment of a stream, and of the status of a slot that has it: 1 is confirmed, 2 finalized. */
export const geyserCommitment = (commitment: Commitment): number =>
  blockCommitment(commitment) === "finalized" ? 2 : 1
