import { Clock, type Config, Context, Effect, Layer, Semaphore, Stream } from "effect"
import { type Mint, SOL } from "../../domain/Address.ts"
import { countSetting } from "../../domain/countSetting.ts"
import { MarketUnavailable, type ViewExpired } from "../../api/schemas/MarketViews.ts"
import type { FoundRow } from "../../api/schemas/TokenSearch.ts"
import { ownTurn } from "../../domain/loopTime.ts"
import { asOf } from "../../domain/Scalar.ts"
import { DOLLARS, isMoney } from "../../domain/stables.ts"
import { keepGoing, keepRunning } from "../../operations/keepRunning.ts"
import { SourceMonitor, stateByAge } from "../../operations/SourceMonitor.ts"
import { PoolBook } from "../../quotes/pools/PoolBook.ts"
import { PriceBook } from "../../tokens/PriceBook.ts"
import { TokenBook } from "../../tokens/TokenBook.ts"
import { inSlices } from "../history/slices.ts"
import { Market } from "../tape/Market.ts"
import { makeRankedPages, type PageRequest } from "./rankedPages.ts"
import type { RankedPage } from "./pages.ts"
import { lifeNow } from "./tokenMeasures.ts"
import { SearchIndex } from "./SearchIndex.ts"
import { type SearchSelectors, searchView } from "./searchView.ts"

/** A page of a search, and the mints that it was made over. */
export interface SearchPage extends RankedPage<FoundRow> {
  readonly index: { readonly mints: number; readonly named: number }
}

/** Searches tokens by symbol, name and address, in memory, over every mint that was traded, launched or asked for. */
export class TokenSearch extends Context.Service<
  TokenSearch,
  {
    search(selectors: SearchSelectors, page: PageRequest): Effect.Effect<SearchPage, MarketUnavailable | ViewExpired>
  }
>()("fathom/market/reads/TokenSearch") {
  /**
   * `SEARCH_TOKENS` (100,000) bounds the mints of the index. Names come from the accounts that the token book reads.
   * Every 10 s it gets the 20 most traded mints whose names are still unknown.
   */
  static readonly layer: Layer.Layer<TokenSearch, Config.ConfigError, Market | TokenBook | PriceBook | PoolBook> =
    Layer.effect(
      TokenSearch,
      Effect.gen(function* () {
        const tape = yield* Market
        const tokens = yield* TokenBook
        const prices = yield* PriceBook
        const pools = yield* PoolBook
        const index = new SearchIndex(yield* searchTokens)
        const sources = { tape, tokens, prices, pools, index }
        const refresh = yield* makeRefresh(sources)

        yield* (yield* SourceMonitor).report(SOURCE, (nowMs) =>
          stateByAge(refresh.atMs() || null, INDEX_STALE_MS, nowMs)
        )
        // With each block, because only blocks bring mints.
        yield* Stream.runForEach(tape.applied, () => refresh.run).pipe(
          keepRunning("Reading the names of tokens", SOURCE),
          Effect.forkScoped({ startImmediately: true })
        )

        const warm = (mints: ReadonlyArray<Mint>) =>
          Effect.forEach(mints, (mint) => Effect.andThen(tokens.warm(mint), prices.warm(mint)), { discard: true })
        const pages = yield* makeRankedPages<FoundRow>(warm)

        const search = Effect.fn("TokenSearch.search")(function* (selectors: SearchSelectors, request: PageRequest) {
          if (tape.heardAtMs() === null) {
            return yield* new MarketUnavailable({ detail: "No block has been read yet." })
          }
          const nowMs = yield* Clock.currentTimeMillis
          const make = Effect.andThen(
            refresh.forRequest,
            Effect.suspend(() =>
              searchView(sources, selectors, {
                nowMs,
                slot: tape.newestSlot(),
                prices: prices.at(nowMs),
                life: lifeNow(tape, nowMs)
              })
            )
          )
          const page = yield* pages(selectors, request, nowMs, make)
          return {
            ...page,
            data: page.data.map((row) => rowAsOf(row, nowMs)),
            index: { mints: index.size, named: index.named }
          }
        })

        return TokenSearch.of({ search })
      })
    )
}

/** `SEARCH_TOKENS` (100,000). */
export const searchTokens = countSetting("SEARCH_TOKENS", 100_000)

const SOURCE = "search"
/** Time between two looks at the names of the token book, and between two looks at the market. */
const NAMES_EVERY_MS = 2000
const MARKET_EVERY_MS = 10_000
/** The index is stale once it was not renewed for this long. */
const INDEX_STALE_MS = 30_000

/** How many mints are read after a look at the market, and after which time a mint is read again. */
const MOST_READ = 20
const READ_AGAIN_MS = 600_000
/** SOL and dollars always have their names, because look-alikes are compared with them. */
const MONEY: ReadonlyArray<Mint> = [SOL, ...DOLLARS]

interface RefreshSources {
  readonly index: SearchIndex
  readonly tape: Market["Service"]
  readonly tokens: TokenBook["Service"]
}

