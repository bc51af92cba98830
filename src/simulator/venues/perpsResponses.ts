import { simVelocity } from "./perpsVelocity.ts"
import { simAster } from "./perpsAster.ts"
import { simDydx } from "./perpsDydx.ts"
import { simHyperliquid } from "./perpsHyperliquid.ts"
import { simJupiter } from "./perpsJupiter.ts"
import { simLighter } from "./perpsLighter.ts"
import { simParadex } from "./perpsParadex.ts"
import type { SimVenue } from "./perpsMarkets.ts"
import type { VenueRequest, VenueResponse } from "./perpsShapes.ts"

/** How each venue responds to a request. */
export const perpsResponses: Readonly<Record<SimVenue, (request: VenueRequest) => VenueResponse>> = {
  hl: simHyperliquid,
  velocity: simVelocity,
  dydx: simDydx,
  paradex: simParadex,
  lighter: simLighter,
  aster: simAster,
  jupiter: simJupiter
}
