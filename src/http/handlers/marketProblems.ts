/** The errors of market reads. */
import { retryAfter } from "../../api/errors/Problem.ts"
import { ChartWarming, CursorExpired, TokenNotFound, UnsupportedChain } from "../../api/errors/problems.ts"
import type { ChartRefusal } from "../../api/schemas/Chart.ts"
import type { MarketUnavailable, ViewExpired } from "../../api/schemas/MarketViews.ts"
import { unavailable } from "../problems.ts"

/** A 503 for a market that cannot be read. */
export const marketUnavailable = ({ detail }: MarketUnavailable) => unavailable(detail)

/** The error of a page whose pinned view cannot be shown. */
export const viewProblem = (refusal: MarketUnavailable | ViewExpired) =>
  refusal._tag === "ViewExpired" ? new CursorExpired() : unavailable(refusal.detail)

/** A 400 for a chain that is not served. */
export const unsupportedChain = (message: string) =>
  new UnsupportedChain({ error: { message, details: [{ in: "query", field: "chain", issue: "unknown" }] } })

/** The error of a chart that cannot be drawn. */
export const chartProblem = (refusal: ChartRefusal) => {
  switch (refusal._tag) {
    case "ChartUnknown":
      return new TokenNotFound()
    case "ChartNotReady": {
      const { retryAfterMs } = refusal
      return retryAfterMs === null ? new ChartWarming() : retryAfter(new ChartWarming(), retryAfterMs / 1000)
    }
    case "ChartChainUnserved":
      return unsupportedChain("chain must be solana: this deployment has no source of EVM candles.")
    case "ChartUnavailable":
      return unavailable(refusal.detail)
  }
}
