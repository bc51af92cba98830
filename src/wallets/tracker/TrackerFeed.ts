import { Clock, Context, Duration, Effect, Layer, PubSub, Schedule, type Scope, Semaphore, Stream } from "effect"
import type { Address, Mint } from "../../domain/Address.ts"
import { ownTurn } from "../../domain/loopTime.ts"
import type { TrackerTrade } from "../../api/schemas/Tracker.ts"
import { keepGoing, keepRunning } from "../../operations/keepRunning.ts"
import { SourceMonitor, stateByAge } from "../../operations/SourceMonitor.ts"
import { type BlockPlace, gapStartMs } from "../../market/model/Gaps.ts"
import type { CountedBatch } from "../../market/model/TradeBatch.ts"
import { Market } from "../../market/tape/Market.ts"
import type { PricedBatch } from "../../market/model/TradeBatch.ts"
import type { BlockTransaction } from "../../chain/decoding/TradeBlock.ts"
import { visitInTurns } from "../../domain/loopTime.ts"
import { PriceBook } from "../../tokens/PriceBook.ts"
import { TokenBook } from "../../tokens/TokenBook.ts"
import { marksAt } from "../marks.ts"
import { WalletAccounts } from "../WalletAccounts.ts"
import { RestoredWallets } from "./restoredTrades.ts"
import { makeLedgerRestore, type RestoreParts } from "./restoreLedgers.ts"
import { makeTrackedFills } from "./trackedFills.ts"
import { TrackerState } from "./TrackerState.ts"
import type { FeedHealth } from "../../live/FeedHealth.ts"
import { type LiveFollower, LiveFollowers } from "./LiveFollower.ts"
import type { PnlSnapshot, RecentTrades, WalletSince } from "./WalletSince.ts"
import { WatchList } from "./WatchList.ts"

/**
 * Trades, balances and profits of tracked wallets: live from blocks, and from stored trades after a restart. History
 * before the start of tracking is not included, except for the fills of a replay.
 */
export class TrackerFeed extends Context.Service<
  TrackerFeed,
  {
    /**
     * The newest trades of all these wallets together, each wallet since its `sinceMs`. About 250 are held per wallet.
     */
    tradesOf(wallets: ReadonlyArray<WalletSince>, limit: number): RecentTrades
    /** Block time of the newest activity since tracking began; null without activity. */
    lastEventAtMs(wallet: Address): number | null
    health(nowMs: number): FeedHealth
    /** Waits until no block of the market is half applied: see `MarketReads`. */
    readonly whole: Effect.Effect<void>
    /** The newest trades of these wallets together, newest first, at most `each` per wallet. */
    newestOf(wallets: ReadonlyArray<WalletSince>, each: number, limit: number): ReadonlyArray<TrackerTrade>
    /** At most `limit` positions at current marks, from the trades of each wallet since its `sinceMs`, a whole second. */
    pnlSnapshotOf(wallets: ReadonlyArray<WalletSince>, limit: number, nowMs: number): PnlSnapshot
    /** Active wallets, each once per block, from subscription on. */
    readonly activity: Stream.Stream<{ readonly wallet: Address; readonly atMs: number }>
    /** Invokes the follower until the scope closes. */
    follow(follower: LiveFollower): Effect.Effect<void, never, Scope.Scope>
  }
>()("fathom/wallets/tracker/TrackerFeed") {
  /** From the batches applied to the tape, for the wallets of the watch list. */
  static readonly layer: Layer.Layer<TrackerFeed, never, Market | PriceBook | TokenBook | WatchList | WalletAccounts> =
    Layer.suspend(() => Layer.effect(TrackerFeed, make))
}

const ACTIVITY_HELD = 16_384
const SEND_DUE_EVERY = Duration.millis(100)
const FORGET_EVERY = Duration.seconds(30)
/** How often fills of a replay are looked for that no block reaches, and prices that fills lack. */
const FILLS_EVERY = Duration.millis(500)
/** Tracking is stale after this long without a block. */
const SILENT_MS = 30_000

