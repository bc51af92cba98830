import { Clock, Context, Duration, Effect, Layer, PubSub, Schedule, type Scope, Stream } from "effect"
import type { Address } from "../domain/Address.ts"
import type { LiveEvent, LiveGap } from "../domain/wallets/LiveFrame.ts"
import type { TrackerTrade } from "../domain/wallets/Tracker.ts"
import { BEHIND, type PricedBatch, TradeTape } from "../market/tape/TradeTape.ts"
import type { BlockTransaction } from "../solana/blocks/BlockFeed.ts"
import { visitInParts } from "../solana/blocks/PackedTransactions.ts"
import { PriceBook } from "../tokens/PriceBook.ts"
import { TokenBook } from "../tokens/TokenBook.ts"
import { TrackerState } from "./TrackerState.ts"
import type { FeedHealth } from "./FeedHealth.ts"
import type { LiveFollower } from "./LiveFollower.ts"
import type { PnlSnapshot, RecentTrades, WalletSince } from "./WalletSince.ts"
import { WatchList } from "./WatchList.ts"

/** What tracked wallets do, from the blocks as they come: nothing from before a wallet was tracked. */
export class TrackerFeed extends Context.Service<
  TrackerFeed,
  {
    /** The newest trades of these wallets together, each since its moment, of about 250 held for each. */
    tradesOf(asked: ReadonlyArray<WalletSince>, limit: number): RecentTrades
    /** Block time of the newest activity since the wallet is tracked; null when none was seen. */
    lastEventAtMs(wallet: Address): number | null
    health(nowMs: number): FeedHealth
    /** The newest trades of these wallets together, at most so many of each. Newest first. */
    newestOf(asked: ReadonlyArray<WalletSince>, each: number, limit: number): ReadonlyArray<TrackerTrade>
    /** At most so many positions at the marks of now, by the trades of each wallet since its moment, a whole second. */
    pnlSnapshotOf(asked: ReadonlyArray<WalletSince>, limit: number, nowMs: number): PnlSnapshot
    /** Wallets that did something, each once a block, from the moment of subscription. */
    readonly activity: Stream.Stream<{ readonly wallet: Address; readonly atMs: number }>
    /** Tells the follower until the scope closes. */
    follow(follower: LiveFollower): Effect.Effect<void, never, Scope.Scope>
  }
>()("fathom/tracker/TrackerFeed") {
  /** From the blocks that go onto the tape, for the wallets of the watch list. */
  static readonly layer: Layer.Layer<TrackerFeed, never, TradeTape | PriceBook | TokenBook | WatchList> = Layer.effect(
    TrackerFeed,
    Effect.gen(function* () {
      const tape = yield* TradeTape
      const prices = yield* PriceBook
      const tokens = yield* TokenBook
      const watched = yield* WatchList
      const activity = yield* PubSub.sliding<{ readonly wallet: Address; readonly atMs: number }>(ACTIVITY_HELD)
      const followers = new Set<LiveFollower>()
      const state = new TrackerState({
        sincesOf: (wallet) => watched.sincesOf(wallet),
        tokenOf: (mint) => tokens.read(mint),
        pricesAt: (nowMs) => prices.at(nowMs),
        commitment: tokens.commitment === "finalized" ? "finalized" : "confirmed"
      })
      let newestMs: number | null = null

      const wants = (wallet: Address, sinceMs?: number) => {
        for (const follower of followers) {
          if (follower.wants(wallet, sinceMs)) {
            return true
          }
        }
        return false
      }
      const tell = (events: ReadonlyArray<LiveEvent>, nowMs: number) =>
        events.length === 0 ? undefined : followers.forEach((follower) => follower.take(events, nowMs))

      const lose = (reason: LiveGap["reason"], toMs: number, nowMs: number) =>
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

      const take = Effect.fnUntraced(function* (batch: PricedBatch, isBehind: boolean) {
        const transactions = yield* concerning(batch)
        const nowMs = yield* Clock.currentTimeMillis
        const afterGap = batch.afterGap || isBehind
        const { events, mints, wallets } = state.apply({ ...batch, transactions, afterGap }, nowMs, wants)
        if (newestMs !== null && afterGap) {
          lose(batch.afterGap ? "source_gap" : "behind", batch.timeMs, nowMs)
        }
        newestMs = batch.timeMs
        tell(events, nowMs)
        wallets.forEach((wallet) => PubSub.publishUnsafe(activity, { wallet, atMs: batch.timeMs }))
        const unknown = Array.from(mints).filter((mint) => tokens.read(mint) === null)
        yield* Effect.forEach(unknown, (mint) => Effect.andThen(tokens.warm(mint), prices.warm(mint)), {
          discard: true
        })
      })

      yield* tape.applied.pipe(
        // Whoever finds as many as can wait may have lost some before them.
        Stream.runForEachArray((batches) =>
          Effect.forEach(batches, (batch, at) => take(batch, at === 0 && batches.length >= BEHIND), { discard: true })
        ),
        Effect.tapDefect((defect) => Effect.logError("Tracking stopped: a block could not be told", defect)),
        Effect.forkScoped({ startImmediately: true })
      )
      const tellDue = Effect.map(Clock.currentTimeMillis, (nowMs) => tell(state.due(nowMs, wants), nowMs))
      yield* tellDue.pipe(Effect.repeat(Schedule.spaced(TELL_DUE_EVERY)), Effect.forkScoped({ startImmediately: true }))
      yield* Effect.sync(() => state.forget()).pipe(Effect.schedule(Schedule.spaced(FORGET_EVERY)), Effect.forkScoped)

      return TrackerFeed.of({
        tradesOf: (asked, limit) => state.tradesOf(asked, limit),
        lastEventAtMs: (wallet) => state.lastEventAtMs(wallet),
        newestOf: (asked, each, limit) => state.newestOf(asked, each, limit),
        pnlSnapshotOf: (asked, limit, nowMs) => state.pnlSnapshotOf(asked, limit, nowMs),
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

const ACTIVITY_HELD = 16_384
const TELL_DUE_EVERY = Duration.millis(100)
const FORGET_EVERY = Duration.seconds(30)
