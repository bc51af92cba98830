import { Schema } from "effect"

/** How final the data of a node is. `processed` may be rolled back. */
export const Commitment = Schema.Literals(["processed", "confirmed", "finalized"])
export type Commitment = typeof Commitment.Type

/** The commitment of block requests. Nodes only serve blocks that are at least `confirmed`. */
export const blockCommitment = (commitment: Commitment): Commitment =>
  commitment === "finalized" ? "finalized" : "confirmed"
