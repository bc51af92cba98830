import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Address } from "../domain/Address.ts"
import { DataUnavailable, InvalidCursor, LaunchNotFound, UnsupportedChain } from "./errors/problems.ts"
import { Authorization } from "./middleware/Authorization.ts"
import { Cost, FromMemory } from "./middleware/Metering.ts"
import { CursorParameter, LimitParameter, NextCursor } from "./pages.ts"
import { BooleanParameter, CommaList, NoQuery, optional, refuse, tokenParams, UnixSecond } from "./parameters.ts"
import { FirstBuyersInShort, FirstBuyersOfToken } from "./schemas/FirstBuyers.ts"
import { LaunchDetail, LaunchRow, LaunchSums } from "./schemas/LaunchView.ts"
import { marketKnowledge } from "./schemas/MarketViews.ts"
import { field } from "../domain/field.ts"
import { metaOf, methodVersion, tradersBasis, wallet } from "./schemas/fields.ts"
import { VenueLabel } from "./schemas/lists.ts"

/** Default number of launches of a page. */
export const defaultLaunches = 20

export const LaunchesQuery = Schema.Struct({
  launchpad: optional(CommaList(VenueLabel, 20), "Only of these launchpads: keys of the lighthouse."),
  platform: optional(
    CommaList(VenueLabel, 20),
    "Only of these platforms: keys of `platform`, such as `bags`, `believe`, `jup-studio` or `letsbonk`."
  ),
  creator: optional(Address, "Only launches by this creator."),
  graduated: optional(BooleanParameter, "`true`: only tokens whose migration was seen. `false`: only the others."),
  from: optional(UnixSecond, "Only launches from this Unix second on."),
  to: optional(UnixSecond, "Only launches before this Unix second; now by default."),
  limit: Schema.optionalKey(LimitParameter(100, defaultLaunches)),
  cursor: Schema.optionalKey(CursorParameter)
}).check(
  Schema.makeFilter(
    ({ from, to }: { readonly from?: number; readonly to?: number }) =>
      from === undefined || to === undefined || from < to || refuse("to", "conflict", "to must be after from.")
  )
)

const meta = Schema.Struct({
  ...metaOf("public-launches-v1"),
  tradersBasis: tradersBasis("net_trades"),
  ...marketKnowledge
})

export class LaunchesAnswer extends Schema.Opaque<LaunchesAnswer>()(
  Schema.Struct({
    data: field(Schema.Array(LaunchRow), "The answer itself."),
    nextCursor: NextCursor,
    meta: field(meta, "How the answer was made, and how well it is known.")
  }).annotate({
    identifier: "LaunchesAnswer",
    description:
      "Launches, newest first. The coverage is for the time since the oldest launch of the page; on the last page, since the requested beginning."
  })
) {}

export class LaunchAnswer extends Schema.Opaque<LaunchAnswer>()(
  Schema.Struct({
    data: LaunchDetail,
    meta: field(meta, "How the answer was made, and how well it is known.")
  }).annotate({
    identifier: "LaunchAnswer",
    description: "One launch. The coverage is for its first buyers."
  })
) {}

export const WalletLaunchesQuery = Schema.Struct({
  limit: Schema.optionalKey(LimitParameter(100, defaultLaunches)),
  cursor: Schema.optionalKey(CursorParameter)
})

export class WalletLaunchesAnswer extends Schema.Opaque<WalletLaunchesAnswer>()(
  Schema.Struct({
    data: field(Schema.Array(LaunchRow), "Its tokens, newest first."),
    nextCursor: NextCursor,
    meta: field(
      Schema.Struct({
        ...meta.fields,
        methodVersion: methodVersion("public-wallet-launches-v1"),
        wallet,
        sums: field(LaunchSums, "Sums over all pages.")
      }),
      "How the answer was made, and how well it is known."
    )
  }).annotate({
    identifier: "WalletLaunchesAnswer",
    description:
      "The tokens that launchpads say a wallet created. The coverage is for all time, so that it is complete only for a record that reaches back to the beginning of the chain."
  })
) {}

/** Default and greatest number of first buyers of a token. A read of several tokens counts the default number of each. */
export const buyerLimits = { usual: 20, most: 50 } as const

/** Most tokens whose first buyers one read counts. */
export const MOST_BUYER_TOKENS = 40

export const FirstBuyersQuery = Schema.Struct({
  limit: Schema.optionalKey(LimitParameter(buyerLimits.most, buyerLimits.usual))
})

export const FirstBuyersListQuery = Schema.Struct({
  addresses: field(
    CommaList(Address, MOST_BUYER_TOKENS),
    `1 to ${MOST_BUYER_TOKENS} different mints, separated by commas.`
  )
})

