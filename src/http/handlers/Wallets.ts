import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { WalletBatch } from "../../access/WalletBatch.ts"
import { Api } from "../../api/Api.ts"
import { CurrentKey } from "../../api/middleware/Authorization.ts"
import { WalletSummaryAnswer, type WalletsBody } from "../../api/Wallets.ts"
import { WalletReader } from "../../wallets/WalletReader.ts"
import { storeUnavailable } from "../problems.ts"
import { enterBatch } from "./walletBatch.ts"

const unavailable = storeUnavailable("Wallets cannot be read", "Wallets are unavailable: try again.")

export const layer = HttpApiBuilder.group(
  Api,
  "wallets",
  Effect.fnUntraced(function* (handlers) {
    const reader = yield* WalletReader
    const batch = yield* WalletBatch

    const summary = Effect.fnUntraced(function* ({ payload }: { readonly payload: typeof WalletsBody.Type }) {
      const { id } = yield* CurrentKey
      yield* enterBatch(batch, id)
      const data = yield* Effect.catch(reader.rowsOf(payload.wallets), unavailable)
      return WalletSummaryAnswer.make({ data, source: "local" })
    }, Effect.scoped)

    return handlers.handleAll({ summary })
  })
)
