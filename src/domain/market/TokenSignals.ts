import { Schema } from "effect"
import { Address } from "../Address.ts"
import { Atomic } from "../Amount.ts"
import { Decimal, Scalar } from "../Scalar.ts"

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

/** Observations that a signal is computed from. */
export class SignalProof extends Schema.Opaque<SignalProof>()(
  Schema.Struct({
    slot: Schema.NullOr(Schema.Int).annotate({ description: "Slot of the amounts." }),
    part: Schema.NullOr(Atomic).annotate({ description: "Units of the part that is measured." }),
    total: Schema.NullOr(Atomic).annotate({ description: "Units of the whole." }),
    addresses: Schema.Array(Address).annotate({
      description:
        "`creator_share`: the creator. `bundled_buyers`: the wallets that bought together. `lp_not_burnt`: the pool and the mint of its " +
        "LP tokens. Else empty."
    }),
    signatures: Schema.Array(Schema.String).annotate({
      description: "`bundled_buyers`: transactions of the purchases. Else empty."
    })
  }).annotate({ identifier: "SignalProof", description: "Observations that a signal is computed from." })
) {}

/** One measured signal. */
export class RiskSignal extends Schema.Opaque<RiskSignal>()(
  Schema.Struct({
    code: SignalCode.annotate({
      description:
        "`top10_concentration`, `top50_concentration`: part held by the largest owners that are no pool, curve or burn address. " +
        "`creator_share`: part held by the wallet that the launchpad names as creator. `bundled_buyers`: part held by wallets that " +
        "bought in the same slot, at the time of the creation, without the creator. `lp_not_burnt`: part of the LP tokens of the " +
        "largest pool that is not burnt; it may be locked."
    }),
    state: Schema.Literals(["present", "absent", "unknown"]).annotate({
      description:
        "`present` from the threshold on. `unknown`, which is not in the token's favour, unless the measure is known whole."
    }),
    severity: Schema.Literals(["warning", "info"]).annotate({
      description: "Weight of the signal when present; its absence promises nothing."
    }),
    measure: Scalar.annotate({ description: "The part in percent, with its time of observation and its expiry." }),
    thresholdPct: Decimal.annotate({ description: "Percentage from which on the signal is present." }),
    source: Schema.Literals(["token-accounts", "launch-trades", "lp-mint", "none"]).annotate({
      description: "Observations used; `none` where there are none."
    }),
    methodVersion: Schema.Literal("public-signals-v1"),
    proof: Schema.NullOr(SignalProof).annotate({ description: "Null where nothing is known." })
  }).annotate({ identifier: "RiskSignal", description: "One measured signal, and what it rests on." })
) {}
