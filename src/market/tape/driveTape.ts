/** The phases of a tape: the feed continues after the stored blocks and its blocks are stored, while memory is restored beside. */
import { type Cause, Clock, type Config, Duration, Effect, Option, Schedule, Stream } from "effect"
import type { PriceBook } from "../../tokens/PriceBook.ts"
import { ownTurn } from "../../domain/loopTime.ts"
import { keepRunning } from "../../health/keepRunning.ts"
import { SourceMonitor, type SourceState } from "../../health/SourceMonitor.ts"
import { isAcceptable } from "./isAcceptable.ts"
import { makeBlockPricing, pricingAfter, recallSoon } from "./priceBlocks.ts"
import { makeRecorder, type RecordSettings } from "../store/recordTrades.ts"
import { makeRepairs, type repairSettings } from "../repair/RepairWorker.ts"
import { fillTape } from "../repair/rebuildTape.ts"
import { type snapshotSettings, snapshotsOf } from "../snapshot/takeSnapshots.ts"
import { LATE_SECONDS } from "../windows/windows.ts"
import type { MarketLimits } from "./MarketState.ts"
import type { TapeControls } from "./TapeControls.ts"
import type { ChainIdentity } from "../store/ChainIdentity.ts"
import type { TradeFeed } from "./TradeFeed.ts"
import { type WatchedSet, WatchedWallets } from "./WatchedWallets.ts"
import type { StoreAccess, TradeStore } from "../store/TradeStore.ts"
import type { StoredBatch } from "../store/StoredBatch.ts"
import type { PricedBatch, TradeBatch } from "./TradeBatch.ts"

/** The parts that drive a tape. */
export interface TapeParts {
  readonly feed: TradeFeed["Service"]
  readonly store: TradeStore["Service"]
  readonly prices: PriceBook["Service"]
  readonly tape: TapeControls
}

/**
 * The stored part of a block: trades that the market state rejects are not stored, nor transfers of a mint that their wallet
 * has not traded, unless it is watched.
 */
export const storableBy =
  ({ isTrader }: Pick<TapeControls, "isTrader">, watched: WatchedSet) =>
  ({ afterGap, launches, slot, supply, timeMs, trades, transfers = [] }: PricedBatch, nowMs: number): StoredBatch => {
    const traded = new Set(trades.map(({ mint, wallet }) => `${wallet} ${mint}`))
    return {
      slot,
      timeMs,
      launches,
      supply,
      afterGap,
      trades: trades.filter((trade) => isAcceptable(trade, nowMs)),
      transfers: transfers.filter(
        (transfer) =>
          (watched.has(transfer.wallet) || isTrader(transfer) || traded.has(`${transfer.wallet} ${transfer.mint}`)) &&
          isAcceptable(transfer, nowMs)
      )
    }
  }

/** The settings of storing blocks, of reading missing ones again and of snapshots. */
export interface TapeSettings {
  readonly record: RecordSettings
  readonly repair: Config.Success<typeof repairSettings>
  readonly snapshots: Config.Success<typeof snapshotSettings>
}

/** The history that is read beside a node. */
const DEFAULT_HISTORY = Duration.hours(24)

/** The time before now of which blocks are read backwards; null for none. */
export const historyOf = (chain: ChainIdentity | null, { history }: TapeSettings["repair"]): Duration.Duration | null =>
  Option.getOrElse(history, () => (chain?.isSandbox === true ? null : DEFAULT_HISTORY))

/**
 * Opens the chain and continues after its stored blocks, of which memory has the launches alone until it is rebuilt. Returns
 * their progress, null where nothing is stored. Waits while the store is unavailable.
 */
export const resumeStored = Effect.fnUntraced(function* (
  { store, tape }: Pick<TapeParts, "store" | "tape">,
  chain: ChainIdentity,
  limits: MarketLimits,
  access: StoreAccess = "shared"
) {
  const again = { schedule: Schedule.spaced("1 second") }
  const progress = yield* store.open(chain, access).pipe(
    Effect.sandbox,
    Effect.tapError((cause) => Effect.logWarning("Trades cannot be stored", cause)),
    Effect.retry(again)
  )
  tape.keep(store)
  if (progress !== null) {
    const end = Math.floor(progress.timeMs / 1000) + LATE_SECONDS
    const launches = yield* store.launchesBefore(end, limits.tokens).pipe(Effect.sandbox, Effect.retry(again))
    tape.resume(progress, launches, yield* Clock.currentTimeMillis)
  }
  return progress
})

