import { Schema } from "effect"
import { Address } from "../../domain/Address.ts"
import { Atomic } from "../../domain/Amount.ts"
import { Decimal, Scalar } from "../../domain/Scalar.ts"
import { TokenRef } from "./Token.ts"
import { field } from "../../domain/field.ts"
import { amount } from "./fields.ts"

/** Kinds of owners. Concentrations leave out pools, curves and burn addresses. */
export const HolderKind = Schema.Literals(["owner", "pool", "curve", "burn"])
export type HolderKind = typeof HolderKind.Type

export class HolderRow extends Schema.Opaque<HolderRow>()(
  Schema.Struct({
    owner: field(Address, "The owner of token accounts: a wallet, or an address of a program."),
    amount,
    sharePct: field(
      Schema.NullOr(Decimal),
      "Share of all held units, in percent, to 15 digits; null when it is too small to be written."
    ),
    kind: field(HolderKind, "`pool`, `curve` or `burn` for known addresses, otherwise `owner`.")
  }).annotate({ identifier: "HolderRow", description: "One owner of a token." })
) {}

/** Fields of the holders of one token. */
export const holderFields = {
  state: field(
    Schema.Literals(["followed", "backfill_running", "unavailable"]),
    "`followed`: every block updates the figures. `backfill_running`: the accounts are being read. `unavailable`: they cannot " +
      "be read; `holders` has the reason."
  ),
  retryAfterMs: field(
    Schema.NullOr(Schema.Int),
    "Estimated milliseconds until there are figures; null when there are figures, and when none are expected."
  ),
  slot: field(Schema.NullOr(Schema.Int), "Slot of the figures; null while there are none."),
  holders: field(Scalar, "Number of owners with a balance above zero."),
  heldAmount: field(Schema.NullOr(Atomic), "Units in all token accounts; null when unknown."),
  top10Pct: field(Scalar, "Share held by the ten largest owners, without pools, curves and burn addresses."),
  top50Pct: field(Scalar, "Share held by the fifty largest owners, without pools, curves and burn addresses."),
  excludedPct: field(Scalar, "Share held by pools, curves and burn addresses."),
  top: field(
    Schema.NullOr(Schema.Array(HolderRow)),
    "The largest owners of any kind, largest first; null when unknown."
  )
}

const figures = Schema.Struct(holderFields)

/** The holders of one token, without its name. */
export type HolderFigures = typeof figures.Type

export class TokenHolders extends Schema.Opaque<TokenHolders>()(
  Schema.Struct({ token: TokenRef, ...holderFields }).annotate({
    identifier: "TokenHolders",
    description: "Holders of one token."
  })
) {}
