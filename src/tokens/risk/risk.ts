/** Risk signals of a token from the audit of its mint. */
import type { Mint } from "../../domain/Address.ts"
import { COMPLETE, incomplete } from "../../domain/Scalar.ts"
import { type RiskCode, riskCodes, type RiskFacts, type RiskTag, type TokenRisk } from "../../api/schemas/TokenRisk.ts"
import type { MintAudit } from "../AuditReader.ts"
import { AUTHORITY_FRESH_MS, isFresh, type Proof, proofOf } from "../authorities.ts"

/** Severity of each signal when present. */
const severities: Readonly<Record<RiskCode, RiskTag["severity"]>> = {
  mint_authority_active: "warning",
  freeze_authority_active: "warning",
  concentrated_top10: "warning",
  developer_holding: "info",
  developer_sold_all: "info",
  sniper_holding: "warning",
  insider_holding: "warning",
  bundled_holding: "warning",
  suspected_wash_volume: "warning",
  lp_not_burned: "warning"
}

const unknownTag = (code: RiskCode): RiskTag => ({
  code,
  state: "unknown",
  severity: severities[code],
  value: null,
  unit: "boolean",
  status: "unavailable",
  source: "none",
  methodVersion: "public-token-v1",
  observedAtMs: null,
  staleAfterMs: null,
  coverage: incomplete("not_captured")
})

const authorityTag = (code: RiskCode, proof: Proof | null, isActive: boolean, nowMs: number): RiskTag => {
  const unknown: RiskTag = { ...unknownTag(code), source: "mint-account" }
  if (proof === null) {
    return unknown
  }
  const observed = { observedAtMs: proof.observedAtMs, staleAfterMs: AUTHORITY_FRESH_MS }
  return isFresh(proof, nowMs)
    ? {
        ...unknown,
        ...observed,
        state: isActive ? "present" : "absent",
        value: isActive,
        status: "known",
        coverage: COMPLETE
      }
    : { ...unknown, ...observed, status: "stale", coverage: incomplete("source_stale") }
}

const tagOf = (code: RiskCode, proof: Proof | null, nowMs: number): RiskTag => {
  switch (code) {
    case "mint_authority_active":
      return authorityTag(code, proof, proof?.mintAuthority !== null, nowMs)
    case "freeze_authority_active":
      return authorityTag(code, proof, proof?.freezeAuthority !== null, nowMs)
    default:
      // Holders and traders of a token are not observed.
      return unknownTag(code)
  }
}

const factsOf = (tags: ReadonlyArray<RiskTag>): RiskFacts => {
  const valueOf = (code: RiskCode) => tags.find((tag) => tag.code === code)?.value ?? null
  return {
    mint_authority_active: valueOf("mint_authority_active"),
    freeze_authority_active: valueOf("freeze_authority_active"),
    concentrated_top10: valueOf("concentrated_top10"),
    developer_holding: valueOf("developer_holding"),
    developer_sold_all: valueOf("developer_sold_all"),
    sniper_holding: valueOf("sniper_holding"),
    insider_holding: valueOf("insider_holding"),
    bundled_holding: valueOf("bundled_holding"),
    suspected_wash_volume: valueOf("suspected_wash_volume"),
    lp_not_burned: valueOf("lp_not_burned")
  }
}

/** Every tag of the token as of `nowMs`; all unknown without a sufficient audit. */
export const riskOf = (address: Mint, audit: MintAudit | null, nowMs: number): Omit<TokenRisk, "signals"> => {
  const proof = proofOf(audit)
  const tags = riskCodes.map((code) => tagOf(code, proof, nowMs))
  return { chain: "solana", address, modelVersion: "public-risk-v1", facts: factsOf(tags), tags }
}
