import type { TokenFacts } from "../domain/market/Token.ts"
import type { Commitment } from "../solana/Commitment.ts"
import type { MintFacts } from "./mintAccount.ts"
import { isFresh, proofOf } from "./risk.ts"
import type { Observation } from "./TokenCache.ts"

/** An observation of a mint; facts are null where a recording omits its account. */
export interface ObservedMint {
  readonly facts: MintFacts | null
  readonly observation: Observation
  readonly commitment: Commitment
}

/** Authorities of a token, where a current proof exists by the rules of the risk signals. */
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
