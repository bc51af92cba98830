/** The views of a tape without pools, prices and facts of tokens. */
import { Effect } from "effect"
import type { Market } from "../../../src/market/tape/Market.ts"
import { makeMarketViews } from "../../../src/market/reads/makeMarketViews.ts"
import type { PriceBook } from "../../../src/tokens/PriceBook.ts"
import { TokenBook } from "../../../src/tokens/TokenBook.ts"
import { MONDAY } from "../tape/tape.ts"

export const tokens = TokenBook.of({
  read: () => null,
  named: () => [],
  commitment: "confirmed",
  warm: () => Effect.void
})

const pools = {
  isLoaded: () => false,
  leftOut: () => 0,
  lacking: () => null,
  graduationOf: () => null,
  poolsOf: () => []
}

const prices: PriceBook["Service"] = {
  at: () => ({
    of: () => null,
    lifetime: null,
    isStale: true,
    silentMs: 0,
    clock: { slot: 1, epoch: 0, unixTimestamp: MONDAY }
  }),
  warm: () => Effect.void
}

export const bareViews = (tape: Market["Service"]) => ({
  views: makeMarketViews({ tape, tokens, prices, pools }),
  sources: { tape, tokens, pools }
})
