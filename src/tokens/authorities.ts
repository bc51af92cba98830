import type { TokenFacts } from "../api/schemas/Token.ts"
import type { Commitment } from "../chain/Commitment.ts"
import type { MintFacts } from "./mintAccount.ts"
import type { MintAudit } from "./AuditReader.ts"
import type { Observation } from "./TokenCache.ts"

/** Maximum age of an authority observation, in milliseconds; older ones count as stale. */
export const AUTHORITY_FRESH_MS = 86_400_000

/** An audit that is confirmed and dated, with a known slot and token program. */
export type Proof = MintAudit & { readonly observedAtMs: number }

/** The audit as a proof, whatever its age; null when it is insufficient. */
export const proofOf = (audit: MintAudit | null): Proof | null => {
  if (audit === null || audit.observedAtMs === null || audit.tokenProgram === null) {
    return null
  }
  const { commitment, observedAtMs, slot } = audit
  return commitment !== "processed" && slot > 0 && observedAtMs > 0 ? { ...audit, observedAtMs } : null
}

/** True if the proof is at most `AUTHORITY_FRESH_MS` old. */
export const isFresh = ({ observedAtMs }: Proof, nowMs: number): boolean => nowMs - observedAtMs <= AUTHORITY_FRESH_MS

/** An observation of a mint; facts are null where a recording omits its account. */
export interface ObservedMint {
  readonly facts: MintFacts | null
  readonly observation: Observation
  readonly commitment: Commitment
}

/** Authorities of a token, if a current proof exists by the rules of the risk signals. */
export const authoritiesOf = (
  { commitment, facts, observation }: ObservedMint,
  nowMs: number
): Pick<TokenFacts, "tokenProgram" | "mintAuthority" | "freezeAuthority" | "authoritiesKnown" | "extensions"> => {
  const proof = proofOf(facts === null ? null : { ...facts, ...observation, commitment })
  const authoritiesKnown = proof !== null && isFresh(proof, nowMs)
  return {
    tokenProgram: facts?.tokenProgram ?? null,
    mintAuthority: authoritiesKnown ? proof.mintAuthority : null,
    freezeAuthority: authoritiesKnown ? proof.freezeAuthority : null,
    authoritiesKnown,
    extensions: facts?.extensions ?? null
  }
}
