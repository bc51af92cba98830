import { Effect } from "effect"
import { HttpEffect, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { WalletBatch } from "../../access/WalletBatch.ts"
import { Api } from "../../api/Api.ts"
import { retryAfter } from "../../api/errors/Problem.ts"
import { DataUnavailable, TokenNotFound } from "../../api/errors/problems.ts"
import type { Knowledge, TokenRefusal } from "../../api/schemas/Token.ts"
import {
  defaultPools,
  type HolderHistoryQuery,
  holderHours,
  type HoldersQuery,
  type LiquidityQuery,
  mostHolders,
  type PricesBody
} from "../../api/Tokens.ts"
import type { HolderHour, HolderRow } from "../../api/schemas/TokenHolders.ts"
import { COMPLETE, incomplete } from "../../domain/Scalar.ts"
import type { HolderHistoryUnavailable } from "../../tokens/HolderReader.ts"
import { WalletReader } from "../../wallets/WalletReader.ts"
import { RiskReader } from "../../tokens/risk/RiskReader.ts"
import { TokenReader } from "../../tokens/TokenReader.ts"
import { tooManyColdMints, unavailable } from "../problems.ts"
import { QuoteEngine } from "../../quotes/QuoteEngine.ts"
import { metaWith } from "./metaWith.ts"
import { makeAtSlot } from "./pastMarket.ts"
import { nextOf, sealedBy, startOf } from "./paging.ts"
import { holderOfKey, offsetOfKey } from "./tradeRequests.ts"
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

const HOUR_MS = 3_600_000

/** Hours without a snapshot between the rows, and before the oldest row since `fromMs`. */
const missingIn = (rows: ReadonlyArray<HolderHour>, fromMs: number | null): number => {
  const [newest, oldest] = [rows[0], rows.at(-1)]
  if (newest === undefined || oldest === undefined) {
    return 0
  }
  const first = fromMs === null ? oldest.hourMs : Math.min(oldest.hourMs, Math.ceil(fromMs / HOUR_MS) * HOUR_MS)
  return (newest.hourMs - first) / HOUR_MS + 1 - rows.length
}

const knowledgeOfHours = (rows: ReadonlyArray<HolderHour>, missing: number): Knowledge => {
  const [newest] = rows
  const coverage = newest === undefined ? incomplete("not_captured") : missing > 0 ? incomplete("source_gap") : COMPLETE
  return {
    observedAtMs: newest?.atMs ?? null,
    status: newest === undefined ? "unavailable" : coverage.complete ? "known" : "partial",
    coverage
  }
}

const historyProblem = (refusal: HolderHistoryUnavailable | TokenRefusal) =>
  refusal._tag === "HolderHistoryUnavailable"
    ? unavailable("The stored snapshots are unavailable right now.")
    : problemOf(refusal)

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
    const wallets = yield* WalletReader

    /** Adds the tags of the owners' identities. */
    const withTags = (rows: ReadonlyArray<HolderRow>) =>
      Effect.map(wallets.tagsOf(rows.map(({ owner }) => owner)), (tags) =>
        rows.map((row) => ({
          ...row,
          tags: tags === null ? null : [...(row.tags ?? []), ...(tags.get(row.owner) ?? [])]
        }))
      )

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
      const { cursor, limit = mostHolders } = input.query
      const sealed = sealedBy("tokens.holders", { mint }, limit)
      const after = yield* startOf(cursor, sealed, holderOfKey)
      // One more than a page tells whether there is a next one.
      const { data: found, knowledge } = yield* Effect.mapError(tokens.holdersOf(mint, limit + 1, after), problemOf)
      const top = found.top === null ? null : yield* withTags(found.top.slice(0, limit))
      const data = { ...found, top }
      const last = (found.top?.length ?? 0) > limit ? top?.at(-1) : undefined
      if (data.retryAfterMs !== null) {
        yield* retryLater(data.retryAfterMs)
      }
      const nextCursor = yield* nextOf(last === undefined ? null : [String(last.amount), last.owner], sealed)
      return { data, nextCursor, meta: yield* metaOf("public-holders-v1", knowledge) }
    })

    const holderHistory = Effect.fnUntraced(function* (
      input: TokenPath & { readonly query: typeof HolderHistoryQuery.Type }
    ) {
      const mint = yield* mintOf(input)
      const { cursor, from, limit = holderHours.byDefault, to } = input.query
      const sealed = sealedBy("tokens.holderHistory", { mint, from, to }, limit)
      const before = yield* startOf(cursor, sealed, offsetOfKey)
      const [fromMs, toMs] = [from === undefined ? null : from * 1000, to === undefined ? null : to * 1000]
      const request = { mint, fromMs, toMs: before ?? toMs, limit: limit + 1 }
      const found = yield* Effect.mapError(tokens.holderHistoryOf(request), historyProblem)
      const data = found.slice(0, limit)
      const next = found.length > limit ? (data.at(-1)?.hourMs ?? null) : null
      const missingHours = missingIn(data, next === null ? fromMs : null)
      return {
        data,
        nextCursor: yield* nextOf(next === null ? null : [String(next)], sealed),
        meta: yield* metaWith({
          methodVersion: "public-holder-history-v1",
          chain: "solana",
          address: mint,
          missingHours,
          ...knowledgeOfHours(data, missingHours)
        })
      }
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

    return handlers.handleAll({ facts, risk, liquidity, holders, holderHistory, metadata, prices })
  })
)
