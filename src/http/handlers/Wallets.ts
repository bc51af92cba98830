import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { WalletBatch } from "../../access/WalletBatch.ts"
import { Api } from "../../api/Api.ts"
import { CurrentKey } from "../../api/middleware/Authorization.ts"
import {
  defaultDays,
  defaultPositions,
  defaultRows,
  type PnlHistoryQuery,
  type PositionsQuery,
  WalletPerformanceAnswer,
  WalletPnlHistoryAnswer,
  WalletPositionsAnswer,
  type WalletsBody,
  WalletSummaryAnswer,
  type WalletTradesQuery,
  type WalletTransfersQuery
} from "../../api/Wallets.ts"
import type { Address } from "../../domain/Address.ts"
import { WalletReader } from "../../wallets/WalletReader.ts"
import { storeUnavailable } from "../problems.ts"
import { metaWith } from "./metaWith.ts"
import { nextOf, sealedBy, startOf } from "./paging.ts"
import { keyOfPlace, walletPlaceOfKey } from "./tradeRequests.ts"
import { enterBatch } from "./walletBatch.ts"

const unavailable = storeUnavailable("Wallets cannot be read", "Wallets are unavailable: try again.")

interface OfWallet {
  readonly params: { readonly wallet: Address }
}
type PositionsRequest = OfWallet & { readonly query: typeof PositionsQuery.Type }
type TradesRequest = OfWallet & { readonly query: typeof WalletTradesQuery.Type }
type TransfersRequest = OfWallet & { readonly query: typeof WalletTransfersQuery.Type }
type PnlHistoryRequest = OfWallet & { readonly query: typeof PnlHistoryQuery.Type }

const rowFilter = ({ from, mint, to }: Pick<typeof WalletTradesQuery.Type, "from" | "mint" | "to">) => ({
  mint: mint ?? null,
  fromMs: from === undefined ? null : from * 1000,
  toMs: to === undefined ? null : to * 1000
})

export const layer = HttpApiBuilder.group(
  Api,
  "wallets",
  Effect.fnUntraced(function* (handlers) {
    const reader = yield* WalletReader
    const batch = yield* WalletBatch

    const summary = Effect.fnUntraced(function* ({ payload }: { readonly payload: typeof WalletsBody.Type }) {
      yield* enterBatch(batch)
      const { id: caller } = yield* CurrentKey
      const data = yield* Effect.catch(
        reader.rowsOf(payload.wallets, { backfill: payload.backfill, caller }),
        unavailable
      )
      return WalletSummaryAnswer.make({ data, source: "local" })
    }, Effect.scoped)

    const positions = Effect.fnUntraced(function* ({ params, query }: PositionsRequest) {
      yield* enterBatch(batch)
      const { id: caller } = yield* CurrentKey
      const read = reader.positionsOf(params.wallet, query.limit ?? defaultPositions, {
        backfill: query.backfill,
        caller
      })
      return WalletPositionsAnswer.make({ data: yield* Effect.catch(read, unavailable), source: "local" })
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

    const trades = Effect.fnUntraced(function* ({ params: { wallet }, query }: TradesRequest) {
      const { cursor, limit = defaultRows, side = null, ...rest } = query
      const filter = { ...rowFilter(rest), side }
      const sealed = sealedBy("wallets.trades", { wallet, ...filter }, limit)
      const before = yield* startOf(cursor, sealed, walletPlaceOfKey)
      yield* enterBatch(batch)
      const found = yield* Effect.catch(reader.tradesOf(wallet, { ...filter, before, limit }), unavailable)
      const { next, rows: data, ...knowledge } = found
      const meta = { methodVersion: "public-wallet-trades-v1", chain: "solana", wallet, ...knowledge } as const
      return { data, nextCursor: yield* nextOf(next && keyOfPlace(next), sealed), meta: yield* metaWith(meta) }
    }, Effect.scoped)

    const transfers = Effect.fnUntraced(function* ({ params: { wallet }, query }: TransfersRequest) {
      const { cursor, direction, limit = defaultRows, ...rest } = query
      const side = direction === undefined ? null : direction === "in" ? "buy" : "sell"
      const filter = { ...rowFilter(rest), side } as const
      const sealed = sealedBy("wallets.transfers", { wallet, ...filter }, limit)
      const before = yield* startOf(cursor, sealed, walletPlaceOfKey)
      yield* enterBatch(batch)
      const found = yield* Effect.catch(reader.transfersOf(wallet, { ...filter, before, limit }), unavailable)
      const { next, rows: data, ...knowledge } = found
      const meta = { methodVersion: "public-wallet-transfers-v1", chain: "solana", wallet, ...knowledge } as const
      return { data, nextCursor: yield* nextOf(next && keyOfPlace(next), sealed), meta: yield* metaWith(meta) }
    }, Effect.scoped)

    return handlers.handleAll({ summary, positions, pnlHistory, performance, trades, transfers })
  })
)
