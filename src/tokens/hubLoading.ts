/** Loads the pools of mints that prices pass through, at a bounded rate. */
import { Effect, Latch, type Scope } from "effect"
import { type Mint, SOL } from "../domain/Address.ts"
import { keepGoing } from "../operations/keepRunning.ts"
import type { PoolBook } from "../quotes/pools/PoolBook.ts"
import { Requester } from "../quotes/pools/Requester.ts"
import { fewPartners } from "./priceGraph.ts"

/** A mint is not requested again within this time, in milliseconds. */
const ASKED_FOR_MS = 60_000
const MOST_ASKED = 1000
/** A mint without a price loads at most this many partners that are not hubs. */
const MOST_OTHERS = 2

/** Partners of a mint to load: its hubs, and a few others while the mint has no price. SOL needs no loading. */
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

export interface HubLoading {
  /** Queues the pools that are missing for the price of the mint. Synchronous. */
  readonly want: (mint: Mint, isPriced: boolean, nowMs: number) => void
}

/**
 * Starts the loading. Hubs stay in memory. Other mints are requested under the name `prices`: the book bounds how many
 * mints one requester loads, and drops mints that are not used.
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
