import { Schema } from "effect"
import { Address } from "../Address.ts"
import { Coverage, Status } from "../Scalar.ts"
import { RiskSignal } from "./TokenSignals.ts"

/** Every signal, in the order of the answer. */
export const riskCodes = [
  "mint_authority_active",
  "freeze_authority_active",
  "concentrated_top10",
  "developer_holding",
  "developer_sold_all",
  "sniper_holding",
  "insider_holding",
  "bundled_holding",
  "suspected_wash_volume",
  "lp_not_burned"
] as const

/** Codes of signals on the wire. */
export const RiskCode = Schema.Literals(riskCodes)
export type RiskCode = typeof RiskCode.Type

const Fact = Schema.NullOr(Schema.Boolean)

/** Each signal as a fact; null when unknown, which is not in a token's favour. */
export const RiskFacts = Schema.Struct({
  mint_authority_active: Fact,
  freeze_authority_active: Fact,
  concentrated_top10: Fact,
  developer_holding: Fact,
  developer_sold_all: Fact,
  sniper_holding: Fact,
  insider_holding: Fact,
  bundled_holding: Fact,
  suspected_wash_volume: Fact,
  lp_not_burned: Fact
}).annotate({ identifier: "RiskFacts", description: "Each signal as a fact; null where it is not known." })
export type RiskFacts = typeof RiskFacts.Type

/** One signal, and what it rests on. */
export class RiskTag extends Schema.Opaque<RiskTag>()(
  Schema.Struct({
    code: RiskCode,
    state: Schema.Literals(["present", "absent", "unknown"]),
    severity: Schema.Literals(["warning", "info"]).annotate({
      description: "What the signal would mean; its absence promises nothing."
    }),
    value: Fact,
    unit: Schema.Literal("boolean"),
    status: Status,
    source: Schema.String.annotate({ description: "Which reader observed it; none where none does." }),
    methodVersion: Schema.Literal("public-token-v1"),
    observedAtMs: Schema.NullOr(Schema.Int).annotate({ description: "When it was observed on chain." }),
    staleAfterMs: Schema.NullOr(Schema.Int).annotate({ description: "How long an observation counts." }),
    coverage: Coverage
  }).annotate({ identifier: "RiskTag", description: "One signal, and what it rests on." })
) {}

/** Signals about one token. Neither a score nor permission to do anything. */
export class TokenRisk extends Schema.Opaque<TokenRisk>()(
  Schema.Struct({
    chain: Schema.Literal("solana"),
    address: Address,
    modelVersion: Schema.Literal("public-risk-v1"),
    facts: RiskFacts,
    tags: Schema.Array(RiskTag),
    signals: Schema.Array(RiskSignal).annotate({
      description: "Measured signals beside the tags, each once and in a fixed order."
    })
  }).annotate({
    identifier: "TokenRisk",
    description: "Signals about one token. Neither a score nor permission to do anything."
  })
) {}
