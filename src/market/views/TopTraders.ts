import { Clock, Context, Effect, Layer } from "effect"
import { MarketUnavailable, ViewExpired } from "../../domain/market/MarketViews.ts"
import { type TraderRanking, type TraderRequest, WrongCursor } from "../../domain/market/TopTraders.ts"
import { TokenBook } from "../../tokens/TokenBook.ts"
import { tokenRef } from "./tokenRef.ts"
import { TradeTape } from "../tape/TradeTape.ts"
import { traderRanking } from "./traderRanking.ts"

/** Who trades a token, by what was seen of it. From memory: nothing is loaded or built for it. */
export class TopTraders extends Context.Service<
  TopTraders,
  {
    /** A page by observed volume in USD, largest first. Pages of one cursor show one moment, for 30 seconds. */
    rank(request: TraderRequest): Effect.Effect<TraderRanking, MarketUnavailable | ViewExpired | WrongCursor>
  }
>()("fathom/market/views/TopTraders") {
  static readonly layer: Layer.Layer<TopTraders, never, TradeTape | TokenBook> = Layer.effect(
    TopTraders,
    Effect.gen(function* () {
      const tape = yield* TradeTape
      const tokens = yield* TokenBook

      const rank = Effect.fnUntraced(function* (request: TraderRequest) {
        const nowMs = yield* Clock.currentTimeMillis
        if (tape.heardAtMs() === null) {
          return yield* new MarketUnavailable({ detail: "No block has been read yet." })
        }
        const page = tape.tape.topTraders({ ...request, nowMs })
        if (typeof page === "string") {
          return yield* page === "cursor_expired" ? new ViewExpired() : new WrongCursor()
        }
        const { decimals } = tokenRef({ tape, tokens }, request.mint)
        return traderRanking(tape, page, { ...request, decimals, nowMs })
      })

      return TopTraders.of({ rank })
    })
  )
}