const NOT_STORED: SourceState = { observedAtMs: null, status: "unavailable" }

/** Runs until the blocks of the chain end. A block that cannot be applied is logged and left out, as a gap before the next one. */
const driveChain = Effect.fnUntraced(function* (
  { feed, prices, store, tape }: TapeParts,
  chain: ChainIdentity | null,
  limits: MarketLimits,
  { record, repair, snapshots }: TapeSettings
) {
  const recording: { health: (nowMs: number) => SourceState } = { health: () => NOT_STORED }
  yield* (yield* SourceMonitor).report("trades", (nowMs) => recording.health(nowMs))
  const storable = storableBy(tape, yield* WatchedWallets)
  if (chain === null) {
    yield* Effect.logWarning("The node does not report its genesis hash: trades are kept in memory only")
  }

  const progress = chain === null ? null : yield* resumeStored({ store, tape }, chain, limits)
  const after = progress?.slot ?? 0
  const pricing = makeBlockPricing(prices)
  yield* progress === null ? Effect.void : recallSoon(store, pricing, after)
  const reread = (slot: number) =>
    Stream.unwrap(
      Effect.map(pricingAfter(store, prices, slot), (again) =>
        Stream.mapEffect(feed.batches(slot), (batch) =>
          Effect.flatMap(again.price(batch), (priced) =>
            Effect.map(Clock.currentTimeMillis, (nowMs) => storable(priced, nowMs))
          )
        )
      )
    )
  const recorder = chain === null ? null : yield* makeRecorder(store, { after, reread }, record)
  recording.health = recorder?.health ?? recording.health
  if (chain !== null && recorder !== null) {
    tape.keepUnstored(recorder.unstored)
    const { durable, unstored } = recorder
    const parts = { feed, store, prices, live: pricing, tape, storable, limits, durable, unstored }
    const step = yield* makeRepairs(parts, {
      rate: repair.rate,
      history: historyOf(chain, repair),
      snapshots: snapshotsOf(chain, snapshots)
    })
    yield* (progress === null ? Effect.void : fillTape(parts)).pipe(
      Effect.andThen(
        Effect.forever(Effect.flatMap(step, Effect.sleep)).pipe(keepRunning("Reading missing blocks again", "backfill"))
      ),
      Effect.forkScoped({ startImmediately: true })
    )
  }

  const position = { after, isBroken: false }
  const take = Effect.fnUntraced(function* (batch: TradeBatch) {
    const priced = yield* pricing.price(position.isBroken ? { ...batch, afterGap: true } : batch)
    yield* tape.apply(priced)
    position.isBroken = false
    if (recorder !== null) {
      yield* ownTurn
      yield* recorder.offer(storable(priced, yield* Clock.currentTimeMillis))
    }
  })
  const leftOut = (slot: number, cause: Cause.Cause<never>) => {
    position.isBroken = true
    return Effect.logError("A block could not be applied and is left out", { slot }, cause)
  }
  yield* Effect.suspend(() =>
    Stream.runForEach(feed.batches(position.after), (batch) => {
      position.after = Math.max(position.after, batch.slot)
      return Effect.catchCause(take(batch), (cause) => leftOut(batch.slot, cause))
    })
  ).pipe(keepRunning("Following blocks", "blocks"))
})

/** Runs until the tape ends. A chain that replaces the one before begins with what is stored of it, if anything. */
export const driveTape = Effect.fnUntraced(function* (parts: TapeParts, limits: MarketLimits, settings: TapeSettings) {
  let chain = yield* parts.feed.chain
  while (true) {
    yield* Effect.scoped(driveChain(parts, chain, limits, settings))
    const next = yield* parts.feed.chain
    if (next === null || next.genesis === chain?.genesis) {
      return
    }
    yield* Effect.logWarning("The market begins anew with another chain", { genesis: next.genesis })
    parts.tape.startAnew()
    chain = next
  }
})
