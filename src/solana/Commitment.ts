import { Schema } from "effect"

/** The commitment level of data from a node. `processed` may be rolled back. */
export const Commitment = Schema.Literals(["processed", "confirmed", "finalized"])
export type Commitment = typeof Commitment.Type

/** The commitment level for block requests: nodes serve blocks from `confirmed` on. */
export const blockCommitment = (commitment: Commitment): Commitment =>
  commitment === "finalized" ? "finalized" : "confirmed"
