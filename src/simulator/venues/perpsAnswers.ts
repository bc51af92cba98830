import { simDrift } from "./perpsDrift.ts"
import { simDydx } from "./perpsDydx.ts"
import { simHyperliquid } from "./perpsHyperliquid.ts"
import { simLighter } from "./perpsLighter.ts"
import { simParadex } from "./perpsParadex.ts"
import type { SimVenue } from "./perpsMarkets.ts"
import type { Asked, Said } from "./perpsShapes.ts"

/** What each venue says to what it is asked. */
export const perpsAnswers: Readonly<Record<SimVenue, (asked: Asked) => Said>> = {
  hl: simHyperliquid,
  drift: simDrift,
  dydx: simDydx,
  paradex: simParadex,
  lighter: simLighter
}
