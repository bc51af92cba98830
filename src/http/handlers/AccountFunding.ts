import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import {
  type BalancesQuery,
  type CatalogQuery,
  defaults,
  type DepositQuery,
  type WalletsQuery
} from "../../api/AccountFunding.ts"
import { Api } from "../../api/Api.ts"
import { retryAfter } from "../../api/errors/Problem.ts"
import { FundingTargetNotFound, WalletNotFound } from "../../api/errors/problems.ts"
import { CurrentKey } from "../../api/middleware/Authorization.ts"
import type { AccountBalance, AccountWallet, CatalogEntry } from "../../api/schemas/Funding.ts"
import { FundingClient, type FundingUnavailable } from "../../funding/FundingClient.ts"
import { descending, type OrderKey, pageOf, short } from "../middleware/cursor.ts"
import { unavailable } from "../problems.ts"
import { metaWith } from "./metaWith.ts"
import { nextOf, startOf } from "./paging.ts"

interface Query<Q> {
  readonly query: Q
}

// Newest first, so that a wallet added while paging appears on no later page.
const walletKey = ({ createdAtMs, walletId }: AccountWallet): OrderKey => [descending(createdAtMs), short(walletId)]
const catalogKey = ({ network }: CatalogEntry): OrderKey => [short(network.id)]
const balanceKey = ({ asset, network, walletId }: AccountBalance): OrderKey =>
  [walletId, network.id, asset.id].map(short)

/** Logs the failure and fails with a 503, which leaves out the detail. */
const fundingUnavailable = ({ detail, reason, retryAfterMs = 1000 }: FundingUnavailable) => {
  const message =
    reason === "unconfigured"
      ? "No funding service is configured for this deployment (FUNDING_URL)."
      : "The funding service is unavailable."
  return Effect.andThen(
    Effect.logWarning("The funding service is unavailable", { reason, detail }),
    Effect.fail(retryAfter(unavailable(message), retryAfterMs / 1000))
  )
}

const problems = {
  UnknownWallet: () => new WalletNotFound(),
  UnknownFundingTarget: () => new FundingTargetNotFound(),
  FundingUnavailable: fundingUnavailable
}

const metaOf = (asOf: number) => metaWith({ executionAuthority: "none", asOf, source: "native-indexer" })

export const layer = HttpApiBuilder.group(
  Api,
  "accountFunding",
  Effect.fnUntraced(function* (handlers) {
    const funding = yield* FundingClient

    const wallets = Effect.fnUntraced(
      function* ({ query }: Query<typeof WalletsQuery.Type>) {
        const { accountId } = yield* CurrentKey
        const { cursor, family, limit = defaults.wallets } = query
        const selectors = ["account.wallets", accountId, family ?? ""]
        const after = yield* startOf(cursor, selectors, (key) => key)
        const read = yield* funding.wallets(accountId)
        const chosen = read.wallets.filter((wallet) => family === undefined || wallet.family === family)
        const { last, rows } = pageOf(chosen, walletKey, { after, limit })
        return { data: rows, nextCursor: yield* nextOf(last, selectors), meta: yield* metaOf(read.asOf) }
      },
      Effect.catchTag("FundingUnavailable", fundingUnavailable)
    )

    const catalog = Effect.fnUntraced(function* ({ query }: Query<typeof CatalogQuery.Type>) {
      const { accountId } = yield* CurrentKey
      const { cursor, limit = defaults.catalog, walletId } = query
      const selectors = ["account.funding-catalog", accountId, walletId ?? ""]
      const after = yield* startOf(cursor, selectors, (key) => key)
      const read = yield* funding.catalog({ owner: accountId, walletId })
      const { last, rows } = pageOf(read.networks, catalogKey, { after, limit })
      return { data: rows, nextCursor: yield* nextOf(last, selectors), meta: yield* metaOf(read.asOf) }
    }, Effect.catchTags(problems))

    const balances = Effect.fnUntraced(
      function* ({ query }: Query<typeof BalancesQuery.Type>) {
        const { accountId } = yield* CurrentKey
        const { cursor, limit = defaults.balances, walletId } = query
        const selectors = ["account.balances", accountId, walletId ?? ""]
        const after = yield* startOf(cursor, selectors, (key) => key)
        const read = yield* funding.balances({ owner: accountId, walletId })
        const { last, rows } = pageOf(read.balances, balanceKey, { after, limit })
        const meta = yield* metaOf(read.asOf)
        return { data: rows, nextCursor: yield* nextOf(last, selectors), meta: { ...meta, partial: read.unread } }
      },
      Effect.catchTags({ UnknownWallet: problems.UnknownWallet, FundingUnavailable: fundingUnavailable })
    )

    const depositAddress = Effect.fnUntraced(function* ({ query }: Query<typeof DepositQuery.Type>) {
      const { accountId } = yield* CurrentKey
      const target = { owner: accountId, walletId: query.wallet, networkId: query.network, assetId: query.asset }
      const data = yield* funding.depositAddress(target)
      return { data, nextCursor: null, meta: yield* metaOf(data.asOf) }
    }, Effect.catchTags(problems))

    return handlers.handleAll({ wallets, catalog, balances, depositAddress })
  })
)
