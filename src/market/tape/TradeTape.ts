import { Clock, Config, Context, Duration, Effect, Layer, PubSub, type Scope, Semaphore, Stream } from "effect"
import { amountSetting, countSetting, durationSetting } from "../../domain/countSetting.ts"
import type { Mint } from "../../domain/Address.ts"
import { ownTurn } from "../../domain/loopTime.ts"
import { type Coverage, covering, incomplete } from "../../domain/Scalar.ts"
import { SourceMonitor, type SourceState } from "../../health/SourceMonitor.ts"
import { PriceBook } from "../../tokens/PriceBook.ts"
import { driveTape, type TapeParts, type TapeSettings } from "./driveTape.ts"
import { captureOf, makeMemory, makeRestoreWait, rememberMissing } from "./tapeContent.ts"
import type { FillMemory, SnapshotNotes, TapeControls } from "./TapeControls.ts"
import type { Gaps } from "./Gaps.ts"
import type { Launches } from "./Launches.ts"
import type { RecentTrades } from "./RecentTrades.ts"
import { snapshotSettings } from "../snapshot/takeSnapshots.ts"
import { repairSettings } from "../repair/RepairWorker.ts"
import { recordSettings } from "../store/recordTrades.ts"
import type { Resolution } from "../candles/resolutions.ts"
import type { Applied, MarketLimits, MarketState } from "./MarketState.ts"
import { addBlock, coverageOf, emptyChain, recordedCoverage, resumeChain, shownFrom } from "./TapedChain.ts"
import { TradeFeed } from "./TradeFeed.ts"
import { reportTape } from "./tapeReadings.ts"
import { type CountedBatch, countMissed, type NumberedBatch, type PricedBatch } from "./TradeBatch.ts"
import type { StoredBatch } from "../store/StoredBatch.ts"
import { TradeStore } from "../store/TradeStore.ts"

export type { CountedBatch } from "./TradeBatch.ts"

/** The market state is not current once no block has arrived for this long, in milliseconds, or once blocks are that old. */
export const STALE_AFTER_MS = 30_000

/** The reason why the market state is not current: no block was read, blocks have stopped (a gap at its end), or they are old. */
export const lackingNow = (
  { aliveAtMs, state }: Pick<TradeTape["Service"], "aliveAtMs" | "state">,
  nowMs: number
): "backfill_running" | "not_captured" | "source_gap" | null => {
  const atMs = aliveAtMs()
  if (atMs === null || nowMs - atMs > STALE_AFTER_MS) {
    return atMs === null ? "not_captured" : "source_gap"
  }
  return nowMs - state.now * 1000 > STALE_AFTER_MS ? "backfill_running" : null
}

/** The state of the blocks, the same that every read of the market has. */
const blocksState = (tape: TradeTape["Service"], nowMs: number): SourceState => {
  const lacking = lackingNow(tape, nowMs)
  const gaps = tape.gaps()
  const gapsOpen = gaps.filter(({ state }) => state === "open").length
  const reason = lacking ?? (gapsOpen > 0 ? "source_gap" : tape.isRestoring() ? "backfill_running" : null)
  return {
    observedAtMs: tape.heardAtMs(),
    status: reason === null ? "known" : reason === "not_captured" ? "unavailable" : "partial",
    slot: tape.newestSlot(),
    gapsOpen,
    ...(reason !== null && { reason })
  }
}

/** The methods of the market state that readers use. All are synchronous, and nothing is written meanwhile. */
export type MarketStateReads = Pick<
  MarketState,
  | "bars"
  | "boughtSince"
  | "has"
  | "heldFrom"
  | "lastPrice"
  | "markets"
  | "mintOfToken"
  | "now"
  | "pools"
  | "scan"
  | "seen"
  | "tokens"
  | "topTraders"
  | "window"
>

