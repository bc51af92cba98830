import { Schema } from "effect"
import { Address } from "../../domain/Address.ts"
import { Atomic } from "../../domain/Amount.ts"
import { type Coverage, Decimal, type Status } from "../../domain/Scalar.ts"
import { field } from "../../domain/field.ts"
import { amount, decimals, mint, slot } from "./fields.ts"

/** Side of a trade, seen from its token. */
export const TradeSide = Schema.Literals(["buy", "sell"]).annotate({
  identifier: "TradeSide",
  description: "`buy`: the wallet received the token. `sell`: it gave the token."
})

const money = (description: string) => Schema.NullOr(Decimal).annotate({ description })

export class TradeLeg extends Schema.Opaque<TradeLeg>()(
  Schema.Struct({
    mint,
    amount,
    decimals
  }).annotate({
    identifier: "TradeLeg",
    description: "Units of one mint that a pool received, or paid before a transfer fee."
  })
) {}

export class FrontEndFee extends Schema.Opaque<FrontEndFee>()(
  Schema.Struct({
    usd: money(
      "In USD, rounded down to a nano-dollar; 0 when nothing was paid, null when the price of SOL is unknown."
    ),
    lamports: field(Schema.NullOr(Atomic), "The fee in lamports; null unless all of it was paid in SOL.")
  }).annotate({ identifier: "FrontEndFee", description: "What the wallet paid its front end in addition to the swap." })
) {}

export class TokenTrade extends Schema.Opaque<TokenTrade>()(
  Schema.Struct({
    id: field(Schema.String, "Signature and index. The same trade has the same id on every page."),
    signature: field(Schema.String, "Signature of the transaction, as base58."),
    slot,
    index: field(Schema.Int, "Place of the trade in its slot. Slot and index give the order of the chain."),
    timeMs: field(Schema.Int, "Block time, in milliseconds since the Unix epoch."),
    side: field(TradeSide, "`buy`: the token was received. `sell`: the token was given."),
    wallet: field(Address, "Owner of the tokens, never a router."),
    pool: field(Schema.NullOr(Address), "Address of the pool; null when unknown."),
    dex: field(Schema.NullOr(Schema.String), "Venue label of the pool."),
    launchpad: field(Schema.NullOr(Schema.String), "The launchpad whose curve the pool is; null for other pools."),
    legs: field(
      Schema.Struct({
        token: TradeLeg,
        quote: field(
          Schema.NullOr(TradeLeg),
          "The SOL side of the trade; null for another mint, whose value is `volumeUsd`."
        )
      }),
      "Both sides of the trade."
    ),
    priceUsd: money("Price of one whole token in USD, at the SOL price of the block; null when unknown."),
    priceSol: money(
      "Price of one whole token in SOL; for a swap without SOL, at the SOL price of the block. Null when unknown."
    ),
    volumeUsd: money("Value of the swap, exact to a nano-dollar; null when unknown."),
    volumeSol: money("Value of the swap in SOL, rounded down to a lamport."),
    isWhole: field(
      Schema.Boolean,
      "True when this swap is all that the wallet exchanged in its instruction. False for a leg of a route."
    ),
    frontEndFee: field(
      Schema.NullOr(FrontEndFee),
      "The front end's fee; null for a leg of a route, because that fee belongs to the whole route."
    )
  }).annotate({ identifier: "TokenTrade", description: "One swap of one pool, seen from the token's side." })
) {}

/** A page of trades, and how well they are known. */
export interface TradePage<Place> {
  /** Newest first. */
  readonly trades: ReadonlyArray<TokenTrade>
  /** The place after which the next page begins; null at the end. */
  readonly next: Place | null
  /** Slot of the newest block that was searched. */
  readonly slot: number | null
  readonly observedAtMs: number | null
  readonly status: Status
  readonly coverage: Coverage
}
