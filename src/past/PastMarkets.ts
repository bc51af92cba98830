/**
 * The market at past slots of a recording: the same pool book, engine and price book as of the live market, over the accounts
 * that were recorded.
 */
import { Clock, type Config, Context, Duration, Effect, Layer, RcMap, Schema, type Scope, Semaphore } from "effect"
import { fixedFeed } from "../chain/accounts/fixedReads.ts"
import { ChainFeed } from "../chain/ChainFeed.ts"
import { recordedRange, type RecordingUnreadable } from "../chain/recording/readRecording.ts"
import { type RecordedState, recordedStateAt } from "../chain/recording/recordedState.ts"
import { recordDir } from "../chain/recording/recordSettings.ts"
import { ReplayClock } from "../chain/recording/ReplayClock.ts"
import { type Mint, SOL, USDC } from "../domain/Address.ts"
import * as Readings from "../operations/Readings.ts"
import * as SourceMonitor from "../operations/SourceMonitor.ts"
import * as ExecutedQuotes from "../quotes/ExecutedQuotes.ts"
import { PoolBook } from "../quotes/pools/PoolBook.ts"
import { DefaultSearchRate } from "../quotes/pools/SearchPace.ts"
import { hubs, QuoteEngine } from "../quotes/QuoteEngine.ts"
import * as VenueProofs from "../quotes/VenueProofs.ts"
import { ActivityReader } from "../tokens/ActivityReader.ts"
import { PriceBook } from "../tokens/PriceBook.ts"
import { settings as priceSettings } from "../tokens/priceSettings.ts"
import { TokenBook } from "../tokens/TokenBook.ts"
import { TokenReader } from "../tokens/TokenReader.ts"

/**
 * The recording does not have the state of a slot. `first` and `last` are the slots at its ends; null without a recording.
 * A slot between them lies in a gap.
 */
export class SlotNotRecorded extends Schema.TaggedError<SlotNotRecorded>()("SlotNotRecorded", {
  slot: Schema.Int,
  first: Schema.NullOr(Schema.Int),
  last: Schema.NullOr(Schema.Int)
}) {}

/** The past market cannot be opened now: too many are being read, or reading took too long. */
export class PastMarketBusy extends Schema.TaggedError<PastMarketBusy>()("PastMarketBusy", { retryInMs: Schema.Int }) {}

/** The market at the end of one slot. Its reads run on `clock`, which stands at the recorded time. */
export interface PastMarket {
  readonly engine: QuoteEngine["Service"]
  readonly tokens: TokenReader["Service"]
  readonly clock: Clock.Clock
}

/** Opens past markets. */
export interface PastMarkets {
  /**
   * The market at the end of `slot` with the pools of these mints, until the scope closes. Accounts that were not followed at
   * the time do not exist in it. Volumes, holders and documents are unknown in it, and no venue is proven.
   */
  readonly at: (
    slot: number,
    mints: ReadonlyArray<Mint>
  ) => Effect.Effect<PastMarket, SlotNotRecorded | RecordingUnreadable | PastMarketBusy, Scope.Scope>
}

/** The past markets of this process. Without a layer, no slot is recorded. */
export const PastMarkets = Context.Reference<PastMarkets>("fathom/past/PastMarkets", {
  defaultValue: () => ({ at: (slot) => Effect.fail(new SlotNotRecorded({ slot, first: null, last: null })) })
})

/** Markets that stay open, and how long one stays after its last use. */
const MOST_OPEN = 4
const KEPT = Duration.minutes(1)
/** Markets that may wait to be read. They are read one after the other. */
const MOST_WAITING = 8
/** Time for reading a recording and loading a mint. */
const OPEN_LIMIT = Duration.seconds(10)
const LOAD_LIMIT = Duration.seconds(5)
/** Mints that are loaded for the mints of one request. */
const MOST_PARTNERS = 100
const LOOK = Duration.millis(2)
const RANGE_KEPT = Duration.seconds(1)
const RETRY_IN_MS = 5000

/** Pools and the engine that prices them, over a feed. */
type BooksLayer = Layer.Layer<QuoteEngine | PoolBook, Config.ConfigError, ChainFeed>

/** Pools, engine and prices over the recorded accounts, apart from the books of the live market. */
const openMarket = Effect.fnUntraced(function* (books: BooksLayer, state: RecordedState) {
  const clock = new ReplayClock(yield* Clock.Clock, state.heardAtMs)
  const tokens = TokenReader.layer.pipe(
    Layer.provideMerge([TokenBook.layer, PriceBook.layer]),
    Layer.provide(ActivityReader.layerUnknown)
  )
  const apart = Layer.mergeAll(
    Readings.layer,
    SourceMonitor.layer,
    VenueProofs.layer,
    Layer.succeed(DefaultSearchRate, null),
    ExecutedQuotes.layer
  )
  const layer = tokens.pipe(
    Layer.provideMerge(books),
    Layer.provideMerge(Layer.effect(ChainFeed, fixedFeed(state))),
    Layer.provide(apart)
  )
  const context = yield* Layer.buildWithMemoMap(layer, Layer.makeMemoMapUnsafe(), yield* Effect.scope).pipe(
    Effect.provideService(Clock.Clock, clock),
    // The live market has read the same settings.
    Effect.catchTag("ConfigError", Effect.die)
  )
  return { context, clock, loaded: new Set<Mint>() }
})

