import * as holderSnapshots from "./migrations/0068_holder_snapshots.ts"
import * as walletOpenings from "./migrations/0069_wallet_openings.ts"
import * as launchPlatform from "./migrations/0062_launch_platform.ts"
import * as launchTerms from "./migrations/0063_launch_terms.ts"
import * as liquidityEvents from "./migrations/0065_liquidity_events.ts"
import * as openedPools from "./migrations/0067_opened_pools.ts"
import * as readViews from "./migrations/0064_read_views.ts"
import * as planExports from "./migrations/0066_plan_exports.ts"
import * as schema from "./migrations/0060_schema.ts"
import * as soundDeployments from "./migrations/0061_sound_deployments.ts"
import * as counterpartyInViews from "./migrations/0072_counterparty_in_views.ts"
import * as counterparties from "./migrations/0071_counterparties.ts"
import * as tradedSlot from "./migrations/0070_traded_slot.ts"

/** Every change of the schema, in order. Only add to it: a released migration is never edited. */
export const migrations = {
  "0060_schema": schema.up,
  "0061_sound_deployments": soundDeployments.up,
  "0062_launch_platform": launchPlatform.up,
  "0063_launch_terms": launchTerms.up,
  "0064_read_views": readViews.up,
  "0065_liquidity_events": liquidityEvents.up,
  "0066_plan_exports": planExports.up,
  "0067_opened_pools": openedPools.up,
  "0068_holder_snapshots": holderSnapshots.up,
  "0069_wallet_openings": walletOpenings.up,
  "0070_traded_slot": tradedSlot.up,
  "0071_counterparties": counterparties.up,
  "0072_counterparty_in_views": counterpartyInViews.up
}
