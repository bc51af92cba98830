import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Address } from "../domain/Address.ts"
import { DataUnavailable, InvalidCursor, RateLimited } from "./errors/problems.ts"
import { Authorization } from "./middleware/Authorization.ts"
import { JsonBody } from "./middleware/JsonBody.ts"
import { CsvText, FormatParameter, NextCursor, pageOf, pageParameters } from "./pages.ts"
import {
  BooleanParameter,
  DecimalParameter,
  IntegerParameter,
  NoQuery,
  optional,
  refuse,
  UnixSecond
} from "./parameters.ts"
import { knowledgeOf, metaOf, wallet } from "./schemas/fields.ts"
import { TradeSide } from "./schemas/TokenTrade.ts"
import { PastMeta, WalletBalances, WalletFunding } from "./schemas/WalletBalances.ts"
import { OpeningTransfer, RelatedWallet, RelatingFunder, WalletRelation } from "./schemas/RelatedWallets.ts"
import { LotMethod, LotSums, WalletLot } from "./schemas/WalletLots.ts"
import { WalletTrade, WalletTransfer } from "./schemas/WalletTrades.ts"
import { isOrdered } from "./Trades.ts"
import { MOST_SLOTS } from "./Spot.ts"
import { WalletPerformance } from "./schemas/WalletPerformance.ts"
import { PositionSort, WalletPnlHistory, WalletPositions } from "./schemas/WalletPositions.ts"
import { WalletRows } from "./schemas/WalletSummary.ts"
import { field } from "../domain/field.ts"
import { UniqueList } from "./schemas/lists.ts"

export const WalletsBody = Schema.Struct({
  wallets: field(UniqueList(Address, 100, "addresses"), "The wallets."),
  backfill: field(
    Schema.optionalKey(Schema.Boolean),
    "Starts reading the wallets' transactions from the chain. The answer does not wait for it."
  )
}).annotate({ identifier: "WalletSummaryRequest", description: "The wallets to summarise." })

export class WalletSummaryAnswer extends Schema.Opaque<WalletSummaryAnswer>()(
  Schema.Struct({
    data: WalletRows,
    source: field(Schema.String, "Always `local`: from data of this service.")
  }).annotate({ identifier: "WalletSummaryAnswer", description: "Identity and profit of several wallets." })
) {}

const source = Schema.String.annotate({ description: "Always `local`: from data of this service." })

export class WalletPositionsAnswer extends Schema.Opaque<WalletPositionsAnswer>()(
  Schema.Struct({ data: WalletPositions, nextCursor: NextCursor, source }).annotate({
    identifier: "WalletPositionsAnswer",
    description: "Positions of one wallet."
  })
) {}

export class WalletPnlHistoryAnswer extends Schema.Opaque<WalletPnlHistoryAnswer>()(
  Schema.Struct({ data: WalletPnlHistory, source }).annotate({
    identifier: "WalletPnlHistoryAnswer",
    description: "Profit of one wallet by UTC day."
  })
) {}

export class WalletPerformanceAnswer extends Schema.Opaque<WalletPerformanceAnswer>()(
  Schema.Struct({ data: WalletPerformance, source }).annotate({
    identifier: "WalletPerformanceAnswer",
    description: "Results of one wallet."
  })
) {}

const walletParams = { wallet: field(Address, "A wallet: base58 of 32 bytes.") }

/** Default number of positions of an answer. */
export const defaultPositions = 100
/** Default number of days of a history. */
export const defaultDays = 30

const backfill = Schema.optional(
  field(BooleanParameter, "Starts reading the wallet's transactions from the chain. The answer does not wait for it.")
)

export const PositionsQuery = Schema.Struct({
  mint: optional(Address, "Only the position in this token."),
  open: optional(
    BooleanParameter,
    "`true`: only positions that hold something, or may. `false`: only positions that certainly hold nothing."
  ),
  minValueUsd: optional(
    DecimalParameter,
    "Least value in dollars. Positions whose value is unknown are left out and counted in `unknownValue`."
  ),
  sort: optional(PositionSort, "What positions are ordered by; `lastTrade` by default."),
  order: optional(Schema.Literals(["asc", "desc"]), "`desc`, the default: the greatest figure first."),
  ...pageParameters(500, defaultPositions),
  backfill
})

