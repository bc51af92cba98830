import type { TooManyColdMints } from "../quotes/Quote.ts"
import { Schema } from "effect"
import { Address, type Mint } from "../Address.ts"
import { Atomic } from "../Amount.ts"
import { type Coverage, CoverageReason, Decimal, Scalar, type Status } from "../Scalar.ts"

/** Which token is meant, and what it calls itself. */
export class TokenRef extends Schema.Opaque<TokenRef>()(
  Schema.Struct({
    chain: Schema.Literal("solana"),
    address: Address,
    symbol: Schema.NullOr(Schema.String),
    name: Schema.NullOr(Schema.String),
    decimals: Schema.NullOr(Schema.Int),
    imageUrl: Schema.NullOr(Schema.String)
  }).annotate({
    identifier: "TokenRef",
    description: "A token with its on-chain name and symbol, which are unverified."
  })
) {}

/** The programs that mints belong to. */
export const TokenProgram = Schema.Literals(["spl-token", "token-2022"])
export type TokenProgram = typeof TokenProgram.Type

/** Token-2022 extensions that change how a token moves. */
export const TokenExtension = Schema.Literals([
  "transfer_fee",
  "transfer_hook",
  "permanent_delegate",
  "default_account_state",
  "non_transferable",
  "pausable"
])
export type TokenExtension = typeof TokenExtension.Type

const time = Schema.NullOr(Schema.Int)

/** Facts of one token. */
export class TokenFacts extends Schema.Opaque<TokenFacts>()(
  Schema.Struct({
    token: TokenRef,
    supply: Schema.NullOr(Atomic),
    tokenProgram: Schema.NullOr(TokenProgram),
    mintAuthority: Schema.NullOr(Address).annotate({ description: "Who may mint more; null is told apart below." }),
    freezeAuthority: Schema.NullOr(Address).annotate({
      description: "Who may freeze balances; null is told apart below."
    }),
    authoritiesKnown: Schema.Boolean.annotate({
      description: "True: a null authority was given up. False: nothing is known of either."
    }),
    extensions: Schema.NullOr(Schema.Array(TokenExtension)).annotate({
      description: "Token-2022 extensions that change how the token moves, in force or not; null when unknown."
    }),
    priceUsd: Scalar,
    priceSol: Scalar,
    marketCapUsd: Scalar,
    liquidityUsd: Scalar,
    volume24hUsd: Scalar,
    holders: Scalar,
    firstSeenAtMs: time,
    createdAtMs: time
  }).annotate({ identifier: "TokenFacts", description: "What is known of one token." })
) {}

const units = (description: string) => Schema.NullOr(Atomic).annotate({ description })
const dollars = (description: string) => Schema.NullOr(Decimal).annotate({ description })

/** Depth of a pool around its price. */
export class PoolDepth2Pct extends Schema.Opaque<PoolDepth2Pct>()(
  Schema.Struct({
    sellQuoteOut: units("Units of the quote paid for a sale of the base that lowers its price by 2 %."),
    sellUsd: dollars("The same in USD; null where the quote has no price."),
    buyBaseOut: units("Units of the base paid for a purchase that raises its price by 2 %."),
    buyUsd: dollars("The same in USD; null where the base has no price."),
    reason: Schema.NullOr(CoverageReason).annotate({
      description:
        "`range_clipped`: ticks or bins within 2 % are not loaded. `not_captured`: the pool takes no such swap."
    })
  }).annotate({
    identifier: "PoolDepth2Pct",
    description: "Output of swaps that move the price by 2 % along the pool's curve, after its fees."
  })
) {}

/** One pool of a token, seen from the token. */
export class PoolLiquidity extends Schema.Opaque<PoolLiquidity>()(
  Schema.Struct({
    pool: Address,
    dex: Schema.String,
    baseMint: Address,
    quoteMint: Address,
    baseReserve: units(
      "Balance of the vault less fees owed to others than liquidity providers; null until it is read."
    ),
    quoteReserve: units("As `baseReserve`, of the other mint."),
    liquidityUsd: Schema.NullOr(Decimal).annotate({
      description: "Both reserves in USD; null where a side has no price."
    }),
    depth2pct: PoolDepth2Pct,
    createdAtMs: time.annotate({ description: "When the pool was created; null when its creation was not seen." }),
    volume24hUsd: Scalar,
    feeBps: Schema.NullOr(Schema.Finite).annotate({
      description: "Fee of a small swap at the pool's price now, the mean of both directions, without transfer fees."
    }),
    lpBurnedPct: Schema.Null,
    stateSlot: Schema.Int,
    stateAgeMs: Schema.Int
  }).annotate({ identifier: "PoolLiquidity", description: "One pool of a token, the token being its base." })
) {}

