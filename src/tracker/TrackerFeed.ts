import { Clock, Context, Duration, Effect, Layer, PubSub, Schedule, type Scope, Stream } from "effect"
import type { Address } from "../domain/Address.ts"
import type { LiveEvent, LiveGap } from "../domain/wallets/LiveFrame.ts"
import type { TrackerTrade } from "../domain/wallets/Tracker.ts"
import { keepGoing, keepRunning } from "../health/keepRunning.ts"
import { SourceMonitor, stateByAge } from "../health/SourceMonitor.ts"
import { type CountedBatch, TradeTape } from "../market/tape/TradeTape.ts"
import type { PricedBatch } from "../market/tape/TradeBatch.ts"
import type { BlockTransaction } from "../trades/blocks/TradeBlock.ts"
import { visitInParts } from "../trades/blocks/PackedTransactions.ts"
import { PriceBook } from "../tokens/PriceBook.ts"
import { TokenBook } from "../tokens/TokenBook.ts"
import { WalletAccounts } from "../wallets/accounts/WalletAccounts.ts"
import { RestoreReads } from "./books/RestoreReads.ts"
import { afterGapsMs, RestoredWallets, storedGapMs, storedTradesOf } from "./books/restoredTrades.ts"
import { TrackerState } from "./TrackerState.ts"
import type { FeedHealth } from "../live/FeedHealth.ts"
import type { LiveFollower } from "./LiveFollower.ts"
import type { PnlSnapshot, RecentTrades, WalletSince } from "./WalletSince.ts"
import { WatchList } from "./WatchList.ts"

/**
 * Trades, balances and profits of tracked wallets, live from blocks, and from stored ones after a restart. History before the
 * start of tracking is not included.
 */
export class TrackerFeed extends Context.Service<
  TrackerFeed,
  {
    /** The newest trades of these wallets together, each since its `sinceMs`. About 250 are held per wallet. */
    tradesOf(wallets: ReadonlyArray<WalletSince>, limit: number): RecentTrades
    /** Block time of the newest activity since tracking began; null without activity. */
    lastEventAtMs(wallet: Address): number | null
    health(nowMs: number): FeedHealth
    /** The newest trades of these wallets together, newest first, at most `each` per wallet. */
    newestOf(wallets: ReadonlyArray<WalletSince>, each: number, limit: number): ReadonlyArray<TrackerTrade>
    /** At most `limit` positions at current marks, from the trades of each wallet since its `sinceMs`, a whole second. */
    pnlSnapshotOf(wallets: ReadonlyArray<WalletSince>, limit: number, nowMs: number): PnlSnapshot
    /** Active wallets, each once per block, from subscription on. */
    readonly activity: Stream.Stream<{ readonly wallet: Address; readonly atMs: number }>
    /** Invokes the follower until the scope closes. */
    follow(follower: LiveFollower): Effect.Effect<void, never, Scope.Scope>
  }