export const PnlHistoryQuery = Schema.Struct({
  days: Schema.optional(
    field(IntegerParameter(1, 365, defaultDays), `Days, including today; ${defaultDays} by default.`)
  ),
  backfill
})

/** Default number of rows of a page. */
export const defaultRows = 50

const rowFilters = {
  mint: optional(Address, "Only rows of this token."),
  from: optional(UnixSecond, "Only rows from this Unix second on."),
  to: optional(UnixSecond, "Only rows before this Unix second; now by default.")
}

const CSV =
  "`csv` answers like `Accept: text/csv`: every row that passes among the newest 10,000, without pages. How well the wallet is known is in the JSON answer."

export const WalletTradesQuery = Schema.Struct({
  ...rowFilters,
  side: optional(TradeSide, "Only purchases or only sales."),
  format: optional(FormatParameter, CSV),
  ...pageParameters(200, defaultRows)
}).check(isOrdered)

export const WalletTransfersQuery = Schema.Struct({
  ...rowFilters,
  direction: optional(Schema.Literals(["in", "out"]), "Only what came in, or only what left."),
  format: optional(FormatParameter, CSV),
  ...pageParameters(200, defaultRows)
}).check(isOrdered)

export const LotsQuery = Schema.Struct({
  method: optional(LotMethod, "How a sale chooses its lots; `average` by default, as positions count."),
  state: optional(Schema.Literals(["sold", "open"]), "`sold`, the default: what sales took. `open`: what is left."),
  ...rowFilters,
  format: optional(FormatParameter, CSV),
  ...pageParameters(200, defaultRows)
}).check(isOrdered)

const rowsMeta = <const Version extends string>(version: Version) =>
  Schema.Struct({
    ...metaOf(version),
    wallet,
    coveredFromMs: field(
      Schema.NullOr(Schema.Int),
      "Beginning of the time of which rows are held, in milliseconds since the Unix epoch; null when none is held. Older rows are unknown."
    ),
    ...knowledgeOf("Time of the newest block whose rows are here.")
  })

export const WalletTradesAnswer = pageOf(WalletTrade, rowsMeta("public-wallet-trades-v1"), {
  identifier: "WalletTradesAnswer",
  description:
    "Trades of one wallet, newest first. The newest 10,000 trades and transfers of a wallet are held; the pages after the first show them as the first page read them, for a minute. Older trades follow from the store, unless the wallet's transactions were read. Of those one page searches 5,000 rows, so that it may have fewer rows than asked for, or none, with a `nextCursor`."
})

export const WalletTransfersAnswer = pageOf(WalletTransfer, rowsMeta("public-wallet-transfers-v1"), {
  identifier: "WalletTransfersAnswer",
  description:
    "Transfers of one wallet, newest first. Of a mint they are recorded from the wallet's first trade in it on, so that the coverage is never complete. Of a tracked wallet transfers older than the newest 10,000 rows follow from the store, like trades."
})

export class WalletLotsAnswer extends Schema.Opaque<WalletLotsAnswer>()(
  pageOf(
    WalletLot,
    Schema.Struct({
      ...rowsMeta("public-wallet-lots-v1").fields,
      method: LotMethod,
      sums: field(LotSums, "Sums over all pages. The rows of the CSV give the same.")
    }),
    {
      identifier: "WalletLotsAnswer",
      description: "Lots of one wallet, the latest sale first. `from` and `to` are times of sales."
    }
  )
) {}

/** Default number of tokens of the balances. */
export const defaultBalances = 100

export const BalancesQuery = Schema.Struct({
  limit: optional(
    IntegerParameter(1, 500, defaultBalances),
    `Most tokens of the answer, most valuable first; ${defaultBalances} by default. The sums count all.`
  ),
  atSlot: optional(
    IntegerParameter(1, MOST_SLOTS),
    "What the wallet held at the end of this slot, by its recorded trades and transfers. Costs at least 5 units. A slot outside the record is a 400."
  ),
  at: optional(
    UnixSecond,
    "The same at the end of this Unix second. A second outside the record is a 400, and so is `at` beside `atSlot`."
  )
}).check(
  Schema.makeFilter(
    ({ at, atSlot }: { readonly at?: number; readonly atSlot?: number }) =>
      at === undefined || atSlot === undefined || refuse("at", "conflict", "at must be left out beside atSlot.")
  )
)

