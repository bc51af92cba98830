/** Builds the report of a transaction from two responses of a node. */
import { Schema } from "effect"
import type { Signature } from "../../domain/Signature.ts"
import type { TransactionReport } from "../../api/schemas/TransactionReport.ts"
import { Slot } from "./accountJson.ts"
import { Commitment } from "../Commitment.ts"
import { transactionFailure } from "./transactionFailure.ts"

const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
const perhaps = <S extends Schema.Constraint>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))

/** The progress of a transaction in the cluster: an element of `getSignatureStatuses`. */
export const SignatureStatus = Schema.Struct({
  slot: Slot,
  confirmations: Schema.NullOr(Count),
  err: Schema.Unknown,
  confirmationStatus: perhaps(Commitment)
})
export type SignatureStatus = typeof SignatureStatus.Type

/** The used fields of `getTransaction`. */
export const TransactionFacts = Schema.Struct({
  slot: Slot,
  blockTime: perhaps(Schema.Int),
  meta: Schema.NullOr(
    Schema.Struct({
      fee: Count,
      computeUnitsConsumed: perhaps(Count),
      logMessages: perhaps(Schema.Array(Schema.String))
    })
  )
})
export type TransactionFacts = typeof TransactionFacts.Type

/** The commitment of a transaction. Where the node omits it, the count of confirmations decides. */
export const commitmentOf = ({ confirmationStatus, confirmations }: SignatureStatus): Commitment =>
  confirmationStatus ?? (confirmations === null ? "finalized" : confirmations > 0 ? "confirmed" : "processed")

/** Builds the report. Missing facts are null. So are facts from another slot, because they belong to another fork. */
export const transactionReport = (
  id: Signature,
  status: SignatureStatus,
  found: TransactionFacts | null,
  observedAtMs: number
): TransactionReport => {
  const { confirmations, err, slot } = status
  const commitment = commitmentOf(status)
  const facts = found?.slot === slot ? found : null
  const failed = err !== null
  const { blockTime = null, meta = null } = facts ?? {}
  return {
    id,
    chain: "solana",
    state: failed ? "failed" : commitment,
    terminal: commitment === "finalized",
    slot,
    blockTimeMs: blockTime === null ? null : blockTime * 1000,
    confirmations: commitment === "finalized" ? null : confirmations,
    feeLamports: meta === null ? null : BigInt(meta.fee),
    computeUnits: meta?.computeUnitsConsumed ?? null,
    error: failed ? transactionFailure(err, meta?.logMessages ?? []) : null,
    observedAtMs
  }
}
