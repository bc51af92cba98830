import { CursorExpired } from "../../api/problems.ts"
import type { MarketUnavailable, ViewExpired } from "../../domain/market/MarketViews.ts"
import { unavailable } from "../problems.ts"

/** The answer to a page of a pinned view that cannot be shown. */
export const viewProblem = (refusal: MarketUnavailable | ViewExpired) =>
  refusal._tag === "ViewExpired" ? new CursorExpired() : unavailable(refusal.detail)