export class WalletBalancesAnswer extends Schema.Opaque<WalletBalancesAnswer>()(
  Schema.Struct({
    data: WalletBalances,
    meta: field(
      Schema.Struct({
        ...metaOf("public-wallet-balances-v1"),
        slot: field(
          Schema.NullOr(Schema.Int),
          "The lowest slot of the node's answers. Nothing in the answer is older. With `atSlot` that slot, with `at` null."
        ),
        slots: field(
          Schema.NullOr(
            Schema.Struct({
              sol: field(Schema.Int, "Slot of the SOL of the wallet's own account."),
              splToken: field(Schema.Int, "Slot of the accounts under the SPL Token program, wrapped SOL among them."),
              token2022: field(Schema.Int, "Slot of the accounts under Token-2022.")
            })
          ),
          "The slot of each of the node's answers. Where they differ, a transfer between them may be in two parts or in none. Null in the past."
        ),
        past: field(Schema.NullOr(PastMeta), "The moment in the past; null for now."),
        ...knowledgeOf("When the accounts were read; in the past, the time of the newest block whose rows are here.")
      }),
      "How the answer was made, and how well it is known."
    )
  }).annotate({
    identifier: "WalletBalancesAnswer",
    description:
      "What a wallet holds. The balances of now are whole: status and coverage are for their values. Balances of the past are never complete, because SOL, dollars and tokens that the record never saw are not in them."
  })
) {}

export class WalletFundingAnswer extends Schema.Opaque<WalletFundingAnswer>()(
  Schema.Struct({
    data: WalletFunding,
    meta: field(rowsMeta("public-wallet-funding-v1"), "How the answer was made, and how well it is known.")
  }).annotate({
    identifier: "WalletFundingAnswer",
    description:
      "The transfer of SOL that opened a wallet's account, and the first transfer of a token to it, only as far as the record reaches: earlier ones may exist. So the coverage, which is for transfers of tokens, is never complete."
  })
) {}

/** Default number of related wallets of a page. */
export const defaultRelated = 50

export const RelatedQuery = Schema.Struct({
  relation: optional(WalletRelation, "What relates the wallets; `shared_funder` by default."),
  ...pageParameters(200, defaultRelated)
})

export class WalletRelatedAnswer extends Schema.Opaque<WalletRelatedAnswer>()(
  pageOf(
    RelatedWallet,
    Schema.Struct({
      ...rowsMeta("public-wallet-related-v1").fields,
      relation: WalletRelation,
      funding: field(
        Schema.NullOr(OpeningTransfer),
        "The transfer that opened this wallet; null when none is recorded, and then nothing is known of who shares its funder."
      ),
      funder: field(
        Schema.NullOr(RelatingFunder),
        "The wallet whose transfers relate the rows: the funder of this wallet, or for `funded` this wallet; null when it is unknown."
      )
    }),
    {
      identifier: "WalletRelatedAnswer",
      description:
        "Wallets that one wallet opened, the newest first, each with the transfer. Wallets opened before the record began are unknown, so that the coverage is never complete."
    }
  )
) {}

