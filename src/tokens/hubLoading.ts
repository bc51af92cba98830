/** Loads the pools of mints that prices pass through, at a bounded rate. */
import { Effect, Latch, type Scope } from "effect"
import { type Mint, SOL } from "../domain/Address.ts"
import { keepGoing } from "../health/keepRunning.ts"
import type { PoolBook } from "../pools/PoolBook.ts"
import { Requester } from "../pools/Requester.ts"
import { fewPartners } from "./priceGraph.ts"

/** Time for which a mint is not asked for again, in milliseconds. */
const ASKED_FOR_MS = 60_000
const MOST_ASKED = 1000
/** Partners that are no hubs and are loaded for a mint without a price. */
const MOST_OTHERS = 2

/** Partners of a mint to load: hubs, and a few others while the mint has no price. SOL needs no loading. */
export const partnersToLoad = (
  partners: Iterable<Mint>,
  hubs: ReadonlySet<Mint>,
  isLoaded: (mint: Mint) => boolean,
  isPriced: boolean
): ReadonlyArray<Mint> => {
  const cold = (fewPartners(partners) ?? []).filter((mint) => mint !== SOL && !isLoaded(mint))
  const others = isPriced ? [] : cold.filter((mint) => !hubs.has(mint)).toSorted()
  return [...cold.filter((mint) => hubs.has(mint)), ...others.slice(0, MOST_OTHERS)]
}

/** Loading of wanted mints. */
export interface HubLoading {
  /** Queues what a price of the mint lacks; synchronous. */
  readonly want: (mint: Mint, isPriced: boolean, nowMs: number) => void
}

/**
 * Starts the loading. Hubs stay in memory; other mints are asked for like those of a key, whose number the book bounds, and
 * leave memory when they are not used.
 */
export const makeHubLoading = Effect.fnUntraced(function* (
  book: PoolBook["Service"],
  hubs: ReadonlySet<Mint>
): Effect.fn.Return<HubLoading, never, Scope.Scope> {
  const asked = new Map<Mint, number>()
  const wanted = new Set<Mint>()
  const queued = yield* Latch.make()

  const load = Effect.gen(function* () {
    yield* queued.await
    for (const mint of wanted) {
      wanted.delete(mint)
      yield* hubs.has(mint) ? book.warm(mint) : Effect.provideService(book.warm(mint), Requester, "prices")
    }
    queued.closeUnsafe()
  })
  yield* load.pipe(keepGoing("Loading the pools that prices pass through"), Effect.forever, Effect.forkScoped)

  const ask = (mint: Mint, nowMs: number) => {
    const before = asked.get(mint)
    if (before !== undefined && Math.abs(nowMs - before) < ASKED_FOR_MS) {
      return
    }
    if (asked.size >= MOST_ASKED) {
      asked.clear()
    }
    asked.set(mint, nowMs)
    wanted.add(mint)
    queued.openUnsafe()
  }
  return {
    want: (mint, isPriced, nowMs) => {
      for (const partner of partnersToLoad(book.graph.partnersOf(mint), hubs, book.isLoaded, isPriced)) {
        ask(partner, nowMs)
      }
    }
  }
})
