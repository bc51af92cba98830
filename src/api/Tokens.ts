import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Address } from "../domain/Address.ts"
import { DataUnavailable, InvalidCursor, RateLimited, TokenNotFound, UnsupportedChain } from "./errors/problems.ts"
import { FromMemory } from "./middleware/Metering.ts"
import { Authorization } from "./middleware/Authorization.ts"
import { JsonBody } from "./middleware/JsonBody.ts"
import { atSlotField, atSlotParameter } from "./Spot.ts"
import { CursorParameter, NextCursor, pageParameters } from "./pages.ts"
import { IntegerParameter, NoQuery, optional, tokenParams, UnixSecond } from "./parameters.ts"
import { MintPrice, TokenFacts, TokenLiquidity } from "./schemas/Token.ts"
import { HolderHour, TokenHolders } from "./schemas/TokenHolders.ts"
import { TokenMetadataView } from "./schemas/TokenMetadata.ts"
import { TokenRisk } from "./schemas/TokenRisk.ts"
import { isOrdered } from "./Trades.ts"
import { field } from "../domain/field.ts"
import { knowledgeOf, metaOf, nextCursor } from "./schemas/fields.ts"
import { UniqueList } from "./schemas/lists.ts"

export class TokenMetadataAnswer extends Schema.Opaque<TokenMetadataAnswer>()(
  Schema.Struct({
    data: TokenMetadataView,
    meta: field(
      Schema.Struct({
        ...metaOf("public-metadata-v1"),
        ...knowledgeOf("When the document was read, otherwise when the mint account was read.")
      }),
      "How the answer was made, and how well it is known."
    )
  }).annotate({
    identifier: "TokenMetadataAnswer",
    description:
      "Metadata of one token. The answer never waits for the document. It is `partial` until the document has been read, and `stale` while " +
      "the document cannot be read again."
  })
) {}

/** The most owners that are listed, and the default. */
export const mostHolders = 100

export const HoldersQuery = Schema.Struct({
  limit: optional(
    IntegerParameter(1, mostHolders, mostHolders),
    `Number of owners, largest first, 1 to ${mostHolders}; ${mostHolders} by default.`
  ),
  cursor: Schema.optionalKey(CursorParameter)
})

/** Default number of hours of a history of holders, and the most. */
export const holderHours = { byDefault: 168, most: 744 } as const

export const HolderHistoryQuery = Schema.Struct({
  from: optional(UnixSecond, "Only hours that begin at this Unix second or later."),
  to: optional(UnixSecond, "Only hours that begin before this Unix second; now by default."),
  ...pageParameters(holderHours.most, holderHours.byDefault)
}).check(isOrdered)

export class HolderHistoryAnswer extends Schema.Opaque<HolderHistoryAnswer>()(
  Schema.Struct({
    data: field(Schema.Array(HolderHour), "The answer itself."),
    nextCursor: NextCursor,
    meta: field(
      Schema.Struct({
        ...metaOf("public-holder-history-v1"),
        address: field(Address, "Mint of the token: base58 of 32 bytes on Solana."),
        missingHours: field(
          Schema.Int,
          "Hours without a snapshot: between the oldest and the newest hour of the page, and before the oldest one since `from`. They are left out, not interpolated."
        ),
        ...knowledgeOf("Time of the newest snapshot of the page; null without one.")
      }),
      "How the answer was made, and how well it is known."
    )
  }).annotate({
    identifier: "HolderHistoryAnswer",
    description:
      "Holders and concentration of one token by hour, newest first. Snapshots are taken of tokens whose holders are followed, and kept for `HOLDER_SNAPSHOTS_KEPT`."
  })
) {}

export class TokenHoldersAnswer extends Schema.Opaque<TokenHoldersAnswer>()(
  Schema.Struct({
    data: TokenHolders,
    nextCursor: NextCursor,
    meta: field(
      Schema.Struct({
        ...metaOf("public-holders-v1"),
        ...knowledgeOf("When the newest block or account was read.")
      }),
      "How the answer was made, and how well it is known."
    )
  }).annotate({
    identifier: "TokenHoldersAnswer",
    description:
      "Holders of one token. Status and coverage are for the number of holders. While the accounts are being read, the " +
      "answer has a `Retry-After` header."
  })
) {}

/** Default number of pools of a liquidity answer. */
export const defaultPools = 20

const meta = <const Version extends string>(version: Version) =>
  Schema.Struct({
    ...metaOf(version),
    ...knowledgeOf("Time of the newest observation of any source that was used.")
  })

export class TokenFactsAnswer extends Schema.Opaque<TokenFactsAnswer>()(
  Schema.Struct({
    data: TokenFacts,
    meta: field(meta("public-token-v1"), "How the answer was made, and how well it is known.")
  }).annotate({
    identifier: "TokenFactsAnswer",
    description: "Facts of one token."
  })
) {}