/** The transactions of a block that change balances of followed wallets. */
const concerning = Effect.fnUntraced(function* ({ transactions }: PricedBatch, watched: WatchList["Service"]) {
  const found: Array<BlockTransaction> = []
  if (watched.size() > 0) {
    yield* visitInTurns(transactions, (transaction) => {
      if (transaction.changes.some(({ owner }) => watched.follows(owner))) {
        found.push(transaction)
      }
    })
  }
  return found
})

/** Applies blocks to the state. A block that cannot be applied leaves a gap before the next one. */
const makeBlocks = Effect.fnUntraced(function* (
  { accounts, restored, state, tape, watched }: RestoreParts,
  followers: LiveFollowers
) {
  const prices = yield* PriceBook
  const tokens = yield* TokenBook
  const activity = yield* PubSub.sliding<{ readonly wallet: Address; readonly atMs: number }>(ACTIVITY_HELD)
  const ledgers = makeLedgerRestore({ accounts, restored, state, tape, watched })
  /** Blocks and fills are applied one after the other. */
  const turn = yield* Semaphore.make(1)
  const progress: { newest: BlockPlace | null; appliedAtMs: number | null; isBroken: boolean } = {
    newest: null,
    appliedAtMs: null,
    isBroken: false
  }

  const warm = (mints: ReadonlySet<Mint>) =>
    Effect.forEach(
      Array.from(mints).filter((mint) => tokens.read(mint) === null),
      (mint) => Effect.andThen(tokens.warm(mint), prices.warm(mint)),
      { discard: true }
    )
  const publish = (wallets: ReadonlySet<Address>, atMs: number) =>
    wallets.forEach((wallet) => PubSub.publishUnsafe(activity, { wallet, atMs }))

  const fills = yield* makeTrackedFills
  /** Applies the fills of a replay before the block of this slot: a fill is the first transaction of its slot. */
  const takeFills = Effect.fnUntraced(function* (slot: number) {
    for (const { trades } of yield* fills.reach(slot)) {
      const [first, ...others] = trades
      if (first !== undefined) {
        yield* tape.whole
        const nowMs = yield* Clock.currentTimeMillis
        const { events, mints, wallets } = state.takeFill([first, ...others], nowMs, followers.wants)
        followers.take(events, nowMs)
        publish(wallets, first.timeMs)
        yield* warm(mints)
      }
    }
  })
  const takePrices = Effect.map(fills.priced, (found) =>
    found.forEach(({ fill, trades }) => state.revalue(fill.wallet, trades))
  )

  const take = Effect.fnUntraced(function* (batch: PricedBatch, isBehind: boolean) {
    yield* takeFills(batch.slot)
    yield* Effect.andThen(ownTurn, tape.whole)
    const afterGap = batch.afterGap || isBehind
    const { newest } = progress
    if (isBehind) {
      ledgers.noteBehind(batch.timeMs)
    }
    ledgers.repaired()
    if (afterGap) {
      ledgers.noteGaps(watched.wallets())
      ledgers.missed(Array.from(watched.wallets()).filter((wallet) => typeof accounts.of(wallet) === "object"))
    }
    ledgers.relink(newest?.timeMs ?? null)
    yield* ledgers.restore(batch.slot)
    const transactions = yield* concerning(batch, watched)
    yield* tape.whole
    const nowMs = yield* Clock.currentTimeMillis
    const { events, mints, wallets } = state.apply({ ...batch, transactions, afterGap }, nowMs, followers.wants)
    if (newest !== null && afterGap) {
      const reason = batch.afterGap ? "source_gap" : "behind"
      followers.lost({ fromMs: gapStartMs(newest, batch), toMs: batch.timeMs, reason }, nowMs)
    }
    ledgers.missed(state.takeBroken())
    progress.newest = { slot: batch.slot, timeMs: batch.timeMs }
    restored.applied(batch.timeMs)
    followers.take(events, nowMs)
    publish(wallets, batch.timeMs)
    yield* warm(mints)
  })

  const startAnew = () => {
    accounts.startAnew()
    ledgers.startAnew()
    state.startAnew()
    restored.startAnew()
  }

  const takeNext = ({ batch, isAnew, missed }: CountedBatch) =>
    Effect.sync(() => (isAnew ? startAnew() : undefined)).pipe(
      Effect.andThen(take({ ...batch, afterGap: batch.afterGap || isAnew }, missed > 0 || progress.isBroken)),
      Effect.andThen(Clock.currentTimeMillis),
      Effect.map((nowMs) => {
        progress.appliedAtMs = nowMs
        progress.isBroken = false
      }),
      Effect.onError(() =>
        Effect.sync(() => {
          progress.isBroken = true
        })
      ),
      keepGoing("Applying a block to tracked wallets"),
      turn.withPermits(1)
    )

  /** Fills after the last block of a replay, and prices that have become known. */
  const takeRest = Effect.suspend(() => takeFills(progress.newest?.slot ?? 0)).pipe(
    Effect.andThen(takePrices),
    keepGoing("Applying fills to tracked wallets"),
    turn.withPermits(1)
  )

  return { activity, progress, takeNext, takeRest }
})

