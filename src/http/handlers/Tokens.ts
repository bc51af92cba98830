import { Effect } from "effect"
import { HttpEffect, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { WalletBatch } from "../../access/WalletBatch.ts"
import { Api } from "../../api/Api.ts"
import { retryAfter } from "../../api/errors/Problem.ts"
import { DataUnavailable, TokenNotFound } from "../../api/errors/problems.ts"
import type { Knowledge, TokenRefusal } from "../../api/schemas/Token.ts"
import { defaultPools, type HoldersQuery, type LiquidityQuery, mostHolders, type PricesBody } from "../../api/Tokens.ts"
import { RiskReader } from "../../tokens/risk/RiskReader.ts"
import { TokenReader } from "../../tokens/TokenReader.ts"
import { tooManyColdMints, unavailable } from "../problems.ts"
import { QuoteEngine } from "../../quotes/QuoteEngine.ts"
import { metaWith } from "./metaWith.ts"
import { makeAtSlot } from "./pastMarket.ts"
import { mintOf, type TokenPath } from "./tokenPath.ts"
import { enterBatch } from "./walletBatch.ts"

const problemOf = (refusal: TokenRefusal) => {
  switch (refusal._tag) {
    case "UnknownToken":
      return new TokenNotFound()
    case "TokenNotLoaded":
      return retryAfter(unavailable("The token is being loaded: try again."), (refusal.readyInMs ?? 0) / 1000)
    case "TooManyColdMints":
      return tooManyColdMints(refusal)
    case "TokenMalformed":
      return unavailable("The mint account is malformed.")
  }
}

const metaOf = <const Version extends string>(methodVersion: Version, knowledge: Knowledge) =>
  metaWith({ methodVersion, chain: "solana", ...knowledge })

/** Adds `Retry-After` to an answer that will be better after `afterMs`. Rounded up to seconds, at least one. */
const retryLater = (afterMs: number) =>
  HttpEffect.appendPreResponseHandler((_request, response) =>
    Effect.succeed(
      HttpServerResponse.setHeader(response, "retry-after", String(Math.max(1, Math.ceil(afterMs / 1000))))
    )
  )

export const layer = HttpApiBuilder.group(
  Api,
  "tokens",
  Effect.fnUntraced(function* (handlers) {
    const tokens = yield* TokenReader
    const risks = yield* RiskReader
    const batch = yield* WalletBatch
    const atSlot = yield* makeAtSlot({ engine: yield* QuoteEngine, tokens })

    const facts = Effect.fnUntraced(function* (path: TokenPath) {
      const { data, knowledge } = yield* Effect.mapError(tokens.factsOf(yield* mintOf(path)), problemOf)
      return { data, meta: yield* metaOf("public-token-v1", knowledge) }
    })

    const risk = Effect.fnUntraced(function* (path: TokenPath) {
      const data = yield* Effect.mapError(risks.riskOf(yield* mintOf(path)), () => new DataUnavailable())
      return { data, meta: yield* metaWith({ methodVersion: "public-token-v1", chain: "solana" }) }
    })

    const liquidity = Effect.fnUntraced(function* (input: TokenPath & { readonly query: typeof LiquidityQuery.Type }) {
      const mint = yield* mintOf(input)
      yield* enterBatch(batch)
      const { atSlot: slot, limit = defaultPools } = input.query
      const { data, knowledge } = yield* atSlot({ slot, part: "query", mints: [mint] }, (market) =>
        Effect.mapError(market.tokens.liquidityOf(mint, limit), problemOf)
      )
      return { data, meta: yield* metaOf("public-liquidity-v1", knowledge) }
    }, Effect.scoped)

    const holders = Effect.fnUntraced(function* (input: TokenPath & { readonly query: typeof HoldersQuery.Type }) {
      const mint = yield* mintOf(input)
      const { limit = mostHolders } = input.query
      const { data, knowledge } = yield* Effect.mapError(tokens.holdersOf(mint, limit), problemOf)
      if (data.retryAfterMs !== null) {
        yield* retryLater(data.retryAfterMs)
      }
      return { data, meta: yield* metaOf("public-holders-v1", knowledge) }
    })

    const metadata = Effect.fnUntraced(function* (path: TokenPath) {
      const { data, knowledge } = yield* Effect.mapError(tokens.metadataOf(yield* mintOf(path)), problemOf)
      return { data, meta: yield* metaOf("public-metadata-v1", knowledge) }
    })

    const prices = Effect.fnUntraced(function* ({ payload }: { readonly payload: typeof PricesBody.Type }) {
      const { atSlot: slot, mints } = payload
      const { data, knowledge } = yield* atSlot({ slot, part: "body", mints }, (market) =>
        market.tokens.pricesOf(mints)
      )
      return { data, meta: yield* metaOf("public-price-v1", knowledge), nextCursor: null }
    })

    return handlers.handleAll({ facts, risk, liquidity, holders, metadata, prices })
  })
)
