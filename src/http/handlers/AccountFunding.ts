import { Clock, Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import {
  type BalancesQuery,
  type CatalogQuery,
  defaults,
  type DepositQuery,
  type WalletsQuery
} from "../../api/AccountFunding.ts"
import { Api } from "../../api/Api.ts"
import { CurrentKey } from "../../api/middleware/Authorization.ts"
import { retryAfter } from "../../api/Problem.ts"
import { DataUnavailable, FundingTargetNotFound, InvalidCursor, WalletNotFound } from "../../api/problems.ts"
import type { AccountBalance, AccountWallet, CatalogEntry } from "../../domain/Funding.ts"
import { FundingClient, type FundingUnavailable } from "../../funding/FundingClient.ts"
import { descending, type OrderKey, pageOf, readCursor, short, writeCursor } from "../middleware/cursor.ts"
import { RequestContext } from "../middleware/RequestContext.ts"

interface Query<Q> {
  readonly query: Q
}

// Newest first, so that a wallet that is added later is on no page that still follows.
const walletKey = ({ createdAtMs, walletId }: AccountWallet): OrderKey => [descending(createdAtMs), short(walletId)]
const catalogKey = ({ network }: CatalogEntry): OrderKey => [short(network.id)]
const balanceKey = ({ asset, network, walletId }: AccountBalance): OrderKey =>
  [walletId, network.id, asset.id].map(short)

/** What is wrong is for our log; the caller learns that it cannot be had, and when to ask again. */
const unavailable = ({ detail, reason, retryAfterMs = 1000 }: FundingUnavailable) => {
  const problem =
    reason === "unconfigured"
      ? new DataUnavailable({ error: { message: "This deployment has no funding service." } })
      : new DataUnavailable({ error: { message: "The funding service cannot be read right now." } })
  return Effect.andThen(
    Effect.logWarning("The funding service could not be read", { reason, detail }),
    Effect.fail(retryAfter(problem, retryAfterMs / 1000))
  )
}

const refusals = {
  UnknownWallet: () => new WalletNotFound(),
  UnknownFundingTarget: () => new FundingTargetNotFound(),
  FundingUnavailable: unavailable
}

const metaOf = (asOf: number) =>
  Effect.map(RequestContext, ({ id }) => ({
    requestId: id,
    executionAuthority: "none" as const,
    asOf,
    source: "native-indexer" as const
  }))

/** Where a page begins. The selectors name the account, so that a cursor is worth nothing to another. */
const startOf = (cursor: string | undefined, selectors: ReadonlyArray<string>) =>
  Effect.flatMap(Clock.currentTimeMillis, (nowMs) => {
    const key = cursor === undefined ? null : readCursor(cursor, selectors, nowMs)
    return cursor !== undefined && key === null ? Effect.fail(new InvalidCursor()) : Effect.succeed(key)
  })

const nextOf = (last: OrderKey | null, selectors: ReadonlyArray<string>) =>
  Effect.map(Clock.currentTimeMillis, (nowMs) => (last === null ? null : writeCursor(selectors, last, nowMs)))

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
        const after = yield* startOf(cursor, selectors)
        const read = yield* funding.wallets(accountId)
        const chosen = read.wallets.filter((wallet) => family === undefined || wallet.family === family)
        const { last, rows } = pageOf(chosen, walletKey, { after, limit })
        return { data: rows, nextCursor: yield* nextOf(last, selectors), meta: yield* metaOf(read.asOf) }
      },
      Effect.catchTag("FundingUnavailable", unavailable)
    )

    const catalog = Effect.fnUntraced(function* ({ query }: Query<typeof CatalogQuery.Type>) {
      const { accountId } = yield* CurrentKey
      const { cursor, limit = defaults.catalog, walletId } = query
      const selectors = ["account.funding-catalog", accountId, walletId ?? ""]
      const after = yield* startOf(cursor, selectors)
      const read = yield* funding.catalog({ owner: accountId, walletId })
      const { last, rows } = pageOf(read.networks, catalogKey, { after, limit })
      return { data: rows, nextCursor: yield* nextOf(last, selectors), meta: yield* metaOf(read.asOf) }
    }, Effect.catchTags(refusals))

    const balances = Effect.fnUntraced(
      function* ({ query }: Query<typeof BalancesQuery.Type>) {
        const { accountId } = yield* CurrentKey
        const { cursor, limit = defaults.balances, walletId } = query
        const selectors = ["account.balances", accountId, walletId ?? ""]
        const after = yield* startOf(cursor, selectors)
        const read = yield* funding.balances({ owner: accountId, walletId })
        const { last, rows } = pageOf(read.balances, balanceKey, { after, limit })
        const meta = yield* metaOf(read.asOf)
        return { data: rows, nextCursor: yield* nextOf(last, selectors), meta: { ...meta, partial: read.unread } }
      },
      Effect.catchTags({ UnknownWallet: refusals.UnknownWallet, FundingUnavailable: unavailable })
    )

    const depositAddress = Effect.fnUntraced(function* ({ query }: Query<typeof DepositQuery.Type>) {
      const { accountId } = yield* CurrentKey
      const target = { owner: accountId, walletId: query.wallet, networkId: query.network, assetId: query.asset }
      const data = yield* funding.depositAddress(target)
      return { data, nextCursor: null, meta: yield* metaOf(data.asOf) }
    }, Effect.catchTags(refusals))

    return handlers.handleAll({ wallets, catalog, balances, depositAddress })
  })
)