/** Identity and observed profit of wallets, from data in memory. */
export class WalletsGroup extends HttpApiGroup.make("wallets")
  .add(
    HttpApiEndpoint.post("summary", "/api/v1/wallets/summary", {
      query: NoQuery,
      payload: WalletsBody,
      success: WalletSummaryAnswer,
      error: [RateLimited, DataUnavailable]
    })
      .middleware(JsonBody)
      .annotate(
        OpenApi.Summary,
        "Identity and observed profit of 1 to 100 wallets; counts as a wallet-batch read of its caller"
      )
  )
  .add(
    HttpApiEndpoint.get("positions", "/api/v1/wallets/:wallet/positions", {
      params: walletParams,
      query: PositionsQuery,
      success: WalletPositionsAnswer,
      error: [InvalidCursor, RateLimited, DataUnavailable]
    })
      .annotate(
        OpenApi.Summary,
        "Positions of one wallet with their lots, strict and known profit; counts as a wallet-batch read of its caller"
      )
      .annotate(
        OpenApi.Description,
        "In any order, with filters and a cursor. A page begins after the figure and the mint of the last position: a position whose figure changes between two pages may be on both or on neither."
      ),
    HttpApiEndpoint.get("pnlHistory", "/api/v1/wallets/:wallet/pnl/history", {
      params: walletParams,
      query: PnlHistoryQuery,
      success: WalletPnlHistoryAnswer,
      error: [RateLimited, DataUnavailable]
    }).annotate(
      OpenApi.Summary,
      "Realized profit and value of one wallet by UTC day; counts as a wallet-batch read of its caller"
    ),
    HttpApiEndpoint.get("performance", "/api/v1/wallets/:wallet/performance", {
      params: walletParams,
      query: NoQuery,
      success: WalletPerformanceAnswer,
      error: [RateLimited, DataUnavailable]
    }).annotate(
      OpenApi.Summary,
      "Win rate, hold times, best and worst, streaks and drawdown of one wallet; counts as a wallet-batch read of its caller"
    ),
    HttpApiEndpoint.get("balances", "/api/v1/wallets/:wallet/balances", {
      params: walletParams,
      query: BalancesQuery,
      success: WalletBalancesAnswer,
      error: [RateLimited, DataUnavailable]
    })
      .annotate(
        OpenApi.Summary,
        "Every token, SOL and dollars of any wallet, with their value; counts as a wallet-batch read of its caller"
      )
      .annotate(
        OpenApi.Description,
        "Read from the node at the newest confirmed slot and kept for five seconds. A value is null when its price is unknown, and then so is the sum; `knownValueUsd` counts the rest. A wallet with more token accounts than fit into 8 MiB of the node's answer, about 20,000, is refused as unavailable with that reason. With `atSlot` or `at` nothing is read from the node: the answer is made of the newest 10,000 recorded trades and transfers of the wallet, for at least 5 units, and at most 100 tokens are valued, at their last trade up to that second."
      ),
    HttpApiEndpoint.get("lots", "/api/v1/wallets/:wallet/lots", {
      params: walletParams,
      query: LotsQuery,
      success: [WalletLotsAnswer, CsvText],
      error: [InvalidCursor, RateLimited, DataUnavailable]
    })
      .annotate(
        OpenApi.Summary,
        "What each sale of a wallet took, by average, FIFO, LIFO or HIFO; counts as a wallet-batch read of its caller"
      )
      .annotate(
        OpenApi.Description,
        "From the swaps in the record. The latest sale first; open lots by token, the oldest first. A page begins after the last row of the page before it, whatever was bought or sold meanwhile. Not tax advice."
      ),
    HttpApiEndpoint.get("fundedBy", "/api/v1/wallets/:wallet/funded-by", {
      params: walletParams,
      query: NoQuery,
      success: WalletFundingAnswer,
      error: [RateLimited, DataUnavailable]
    }).annotate(
      OpenApi.Summary,
      "The first transfer to a wallet, as far as the record reaches; counts as a wallet-batch read of its caller"
    ),
    HttpApiEndpoint.get("related", "/api/v1/wallets/:wallet/related", {
      params: walletParams,
      query: RelatedQuery,
      success: WalletRelatedAnswer,
      error: [InvalidCursor, RateLimited, DataUnavailable]
    })
      .annotate(
        OpenApi.Summary,
        "Wallets with the same first funder, or that a wallet funded first, with the evidence; counts as a wallet-batch read of its caller"
      )
      .annotate(
        OpenApi.Description,
        "A relation is one transfer of SOL to an account that had none. It is evidence of a common owner, no proof. A funder of more than 1,000 wallets is an exchange or another service: `funder.isHub` says so, and nobody is listed."
      ),
    HttpApiEndpoint.get("trades", "/api/v1/wallets/:wallet/trades", {
      params: walletParams,
      query: WalletTradesQuery,
      success: [WalletTradesAnswer, CsvText],
      error: [InvalidCursor, RateLimited, DataUnavailable]
    }).annotate(OpenApi.Summary, "Trades of any wallet, newest first; counts as a wallet-batch read of its caller"),
    HttpApiEndpoint.get("transfers", "/api/v1/wallets/:wallet/transfers", {
      params: walletParams,
      query: WalletTransfersQuery,
      success: [WalletTransfersAnswer, CsvText],
      error: [InvalidCursor, RateLimited, DataUnavailable]
    }).annotate(OpenApi.Summary, "Transfers of any wallet, newest first; counts as a wallet-batch read of its caller")
  )
  .middleware(Authorization)
  .annotate(
    OpenApi.Description,
    "Identity and observed profit of wallets, from data of this service. Only balances are read from the node; nothing else is loaded unless a backfill is requested."
  ) {}
