import { Schema } from "effect"
import { Address } from "../../domain/Address.ts"
import { field } from "../../domain/field.ts"
import { Scalar } from "../../domain/Scalar.ts"
import { TokenRef } from "./Token.ts"

/** Orders of a list of pools. */
export const PoolSort = Schema.Literals(["volume", "liquidity", "new"])
export type PoolSort = typeof PoolSort.Type

/** Where a pool comes from. */
export const PoolProvenance = Schema.Literals(["curve", "graduated", "created"])
export type PoolProvenance = typeof PoolProvenance.Type

export class ListedPool extends Schema.Opaque<ListedPool>()(
  Schema.Struct({
    rank: field(Schema.Int, "Place in the order, from 1."),
    pool: field(Address, "Address of the pool."),
    dex: field(Schema.NullOr(Schema.String), "Key of the venue, such as raydium-cpmm; null when unknown."),
    token: field(TokenRef, "The token of the pool: the mint that is neither SOL nor a dollar."),
    quoteMint: field(
      Schema.NullOr(Address),
      "The other mint; null when it is a dollar and the pool is not in memory, because trades do not say which."
    ),
    provenance: field(
      Schema.NullOr(PoolProvenance),
      "`curve`: the bonding curve of a launchpad. `graduated`: the pool that a migration from a curve made. `created`: the instruction that created the pool was seen, and it was no migration. Null when unknown."
    ),
    launchpad: field(Schema.NullOr(Schema.String), "Launchpad of the token; null without one, and when unknown."),
    createdAtMs: field(
      Schema.NullOr(Schema.Int),
      "When the pool was created, in milliseconds since the Unix epoch; null when its creation was not seen."
    ),
    liquidityUsd: field(Scalar, "Both reserves in USD. Unavailable for a pool that is not in memory."),
    volume24hUsd: field(Scalar, "Volume of the last 24 hours, in USD."),
    trades24h: field(Schema.Int, "Swaps in the last 24 hours, as far as they were counted.")
  }).annotate({ identifier: "ListedPool", description: "One pool of a list." })
) {}
