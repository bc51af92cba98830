import { Schema } from "effect"
import { Address } from "../Address.ts"
import { Atomic } from "../Amount.ts"
import { type Coverage, Decimal, type Status } from "../Scalar.ts"

/** Side of a trade, seen from its token. */
export const TradeSide = Schema.Literals(["buy", "sell"]).annotate({
  identifier: "TradeSide",
  description: "`buy`: the wallet received the token. `sell`: it gave the token."
})

const money = (description: string) => Schema.NullOr(Decimal).annotate({ description })

/** Units of one mint that a swap exchanged. */
export class TradeLeg extends Schema.Opaque<TradeLeg>()(
  Schema.Struct({ mint: Address, amount: Atomic, decimals: Schema.NullOr(Schema.Int) }).annotate({
    identifier: "TradeLeg",
    description: "Units of one mint that a pool received or paid, before a transfer fee on what it paid."
  })
) {}

/** Payment to a front end beside a trade. */
export class FrontEndFee extends Schema.Opaque<FrontEndFee>()(
  Schema.Struct({
    usd: money(
      "In USD, rounded down to a nano-dollar; 0 when nothing was paid, null when the price of SOL is unknown."
    ),
    lamports: Schema.NullOr(Atomic).annotate({ description: "Null unless all of it was paid in SOL." })
  }).annotate({ identifier: "FrontEndFee", description: "What the wallet paid its front end beside the swap." })
) {}

/** One swap of one pool. */
export class TokenTrade extends Schema.Opaque<TokenTrade>()(
  Schema.Struct({
    id: Schema.String.annotate({ description: "Signature and index: the same trade has the same id on every page." }),
    signature: Schema.String.annotate({ description: "Transaction, base58." }),
    slot: Schema.Int,
    index: Schema.Int.annotate({ description: "Place in the slot: with the slot, the order of the chain." }),
    timeMs: Schema.Int.annotate({ description: "Block time." }),
    side: TradeSide,
    wallet: Address.annotate({ description: "Owner of the tokens, never a router." }),
    pool: Schema.NullOr(Address),
    dex: Schema.NullOr(Schema.String).annotate({ description: "Venue label of the pool." }),
    launchpad: Schema.NullOr(Schema.String).annotate({ description: "The launchpad whose curve the pool is, if any." }),
    legs: Schema.Struct({
      token: TradeLeg,
      quote: Schema.NullOr(TradeLeg).annotate({
        description: "The other side where it was SOL; null for another mint, of which `volumeUsd` is the value."
      })
    }),
    priceUsd: money("USD for a whole token at the SOL price of the block; null when unknown."),
    priceSol: money("SOL for a whole token; of a swap without SOL at the SOL price of the block. Null when unknown."),
    volumeUsd: money("Value of the swap, exact to a nano-dollar; null when unknown."),
    volumeSol: money("The same in SOL, rounded down to a lamport."),
    isWhole: Schema.Boolean.annotate({
      description:
        "True when this swap is all that the wallet exchanged in its instruction; false for a leg of a route."
    }),
    frontEndFee: Schema.NullOr(FrontEndFee).annotate({
      description: "Null for a leg of a route, whose fee belongs to the whole route."
    })
  }).annotate({ identifier: "TokenTrade", description: "One swap of one pool, from the side of its token." })
) {}

/** Trades of a page with what is known of them. */
export interface TradePage<Place> {
  /** Newest first. */
  readonly trades: ReadonlyArray<TokenTrade>
  /** The place that the next page begins after; null at the end. */
  readonly next: Place | null
  readonly observedAtMs: number | null
  readonly status: Status
  readonly coverage: Coverage
}
