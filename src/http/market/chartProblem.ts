/** Errors of reads of candles. */
import { retryAfter } from "../../api/Problem.ts"
import { ChartWarming, TokenNotFound } from "../../api/problems.ts"
import type { ChartRefusal } from "../../domain/market/Chart.ts"
import { unsupportedChain } from "../handlers/chartRequests.ts"
import { unavailable } from "../problems.ts"

/** The error of a chart that cannot be made. */
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