/** The mints without a name that are read next: SOL and dollars first, then the most traded. */
class Unnamed {
  readonly #mints: Array<{ readonly mint: Mint; readonly rank: number }> = []

  add(mint: Mint, volume: number): void {
    const rank = isMoney(mint) ? Number.POSITIVE_INFINITY : volume
    if (this.#mints.length < MOST_READ || rank > (this.#mints.at(-1)?.rank ?? 0)) {
      const place = this.#mints.findLastIndex((each) => each.rank >= rank) + 1
      this.#mints.splice(place, 0, { mint, rank })
      this.#mints.splice(MOST_READ)
    }
  }

  get mints(): ReadonlyArray<Mint> {
    return this.#mints.map(({ mint }) => mint)
  }
}

/** Adds the mints that were traded or launched to the index, and visits the mints without a name. */
function* seeMarket(
  { index, tape, tokens }: RefreshSources,
  visitUnnamed: (mint: Mint, volume: number) => void
): Generator<void, void> {
  const see = (mint: Mint, volume?: number) => {
    const token = index.see(mint, volume)
    if (token.names !== null) {
      return
    }
    const state = tokens.read(mint)
    if (state?._tag === "NoToken" || state?._tag === "Malformed") {
      // Known to have no name: USD1 and PYUSD are not on every chain.
      index.put(mint, NAMELESS)
    } else {
      visitUnnamed(mint, token.volume)
    }
  }
  MONEY.forEach((mint) => see(mint))
  // Read once: every read of a market applies the rest of its block first.
  const { launches, state } = tape
  yield* state.scanInSteps("24h", (token, { volume }) => see(state.mintOfToken(token), volume))
  yield* eachInSteps(launches.all(), ({ mint }) => see(mint))
}

/** Gives the index the names that the token book has read. */
const seeNames = ({ index, tokens }: RefreshSources): Generator<void, void> =>
  eachInSteps(tokens.named(), ([mint, names]) => {
    // Metadata may be read later than its mint.
    if (names !== null || (index.of(mint)?.names ?? null) === null) {
      index.put(mint, names ?? NAMELESS)
    }
  })

/** Visits items in steps. */
function* eachInSteps<A>(items: Iterable<A>, visit: (item: A) => void): Generator<void, void> {
  let place = 0
  for (const item of items) {
    visit(item)
    if (++place % AT_ONCE === 0) {
      yield
    }
  }
}

const AT_ONCE = 256

const inTurns = (steps: Generator<void, void>) => inSlices(steps, null, ownTurn)

/**
 * Updates names and mints when they are due, and queues some of the mints without a name for reading. A request waits for
 * that only once: later ones search what is there.
 */
const makeRefresh = Effect.fnUntraced(function* (sources: RefreshSources) {
  const { tokens } = sources
  const read = new Map<Mint, number>()
  const done = { names: 0, market: 0 }
  const scope = yield* Effect.scope
  const turns = yield* Semaphore.make(1)

  const refreshMarket = Effect.fnUntraced(function* (nowMs: number) {
    read.forEach((atMs, mint) => nowMs - atMs > READ_AGAIN_MS && read.delete(mint))
    const unnamed = new Unnamed()
    yield* sources.tape.whole
    yield* inTurns(seeMarket(sources, (mint, volume) => !read.has(mint) && unnamed.add(mint, volume)))
    done.market = nowMs
    unnamed.mints.forEach((mint) => read.set(mint, nowMs))
    yield* Effect.forEach(unnamed.mints, tokens.warm, { discard: true })
  })

  const runDue = Effect.gen(function* () {
    const nowMs = yield* Clock.currentTimeMillis
    if (nowMs - done.names < NAMES_EVERY_MS) {
      return
    }
    yield* inTurns(seeNames(sources))
    if (nowMs - done.market >= MARKET_EVERY_MS) {
      yield* refreshMarket(nowMs)
    }
    done.names = nowMs
  })
  const run = turns.withPermit(runDue)
  // A chain without new blocks brings no mints, but names of mints that were asked for.
  const soon = runDue.pipe(
    turns.withPermitsIfAvailable(1),
    keepGoing("Reading the names of tokens"),
    Effect.forkIn(scope, { startImmediately: true })
  )
  const forRequest = Effect.suspend(() => (done.names === 0 ? run : Effect.asVoid(soon)))

  return { run, forRequest, atMs: () => done.names }
})

const NAMELESS = { name: null, symbol: null }

/** A row as of now: values that have expired are left out. */
const rowAsOf = (row: FoundRow, nowMs: number): FoundRow => ({
  ...row,
  priceUsd: asOf(row.priceUsd, nowMs),
  marketCapUsd: asOf(row.marketCapUsd, nowMs),
  liquidityUsd: asOf(row.liquidityUsd, nowMs),
  volumeUsd: asOf(row.volumeUsd, nowMs),
  trades: asOf(row.trades, nowMs),
  traders: asOf(row.traders, nowMs)
})