export class TokenRiskAnswer extends Schema.Opaque<TokenRiskAnswer>()(
  Schema.Struct({
    data: TokenRisk,
    meta: field(
      Schema.Struct({
        ...metaOf("public-token-v1")
      }),
      "How the answer was made, and how well it is known."
    )
  }).annotate({ identifier: "TokenRiskAnswer", description: "Signals about one token." })
) {}

export class TokenLiquidityAnswer extends Schema.Opaque<TokenLiquidityAnswer>()(
  Schema.Struct({
    data: TokenLiquidity,
    meta: field(meta("public-liquidity-v1"), "How the answer was made, and how well it is known.")
  }).annotate({
    identifier: "TokenLiquidityAnswer",
    description: "Pools of one token."
  })
) {}

export class PricesAnswer extends Schema.Opaque<PricesAnswer>()(
  Schema.Struct({
    data: field(Schema.Array(MintPrice), "The answer itself."),
    meta: field(meta("public-price-v1"), "How the answer was made, and how well it is known."),
    nextCursor
  }).annotate({
    identifier: "PricesAnswer",
    description: "Prices of several tokens, in the order of the request."
  })
) {}

export const PricesBody = Schema.Struct({
  mints: field(UniqueList(Address, 100, "mints"), "1 to 100 different mints."),
  atSlot: atSlotField
}).annotate({ identifier: "PricesRequest", description: "The mints whose prices are requested." })

export const LiquidityQuery = Schema.Struct({
  limit: optional(
    IntegerParameter(1, 50, defaultPools),
    `Number of pools, deepest first, 1 to 50; ${defaultPools} by default.`
  ),
  atSlot: atSlotParameter
})

/** Facts, signals, liquidity and prices of tokens, answered from memory. */
export class TokensGroup extends HttpApiGroup.make("tokens")
  .add(
    HttpApiEndpoint.get("facts", "/api/v1/tokens/:chain/:address", {
      params: tokenParams,
      query: NoQuery,
      success: TokenFactsAnswer,
      error: [UnsupportedChain, TokenNotFound, RateLimited, DataUnavailable]
    })
      .annotate(FromMemory, true)
      .annotate(OpenApi.Summary, "Facts of one token"),
    HttpApiEndpoint.get("risk", "/api/v1/tokens/:chain/:address/risk", {
      params: tokenParams,
      query: NoQuery,
      success: TokenRiskAnswer,
      error: [UnsupportedChain, DataUnavailable]
    })
      .annotate(FromMemory, true)
      .annotate(OpenApi.Summary, "Signals about one token. Not a score and not advice"),
    HttpApiEndpoint.get("liquidity", "/api/v1/tokens/:chain/:address/liquidity", {
      params: tokenParams,
      query: LiquidityQuery,
      success: TokenLiquidityAnswer,
      error: [UnsupportedChain, TokenNotFound, RateLimited, DataUnavailable]
    }).annotate(OpenApi.Summary, "Pools of one token; counts as a wallet-batch read of its caller"),
    HttpApiEndpoint.get("holders", "/api/v1/tokens/:chain/:address/holders", {
      params: tokenParams,
      query: HoldersQuery,
      success: TokenHoldersAnswer,
      error: [UnsupportedChain, InvalidCursor, TokenNotFound, RateLimited, DataUnavailable]
    })
      .annotate(OpenApi.Summary, "Holders of one token: their number, all of them in pages, and concentration")
      .annotate(
        OpenApi.Description,
        "The largest owners first. A page begins after the amount and the owner of the last row: a holder whose amount changes between two pages may be on both or on neither."
      ),
    HttpApiEndpoint.get("holderHistory", "/api/v1/tokens/:chain/:address/holders/history", {
      params: tokenParams,
      query: HolderHistoryQuery,
      success: HolderHistoryAnswer,
      error: [UnsupportedChain, InvalidCursor, TokenNotFound, RateLimited, DataUnavailable]
    })
      .annotate(OpenApi.Summary, "Holders and concentration of one token by hour, newest first")
      .annotate(
        OpenApi.Description,
        "One snapshot an hour while the holders of the token are followed. Asking for the history follows the token, if there is room. An hour without a snapshot is missing from the rows and counted in `missingHours`."
      ),
    HttpApiEndpoint.get("metadata", "/api/v1/tokens/:chain/:address/metadata", {
      params: tokenParams,
      query: NoQuery,
      success: TokenMetadataAnswer,
      error: [UnsupportedChain, TokenNotFound, RateLimited, DataUnavailable]
    })
      .annotate(FromMemory, true)
      .annotate(OpenApi.Summary, "Metadata of one token, from the chain and from the document behind its URI"),
    HttpApiEndpoint.post("prices", "/api/v1/prices", {
      query: NoQuery,
      payload: PricesBody,
      success: PricesAnswer,
      error: [RateLimited, DataUnavailable]
    })
      .middleware(JsonBody)
      .annotate(OpenApi.Summary, "Prices of 1 to 100 tokens")
  )
  .middleware(Authorization)
  .annotate(OpenApi.Description, "Facts, signals, liquidity and prices of tokens, answered from memory.") {}
