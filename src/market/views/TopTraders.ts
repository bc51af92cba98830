import { Clock, Context, Effect, Layer } from "effect"
import { MarketUnavailable, ViewExpired } from "../../domain/market/MarketViews.ts"
import { TokenBook } from "../../tokens/TokenBook.ts"
import { tokenRef } from "./tokenRef.ts"
import type { TraderPageRequest } from "./TraderViews.ts"
import { TradeTape } from "../tape/TradeTape.ts"
import { type RankingKnowledge, rankingKnowledge, type TraderRanking, traderRanking } from "./traderRanking.ts"

/** Selects a page: the first one, or the one of a pin of the same mint and window. */
export type TraderRequest = Pick<TraderPageRequest, "limit" | "mint" | "pin" | "window">

/** The wallets that trade a token, by observed swaps. From memory: nothing is loaded or built for it. */
export class TopTraders extends Context.Service<
  TopTraders,
  {
    /** A page by observed volume in USD, largest first. The pages after a first one show the same time, for 30 s. */
    rank(request: TraderRequest): Effect.Effect<TraderRanking, MarketUnavailable | ViewExpired>
  }
>()("fathom/market/views/TopTraders") {
  static readonly layer: Layer.Layer<TopTraders, never, TradeTape | TokenBook> = Layer.effect(
    TopTraders,
    Effect.gen(function* () {
      const tape = yield* TradeTape
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