/** Pools of a token, deepest first. */
export class TokenLiquidity extends Schema.Opaque<TokenLiquidity>()(
  Schema.Struct({
    token: TokenRef,
    totalLiquidityUsd: Scalar,
    pools: Schema.Array(PoolLiquidity),
    poolsLeftOut: Schema.Int.annotate({
      description:
        "Pools that were found and are not in memory, because the token has more than `POOLS_PER_MINT`: those of the lowest reserves."
    })
  }).annotate({
    identifier: "TokenLiquidity",
    description: "Where a token can be traded, the deepest pool first."
  })
) {}

/** The pools that a price comes from. */
export class PriceEvidence extends Schema.Opaque<PriceEvidence>()(
  Schema.Struct({
    depthUsd: dollars(
      "Least depth within 2 % of the prices along the path, in USD; null without a price of SOL and without a path."
    ),
    path: Schema.Array(
      Schema.Struct({ pool: Address, fromMint: Address, toMint: Address }).annotate({
        description: "One pool, priced from one of its mints in the other."
      })
    ).annotate({ description: "At most three pools, from the mint to SOL or a stable coin; empty for a stable coin." })
  }).annotate({ identifier: "PriceEvidence", description: "The path of pools that the median price is that of." })
) {}

/** The price of one mint. */
export class MintPrice extends Schema.Opaque<MintPrice>()(
  Schema.Struct({
    mint: Address,
    priceUsd: Scalar,
    priceSol: Scalar,
    method: Schema.Literal("pool_median").annotate({
      description:
        "Median over pools, weighted by depth. Prices of `/market/movement` and `/market/discovery` are those of the last swap (`last_trade`) and may differ."
    }),
    evidence: Schema.NullOr(PriceEvidence).annotate({ description: "Null where there is no price." })
  }).annotate({
    identifier: "MintPrice",
    description: "The price of one whole token."
  })
) {}

/** Coverage of an answer as a whole. */
export interface Knowledge {
  /** The newest observation of a source that was used; null when there was none. */
  readonly observedAtMs: number | null
  readonly status: Status
  readonly coverage: Coverage
}

/** One pool with both of its tokens. */
export class PoolFacts extends Schema.Opaque<PoolFacts>()(
  Schema.Struct({
    pool: PoolLiquidity,
    baseToken: TokenRef,
    quoteToken: TokenRef
  }).annotate({
    identifier: "PoolFacts",
    description: "One pool with both of its tokens. The base is the token that is neither SOL nor a dollar."
  })
) {}

/** The pool is not in memory: its mints were not asked for, or there is no such pool. */
export class UnknownPool extends Schema.TaggedError<UnknownPool>()("UnknownPool", { pool: Address }) {}

/** The chain has no such mint. */
export class UnknownToken extends Schema.TaggedError<UnknownToken>()("UnknownToken", { mint: Address }) {}

/** The mint is not in memory; the call has queued it. */
export class TokenNotLoaded extends Schema.TaggedError<TokenNotLoaded>()("TokenNotLoaded", {
  mint: Address,
  /** Time until it is probably loaded; missing while it is not known. */
  readyInMs: Schema.optionalKey(Schema.Int)
}) {}

/** The mint account is not what its program writes. */
export class TokenMalformed extends Schema.TaggedError<TokenMalformed>()("TokenMalformed", {
  mint: Address,
  detail: Schema.String
}) {}

/** Everything that can keep a token from being described. */
export type TokenRefusal = UnknownToken | TokenNotLoaded | TooManyColdMints | TokenMalformed

/** A token of which nothing is known but where it would be. */
export const bareToken = (address: Mint): TokenRef => ({
  chain: "solana",
  address,
  symbol: null,
  name: null,
  decimals: null,
  imageUrl: null
})