const make = Effect.gen(function* () {
  const tape = yield* Market
  const prices = yield* PriceBook
  const tokens = yield* TokenBook
  const watched = yield* WatchList
  const accounts = yield* WalletAccounts
  const followers = new LiveFollowers()
  const needsAccounts = (wallet: Address) => accounts.of(wallet) !== "named"
  const hasFills = (wallet: Address): boolean => state.hasFills(wallet)
  const restored = new RestoredWallets({ ...watched, needsAccounts, hasFills })
  const state = new TrackerState({
    sincesOf: (wallet) => watched.sincesOf(wallet),
    isRestored: (wallet) => restored.has(wallet),
    tokenOf: (mint) => tokens.read(mint),
    marksAt: (nowMs) => marksAt(prices.at(nowMs), tape, nowMs),
    commitment: tokens.commitment === "finalized" ? "finalized" : "confirmed"
  })
  const { activity, progress, takeNext, takeRest } = yield* makeBlocks(
    { accounts, restored, state, tape, watched },
    followers
  )

  yield* tape.appliedCounted.pipe(
    Stream.runForEach(takeNext),
    keepRunning("Tracking wallets", "tracker"),
    Effect.forkScoped({ startImmediately: true })
  )
  yield* (yield* SourceMonitor).report("tracker", (nowMs) => stateByAge(progress.appliedAtMs, SILENT_MS, nowMs))
  yield* tape.whole.pipe(
    Effect.andThen(Clock.currentTimeMillis),
    Effect.map((nowMs) => followers.take(state.due(nowMs, followers.wants), nowMs)),
    Effect.repeat(Schedule.spaced(SEND_DUE_EVERY)),
    keepRunning("Sending due tracker events"),
    Effect.forkScoped({ startImmediately: true })
  )
  yield* takeRest.pipe(
    Effect.repeat(Schedule.spaced(FILLS_EVERY)),
    keepRunning("Applying fills to tracked wallets"),
    Effect.forkScoped
  )
  yield* Effect.sync(() => state.forget()).pipe(
    Effect.schedule(Schedule.spaced(FORGET_EVERY)),
    keepRunning("Forgetting old activity"),
    Effect.forkScoped
  )

  return TrackerFeed.of({
    tradesOf: (wallets, limit) => state.tradesOf(wallets, limit),
    lastEventAtMs: (wallet) => state.lastEventAtMs(wallet),
    newestOf: (wallets, each, limit) => state.newestOf(wallets, each, limit),
    pnlSnapshotOf: (wallets, limit, nowMs) => state.pnlSnapshotOf(wallets, limit, nowMs),
    health: (nowMs) => ({
      ingestLagMs: progress.newest === null ? null : Math.max(0, nowMs - progress.newest.timeMs),
      heardAtMs: tape.heardAtMs()
    }),
    whole: tape.whole,
    activity: Stream.fromPubSub(activity),
    follow: (follower) => followers.follow(follower)
  })
})