type OpenMarket = Effect.Success<ReturnType<typeof openMarket>>

/** Waits until the pools of these mints are in memory, or a while for pools that cannot be found. */
const load = Effect.fnUntraced(function* ({ context, loaded }: OpenMarket, mints: ReadonlyArray<Mint>) {
  const [book, tokens, prices] = [
    Context.get(context, PoolBook),
    Context.get(context, TokenBook),
    Context.get(context, PriceBook)
  ]
  const wanted = mints.filter((mint) => !loaded.has(mint))
  const warm = (mint: Mint) => Effect.all([book.warm(mint), tokens.warm(mint), prices.warm(mint)])
  const isLoaded = (mint: Mint) => book.isLoaded(mint) && tokens.read(mint) !== null
  yield* Effect.forEach(wanted, warm, { discard: true }).pipe(
    Effect.andThen(Effect.sleep(LOOK)),
    Effect.repeat({ until: () => wanted.every(isLoaded) }),
    Effect.timeoutOption(LOAD_LIMIT)
  )
  wanted.filter(isLoaded).forEach((mint) => loaded.add(mint))
  return book.graph
})

/** Loads these mints, and the mints that they trade against, which price their pools. */
const loadWithPartners = Effect.fnUntraced(function* (market: OpenMarket, mints: ReadonlyArray<Mint>) {
  const graph = yield* load(market, mints)
  const partners = mints.filter((mint) => mint !== SOL).flatMap((mint) => Array.from(graph.partnersOf(mint)))
  yield* load(market, Array.from(new Set(partners)).slice(0, MOST_PARTNERS))
})

const make = Effect.fnUntraced(function* (books: BooksLayer) {
  const folder = yield* recordDir
  const { hubs: priceHubs, stables } = yield* priceSettings
  const always = new Set([SOL, USDC, ...stables, ...priceHubs, ...(yield* hubs)])
  const reading = yield* Semaphore.make(1)
  let waiting = 0

  /** The ends of the recording, which are read again after a second. */
  const range = yield* Effect.cachedWithTTL(recordedRange(folder), RANGE_KEPT)
  const notRecorded = Effect.fnUntraced(function* (slot: number) {
    const { from: first = null, to: last = null } = (yield* range) ?? {}
    return yield* new SlotNotRecorded({ slot, first, last })
  })

  const busy = Effect.fail(new PastMarketBusy({ retryInMs: RETRY_IN_MS }))
  const stateAt = (slot: number) =>
    recordedStateAt(folder, slot).pipe(
      reading.withPermits(1),
      Effect.timeoutOrElse({ duration: OPEN_LIMIT, orElse: () => busy })
    )

  const open = Effect.fnUntraced(function* (slot: number) {
    const isFull = waiting >= MOST_WAITING
    const counted = Effect.acquireUseRelease(
      Effect.sync(() => (waiting += 1)),
      () => stateAt(slot),
      () => Effect.sync(() => (waiting -= 1))
    )
    const state = yield* isFull ? busy : counted
    if (state === null) {
      return yield* notRecorded(slot)
    }
    const market = yield* openMarket(books, state)
    yield* load(market, Array.from(always))
    return market
  })

  const markets = yield* RcMap.make({ lookup: open, idleTimeToLive: KEPT })
  /** Slots in the order of their last use, the newest last. */
  const used = new Set<number>()

  const at = Effect.fnUntraced(function* (slot: number, mints: ReadonlyArray<Mint>) {
    const { from = 1, to = 0 } = (yield* range) ?? {}
    if (slot < from || slot > to) {
      return yield* notRecorded(slot)
    }
    // What failed now may be recorded a second later.
    const market = yield* Effect.tapError(RcMap.get(markets, slot), () => RcMap.invalidate(markets, slot))
    used.delete(slot)
    used.add(slot)
    for (const oldest of Array.from(used).slice(0, -MOST_OPEN)) {
      used.delete(oldest)
      yield* RcMap.invalidate(markets, oldest)
    }
    yield* loadWithPartners(market, mints)
    const { clock, context } = market
    return { engine: Context.get(context, QuoteEngine), tokens: Context.get(context, TokenReader), clock }
  })
  return { at }
})

/** Reads the recording in `RECORD_DIR`. `books` are as of the live market. */
export const layer = (books: BooksLayer): Layer.Layer<never, Config.ConfigError> =>
  Layer.effect(PastMarkets, make(books))
