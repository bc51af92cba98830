import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { WalletBatch } from "../../access/WalletBatch.ts"
import { Api } from "../../api/Api.ts"
import { CurrentKey } from "../../api/middleware/Authorization.ts"
import {
  defaultDays,
  defaultPositions,
  type PnlHistoryQuery,
  type PositionsQuery,
  WalletPnlHistoryAnswer,
  WalletPositionsAnswer,
  type WalletsBody,
  WalletSummaryAnswer
} from "../../api/Wallets.ts"
import type { Address } from "../../domain/Address.ts"
import { WalletReader } from "../../wallets/WalletReader.ts"
import { storeUnavailable } from "../problems.ts"
import { enterBatch } from "./walletBatch.ts"

const unavailable = storeUnavailable("Wallets cannot be read", "Wallets are unavailable: try again.")

interface OfWallet {
  readonly params: { readonly wallet: Address }
}
type PositionsRequest = OfWallet & { readonly query: typeof PositionsQuery.Type }
type PnlHistoryRequest = OfWallet & { readonly query: typeof PnlHistoryQuery.Type }

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

    return handlers.handleAll({ summary, positions, pnlHistory })
  })
)
