import { Schema } from "effect"
import { Address } from "../../domain/Address.ts"
import { Atomic } from "../../domain/Amount.ts"
import { Decimal, Scalar } from "../../domain/Scalar.ts"
import { TokenRef } from "./Token.ts"
import { field } from "../../domain/field.ts"
import { amount, mint } from "./fields.ts"

/** Kinds of owners. Concentrations leave out pools, curves and burn addresses. */
export const HolderKind = Schema.Literals(["owner", "pool", "curve", "burn"])
export type HolderKind = typeof HolderKind.Type

/** What an owner traded of the token, as far as memory knows. */
export const HolderTrading = Schema.Struct({
  buys: field(Schema.Int, "Number of purchases."),
  sells: field(Schema.Int, "Number of sales."),
  boughtUsd: field(Schema.NullOr(Decimal), "Value of the purchases; null while the value of a purchase is unknown."),
  soldUsd: field(Schema.NullOr(Decimal), "Value of the sales; null while the value of a sale is unknown."),
  realizedUsd: field(
    Schema.NullOr(Decimal),
    "Proceeds of the sales minus the average cost of the sold units; null while a cost or a value is unknown."
  ),
  lastTradeAtMs: field(Schema.Int, "Time of the last trade, in milliseconds since the Unix epoch.")
}).annotate({ identifier: "HolderTrading", description: "What a holder traded of the token." })

export class HolderRow extends Schema.Opaque<HolderRow>()(
  Schema.Struct({
    owner: field(Address, "The owner of token accounts: a wallet, or an address of a program."),
    amount,
    sharePct: field(
      Schema.NullOr(Decimal),
      "Share of all held units, in percent, to 15 digits; null when it is too small to be written."
    ),
    kind: field(HolderKind, "`pool`, `curve` or `burn` for known addresses, otherwise `owner`."),
    tags: field(
      Schema.NullOr(Schema.Array(Schema.String)),
      "What is known of the owner: `creator` of the token, and the labels and tags of its identity, as in wallet summaries. Null while identities cannot be read."
    ),
    observed: field(
      Schema.NullOr(HolderTrading),
      "The owner's net trades of the token in memory; null when none is. Units that it received otherwise are not in it."
    )
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

const { top: _top, retryAfterMs: _retryAfterMs, excludedPct: _excludedPct, ...counted } = holderFields

export class LiveHolders extends Schema.Opaque<LiveHolders>()(
  Schema.Struct({ mint, ...counted }).annotate({
    identifier: "LiveHolders",
    description: "Number of holders and concentration of a token."
  })
) {}

const HeldUnits = Atomic.pipe(
  Schema.annotateEncoded({ identifier: "HeldUnits", description: "Units in all token accounts." })
)

/** Holders and concentration in one hour. */
export class HolderHour extends Schema.Opaque<HolderHour>()(
  Schema.Struct({
    hourMs: field(Schema.Int, "Beginning of the hour, in milliseconds since the Unix epoch."),
    atMs: field(Schema.Int, "When the figures were taken: the time of their newest block, in the hour."),
    slot: field(Schema.Int, "Slot of their newest block."),
    holders: field(Schema.Int, "Number of owners with a balance above zero."),
    heldAmount: HeldUnits,
    top10Pct: field(
      Schema.NullOr(Decimal),
      "Share held by the ten largest owners, as in the holders; null when nothing was held."
    ),
    top50Pct: field(
      Schema.NullOr(Decimal),
      "Share held by the fifty largest owners, as in the holders; null when nothing was held."
    ),
    excludedPct: field(
      Schema.NullOr(Decimal),
      "Share held by pools, curves and burn addresses; null when nothing was held."
    ),
    poolsKnown: field(
      Schema.Boolean,
      "False when pools may have been missing, so that the shares of the largest owners may include a pool."
    )
  }).annotate({ identifier: "HolderHour", description: "Holders of a token in one hour." })
) {}

const figures = Schema.Struct(holderFields)

/** The holders of one token, without its name. */
export type HolderFigures = typeof figures.Type

export class TokenHolders extends Schema.Opaque<TokenHolders>()(
  Schema.Struct({ token: TokenRef, ...holderFields }).annotate({
    identifier: "TokenHolders",
    description: "Holders of one token."
  })
) {}
