import { Clock, Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../api/Api.ts"
import { CopyFillItem, type CopyPnlQuery, defaults, type FillsQuery, type FollowsQuery } from "../../api/Copying.ts"
import { FollowNotFound } from "../../api/errors/problems.ts"
import { CurrentKey } from "../../api/middleware/Authorization.ts"
import { type CopyPlace, isFillId, isFollowId } from "../../api/schemas/Copying.ts"
import { COMPLETE, type Coverage } from "../../domain/Scalar.ts"
import { CopyReader, type GroupPlace, type ValuedFill } from "../../wallets/copying/CopyReader.ts"
import { slippageVsLeader } from "../../wallets/copying/slippage.ts"
import { usdTextOrNull } from "../../wallets/pnl.ts"
import type { OrderKey } from "../middleware/cursor.ts"
import { storeUnavailable } from "../problems.ts"
import { metaWith } from "./metaWith.ts"
import { nextOf, startOf } from "./paging.ts"

interface Query<Q> {
  readonly query: Q
}

const slippageOf = ({ execution, leader, side }: ValuedFill["fill"]) =>
  execution === null || execution.priceUsd === null || leader.priceUsd === null
    ? null
    : slippageVsLeader(side, { leader: leader.priceUsd, copy: execution.priceUsd })

const wireFill = ({ fill, realizedNanos }: ValuedFill): CopyFillItem => {
  const { execution, leader } = fill
  const { valueUsdNanos, ...trade } = leader
  return CopyFillItem.make({
    ...fill,
    leader: { ...trade, valueUsd: usdTextOrNull(valueUsdNanos) },
    execution: execution && {
      signature: execution.signature,
      slot: execution.slot,
      atMs: execution.atMs,
      inMint: execution.inMint,
      inAmount: execution.inAmount,
      outMint: execution.outMint,
      outAmount: execution.outAmount,
      priceUsd: execution.priceUsd,
      valueUsd: usdTextOrNull(execution.valueUsdNanos),
      feeUsd: usdTextOrNull(execution.feeUsdNanos)
    },
    latencyMs: execution === null ? null : execution.atMs - leader.atMs,
    slippageVsLeaderPct: slippageOf(fill),
    realized: usdTextOrNull(realizedNanos)
  })
}

// At most as many digits as a time has in the database.
const TIME = /^\d{1,15}$/u

const placeOf = ([atMs = "", id = ""]: OrderKey, isId: (id: string) => boolean): CopyPlace | null =>
  TIME.test(atMs) && isId(id) ? { atMs: Number(atMs), id } : null

const groupPlaceOf = ([throughMs = "", key = ""]: OrderKey): GroupPlace | null =>
  TIME.test(throughMs) && key !== "" ? { throughMs: Number(throughMs), key } : null

const keyOf = (place: CopyPlace | null): OrderKey | null => place && [String(place.atMs), place.id]

/** Each call reads the store, so the records are observed at the time of the call. */
const metaOf = (coverage: Coverage = COMPLETE) =>
  Effect.flatMap(Clock.currentTimeMillis, (observedAtMs) =>
    metaWith({
      methodVersion: "public-copy-v1",
      executionAuthority: "none",
      observedAtMs,
      status: coverage.complete ? "known" : "partial",
      coverage
    })
  )

const unavailable = storeUnavailable("The follow store is unavailable", "Copy trading is unavailable: try again.")

const problems = { UnknownFollow: () => new FollowNotFound(), FollowStoreUnavailable: unavailable }

export const layer = HttpApiBuilder.group(
  Api,
  "copying",
  Effect.fnUntraced(function* (handlers) {
    const copies = yield* CopyReader

    const follows = Effect.fnUntraced(
      function* ({ query }: Query<typeof FollowsQuery.Type>) {
        const { accountId } = yield* CurrentKey
        const { cursor, limit = defaults.follows, status = null } = query
        const selectors = ["copy.follows", accountId, status ?? ""]
        const after = yield* startOf(cursor, selectors, (key) => placeOf(key, isFollowId))
        const { next, rows } = yield* copies.follows({ accountId, status, limit, after })
        return { data: rows, nextCursor: yield* nextOf(keyOf(next), selectors), meta: yield* metaOf() }
      },
      Effect.catchTag("FollowStoreUnavailable", unavailable)
    )

    const follow = Effect.fnUntraced(function* ({ params }: { readonly params: { readonly id: string } }) {
      const { accountId } = yield* CurrentKey
      return { data: yield* copies.follow(accountId, params.id), meta: yield* metaOf() }
    }, Effect.catchTags(problems))

    const fills = Effect.fnUntraced(function* ({ query }: Query<typeof FillsQuery.Type>) {
      const { accountId } = yield* CurrentKey
      const { cursor, limit = defaults.fills, ...chosen } = query
      const { followId = null, mint = null, sinceMs = null, status = null, untilMs = null } = chosen
      const selection = { accountId, followId, mint, status, sinceMs, untilMs }
      const selectors = ["copy.fills", JSON.stringify(selection)]
      const after = yield* startOf(cursor, selectors, (key) => placeOf(key, isFillId))
      const { next, rows } = yield* copies.fills({ ...selection, limit, after })
      return { data: rows.map(wireFill), nextCursor: yield* nextOf(keyOf(next), selectors), meta: yield* metaOf() }
    }, Effect.catchTags(problems))

    const pnl = Effect.fnUntraced(function* ({ query }: Query<typeof CopyPnlQuery.Type>) {
      const { accountId } = yield* CurrentKey
      const { cursor, limit = defaults.groups, window = defaults.window } = query
      const { followId = null, groupBy = defaults.groupBy } = query
      const selectors = ["copy.pnl", accountId, window, followId ?? "", groupBy]
      const after = yield* startOf(cursor, selectors, groupPlaceOf)
      const { fromMs, groups, next, throughMs, total } = yield* copies.pnl({
        accountId,
        window,
        followId,
        groupBy,
        limit,
        after
      })
      const nextKey = next && [String(next.throughMs), next.key]
      return {
        data: { window, fromMs, throughMs, total, groups },
        nextCursor: yield* nextOf(nextKey, selectors),
        meta: yield* metaOf(total.coverage)
      }
    }, Effect.catchTags(problems))

    return handlers.handleAll({ follows, follow, fills, pnl })
  })
)
