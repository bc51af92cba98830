import { Schema } from "effect"
import { Address } from "../../domain/Address.ts"
import { Coverage, Status } from "../../domain/Scalar.ts"
import { RiskSignal } from "./TokenSignals.ts"
import { field } from "../../domain/field.ts"
import { chain, methodVersion } from "./fields.ts"

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

/** Each signal as a fact. Null means unknown, which does not speak for the token. */
export const RiskFacts = Schema.Struct({
  mint_authority_active: field(Fact, "True when more may be minted; null when unknown."),
  freeze_authority_active: field(Fact, "True when balances may be frozen; null when unknown."),
  concentrated_top10: field(Fact, "True when ten wallets hold a large share; null when unknown."),
  developer_holding: field(Fact, "True when the developer holds the token; null when unknown."),
  developer_sold_all: field(Fact, "True when the developer has sold everything; null when unknown."),
  sniper_holding: field(Fact, "True when wallets that bought in the first blocks still hold; null when unknown."),
  insider_holding: field(Fact, "True when wallets close to the developer hold; null when unknown."),
  bundled_holding: field(Fact, "True when wallets that bought together at the launch hold; null when unknown."),
  suspected_wash_volume: field(
    Fact,
    "True when the volume looks like trades of a wallet with itself; null when unknown."
  ),
  lp_not_burned: field(Fact, "True when liquidity can be withdrawn; null when unknown.")
}).annotate({ identifier: "RiskFacts", description: "Each signal as a fact; null where it is not known." })
export type RiskFacts = typeof RiskFacts.Type

export class RiskTag extends Schema.Opaque<RiskTag>()(
  Schema.Struct({
    code: field(RiskCode, "Code of the signal."),
    state: field(
      Schema.Literals(["present", "absent", "unknown"]),
      "`present`, `absent`, or `unknown`, which does not speak for the token."
    ),
    severity: field(Schema.Literals(["warning", "info"]), "What the signal would mean. Its absence promises nothing."),
    value: field(Fact, "The signal as a fact; null when unknown."),
    unit: field(Schema.Literal("boolean"), "Always `boolean`."),
    status: Status,
    source: field(Schema.String, "The reader that observes the signal; `none` without one."),
    methodVersion: methodVersion("public-token-v1"),
    observedAtMs: field(Schema.NullOr(Schema.Int), "When the signal was observed on chain."),
    staleAfterMs: field(Schema.NullOr(Schema.Int), "How long an observation counts."),
    coverage: Coverage
  }).annotate({ identifier: "RiskTag", description: "One signal, and what it rests on." })
) {}

export class TokenRisk extends Schema.Opaque<TokenRisk>()(
  Schema.Struct({
    chain,
    address: field(Address, "Mint of the token: base58 of 32 bytes on Solana."),
    modelVersion: field(Schema.Literal("public-risk-v1"), "Version of the set of signals."),
    facts: RiskFacts,
    tags: field(Schema.Array(RiskTag), "The signals, each with what it rests on."),
    signals: field(Schema.Array(RiskSignal), "Measured signals beside the tags, each once and in a fixed order.")
  }).annotate({
    identifier: "TokenRisk",
    description: "Signals about one token. Neither a score nor a recommendation."
  })
) {}
