import { Clock, Context, Effect, Layer } from "effect"
import { MarketUnavailable, ViewExpired } from "../../api/schemas/MarketViews.ts"
import { TokenBook } from "../../tokens/TokenBook.ts"
import { tokenRef } from "./tokenRef.ts"
import type { TraderPageRequest } from "../memory/TraderViews.ts"
import { Market } from "../tape/Market.ts"
import { type RankingKnowledge, rankingKnowledge, type TraderRanking, traderRanking } from "./traderRanking.ts"

/** Selects a page: the first page, or the page of a pin with the same mint and window. */
export type TraderRequest = Pick<TraderPageRequest, "limit" | "mint" | "pin" | "window">

/** The wallets that trade a token, by observed swaps, from memory. Nothing is loaded or built for it. */
export class TopTraders extends Context.Service<
  TopTraders,
  {
    /** A page by observed volume in USD, largest first. For 30 s, later pages show the same time as the first. */
    rank(request: TraderRequest): Effect.Effect<TraderRanking, MarketUnavailable | ViewExpired>
  }
>()("fathom/market/reads/TopTraders") {
  static readonly layer: Layer.Layer<TopTraders, never, Market | TokenBook> = Layer.effect(
    TopTraders,
    Effect.gen(function* () {
      const tape = yield* Market
      const tokens = yield* TokenBook

      // Later pages show what was known when their view was made.
      const knowledge = new WeakMap<object, RankingKnowledge>()

      const rank = Effect.fnUntraced(function* (request: TraderRequest) {
        yield* tape.restored
        const nowMs = yield* Clock.currentTimeMillis
        if (tape.heardAtMs() === null) {
          return yield* new MarketUnavailable({ detail: "No block has been read yet." })
        }
        const page = tape.state.topTraders({ ...request, nowMs })
        if (page === null) {
          return yield* new ViewExpired()
        }
        const { decimals } = tokenRef({ tape, tokens }, request.mint)
        const known = knowledge.get(page.view) ?? rankingKnowledge(tape, page, { ...request, nowMs })
        knowledge.set(page.view, known)
        return traderRanking(page, decimals, known)
      })

      return TopTraders.of({ rank })
    })
  )
}
