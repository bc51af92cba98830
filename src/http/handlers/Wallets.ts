import { Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { WalletBatch } from "../../access/WalletBatch.ts"
import { Api } from "../../api/Api.ts"
import { CurrentKey } from "../../api/middleware/Authorization.ts"
import { Meter } from "../../api/middleware/Metering.ts"
import {
  type BalancesQuery,
  defaultBalances,
  defaultDays,
  defaultPositions,
  defaultRelated,
  defaultRows,
  type LotsQuery,
  type PnlHistoryQuery,
  type PositionsQuery,
  type RelatedQuery,
  WalletBalancesAnswer,
  WalletFundingAnswer,
  WalletPerformanceAnswer,
  WalletPnlHistoryAnswer,
  WalletPositionsAnswer,
  type WalletsBody,
  WalletSummaryAnswer,
  type WalletTradesQuery,
  type WalletTransfersQuery
} from "../../api/Wallets.ts"
import type { WalletsUnavailable } from "../../api/schemas/WalletSummary.ts"
import type { WalletLot } from "../../api/schemas/WalletLots.ts"
import type { WalletTrade, WalletTransfer } from "../../api/schemas/WalletTrades.ts"
import type { Address } from "../../domain/Address.ts"
import { fractionOf } from "../../domain/rational.ts"
import { MarketReader } from "../../market/reads/MarketReader.ts"
import { type MomentNotRecorded, pastBalancesOf, type PastMoment, pricedMints } from "../../wallets/pastBalances.ts"
import { WalletReader } from "../../wallets/WalletReader.ts"
import { shareOfBatch } from "../../wallets/walletShare.ts"
import { rawHeader } from "../middleware/rawHeader.ts"
import { invalid, storeUnavailable, unavailable as dataUnavailable } from "../problems.ts"
import { csvResponse, csvText, digitsOf, prefersCsv, unpaged } from "./csv.ts"
import { metaWith } from "./metaWith.ts"
import { nextOf, sealedBy, startOf } from "./paging.ts"
import { PAST_UNITS } from "./pastMarket.ts"
import {
  keyOfLot,
  keyOfPlace,
  keyOfTrade,
  lotPlaceOfKey,
  placeOfKey,
  positionPlaceOfKey,
  walletPlaceOfKey
} from "./tradeRequests.ts"
import { enterBatch } from "./walletBatch.ts"

const unavailable = storeUnavailable("Wallets cannot be read", "Wallets are unavailable: try again.")

const tooLarge = dataUnavailable(
  "The wallet has more token accounts than are read: about 20,000 for each token program."
)

/** A wallet that is too large is no failure of the service, and is not logged as one. */
const balancesUnavailable = (failure: WalletsUnavailable) =>
  failure.isTooLarge === true ? Effect.fail(tooLarge) : unavailable(failure)

const notRecorded = ({ field }: PastMoment, { first, last }: MomentNotRecorded) => {
  const known =
    first === null || last === null
      ? "nothing of this wallet is recorded yet"
      : `the record of this wallet reaches from ${field === "at" ? "second" : "slot"} ${first} to ${last}`
  return invalid({ in: "query", field, issue: "out_of_range" }, `${field} cannot be answered: ${known}.`)
}

interface OfWallet {
  readonly params: { readonly wallet: Address }
}
type PositionsRequest = OfWallet & { readonly query: typeof PositionsQuery.Type }
interface OfRequest extends OfWallet {
  readonly request: HttpServerRequest.HttpServerRequest
}
type TradesRequest = OfRequest & { readonly query: typeof WalletTradesQuery.Type }
type RelatedInput = OfWallet & { readonly query: typeof RelatedQuery.Type }
type LotsInput = OfRequest & { readonly query: typeof LotsQuery.Type }
type TransfersRequest = OfRequest & { readonly query: typeof WalletTransfersQuery.Type }
type BalancesRequest = OfWallet & { readonly query: typeof BalancesQuery.Type }
type PnlHistoryRequest = OfWallet & { readonly query: typeof PnlHistoryQuery.Type }

const rowFilter = ({ from, mint, to }: Pick<typeof WalletTradesQuery.Type, "from" | "mint" | "to">) => ({
  mint: mint ?? null,
  fromMs: from === undefined ? null : from * 1000,
  toMs: to === undefined ? null : to * 1000
})

const tradeFilter = ({ side, ...rest }: typeof WalletTradesQuery.Type) => ({ ...rowFilter(rest), side: side ?? null })

const transferFilter = ({ direction, ...rest }: typeof WalletTransfersQuery.Type) => {
  const side = direction === undefined ? null : direction === "in" ? ("buy" as const) : ("sell" as const)
  return { ...rowFilter(rest), side }
}

const lotFilter = ({ method = "average", state = "sold", ...rest }: typeof LotsQuery.Type) => ({
  ...rowFilter(rest),
  method,
  state
})

const isCsv = (
  { format }: { readonly format?: "csv" | "json" | undefined },
  request: HttpServerRequest.HttpServerRequest
): boolean => (format === undefined ? prefersCsv(rawHeader(request, "accept")) : format === "csv")

/** Rows of a CSV answer: all that are held. */
const MOST_ROWS = shareOfBatch(1).events

const TRADE_COLUMNS = [
  "signature",
  "slot",
  "index",
  "timeMs",
  "side",
  "mint",
  "amount",
  "decimals",
  "quoteMint",
  "quoteAmount",
  "priceUsd",
  "priceSol",
  "volumeUsd",
  "volumeSol",
  "frontEndFeeUsd",
  "pool",
  "dex",
  "launchpad"
] as const

const tradeCells = ({ frontEndFee, legs: { quote, token }, ...row }: WalletTrade) => ({
  ...row,
  mint: token.mint,
  amount: token.amount.toString(),
  decimals: token.decimals,
  quoteMint: quote?.mint ?? null,
  quoteAmount: quote?.amount.toString() ?? null,
  frontEndFeeUsd: frontEndFee?.usd ?? null
})

const TRANSFER_COLUMNS = [
  "signature",
  "slot",
  "index",
  "timeMs",
  "direction",
  "mint",
  "amount",
  "decimals",
  "from",
  "to"
] as const

const LOT_COLUMNS = [
  "mint",
  "decimals",
  "units",
  "origin",
  "acquiredAtMs",
  "acquiredSignature",
  "soldAtMs",
  "soldSignature",
  "costUsd",
  "proceedsUsd",
  "gainUsd"
] as const

const lotCells = (row: WalletLot) => ({
  ...row,
  units: row.units.toString(),
  costUsd: digitsOf(row.costUsd),
  proceedsUsd: digitsOf(row.proceedsUsd),
  gainUsd: digitsOf(row.gainUsd)
})

const transferCells = (row: WalletTransfer) => ({ ...row, amount: row.amount.toString() })

export const layer = HttpApiBuilder.group(
  Api,
  "wallets",
  Effect.fnUntraced(function* (handlers) {
    const reader = yield* WalletReader
    const batch = yield* WalletBatch
    const market = yield* MarketReader

    const summary = Effect.fnUntraced(function* ({ payload }: { readonly payload: typeof WalletsBody.Type }) {
      yield* enterBatch(batch)
      const { id: caller } = yield* CurrentKey
      const data = yield* Effect.catch(
        reader.rowsOf(payload.wallets, { backfill: payload.backfill, caller }),
        unavailable
      )
      return WalletSummaryAnswer.make({ data, source: "local" })
    }, Effect.scoped)

    const positions = Effect.fnUntraced(function* ({ params: { wallet }, query }: PositionsRequest) {
      const { backfill, cursor, limit = defaultPositions, ...filters } = query
      const { minValueUsd, mint = null, open = null, order = "desc", sort = "lastTrade" } = filters
      const sealed = sealedBy("wallets.positions", { wallet, mint, open, minValueUsd, order, sort }, limit)
      const after = yield* startOf(cursor, sealed, positionPlaceOfKey)
      yield* enterBatch(batch)
      const { id: caller } = yield* CurrentKey
      const least = minValueUsd === undefined ? null : fractionOf(minValueUsd)
      const request = { mint, open, minValueUsd: least, order, sort, after, limit }
      const { next, ...data } = yield* Effect.catch(
        reader.positionsOf(wallet, request, { backfill, caller }),
        unavailable
      )
      const nextCursor = yield* nextOf(next && [next.value ?? "", next.mint], sealed)
      return WalletPositionsAnswer.make({ data, nextCursor, source: "local" })
    }, Effect.scoped)

    const pnlHistory = Effect.fnUntraced(function* ({ params, query }: PnlHistoryRequest) {
      yield* enterBatch(batch)
      const { id: caller } = yield* CurrentKey
      const read = reader.pnlHistoryOf(params.wallet, query.days ?? defaultDays, { backfill: query.backfill, caller })
      return WalletPnlHistoryAnswer.make({ data: yield* Effect.catch(read, unavailable), source: "local" })
    }, Effect.scoped)

    const performance = Effect.fnUntraced(function* ({ params: { wallet } }: OfWallet) {
      yield* enterBatch(batch)
      const data = yield* Effect.catch(reader.performanceOf(wallet), unavailable)
      return WalletPerformanceAnswer.make({ data, source: "local" })
    }, Effect.scoped)

    const tradesPage = Effect.fnUntraced(function* (wallet: Address, query: typeof WalletTradesQuery.Type) {
      const { cursor, limit = defaultRows } = query
      const filter = tradeFilter(query)
      const sealed = sealedBy("wallets.trades", { wallet, ...filter }, limit)
      const before = yield* startOf(cursor, sealed, walletPlaceOfKey)
      yield* enterBatch(batch)
      const found = yield* Effect.catch(reader.tradesOf(wallet, { ...filter, before, limit }), unavailable)
      const { next, rows: data, ...knowledge } = found
      const meta = { methodVersion: "public-wallet-trades-v1", chain: "solana", wallet, ...knowledge } as const
      return { data, nextCursor: yield* nextOf(next && keyOfPlace(next), sealed), meta: yield* metaWith(meta) }
    }, Effect.scoped)

    const tradesText = Effect.fnUntraced(function* (wallet: Address, query: typeof WalletTradesQuery.Type) {
      yield* unpaged(query)
      yield* enterBatch(batch)
      const request = { ...tradeFilter(query), before: null, limit: MOST_ROWS, isHeldOnly: true }
      const { rows } = yield* Effect.catch(reader.tradesOf(wallet, request), unavailable)
      return csvResponse(csvText(TRADE_COLUMNS, rows.map(tradeCells)), `trades-${wallet}`)
    }, Effect.scoped)

    const trades = Effect.fnUntraced(function* ({ params: { wallet }, query, request }: TradesRequest) {
      return yield* isCsv(query, request) ? tradesText(wallet, query) : tradesPage(wallet, query)
    })

    const transfersPage = Effect.fnUntraced(function* (wallet: Address, query: typeof WalletTransfersQuery.Type) {
      const { cursor, limit = defaultRows } = query
      const filter = transferFilter(query)
      const sealed = sealedBy("wallets.transfers", { wallet, ...filter }, limit)
      const before = yield* startOf(cursor, sealed, walletPlaceOfKey)
      yield* enterBatch(batch)
      const found = yield* Effect.catch(reader.transfersOf(wallet, { ...filter, before, limit }), unavailable)
      const { next, rows: data, ...knowledge } = found
      const meta = { methodVersion: "public-wallet-transfers-v1", chain: "solana", wallet, ...knowledge } as const
      return { data, nextCursor: yield* nextOf(next && keyOfPlace(next), sealed), meta: yield* metaWith(meta) }
    }, Effect.scoped)

    const transfersText = Effect.fnUntraced(function* (wallet: Address, query: typeof WalletTransfersQuery.Type) {
      yield* unpaged(query)
      yield* enterBatch(batch)
      const request = { ...transferFilter(query), before: null, limit: MOST_ROWS, isHeldOnly: true }
      const { rows } = yield* Effect.catch(reader.transfersOf(wallet, request), unavailable)
      return csvResponse(csvText(TRANSFER_COLUMNS, rows.map(transferCells)), `transfers-${wallet}`)
    }, Effect.scoped)

    const transfers = Effect.fnUntraced(function* ({ params: { wallet }, query, request }: TransfersRequest) {
      return yield* isCsv(query, request) ? transfersText(wallet, query) : transfersPage(wallet, query)
    })

    const balancesAt = Effect.fnUntraced(function* (wallet: Address, moment: PastMoment, limit: number) {
      const meter = yield* Meter
      yield* meter.raiseTo(PAST_UNITS)
      const past = yield* reader.unitsAt(wallet, moment).pipe(
        Effect.catchTags({
          MomentNotRecorded: (missing) => Effect.fail(notRecorded(moment, missing)),
          WalletsUnavailable: unavailable
        })
      )
      const { second } = past
      const points = second === null ? [] : pricedMints(past).map((mint) => ({ mint, at: second }))
      const prices =
        points.length === 0
          ? []
          : yield* market.pricesAt(points).pipe(
              Effect.map(({ data }) => data),
              // Amounts do not need prices.
              Effect.catch(() => Effect.succeed([]))
            )
      return pastBalancesOf(wallet, past, new Map(prices.map((price) => [price.mint, price])), limit)
    })

    const balances = Effect.fnUntraced(function* ({ params: { wallet }, query }: BalancesRequest) {
      const { at, atSlot, limit = defaultBalances } = query
      yield* enterBatch(batch)
      const { data, ...knowledge } = yield* at !== undefined
        ? balancesAt(wallet, { field: "at", value: at }, limit)
        : atSlot !== undefined
          ? balancesAt(wallet, { field: "atSlot", value: atSlot }, limit)
          : Effect.catch(reader.balancesOf(wallet, limit), balancesUnavailable)
      const meta = { methodVersion: "public-wallet-balances-v1", chain: "solana", ...knowledge } as const
      return WalletBalancesAnswer.make({ data, meta: yield* metaWith(meta) })
    }, Effect.scoped)

    const fundedBy = Effect.fnUntraced(function* ({ params: { wallet } }: OfWallet) {
      yield* enterBatch(batch)
      const { data, ...knowledge } = yield* Effect.catch(reader.fundingOf(wallet), unavailable)
      const meta = { methodVersion: "public-wallet-funding-v1", chain: "solana", wallet, ...knowledge } as const
      return WalletFundingAnswer.make({ data, meta: yield* metaWith(meta) })
    }, Effect.scoped)

    const related = Effect.fnUntraced(function* ({ params: { wallet }, query }: RelatedInput) {
      const { cursor, limit = defaultRelated, relation = "shared_funder" } = query
      const sealed = sealedBy("wallets.related", { wallet, relation }, limit)
      const before = yield* startOf(cursor, sealed, placeOfKey)
      yield* enterBatch(batch)
      const found = yield* Effect.catch(reader.relatedOf(wallet, { relation, before, limit }), unavailable)
      const { next, rows: data, ...knowledge } = found
      const methodVersion = "public-wallet-related-v1" as const
      const meta = { methodVersion, chain: "solana", wallet, relation, ...knowledge } as const
      return { data, nextCursor: yield* nextOf(next && keyOfTrade(next), sealed), meta: yield* metaWith(meta) }
    }, Effect.scoped)

    const lotsPage = Effect.fnUntraced(function* (wallet: Address, query: typeof LotsQuery.Type) {
      const { cursor, limit = defaultRows } = query
      const filter = lotFilter(query)
      const sealed = sealedBy("wallets.lots", { wallet, ...filter }, limit)
      const after = yield* startOf(cursor, sealed, lotPlaceOfKey)
      yield* enterBatch(batch)
      const found = yield* Effect.catch(reader.lotsOf(wallet, { ...filter, after, limit }), unavailable)
      const { next, rows: data, ...knowledge } = found
      const { method } = filter
      const meta = { methodVersion: "public-wallet-lots-v1", chain: "solana", wallet, method, ...knowledge } as const
      const nextCursor = yield* nextOf(next && keyOfLot(next), sealed)
      return { data, nextCursor, meta: yield* metaWith(meta) }
    }, Effect.scoped)

    const lotsText = Effect.fnUntraced(function* (wallet: Address, query: typeof LotsQuery.Type) {
      yield* unpaged(query)
      yield* enterBatch(batch)
      const request = { ...lotFilter(query), after: null, limit: Number.MAX_SAFE_INTEGER }
      const { rows } = yield* Effect.catch(reader.lotsOf(wallet, request), unavailable)
      return csvResponse(csvText(LOT_COLUMNS, rows.map(lotCells)), `lots-${request.method}-${wallet}`)
    }, Effect.scoped)

    const lots = Effect.fnUntraced(function* ({ params: { wallet }, query, request }: LotsInput) {
      return yield* isCsv(query, request) ? lotsText(wallet, query) : lotsPage(wallet, query)
    })

    return handlers.handleAll({
      lots,
      balances,
      fundedBy,
      related,
      summary,
      positions,
      pnlHistory,
      performance,
      trades,
      transfers
    })
  })
)