/** The market state and its coverage, in memory. One writer; reads are synchronous. */
export class TradeTape extends Context.Service<
  TradeTape,
  {
    readonly state: MarketStateReads
    readonly launches: Pick<Launches, "all" | "droppedToMs" | "of">
    /** The trades of the newest blocks. */
    readonly recent: Pick<RecentTrades, "find" | "fromSlot" | "hasDropped" | "newest">
    /** True when the feed reports launches. */
    readonly reportsLaunches: () => boolean
    /** Decimals of a token, from the last of its trades that had them; null when none did. */
    readonly decimalsOf: (mint: Mint) => number | null
    /** The local time at which the last block arrived; null before the first. */
    readonly heardAtMs: () => number | null
    /** The local time of the last arrival of a block or, when later, of the continuation after stored ones; null before either. */
    readonly aliveAtMs: () => number | null
    /** True while stored blocks are read into memory: the store has them, and windows are those of the blocks since. */
    readonly isRestoring: () => boolean
    /** Waits until stored blocks are in memory, at most until `RESTORE_PATIENCE` after the restore began; afterwards not at all. */
    readonly restored: Effect.Effect<void>
    /** The first second from which on every block is in memory; infinite before the first block. */
    readonly since: () => number
    /** The coverage of the time since a second, up to the newest block or this one, for data that is kept longer than the windows. */
    readonly readFrom: (second: number, to?: number) => Coverage
    /** The first second from which on every block was read, by this process or those before it; infinite at first. */
    readonly recordedSince: () => number
    /** The coverage of the time since a second, up to the newest block or this one, by this process and those before it. */
    readonly recordedFrom: (second: number, to?: number) => Coverage
    /** The coverage of the time since a second in data that is still held, for the windows. */
    readonly coverageFrom: (second: number, nowMs: number) => Coverage
    /** The second from which on the bars of a token are in memory; minus infinity when all of them are. */
    readonly heldSince: (mint: Mint, resolution: Resolution) => number
    /** The newest slot that was read; 0 before the first. */
    readonly newestSlot: () => number
    /** The blocks since then that were not read. */
    readonly gaps: () => Gaps
    /** The second from which on blocks were read at all, by this process or those before it; infinite at first. */
    readonly firstRead: () => number
    /** The store of candles and trades older than those in memory; null without a store. */
    readonly stored: () => Pick<
      TradeStore["Service"],
      "bars" | "keptSeconds" | "largestOf" | "ofWallet" | "prints" | "supplyOf" | "swapsOf"
    > | null
    /** The blocks that are not stored yet, oldest first; none without a store, and while the store lags far behind. */
    readonly unstored: () => ReadonlyArray<StoredBatch>
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
   * A tape that follows the feed after the stored blocks, stores its blocks, and reads the stored ones into memory meanwhile. Its bounds are set by `TAPE_TOKENS` (60,000),
   * `TAPE_BARS` (800,000 of each stored width) and `TAPE_WALLETS` (1,000,000); `TAPE_TRADES` (4,000,000) are restored.
   */
  static readonly layer: Layer.Layer<TradeTape, Config.ConfigError, TradeFeed | TradeStore | PriceBook> = Layer.suspend(
    () => TradeTape.layerDriven(driveTape)
  )

  /** A tape with the same bounds that is written by this effect. */
  static readonly layerDriven = <R>(
    drive: (parts: TapeParts, bounds: MarketLimits, settings: TapeSettings) => Effect.Effect<void, unknown, R>
  ): Layer.Layer<TradeTape, Config.ConfigError, TradeFeed | TradeStore | PriceBook | Exclude<R, Scope.Scope>> =>
    Layer.effect(
      TradeTape,
      Effect.gen(function* () {
        const bounds = yield* limits
        const { controls, service } = yield* makeTape(bounds, yield* leastCoverage, yield* restorePatience)
        const parts = { feed: yield* TradeFeed, store: yield* TradeStore, prices: yield* PriceBook, tape: controls }
        yield* (yield* SourceMonitor).report("blocks", (nowMs) => blocksState(service, nowMs))
        yield* drive(parts, bounds, {
          record: yield* recordSettings,
          repair: yield* repairSettings,
          snapshots: yield* snapshotSettings
        }).pipe(
          Effect.tapDefect((defect) =>
            Effect.logError("The tape stopped: stored trades could not be restored", defect)
          ),
          Effect.forkScoped({ startImmediately: true })
        )
        return service
      })
    )
}

