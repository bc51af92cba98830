import { Clock, Config, Context, Effect, Layer, PubSub, Stream } from "effect"
import type { Mint } from "../../domain/Address.ts"
import { type Coverage, type CoverageReason, incomplete } from "../../domain/Scalar.ts"
import { PriceBook } from "../../tokens/PriceBook.ts"
import { Continuity } from "./Continuity.ts"
import { driveTape, type TapeControls } from "./driveTape.ts"
import { Launches } from "./Launches.ts"
import { recordSettings } from "../store/recordTrades.ts"
import type { Resolution } from "../candles/resolutions.ts"
import { type Applied, MarketState, type MarketLimits } from "./MarketState.ts"
import type { TapeTrade } from "./TapeTrade.ts"
import { TradeFeed } from "./TradeFeed.ts"
import type { PricedBatch } from "./TradeBatch.ts"
import { TradeStore } from "../store/TradeStore.ts"
import type { StoredBatch } from "../store/StoredBatch.ts"

/** The market state is stale once no block has arrived for this long, in milliseconds, or once blocks are that old. */
export const STALE_AFTER_MS = 30_000

/** The reason why the market state is not current: no block was read, blocks have stopped, or the blocks are old. */
export const lackingNow = (
  { heardAtMs, state }: Pick<TradeTape["Service"], "heardAtMs" | "state">,
  nowMs: number
): CoverageReason | null => {
  const atMs = heardAtMs()
  if (atMs === null || nowMs - atMs > STALE_AFTER_MS) {
    return atMs === null ? "not_captured" : "source_stale"
  }
  return nowMs - state.now * 1000 > STALE_AFTER_MS ? "backfill_running" : null
}

/** The methods of the market state that readers use. All are synchronous, and nothing is written meanwhile. */
export type MarketStateReads = Pick<
  MarketState,
  | "bars"
  | "has"
  | "heldFrom"
  | "lastPrice"
  | "markets"
  | "mintOfToken"
  | "now"
  | "scan"
  | "seen"
  | "tokens"
  | "topTraders"
  | "window"
>

/** A batch, and the number of batches before it that its subscriber was too slow for. */
export interface CountedBatch {
  readonly batch: PricedBatch
  readonly missed: number
}

/** The market state and its coverage, in memory. One writer; reads are synchronous. */
export class TradeTape extends Context.Service<
  TradeTape,
  {
    readonly state: MarketStateReads
    readonly launches: Pick<Launches, "of" | "all">
    /** True when the feed reports launches. */
    readonly reportsLaunches: () => boolean
    /** Decimals of a token, from the last of its trades that had them; null when none did. */
    readonly decimalsOf: (mint: Mint) => number | null
    /** The local time at which the last block arrived; null before the first. */
    readonly heardAtMs: () => number | null
    /** The first second from which on every block is in memory; infinite before the first block. */
    readonly since: () => number
    /** The coverage of the time since a second, for data that is kept longer than the windows. */
    readonly readFrom: (second: number) => Coverage
    /** The first second from which on every block was read, by this process or those before it; infinite at first. */
    readonly recordedSince: () => number
    /** The coverage of the time since a second by this process and those before it. */
    readonly recordedFrom: (second: number) => Coverage
    /** The coverage of the time since a second in data that is still held, for the windows. */
    readonly coverageFrom: (second: number, nowMs: number) => Coverage
    /** The second from which on the bars of a token are in memory; minus infinity when all of them are. */
    readonly heldSince: (mint: Mint, resolution: Resolution) => number
    /** The second from which on blocks were read at all, by this process or those before it; infinite at first. */
    readonly firstRead: () => number
    /** The store of candles older than those in memory; null without a store. */
    readonly stored: () => Pick<TradeStore["Service"], "bars" | "keptSeconds" | "prints"> | null
    /** Applies the next block. For one writer at a time. */
    apply(batch: PricedBatch): Effect.Effect<Applied>
    /** Every batch from the subscription on, once it is applied. A subscriber more than 1,024 behind loses the oldest. */
    readonly applied: Stream.Stream<PricedBatch>
    /** The same, with the number of batches that this subscriber has lost directly before each. */
    readonly appliedCounted: Stream.Stream<CountedBatch>
  }
>()("fathom/market/tape/TradeTape") {
  /** A tape that is written by the callers of `apply`. */
  static readonly layerManual = (limits: MarketLimits = defaultLimits): Layer.Layer<TradeTape> =>
    Layer.effect(
      TradeTape,
      Effect.map(
        Effect.suspend(() => makeTape(limits)),
        ({ service }) => service
      )
    )

  /**
   * A tape that restores stored trades, follows the feed and stores its blocks. Its bounds are set by `TAPE_TOKENS` (60,000),
   * `TAPE_BARS` (800,000 of each stored width), `TAPE_TRADES` (2,000,000 of the last day) and `TAPE_WALLETS` (1,000,000).
   */
  static readonly layer: Layer.Layer<TradeTape, Config.ConfigError, TradeFeed | TradeStore | PriceBook> = Layer.effect(
    TradeTape,
    Effect.gen(function* () {
      const bounds = yield* limits
      const { controls, service } = yield* makeTape(bounds)
      const parts = { feed: yield* TradeFeed, store: yield* TradeStore, prices: yield* PriceBook, tape: controls }
      yield* driveTape(parts, bounds, yield* recordSettings).pipe(
        Effect.tapDefect((defect) => Effect.logError("The tape stopped: stored trades could not be restored", defect)),
        Effect.forkScoped({ startImmediately: true })
      )
      return service
    })
  )
}

const defaultLimits: MarketLimits = { tokens: 60_000, bars: 800_000, trades: 2_000_000, traders: 1_000_000 }

