import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../api/Api.ts"
import { LaunchNotFound } from "../../api/errors/problems.ts"
import {
  buyersPrice,
  buyerLimits,
  defaultLaunches,
  type FirstBuyersListQuery,
  type FirstBuyersQuery,
  type LaunchesQuery,
  type WalletLaunchesQuery
} from "../../api/Launches.ts"
import { Meter } from "../../api/middleware/Metering.ts"
import { Address, isAddress } from "../../domain/Address.ts"
import type { LaunchPlace } from "../../market/reads/launchPage.ts"
import { MarketReader } from "../../market/reads/MarketReader.ts"
import type { OrderKey } from "../middleware/cursor.ts"
import { unavailable } from "../problems.ts"
import { marketUnavailable } from "./marketProblems.ts"
import { metaWith } from "./metaWith.ts"
import { nextOf, sealedBy, startOf } from "./paging.ts"
import { mintOf, type TokenPath } from "./tokenPath.ts"

const WHOLE = /^(?:0|[1-9][0-9]{0,15})$/u

const placeOf = ([timeMs = "", mint = "", ...more]: OrderKey): LaunchPlace | null =>
  more.length === 0 && WHOLE.test(timeMs) && isAddress(mint)
    ? { timeMs: Number(timeMs), mint: Address.make(mint) }
    : null

const toMs = (second: number | undefined): number | null => (second === undefined ? null : second * 1000)

const filterOf = ({ creator, from, graduated, launchpad, platform, to }: typeof LaunchesQuery.Type) => ({
  launchpads: launchpad ?? null,
  platforms: platform ?? null,
  creator: creator ?? null,
  graduated: graduated ?? null,
  fromMs: toMs(from),
  toMs: toMs(to)
})

interface WalletInput {
  readonly params: { readonly wallet: Address }
  readonly query: typeof WalletLaunchesQuery.Type
}

const meta = { methodVersion: "public-launches-v1", chain: "solana", tradersBasis: "net_trades" } as const

const buyersMeta = { methodVersion: "public-first-buyers-v1", chain: "solana" } as const

export const layer = HttpApiBuilder.group(
  Api,
  "launches",
  Effect.fnUntraced(function* (handlers) {
    const reader = yield* MarketReader

    const list = Effect.fnUntraced(function* ({ query }: { readonly query: typeof LaunchesQuery.Type }) {
      const { cursor, limit = defaultLaunches } = query
      const filter = filterOf(query)
      const sealed = sealedBy("launches.list", filter, limit)
      const after = yield* startOf(cursor, sealed, placeOf)
      const page = yield* Effect.mapError(reader.launches({ ...filter, after, limit }), marketUnavailable)
      const { data, next, ...knowledge } = page
      return {
        data,
        nextCursor: yield* nextOf(next === null ? null : [String(next.timeMs), next.mint], sealed),
        meta: yield* metaWith({ ...meta, ...knowledge })
      }
    })

    const ofWallet = Effect.fnUntraced(function* ({ params: { wallet }, query }: WalletInput) {
      const { cursor, limit = defaultLaunches } = query
      const sealed = sealedBy("launches.ofWallet", { wallet }, limit)
      const after = yield* startOf(cursor, sealed, placeOf)
      const page = yield* Effect.mapError(reader.launchesOf(wallet, { after, limit }), marketUnavailable)
      const { data, next, ...knowledge } = page
      const methodVersion = "public-wallet-launches-v1" as const
      return {
        data,
        nextCursor: yield* nextOf(next === null ? null : [String(next.timeMs), next.mint], sealed),
        meta: yield* metaWith({ ...meta, methodVersion, wallet, ...knowledge })
      }
    })

    const one = Effect.fnUntraced(function* ({ params }: { readonly params: { readonly mint: Address } }) {
      const { data, ...knowledge } = yield* Effect.mapError(reader.launchOf(params.mint), (refusal) =>
        refusal._tag === "LaunchUnknown" ? new LaunchNotFound() : unavailable(refusal.detail)
      )
      return { data, meta: yield* metaWith({ ...meta, ...knowledge }) }
    })

    const firstBuyers = Effect.fnUntraced(function* (
      input: TokenPath & { readonly query: typeof FirstBuyersQuery.Type }
    ) {
      const mint = yield* mintOf(input)
      const { limit = buyerLimits.usual } = input.query
      const { data, ...knowledge } = yield* Effect.mapError(reader.firstBuyersOf(mint, limit), marketUnavailable)
      return { data, meta: yield* metaWith({ ...buyersMeta, ...knowledge }) }
    })

    const firstBuyersOfMany = Effect.fnUntraced(function* ({
      query
    }: {
      readonly query: typeof FirstBuyersListQuery.Type
    }) {
      const meter = yield* Meter
      const { data, ...knowledge } = yield* reader
        .firstBuyersOfMany(query.addresses, buyerLimits.usual, (pages) => meter.raiseTo(buyersPrice(pages)))
        .pipe(Effect.catchTag("MarketUnavailable", (refusal) => Effect.fail(marketUnavailable(refusal))))
      return { data, meta: yield* metaWith({ ...buyersMeta, ...knowledge }) }
    })

    return handlers.handleAll({ list, ofWallet, one, firstBuyers, firstBuyersOfMany })
  })
)