const buyersMeta = Schema.Struct({ ...metaOf("public-first-buyers-v1"), ...marketKnowledge })

export class FirstBuyersAnswer extends Schema.Opaque<FirstBuyersAnswer>()(
  Schema.Struct({
    data: FirstBuyersOfToken,
    meta: field(buyersMeta, "How the answer was made, and how well it is known.")
  }).annotate({
    identifier: "FirstBuyersAnswer",
    description:
      "The first buyers of one token. The coverage is for the time from the creation to the last listed purchase."
  })
) {}

/** Price of the first buyers of several tokens, and the pages of trades that one further unit pays for. */
const BUYERS_UNITS = 3
const PAGES_A_UNIT = 40

/** Units of a request that read so many pages of trades. */
export const buyersPrice = (pages: number): number => BUYERS_UNITS + Math.max(0, Math.ceil(pages / PAGES_A_UNIT) - 1)

export class FirstBuyersListAnswer extends Schema.Opaque<FirstBuyersListAnswer>()(
  Schema.Struct({
    data: field(Schema.Array(FirstBuyersInShort), "The answer itself, in the order of the request."),
    meta: field(buyersMeta, "How the answer was made, and how well it is known.")
  }).annotate({
    identifier: "FirstBuyersListAnswer",
    description:
      "The first buyers of several tokens in numbers. The coverage is incomplete when the coverage of a token is."
  })
) {}

/** Launches of tokens on launchpads. */
export class LaunchesGroup extends HttpApiGroup.make("launches")
  .add(
    HttpApiEndpoint.get("list", "/api/v1/launches", {
      query: LaunchesQuery,
      success: LaunchesAnswer,
      error: [InvalidCursor, DataUnavailable]
    })
      .annotate(FromMemory, true)
      .annotate(OpenApi.Summary, "Launches of tokens, newest first")
      .annotate(
        OpenApi.Description,
        "Ordered by the time of creation, or of the migration where the creation was not seen. New launches do not change later pages."
      ),
    HttpApiEndpoint.get("one", "/api/v1/launches/:mint", {
      params: { mint: field(Address, "A mint: base58 of 32 bytes.") },
      query: NoQuery,
      success: LaunchAnswer,
      error: [LaunchNotFound, DataUnavailable]
    }).annotate(OpenApi.Summary, "The launch of one token, with its first buyers"),
    HttpApiEndpoint.get("ofWallet", "/api/v1/wallets/:wallet/launches", {
      params: { wallet: field(Address, "A wallet: base58 of 32 bytes.") },
      query: WalletLaunchesQuery,
      success: WalletLaunchesAnswer,
      error: [InvalidCursor, DataUnavailable]
    })
      .annotate(FromMemory, true)
      .annotate(OpenApi.Summary, "The tokens that a wallet launched, and how many of them graduated")
      .annotate(
        OpenApi.Description,
        "The wallet that the launchpad names as creator. The share counts tokens whose creation was seen: a token that is known by its migration alone has graduated by definition, and is counted apart."
      ),
    HttpApiEndpoint.get("firstBuyers", "/api/v1/tokens/:chain/:address/first-buyers", {
      params: tokenParams,
      query: FirstBuyersQuery,
      success: FirstBuyersAnswer,
      error: [UnsupportedChain, DataUnavailable]
    })
      .annotate(
        OpenApi.Summary,
        "The first wallets that bought a token, what they still hold, and which of them bought together"
      )
      .annotate(
        OpenApi.Description,
        "First purchases in pools since the creation, by slot and place. A token whose creation was not seen has no list: `rows` is null and the coverage says why. Holders of a token that is not followed are queued, so that the same request knows more a little later."
      ),
    HttpApiEndpoint.get("firstBuyersOfMany", "/api/v1/tokens/first-buyers", {
      query: FirstBuyersListQuery,
      success: FirstBuyersListAnswer,
      error: [DataUnavailable]
    })
      .annotate(Cost, BUYERS_UNITS)
      .annotate(OpenApi.Summary, `The first buyers of 1 to ${MOST_BUYER_TOKENS} tokens in numbers`)
      .annotate(
        OpenApi.Description,
        `One row for each mint, in the order of the request: how many of the first ${buyerLimits.usual} buyers still hold the token, and what share. Each ${PAGES_A_UNIT} pages of trades that begin beyond the first ${PAGES_A_UNIT} cost 1 unit more. What was read is kept for 30 seconds at least, and is not charged again once it was paid for.`
      )
  )
  .middleware(Authorization)
  .annotate(OpenApi.Description, "Launches of tokens on launchpads, as far as their blocks were read.") {}