>()("fathom/tracker/TrackerFeed") {
  /** From the batches applied to the tape, for the wallets of the watch list. */
  static readonly layer: Layer.Layer<
    TrackerFeed,
    never,
    TradeTape | PriceBook | TokenBook | WatchList | WalletAccounts
  > = Layer.effect(
    TrackerFeed,
    Effect.gen(function* () {
      const tape = yield* TradeTape
      const prices = yield* PriceBook
      const tokens = yield* TokenBook
      const watched = yield* WatchList
      const accounts = yield* WalletAccounts
      const activity = yield* PubSub.sliding<{ readonly wallet: Address; readonly atMs: number }>(ACTIVITY_HELD)
      const followers = new Set<LiveFollower>()
      const needsAccounts = (wallet: Address) => accounts.of(wallet) !== "named"
      const restored = new RestoredWallets({ ...watched, needsAccounts })
      const state = new TrackerState({
        sincesOf: (wallet) => watched.sincesOf(wallet),
        isRestored: (wallet) => restored.has(wallet),
        tokenOf: (mint) => tokens.read(mint),
        pricesAt: (nowMs) => prices.at(nowMs),
        commitment: tokens.commitment === "finalized" ? "finalized" : "confirmed"
      })
      let newestMs: number | null = null
      const progress: { atMs: number | null; isBroken: boolean; restoreAtMs: number } = {
        atMs: null,
        isBroken: false,
        restoreAtMs: 0
      }

      const reads = new RestoreReads(accounts)
      /** Changes of these wallets were missed: they are restored from a new read of their accounts. */
      const misses = (wallets: ReadonlyArray<Address>) => {
        for (const wallet of wallets) {
          restored.broken(wallet)
          reads.done(wallet)
          state.unread(wallet, "backfill_running")
        }
      }

      const wants = (wallet: Address, sinceMs?: number) => {
        for (const follower of followers) {
          if (follower.wants(wallet, sinceMs)) {
            return true
          }
        }
        return false
      }
      const send = (events: ReadonlyArray<LiveEvent>, nowMs: number) =>
        events.length === 0 ? undefined : followers.forEach((follower) => follower.take(events, nowMs))

      const reportGap = (reason: LiveGap["reason"], toMs: number, nowMs: number) =>
        followers.forEach((follower) => follower.lost({ fromMs: newestMs, toMs, reason }, nowMs))

      const concerning = Effect.fnUntraced(function* ({ transactions }: PricedBatch) {
        const found: Array<BlockTransaction> = []
        if (watched.size() > 0) {
          yield* visitInParts(transactions, (transaction) => {
            if (transaction.changes.some(({ owner }) => watched.has(owner))) {
              found.push(transaction)
            }
          })
        }
        return found
      })

      /** Restores ledgers up to the block; those that fail are tried again before a later one. */
      const restore = Effect.fnUntraced(function* ({ slot }: PricedBatch) {
        const waiting = restored.waiting()
        reads.ask(waiting)
        if (waiting.length === 0 || (yield* Clock.currentTimeMillis) < progress.restoreAtMs) {
          return
        }
        state.noteGap(storedGapMs(tape))
        // A read of a slot that was not applied yet waits for a later block.
        const ready = waiting.flatMap((since) => {
          const read = reads.of(since.wallet)
          return read === "waiting" || (typeof read === "object" && read.lastSlot >= slot) ? [] : [{ since, read }]
        })
        const one = ({ read, since }: (typeof ready)[number]) =>
          Effect.gen(function* () {
            const { wallet } = since
            const afterSlot = typeof read === "object" ? read.lastSlot : Number.POSITIVE_INFINITY
            const stored = yield* storedTradesOf(tape, since, { slot, afterSlot })
            const fromMs = afterGapsMs(tape)
            if (typeof read === "object" && read.chainMs < fromMs) {
              return misses([wallet])
            }
            // Marked first, so that the ledger counts as whole once it is read.
            restored.restored(since)
            const fits = state.restore(wallet, stored, typeof read === "object" ? { read, fromMs } : null)
            reads.done(wallet)
            if (!fits) {
              misses([wallet])
            } else if (read === "unavailable") {
              state.unread(wallet, "not_captured")
            }
          })
        yield* Effect.forEach(ready, one, { concurrency: RESTORED_AT_ONCE, discard: true }).pipe(
          Effect.timeout(RESTORE_TIME),
          Effect.catchCause((cause) =>
            Effect.map(Clock.currentTimeMillis, (nowMs) => (progress.restoreAtMs = nowMs + RESTORE_AGAIN_MS)).pipe(
              Effect.andThen(Effect.logWarning("Tracked wallets are not all restored yet", cause))
            )
          )
        )
      })

      const take = Effect.fnUntraced(function* (batch: PricedBatch, isBehind: boolean) {
        const afterGap = batch.afterGap || isBehind
        if (afterGap) {
          misses(Array.from(watched.wallets()).filter((wallet) => typeof accounts.of(wallet) === "object"))
        }
        yield* restore(batch)
        const transactions = yield* concerning(batch)
        const nowMs = yield* Clock.currentTimeMillis
        const { events, mints, wallets } = state.apply({ ...batch, transactions, afterGap }, nowMs, wants)
        if (newestMs !== null && afterGap) {
          reportGap(batch.afterGap ? "source_gap" : "behind", batch.timeMs, nowMs)
        }
        misses(state.takeBroken())
        newestMs = batch.timeMs
        restored.applied(batch.timeMs)
        send(events, nowMs)
        wallets.forEach((wallet) => PubSub.publishUnsafe(activity, { wallet, atMs: batch.timeMs }))
        const unknown = Array.from(mints).filter((mint) => tokens.read(mint) === null)
        yield* Effect.forEach(unknown, (mint) => Effect.andThen(tokens.warm(mint), prices.warm(mint)), {
          discard: true
        })
      })

      const startAnew = () => {
        accounts.startAnew()
        reads.startAnew()
        state.startAnew()
        restored.startAnew()
      }

      /** A block that cannot be applied leaves a gap before the next one. */
      const takeNext = ({ batch, isAnew, missed }: CountedBatch) =>
        Effect.sync(() => (isAnew ? startAnew() : undefined)).pipe(
          Effect.andThen(take({ ...batch, afterGap: batch.afterGap || isAnew }, missed > 0 || progress.isBroken)),
          Effect.andThen(Clock.currentTimeMillis),
          Effect.map((nowMs) => {
            progress.atMs = nowMs
            progress.isBroken = false
          }),
          Effect.onError(() =>
            Effect.sync(() => {
              progress.isBroken = true
            })
          ),
          keepGoing("Applying a block to tracked wallets")
        )

      yield* tape.appliedCounted.pipe(
        Stream.runForEach(takeNext),
        keepRunning("Tracking wallets", "tracker"),
        Effect.forkScoped({ startImmediately: true })
      )
      yield* (yield* SourceMonitor).report("tracker", (nowMs) => stateByAge(progress.atMs, SILENT_MS, nowMs))
      const sendDue = Effect.map(Clock.currentTimeMillis, (nowMs) => send(state.due(nowMs, wants), nowMs))
      yield* sendDue.pipe(
        Effect.repeat(Schedule.spaced(SEND_DUE_EVERY)),
        keepRunning("Sending due tracker events"),
        Effect.forkScoped({ startImmediately: true })
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
          ingestLagMs: newestMs === null ? null : Math.max(0, nowMs - newestMs),
          heardAtMs: tape.heardAtMs()
        }),
        activity: Stream.fromPubSub(activity),
        follow: (follower) =>
          Effect.asVoid(
            Effect.acquireRelease(
              Effect.sync(() => followers.add(follower)),
              () => Effect.sync(() => followers.delete(follower))
            )
          )
      })
    })
  )
}

/** Wallets restored beside each other. */
const RESTORED_AT_ONCE = 4
/** Longest time for which a block waits for the store. */
const RESTORE_TIME = Duration.seconds(2)
const RESTORE_AGAIN_MS = 2000
const ACTIVITY_HELD = 16_384
const SEND_DUE_EVERY = Duration.millis(100)
const FORGET_EVERY = Duration.seconds(30)
/** Without a block for this long, tracking is stale. */
const SILENT_MS = 30_000
