import { Effect, Semaphore } from "effect"
import type { Mint } from "../../domain/Address.ts"
import { jsonOf } from "../../domain/jsonOf.ts"
import { ViewExpired } from "../../api/schemas/MarketViews.ts"
import type { RankedView } from "./movement.ts"
import { type RankedPage, rankedPage } from "./pages.ts"
import { type Opened, type Pin, PinnedViews } from "../memory/PinnedViews.ts"

/** Selects a page: the first page, or the page of a pin with the same selectors. */
export interface PageRequest {
  readonly limit: number
  readonly pin: Pin | null
}

/** Pages can be read for a minute after the first page. First pages within 2 s share a view. */
const LIMITS = { lifeMs: 60_000, most: 256, sharedMs: 2000 }

/**
 * Pages of pinned rankings, at most `most` rankings at once. `warm` gets the tokens of a new view whose pools are not
 * loaded.
 */
export const makeRankedPages = Effect.fnUntraced(function* <Row>(
  warm: (mints: ReadonlyArray<Mint>) => Effect.Effect<void>,
  most = LIMITS.most
) {
  const views = new PinnedViews<RankedView<Row>>(crypto.randomUUID(), { ...LIMITS, most })
  // A view is made once for all callers that wait for it.
  const making = yield* Semaphore.make(1)

  const open = (
    key: string,
    nowMs: number,
    make: Effect.Effect<RankedView<Row>>
  ): Effect.Effect<Opened<RankedView<Row>>> =>
    Effect.suspend(() => {
      const recent = views.recent(key, nowMs)
      return recent === null
        ? make.pipe(
            Effect.tap(({ unloaded }) => warm(unloaded)),
            Effect.map((view) => views.add(key, nowMs, view))
          )
        : Effect.succeed(recent)
    })

  /** A page of the view of these selectors as of `nowMs`. */
  return Effect.fnUntraced(function* (
    selectors: object,
    { limit, pin }: PageRequest,
    nowMs: number,
    make: Effect.Effect<RankedView<Row>>
  ): Effect.fn.Return<RankedPage<Row>, ViewExpired> {
    if (pin === null) {
      const key = jsonOf(selectors)
      const { pin: first, view } = views.recent(key, nowMs) ?? (yield* making.withPermits(1)(open(key, nowMs, make)))
      return rankedPage(view, first, limit, nowMs)
    }
    const view = views.get(pin, nowMs)
    return view === null ? yield* new ViewExpired() : rankedPage(view, pin, limit, nowMs)
  })
})