/** Bounds of the state in memory: `TAPE_TOKENS`, `TAPE_BARS`, `TAPE_TRADES` and `TAPE_WALLETS`. */
export const limits = Config.all({
  tokens: Config.Int("TAPE_TOKENS").pipe(Config.withDefault(defaultLimits.tokens)),
  bars: Config.Int("TAPE_BARS").pipe(Config.withDefault(defaultLimits.bars)),
  trades: Config.Int("TAPE_TRADES").pipe(Config.withDefault(defaultLimits.trades)),
  traders: Config.Int("TAPE_WALLETS").pipe(Config.withDefault(defaultLimits.traders))
})

/** The number of batches that a subscriber may be behind before it loses the oldest. */
export const SUBSCRIBER_BUFFER = 1024

interface NumberedBatch {
  readonly batch: PricedBatch
  readonly number: number
}

const countMissed = (numbered: Stream.Stream<NumberedBatch>): Stream.Stream<CountedBatch> =>
  Stream.mapAccum(
    numbered,
    (): number | null => null,
    (last, { batch, number }) => [number, [{ batch, missed: last === null ? 0 : number - last - 1 }]] as const
  )

/** The content of the tape: one chain. */
interface TapedChain {
  readonly state: MarketState
  readonly launches: Launches
  readonly continuity: Continuity
  readonly decimals: ReturnType<typeof rememberDecimals>
  heardAtMs: number | null
  /** The second from which on blocks are in memory; of those read before this process, the store holds more. */
  heldFrom: number
  store: TradeStore["Service"] | null
}

const emptyChain = (bounds: MarketLimits): TapedChain => {
  const state = new MarketState(bounds, crypto.randomUUID())
  return {
    state,
    launches: new Launches(bounds.tokens),
    continuity: new Continuity(),
    decimals: rememberDecimals(state),
    heardAtMs: null,
    heldFrom: Number.NEGATIVE_INFINITY,
    store: null
  }
}

const makeTape = Effect.fnUntraced(function* (bounds: MarketLimits) {
  let chain = emptyChain(bounds)
  const published = yield* PubSub.sliding<NumberedBatch>(SUBSCRIBER_BUFFER)
  const sent = { number: 0 }
  const reports = { launches: false }

  const replay = (batch: StoredBatch, nowMs: number): Applied => {
    const { decimals, launches, state } = chain
    const applied = state.apply(batch.trades, nowMs)
    for (const launch of batch.launches ?? []) {
      launches.add(launch, batch.timeMs)
      state.addLaunch(launch.event, launch.launchpad, batch.timeMs)
    }
    state.advance(batch.timeMs)
    decimals.note(batch.trades)
    return applied
  }

  const readFrom = (second: number, from: number): Coverage =>
    second < from && second >= chain.continuity.since
      ? incomplete("limit_clipped")
      : chain.continuity.coverageFrom(second)

  const service: TradeTape["Service"] = TradeTape.of({
    get state() {
      return chain.state
    },
    get launches() {
      return chain.launches
    },
    reportsLaunches: () => reports.launches,
    decimalsOf: (mint) => chain.decimals.of(mint),
    heardAtMs: () => chain.heardAtMs,
    since: () => Math.max(chain.continuity.since, chain.heldFrom),
    readFrom: (second) => readFrom(second, chain.heldFrom),
    recordedSince: () => chain.continuity.since,
    recordedFrom: (second) => chain.continuity.coverageFrom(second),
    heldSince: (mint, resolution) => Math.max(chain.state.heldSince(mint, resolution), chain.heldFrom),
    firstRead: () => chain.continuity.firstRead,
    stored: () => chain.store,
    coverageFrom: (second, nowMs) => {
      const lacking = lackingNow(service, nowMs)
      return lacking === null ? readFrom(second, Math.max(chain.state.heldFrom, chain.heldFrom)) : incomplete(lacking)
    },
    apply: Effect.fnUntraced(function* (batch: PricedBatch) {
      const nowMs = yield* Clock.currentTimeMillis
      chain.continuity.read(Math.floor(batch.timeMs / 1000), batch.afterGap)
      const applied = replay(batch, nowMs)
      reports.launches = batch.launches !== null
      chain.heardAtMs = nowMs
      yield* PubSub.publish(published, { batch, number: sent.number++ })
      return applied
    }),
    applied: Stream.map(Stream.fromPubSub(published), ({ batch }) => batch),
    appliedCounted: countMissed(Stream.fromPubSub(published))
  })

  const controls: TapeControls = {
    apply: service.apply,
    replay,
    revise: (bars) => bars.forEach((bar) => chain.state.revise(bar)),
    keep: (store) => {
      chain.store = store
    },
    resume: (progress, from) => {
      chain.continuity.restore(progress)
      chain.heldFrom = from
      chain.state.advance(progress.timeMs)
      chain.heardAtMs = progress.timeMs
    },
    startAnew: () => {
      chain = emptyChain(bounds)
    }
  }
  return { service, controls }
})

/** Decimals of the tokens in memory. Those of forgotten tokens are removed from time to time. */
const rememberDecimals = (state: MarketStateReads) => {
  const known = new Map<Mint, number>()
  const note = (trades: ReadonlyArray<TapeTrade>): void => {
    for (const trade of trades) {
      if (trade.decimals !== null) {
        known.set(trade.mint, trade.decimals)
      }
    }
    if (known.size > 2 * state.tokens + SUBSCRIBER_BUFFER) {
      Array.from(known.keys())
        .filter((mint) => !state.has(mint))
        .forEach((mint) => known.delete(mint))
    }
  }
  return { note, of: (mint: Mint) => known.get(mint) ?? null }
}
