import type { TooManyColdMints } from "./Quote.ts"
import { Schema } from "effect"
import { Address, type Mint } from "../../domain/Address.ts"
import { Atomic } from "../../domain/Amount.ts"
import { type Coverage, CoverageReason, Decimal, Scalar, type Status } from "../../domain/Scalar.ts"
import { field } from "../../domain/field.ts"
import { chain, decimals, liquidityUsd, marketCapUsd, mint, priceUsd } from "./fields.ts"

export class TokenRef extends Schema.Opaque<TokenRef>()(
  Schema.Struct({
    chain,
    address: field(Address, "Mint of the token: base58 of 32 bytes on Solana."),
    symbol: field(Schema.NullOr(Schema.String), "Ticker symbol; null when unknown."),
    name: field(Schema.NullOr(Schema.String), "Display name; null when unknown."),
    decimals,
    imageUrl: field(Schema.NullOr(Schema.String), "URL of the picture; null when unknown.")
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

export class TokenFacts extends Schema.Opaque<TokenFacts>()(
  Schema.Struct({
    token: TokenRef,
    supply: field(Schema.NullOr(Atomic), "Total supply in atomic units, as decimal digits; null when unknown."),
    tokenProgram: field(Schema.NullOr(TokenProgram), "Program that the mint belongs to; null when unknown."),
    mintAuthority: field(Schema.NullOr(Address), "Who may mint more. `authoritiesKnown` tells what null means."),
    freezeAuthority: field(
      Schema.NullOr(Address),
      "Who may freeze balances. `authoritiesKnown` tells what null means."
    ),
    authoritiesKnown: field(Schema.Boolean, "True: a null authority was given up. False: neither authority is known."),
    extensions: field(
      Schema.NullOr(Schema.Array(TokenExtension)),
      "Token-2022 extensions that change how the token moves, whether in force or not; null when unknown."
    ),
    priceUsd,
    priceSol: field(Scalar, "Price of one whole token, in SOL."),
    marketCapUsd,
    liquidityUsd,
    volume24hUsd: field(Scalar, "Volume of the last 24 hours, in USD."),
    holders: field(Scalar, "Number of wallets that hold the token."),
    firstSeenAtMs: field(
      time,
      "When this service first saw the token, in milliseconds since the Unix epoch; null when unknown."
    ),
    createdAtMs: field(time, "Time of creation, in milliseconds since the Unix epoch; null when unknown.")
  }).annotate({ identifier: "TokenFacts", description: "What is known of one token." })
) {}

const units = (description: string) => Schema.NullOr(Atomic).annotate({ description })
const dollars = (description: string) => Schema.NullOr(Decimal).annotate({ description })

export class PoolDepth2Pct extends Schema.Opaque<PoolDepth2Pct>()(
  Schema.Struct({
    sellQuoteOut: units("Atomic units of the quote paid for a sale of the base that lowers its price by 2 %."),
    sellUsd: dollars("`sellQuoteOut` in USD; null when the quote has no price."),
    buyBaseOut: units("Atomic units of the base paid for a purchase that raises its price by 2 %."),
    buyUsd: dollars("`buyBaseOut` in USD; null when the base has no price."),
    reason: field(
      Schema.NullOr(CoverageReason),
      "`range_clipped`: ticks or bins within 2 % are not loaded. `not_captured`: the pool takes no such swap."
    )
  }).annotate({
    identifier: "PoolDepth2Pct",
    description: "Output of swaps that move the price by 2 % along the pool's curve, after its fees."
  })
) {}

export class PoolLiquidity extends Schema.Opaque<PoolLiquidity>()(
  Schema.Struct({
    pool: field(Address, "Address of the pool."),
    dex: field(Schema.String, "Key of the venue, such as raydium-cpmm."),
    baseMint: field(Address, "Mint that is priced."),
    quoteMint: field(Address, "Mint that the price is in."),
    baseReserve: units(
      "Balance of the base vault minus fees owed to others than liquidity providers; null until it is read."
    ),
    quoteReserve: units("Like `baseReserve`, for the quote mint."),
    liquidityUsd: field(Schema.NullOr(Decimal), "Both reserves in USD; null when a side has no price."),
    depth2pct: PoolDepth2Pct,
    createdAtMs: field(time, "When the pool was created; null when its creation was not seen."),
    volume24hUsd: field(Scalar, "Volume of the last 24 hours, in USD."),
    feeBps: field(
      Schema.NullOr(Schema.Finite),
      "Current fee of a small swap, the mean of both directions, without transfer fees."
    ),
    lpBurnedPct: field(Schema.Null, "Always null: unknown."),
    stateSlot: field(Schema.Int, "Slot of the state that was read."),
    stateAgeMs: field(Schema.Int, "Milliseconds since the last message of the feed.")
  }).annotate({ identifier: "PoolLiquidity", description: "One pool of a token. The token is its base." })
) {}

export class TokenLiquidity extends Schema.Opaque<TokenLiquidity>()(
  Schema.Struct({
    token: TokenRef,
    totalLiquidityUsd: field(Scalar, "Liquidity of all pools of the token, in USD."),
    pools: field(Schema.Array(PoolLiquidity), "Pools, deepest first."),
    poolsLeftOut: field(
      Schema.Int,
      "Pools that were found but are not in memory, because the token has more than `POOLS_PER_MINT`. They have the lowest reserves."
    )
  }).annotate({
    identifier: "TokenLiquidity",
    description: "Where a token can be traded, deepest pool first."
  })
) {}

export class PriceEvidence extends Schema.Opaque<PriceEvidence>()(
  Schema.Struct({
    depthUsd: dollars("Least depth within 2 % along the path, in USD; null without a SOL price and without a path."),
    path: field(
      Schema.Array(
        Schema.Struct({
          pool: field(Address, "Address of the pool."),
          fromMint: field(Address, "Mint that the pool prices."),
          toMint: field(Address, "Mint that the price is in.")
        }).annotate({
          description: "One pool, priced from one of its mints in the other."
        })
      ),
      "At most three pools, from the mint to SOL or a stable coin. Empty for a stable coin."
    )
  }).annotate({ identifier: "PriceEvidence", description: "The path of pools behind the median price." })
) {}

export class MintPrice extends Schema.Opaque<MintPrice>()(
  Schema.Struct({
    mint,
    priceUsd,
    priceSol: field(Scalar, "Price of one whole token, in SOL."),
    method: field(
      Schema.Literal("pool_median"),
      "Median over pools, weighted by depth. Prices of `/market/movement` and `/market/discovery` come from the last swap (`last_trade`) and may differ."
    ),
    evidence: field(Schema.NullOr(PriceEvidence), "The pools behind the price; null without a price.")
  }).annotate({
    identifier: "MintPrice",
    description: "The price of one whole token."
  })
) {}

/** Coverage of an answer as a whole. */
export interface Knowledge {
  /** The newest observation of any source that was used; null when there was none. */
  readonly observedAtMs: number | null
  readonly status: Status
  readonly coverage: Coverage
}

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

/** The pool is not in memory. Either nobody asked for its mints, or it does not exist. */
export class UnknownPool extends Schema.TaggedError<UnknownPool>()("UnknownPool", { pool: Address }) {}

/** The chain has no such mint. */
export class UnknownToken extends Schema.TaggedError<UnknownToken>()("UnknownToken", { mint: Address }) {}

/** The mint is not in memory. The request has queued it. */
export class TokenNotLoaded extends Schema.TaggedError<TokenNotLoaded>()("TokenNotLoaded", {
  mint: Address,
  /** Time until it is probably loaded; missing when unknown. */
  readyInMs: Schema.optionalKey(Schema.Int)
}) {}

/** The mint account does not have the format of its program. */
export class TokenMalformed extends Schema.TaggedError<TokenMalformed>()("TokenMalformed", {
  mint: Address,
  detail: Schema.String
}) {}

/** Every reason why a token cannot be described. */
export type TokenRefusal = UnknownToken | TokenNotLoaded | TooManyColdMints | TokenMalformed

/** A token whose address is all that is known. */
export const bareToken = (address: Mint): TokenRef => ({
  chain: "solana",
  address,
  symbol: null,
  name: null,
  decimals: null,
  imageUrl: null
})
