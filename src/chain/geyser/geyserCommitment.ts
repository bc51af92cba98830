import { blockCommitment, type Commitment } from "../Commitment.ts"

/** The number of a commitment, for streams and for the status of slots: 1 is confirmed, 2 is finalized. */
export const geyserCommitment = (commitment: Commitment): number =>
  blockCommitment(commitment) === "finalized" ? 2 : 1