const defaultLimits: MarketLimits = { tokens: 60_000, bars: 800_000, trades: 4_000_000, traders: 1_000_000 }

/** The least share of a window for which values are shown. */
const LEAST_COVERAGE = 0.5

/** `MIN_COVERAGE` (0.5): a window of which less was seen has no values. */
export const leastCoverage = amountSetting("MIN_COVERAGE", LEAST_COVERAGE)

const RESTORE_PATIENCE = Duration.seconds(5)

/**
 * `RESTORE_PATIENCE` (5 s): the time from the beginning of a restore for which reads wait for windows, which the store does not
 * have.
 */
export const restorePatience = durationSetting("RESTORE_PATIENCE").pipe(Config.withDefault(RESTORE_PATIENCE))

/** Bounds of the state in memory, `TAPE_TOKENS`, `TAPE_BARS` and `TAPE_WALLETS`, and of its restore, `TAPE_TRADES`. */
export const limits = Config.all({
  tokens: countSetting("TAPE_TOKENS", defaultLimits.tokens),
  bars: countSetting("TAPE_BARS", defaultLimits.bars),
  trades: countSetting("TAPE_TRADES", defaultLimits.trades),
  traders: countSetting("TAPE_WALLETS", defaultLimits.traders)
})

/** Blocks that a rebuild applies in one step: more than come meanwhile, so that it ends also while many are caught up with. */
const MOST_AT_ONCE = 8

/** The number of batches that a subscriber may be behind before it loses the oldest. */
export const SUBSCRIBER_BUFFER = 1024

