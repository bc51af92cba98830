import { HttpApi, OpenApi } from "effect/http-api"
import { AccountGroup } from "./Account.ts"
import { AccountFundingGroup } from "./AccountFunding.ts"
import { AccountKeysGroup } from "./AccountKeys.ts"
import { AlertsGroup } from "./Alerts.ts"
import { CalloutsGroup } from "./Callouts.ts"
import { ClosedGroup } from "./Closed.ts"
import { CopyingGroup } from "./Copying.ts"
import { withAdmission } from "./document/admission.ts"
import { ExportsGroup } from "./Exports.ts"
import { LaunchesGroup } from "./Launches.ts"
import { MarketGroup } from "./Market.ts"
import { MarketRealtimeGroup } from "./MarketRealtime.ts"
import { MarketStreamsGroup } from "./MarketStreams.ts"
import { ErrorEnvelope } from "./middleware/ErrorEnvelope.ts"
import { PerpsGroup } from "./Perps.ts"
import { PoolsGroup } from "./Pools.ts"
import { PriceHistoryGroup } from "./PriceHistory.ts"
import { ReplayFillsGroup } from "./ReplayFills.ts"
import { RoutingGroup } from "./Routing.ts"
import { ScreenGroup } from "./Screen.ts"
import { SearchGroup } from "./Search.ts"
import { SessionsGroup } from "./Sessions.ts"
import { SpotGroup } from "./Spot.ts"
import { SystemGroup } from "./System.ts"
import { TokenBatchGroup } from "./TokenBatch.ts"
import { TokensGroup } from "./Tokens.ts"
import { TopTradersGroup } from "./TopTraders.ts"
import { TrackingGroup } from "./Tracker.ts"
import { TradesGroup } from "./Trades.ts"
import { WalletsGroup } from "./Wallets.ts"

const introduction = `Market data of Solana, answered from memory. Nothing here signs, sends or moves anything.

Send the key as \`Authorization: Bearer svc_...\`, or as \`X-API-Key: svc_...\`. Each key has two budgets: 120 units of reads and 300 units of
quotes in any 60 seconds, unless its plan sets others. Every answer shows them in its headers. Amounts are atomic units as digits, times are
milliseconds since the Unix epoch, and unknown values are \`null\`. An error is \`{"error":{"code","message","details"},"requestId"}\`.`

const contract = HttpApi.make("fathom")
  .add(SystemGroup)
  .add(AccountGroup)
  .add(AccountKeysGroup)
  .add(SessionsGroup)
  .add(AccountFundingGroup)
  .add(SpotGroup)
  .add(RoutingGroup)
  .add(MarketGroup)
  .add(MarketRealtimeGroup)
  .add(MarketStreamsGroup)
  .add(TokensGroup)
  .add(TopTradersGroup)
  .add(TradesGroup)
  .add(PoolsGroup)
  .add(PriceHistoryGroup)
  .add(TokenBatchGroup)
  .add(ScreenGroup)
  .add(LaunchesGroup)
  .add(SearchGroup)
  .add(WalletsGroup)
  .add(TrackingGroup)
  .add(PerpsGroup)
  .add(CalloutsGroup)
  .add(AlertsGroup)
  .add(CopyingGroup)
  .add(ExportsGroup)
  .add(ReplayFillsGroup)
  .add(ClosedGroup)
  // Unknown fields are rejected, and every issue is reported at once.
  .annotate(HttpApi.QueryParseOptions, { onExcessProperty: "error", errors: "all" })
  .annotate(HttpApi.PayloadParseOptions, { onExcessProperty: "error", errors: "all" })
  .annotate(OpenApi.Title, "Fathom developer API")
  .annotate(OpenApi.Version, "v1")
  .annotate(OpenApi.Description, introduction)
  .middleware(ErrorEnvelope)

/** The HTTP contract of the service. Handlers, clients and the OpenAPI document all derive from it. */
export class Api extends contract.annotate(OpenApi.Transform, withAdmission(contract)) {}
