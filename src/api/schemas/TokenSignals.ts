import { Schema } from "effect"
import { Address } from "../../domain/Address.ts"
import { Atomic } from "../../domain/Amount.ts"
import { Decimal, Scalar } from "../../domain/Scalar.ts"
import { field } from "../../domain/field.ts"
import { methodVersion } from "./fields.ts"

/** Every measured signal, in the order of the answer. */
export const signalCodes = [
  "top10_concentration",
  "top50_concentration",
  "creator_share",
  "bundled_buyers",
  "lp_not_burnt"
] as const

/** Codes of measured signals. */
export const SignalCode = Schema.Literals(signalCodes)
export type SignalCode = typeof SignalCode.Type

export class SignalProof extends Schema.Opaque<SignalProof>()(
  Schema.Struct({
    slot: field(Schema.NullOr(Schema.Int), "Slot of the amounts."),
    part: field(Schema.NullOr(Atomic), "Units of the measured part."),
    total: field(Schema.NullOr(Atomic), "Units of the whole."),
    addresses: field(
      Schema.Array(Address),
      "`creator_share`: the creator. `bundled_buyers`: the wallets that bought together. `lp_not_burnt`: the pool and the mint of its " +
        "LP tokens. Otherwise empty."
    ),
    signatures: field(
      Schema.Array(Schema.String),
      "`bundled_buyers`: the transactions of the purchases. Otherwise empty."
    )
  }).annotate({ identifier: "SignalProof", description: "Observations behind a signal." })
) {}

export class RiskSignal extends Schema.Opaque<RiskSignal>()(
  Schema.Struct({
    code: field(
      SignalCode,
      "`top10_concentration`, `top50_concentration`: share held by the largest owners, without pools, curves and burn addresses. " +
        "`creator_share`: share held by the wallet that the launchpad names as creator. `bundled_buyers`: share held by wallets other than " +
        "the creator that bought in the slot of the creation. `lp_not_burnt`: share of the LP tokens of the " +
        "largest pool that is not burnt; it may be locked."
    ),
    state: field(
      Schema.Literals(["present", "absent", "unknown"]),
      "`present` from the threshold on. `unknown`, which does not speak for the token, unless the measure is fully known."
    ),
    severity: field(
      Schema.Literals(["warning", "info"]),
      "Weight of the signal when it is present. Its absence promises nothing."
    ),
    measure: field(Scalar, "The share in percent, with its time of observation and its expiry."),
    thresholdPct: field(Decimal, "Percentage from which the signal is present."),
    source: field(
      Schema.Literals(["token-accounts", "launch-trades", "lp-mint", "none"]),
      "Which observations were used; `none` without any."
    ),
    methodVersion: methodVersion("public-signals-v1"),
    proof: field(Schema.NullOr(SignalProof), "The observations; null when nothing is known.")
  }).annotate({ identifier: "RiskSignal", description: "One measured signal, and what it rests on." })
) {}
