import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Address } from "../domain/Address.ts"
import { Status } from "../domain/Scalar.ts"
import { CursorExpired, DataUnavailable, InvalidCursor, UnsupportedChain } from "./errors/problems.ts"
import { Authorization } from "./middleware/Authorization.ts"
import { Cost, FromMemory } from "./middleware/Metering.ts"
import { LimitParameter, NextCursor } from "./pages.ts"
import { IntegerParameter, optional, tokenParams } from "./parameters.ts"
import {
  MOST_LEADERS,
  LeaderSort,
  TopTrader,
  TraderCoverage,
  TraderWindow,
  WalletLeader
} from "./schemas/TopTraders.ts"
import { marketKnowledge } from "./schemas/MarketViews.ts"
import { field } from "../domain/field.ts"
import { answerSlot, metaOf, tradeBasis } from "./schemas/fields.ts"

/** Default values of optional parameters. */
export const defaults = { window: "24h", limit: 20 } as const

export const TopTradersQuery = Schema.Struct({
  window: optional(TraderWindow, `1h, 24h, or all that is kept; ${defaults.window} by default.`),
  limit: Schema.optionalKey(LimitParameter(100, defaults.limit)),
  cursor: field(
    Schema.optionalKey(Schema.String),
    "The nextCursor of the previous page, with the same selectors: 1 to 512 characters, valid for 30 seconds."
  )
})

export class TopTradersAnswer extends Schema.Opaque<TopTradersAnswer>()(
  Schema.Struct({
    data: field(Schema.Array(TopTrader), "The answer itself."),
    pagination: field(
      Schema.Struct({
        total: field(Schema.Int, "Number of wallets in the ranking."),
        hasMore: field(Schema.Boolean, "True when there is another page."),
        nextCursor: NextCursor
      }),
      "Place of the page in the list."
    ),
    meta: field(
      Schema.Struct({
        ...metaOf("public-research-v1"),
        slot: answerSlot,
        tradeBasis: tradeBasis("net_trades"),
        observedAtMs: field(
          Schema.NullOr(Schema.Int),
          "Time of the newest observation that was used, in milliseconds since the Unix epoch; null when there was none."
        ),
        address: field(Address, "Mint of the token: base58 of 32 bytes on Solana."),
        window: field(TraderWindow, "The span of time that ends now."),
        ranking: field(Schema.Literal("observed_volume_desc"), "The order of the rows."),
        source: field(Schema.Literal("native_execution_view"), "Where the values come from."),
        status: Status,
        coverage: TraderCoverage
      }),
      "How the answer was made, and how well it is known."
    )
  }).annotate({ identifier: "TopTradersAnswer", description: "A page of the wallets that trade a token most." })
) {}

/** Default values of the leaders. */
export const leaderDefaults = { window: "24h", sort: "realized", minKnownPct: 80, limit: 20 } as const

export const LeadersQuery = Schema.Struct({
  window: optional(TraderWindow, `1h, 24h, or all that is kept; ${leaderDefaults.window} by default.`),
  sort: optional(LeaderSort, `What wallets are ranked by; ${leaderDefaults.sort} by default.`),
  minKnownPct: optional(
    IntegerParameter(0, 100, leaderDefaults.minKnownPct),
    `Least \`knownSharePct\`. Others are left out and counted. ${leaderDefaults.minKnownPct} by default for \`realized\`, 0 otherwise.`
  ),
  minTrades: optional(IntegerParameter(1, 1_000_000, 1), "Least number of trades; 1 by default."),
  limit: Schema.optionalKey(LimitParameter(100, leaderDefaults.limit)),
  cursor: field(
    Schema.optionalKey(Schema.String),
    "The nextCursor of the previous page, with the same selectors. Every page shows the ranking as it was for the first page. The cursor expires after 60 seconds."
  )
})

export class LeadersAnswer extends Schema.Opaque<LeadersAnswer>()(
  Schema.Struct({
    data: field(Schema.Array(WalletLeader), "The answer itself."),
    nextCursor: NextCursor,
    meta: field(
      Schema.Struct({
        ...metaOf("public-wallet-leaders-v1"),
        tradeBasis: tradeBasis("net_trades"),
        ...marketKnowledge,
        slot: field(
          Schema.NullOr(Schema.Int),
          "Slot of the newest block in the answer; null when blocks came while the wallets were summed up. Then a block may be in some rows and not in others."
        ),
        window: field(TraderWindow, "The span of time that ends now."),
        windowFromMs: field(
          Schema.NullOr(Schema.Int),
          "Beginning of the window, in milliseconds since the Unix epoch; null when everything is counted."
        ),
        windowToMs: field(Schema.Int, "End of the window, in milliseconds since the Unix epoch."),
        sort: field(LeaderSort, "The order of the rows."),
        minKnownPct: field(Schema.Int, "The least `knownSharePct` that was asked for."),
        wallets: field(
          Schema.Int,
          "Wallets with a trade in the window that are in memory: what the ranking is chosen from."
        ),
        ranked: field(Schema.Int, `Wallets that pass. The first ${MOST_LEADERS} are on the pages.`),
        excluded: field(
          Schema.Struct({
            nothingKnown: field(Schema.Int, "Wallets without a token of known result, for `realized`."),
            belowMinimum: field(Schema.Int, "Wallets below `minKnownPct` or `minTrades`.")
          }),
          "Wallets that are on no page."
        )
      }),
      "How the answer was made, and how well it is known."
    )
  }).annotate({
    identifier: "LeadersAnswer",
    description:
      "Wallets by what is known of their trading over all tokens. Transfers are not counted: a token that came by a transfer has a sale of unknown cost. The coverage is for the window."
  })
) {}

/** Wallets that trade a token, from observed trades. */
export class TopTradersGroup extends HttpApiGroup.make("topTraders")
  .add(
    HttpApiEndpoint.get("rank", "/api/v1/tokens/:chain/:address/top-traders", {
      params: tokenParams,
      query: TopTradersQuery,
      success: TopTradersAnswer,
      error: [UnsupportedChain, InvalidCursor, CursorExpired, DataUnavailable]
    })
      .annotate(FromMemory, true)
      .annotate(OpenApi.Summary, "Wallets that trade a token most, by observed volume in USD"),
    HttpApiEndpoint.get("leaders", "/api/v1/wallets/leaders", {
      query: LeadersQuery,
      success: LeadersAnswer,
      error: [InvalidCursor, CursorExpired, DataUnavailable]
    })
      .annotate(FromMemory, true)
      .annotate(Cost, 2)
      .annotate(OpenApi.Summary, "Wallets by known realized profit, volume or trades over all tokens")
      .annotate(
        OpenApi.Description,
        "Over the wallets in memory, from their swaps. Only what is known counts, and each row says of how much. The sums are two seconds old at most, on a large market up to a minute. An address may be a program, a market maker or an arbitrage bot: see its tags in `POST /wallets/summary`."
      )
  )
  .middleware(Authorization)
  .annotate(OpenApi.Description, "Wallets that trade a token, from observed trades.") {}
