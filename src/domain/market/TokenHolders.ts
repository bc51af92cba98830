import { Schema } from "effect"
import { Address } from "../Address.ts"
import { Atomic } from "../Amount.ts"
import { Decimal, Scalar } from "../Scalar.ts"
import { TokenRef } from "./Token.ts"

/** Kinds of owners. Pools, curves and burn addresses are left out of concentrations. */
export const HolderKind = Schema.Literals(["owner", "pool", "curve", "burn"])
export type HolderKind = typeof HolderKind.Type

/** One owner of a token. */
export class HolderRow extends Schema.Opaque<HolderRow>()(
  Schema.Struct({
    owner: Address.annotate({ description: "The owner of token accounts: a wallet, or an address of a program." }),
    amount: Atomic,
    sharePct: Schema.NullOr(Decimal).annotate({
      description: "Part of what all owners hold, in percent, to 15 digits; null when it is too small to be written."
    }),
    kind: HolderKind.annotate({
      description: "`pool`, `curve` or `burn` where the address is known as such; else `owner`."
    })
  }).annotate({ identifier: "HolderRow", description: "One owner of a token." })
) {}

/** Fields of the holders of one token. */
export const holderFields = {
  state: Schema.Literals(["followed", "backfill_running", "unavailable"]).annotate({
    description:
      "`followed`: every block changes the figures. `backfill_running`: the accounts are being read. `unavailable`: they cannot " +
      "be read; the reason is that of `holders`."
  }),
  retryAfterMs: Schema.NullOr(Schema.Int).annotate({
    description: "Estimated milliseconds until there are figures; null where there are, and where none are expected."
  }),
  slot: Schema.NullOr(Schema.Int).annotate({ description: "Slot of the figures; null while there are none." }),
  holders: Scalar.annotate({ description: "Owners that hold more than nothing, counted." }),
  heldAmount: Schema.NullOr(Atomic).annotate({ description: "Units in all token accounts; null when unknown." }),
  top10Pct: Scalar.annotate({
    description: "Part held by the ten largest owners that are no pool, curve or burn address."
  }),
  top50Pct: Scalar.annotate({
    description: "Part held by the fifty largest owners that are no pool, curve or burn address."
  }),
  excludedPct: Scalar.annotate({ description: "Part held by pools, curves and burn addresses." }),
  top: Schema.NullOr(Schema.Array(HolderRow)).annotate({
    description: "The largest owners of any kind, the largest first; null when unknown."
  })
}

const figures = Schema.Struct(holderFields)

/** The holders of one token, without its name. */
export type HolderFigures = typeof figures.Type

/** Holders of one token. */
export class TokenHolders extends Schema.Opaque<TokenHolders>()(
  Schema.Struct({ token: TokenRef, ...holderFields }).annotate({
    identifier: "TokenHolders",
    description: "Holders of one token."
  })
) {}