const makeTape = Effect.fnUntraced(function* (
  bounds: MarketLimits,
  least = LEAST_COVERAGE,
  patience = RESTORE_PATIENCE
) {
  const shown = shownFrom(least)
  let chain = emptyChain(bounds)
  /** The blocks since a rebuild began; null while there is none. */
  let tail: Array<PricedBatch> | null = null
  const published = yield* PubSub.sliding<NumberedBatch>(SUBSCRIBER_BUFFER)
  const sent = { number: 0, chain: 0 }
  const reports = { launches: false }
  const counts = { blocks: 0, trades: 0 }
  const rebuilding = yield* Semaphore.make(1)
  const applying = yield* Semaphore.make(1)
  let snapshots: SnapshotNotes = { loaded: null, kept: null }
  const isMissing = rememberMissing()
  const restoring = makeRestoreWait(yield* Clock.Clock, patience)

  const service: TradeTape["Service"] = TradeTape.of({
    get state() {
      return chain.state
    },
    get launches() {
      return chain.launches
    },
    get recent() {
      return chain.recent
    },
    reportsLaunches: () => reports.launches,
    decimalsOf: (mint) => chain.decimals.of(mint),
    heardAtMs: () => chain.heardAtMs,
    aliveAtMs: () =>
      chain.heardAtMs === null ? chain.resumedAtMs : Math.max(chain.heardAtMs, chain.resumedAtMs ?? chain.heardAtMs),
    isRestoring: () => chain.isRestoring,
    restored: restoring.wait,
    since: () => Math.max(chain.continuity.since, chain.heldFrom),
    readFrom: (second, to = chain.state.now) => shown(coverageOf(chain, second, to, chain.heldFrom)),
    recordedSince: () => chain.continuity.since,
    recordedFrom: (second, to = chain.state.now) => recordedCoverage(chain, second, to),
    newestSlot: () => chain.continuity.newestSlot,
    gaps: () => chain.continuity.gaps,
    heldSince: (mint, resolution) => Math.max(chain.state.heldSince(mint, resolution), chain.heldFrom),
    firstRead: () => chain.continuity.firstRead,
    stored: () => chain.store,
    unstored: () => chain.unstored(),
    coverageFrom: (second, nowMs) => {
      const lacking = lackingNow(service, nowMs)
      const [to, heldFrom] = [chain.state.now, Math.max(chain.state.heldFrom, chain.heldFrom)]
      if (lacking === null) {
        return shown(coverageOf(chain, second, to, heldFrom))
      }
      if (lacking === "not_captured") {
        return incomplete(lacking)
      }
      // The window that was asked for ends now, later than the newest block.
      const begin = second + Math.floor(nowMs / 1000) - to
      return shown(
        covering(lacking, chain.continuity.seen(Math.max(begin, heldFrom), to) / Math.max(1, to - second + 1))
      )
    },
    apply: Effect.fnUntraced(function* (batch: PricedBatch) {
      yield* ownTurn
      const nowMs = yield* Clock.currentTimeMillis
      chain.continuity.read(batch)
      const applied = addBlock(chain, batch, nowMs)
      counts.blocks++
      counts.trades += applied.applied
      tail?.push(batch)
      reports.launches = batch.launches !== null
      chain.heardAtMs = nowMs
      yield* PubSub.publish(published, { batch, number: sent.number++, chain: sent.chain })
      return applied
    }, applying.withPermit),
    applied: Stream.mapEffect(Stream.fromPubSub(published), ({ batch }) => Effect.as(ownTurn, batch)),
    appliedCounted: countMissed(Stream.fromPubSub(published))
  })

  yield* reportTape(counts, service.newestSlot)

  const controls: TapeControls = {
    apply: service.apply,
    revise: (bars) => bars.forEach((bar) => chain.state.revise(bar)),
    keep: (store) => {
      chain.store = store
    },
    keepUnstored: (unstored) => {
      chain.unstored = unstored
    },
    resume: (progress, launches, nowMs) => {
      // Blocks that come may share their second with the last stored one.
      resumeChain(chain, progress, Math.floor(progress.timeMs / 1000) + 1)
      launches.forEach(({ launch, timeMs }) => chain.launches.add(launch, timeMs))
      chain.resumedAtMs = nowMs
      chain.isRestoring = true
      restoring.begin()
    },
    backfilling: (fromMs) => {
      chain.backfillFromMs = fromMs
    },
    isTrader: (trade) =>
      chain.isRestoring ||
      chain.backfillFromMs !== null ||
      isMissing(chain.continuity.gaps) ||
      chain.state.isTrader(trade),
    newest: () => chain.continuity.newestSlot,
    missing: () => ({ gaps: chain.continuity.gaps, readFrom: chain.continuity.firstRead, repairs: chain.repairs }),
    capture: (write) => applying.withPermit(Effect.suspend(() => captureOf(chain, write))),
    noteSnapshot: (notes) => {
      snapshots = { ...snapshots, ...notes }
    },
    snapshots: () => snapshots,
    startAnew: () => {
      sent.chain++
      snapshots = { loaded: null, kept: null }
      chain = emptyChain(bounds)
      restoring.end()
    },
    rebuild: Effect.fnUntraced(
      function* <E>(stored: FillMemory<E>) {
        const since: Array<PricedBatch> = []
        tail = since
        const { newest, newestSlot: slot } = chain.continuity
        const { memory, content } = makeMemory(slot, () => ({
          ...emptyChain(bounds),
          store: chain.store,
          unstored: chain.unstored
        }))
        const { from, progress } = yield* stored(memory)
        const next = content()
        const gaps = progress.gaps.filter(({ fromSlot }) => fromSlot <= slot)
        resumeChain(next, { ...progress, ...newest, gaps }, from)
        const nowMs = yield* Clock.currentTimeMillis
        const add = (batch: PricedBatch): void => {
          next.continuity.read(batch)
          addBlock(next, batch, nowMs)
        }
        let done = 0
        while (since.length - done > MOST_AT_ONCE) {
          since.slice(done, done + MOST_AT_ONCE).forEach(add)
          done += MOST_AT_ONCE
          yield* Effect.yieldNow
        }
        // In one step: no block can come between the last of these and the exchange.
        since.slice(done).forEach(add)
        next.heardAtMs = chain.heardAtMs
        next.resumedAtMs = chain.resumedAtMs
        next.backfillFromMs = chain.backfillFromMs
        chain = next
        restoring.end()
      },
      Effect.ensuring(Effect.sync(() => (tail = null))),
      rebuilding.withPermit
    )
  }
  return { service, controls }
})
