import { Clock, Context, Duration, Effect, Layer, PubSub, Schedule, type Scope, Stream } from "effect"
import type { Address } from "../domain/Address.ts"
import type { LiveEvent, LiveGap, PnlBody, PnlSummaryBody } from "../domain/wallets/LiveFrame.ts"
import type { TrackerTrade } from "../domain/wallets/Tracker.ts"
import { BEHIND, TradeTape } from "../market/tape/TradeTape.ts"
import type { PricedBatch } from "../market/tape/TradeBatch.ts"
import type { BlockTransaction } from "../trades/blocks/TradeBlock.ts"
import { visitInParts } from "../trades/blocks/PackedTransactions.ts"
import { PriceBook } from "../tokens/PriceBook.ts"
import { TokenBook } from "../tokens/TokenBook.ts"
import { TrackerBooks } from "./TrackerBooks.ts"
import { WatchList } from "./WatchList.ts"

/** The newest trades of some wallets, and how far back they reach. */
export interface RecentTrades {
  /** Newest first. */
  readonly trades: ReadonlyArray<TrackerTrade>
  readonly oldestTs: number | null
  readonly newestTs: number | null
  /** Whether older trades of one of the wallets, since its moment, were seen and are no longer held. */
  readonly truncated: boolean
}

/** A wallet, and since when what it did is asked for, in milliseconds. */
export interface Asked {
  readonly wallet: Address
  readonly sinceMs: number
}

/** How what some wallets hold stands. */
export interface Standing {
  /** Positions, the one that traded last first. */
  readonly pnl: ReadonlyArray<PnlBody>
  /** One for each wallet, in the order asked. */
  readonly summaries: ReadonlyArray<PnlSummaryBody>
}

/** How well the chain is heard. */
export interface FeedHealth {
  /** How old the newest block is, by its own time; null before the first. */
  readonly ingestLagMs: number | null
  /** When a block was last heard of, by our clock; null before the first. */
  readonly heardAtMs: number | null
}

/** Who is told of what happens, by the writer itself: it must not wait, and not throw. */
export interface LiveFollower {
  /**
   * Whether anyone listens to the wallet; with `sinceMs`, whether one does who tracks it from that second on. What nobody
   * listens to is not made.
   */
  readonly wants: (wallet: Address, sinceMs?: number) => boolean
  /** Everything of one moment: per wallet by slot and index, a trade before what it causes. */
  readonly take: (events: ReadonlyArray<LiveEvent>, nowMs: number) => void
  /** Something was missed: whatever was told before has to be told anew. */
  readonly lost: (gap: LiveGap, nowMs: number) => void
}

/** What tracked wallets do, from the blocks as they come: nothing from before a wallet was tracked. */
export class TrackerFeed extends Context.Service<
  TrackerFeed,
  {
    /** The newest trades of these wallets together, each since its moment, of about 250 held for each. */
    tradesOf(asked: ReadonlyArray<Asked>, limit: number): RecentTrades
    /** Block time of the newest activity since the wallet is tracked; null when none was seen. */
    lastEventAtMs(wallet: Address): number | null
    health(nowMs: number): FeedHealth
    /** The newest trades of these wallets together, at most so many of each. Newest first. */
    newestOf(asked: ReadonlyArray<Asked>, each: number, limit: number): ReadonlyArray<TrackerTrade>
    /** At most so many positions at the marks of now, by the trades of each wallet since its moment, a whole second. */
    standingOf(asked: ReadonlyArray<Asked>, limit: number, nowMs: number): Standing
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
      const books = new TrackerBooks({
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
        const { events, mints, wallets } = books.apply({ ...batch, transactions, afterGap }, nowMs, wants)
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
      const tellDue = Effect.map(Clock.currentTimeMillis, (nowMs) => tell(books.due(nowMs, wants), nowMs))
      yield* tellDue.pipe(Effect.repeat(Schedule.spaced(TELL_DUE_EVERY)), Effect.forkScoped({ startImmediately: true }))
      yield* Effect.sync(() => books.forget()).pipe(Effect.delay(FORGET_EVERY), Effect.forever, Effect.forkScoped)

      return TrackerFeed.of({
        tradesOf: (asked, limit) => books.tradesOf(asked, limit),
        lastEventAtMs: (wallet) => books.lastEventAtMs(wallet),
        newestOf: (asked, each, limit) => books.newestOf(asked, each, limit),
        standingOf: (asked, limit, nowMs) => books.standingOf(asked, limit, nowMs),
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
