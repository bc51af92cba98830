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
      const progress: { atMs: number | null; isBroken: boolean; restoreAtMs: number; linksRevision: number } = {
        atMs: null,
        isBroken: false,
        restoreAtMs: 0,
        linksRevision: 0
      }

      const reads = new RestoreReads(accounts)
      /** The other wallets of owners that the ledgers are built with. */
      const linked = new Map<Address, ReadonlyArray<Address>>()
      const groupOf = (wallet: Address) => [wallet, ...(linked.get(wallet) ?? [])]
      /** Changes of these wallets were missed: they are restored from a new read of their accounts. */
      const misses = (wallets: ReadonlyArray<Address>) => {
        for (const wallet of wallets) {
          restored.broken(wallet)
          groupOf(wallet).forEach((each) => reads.done(each))
          // Nothing has happened yet to a wallet that needs no restore.
          if (!restored.has(wallet)) {
            state.unread(wallet, "backfill_running")
          }
        }
      }
      /** Wallets of which the owner has other wallets now are restored with these. */
      const relink = () => {
        if (watched.linksRevision() === progress.linksRevision) {
          return
        }
        progress.linksRevision = watched.linksRevision()
        for (const wallet of watched.wallets()) {
          const links = watched.linksOf(wallet)
          if (String(links) !== String(linked.get(wallet) ?? [])) {
            linked.set(wallet, links)
            state.link(wallet, links)
            misses([wallet])
            // Without a store, nothing from before can be restored.
            state.noteGap(tape.stored() === null && newestMs !== null ? newestMs + 1000 : 0)
          }
        }
        for (const wallet of linked.keys()) {
          if (!watched.has(wallet)) {
            linked.delete(wallet)
          }
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
            if (transaction.changes.some(({ owner }) => watched.follows(owner))) {
              found.push(transaction)
            }
          })
        }
        return found
      })

      /** Restores ledgers up to the block; those that fail are tried again before a later one. */
      const restore = Effect.fnUntraced(function* ({ slot }: PricedBatch) {
        const waiting = restored.waiting()
        reads.ask(waiting.flatMap(({ wallet }) => groupOf(wallet)))
        if (waiting.length === 0 || (yield* Clock.currentTimeMillis) < progress.restoreAtMs) {
          return
        }
        state.noteGap(storedGapMs(tape))
        // A read of a slot that was not applied yet waits for a later block.
        const ready = waiting.filter(({ wallet }) =>
          groupOf(wallet).every((each) => {
            const read = reads.of(each)
            return read !== "waiting" && !(typeof read === "object" && read.lastSlot >= slot)
          })
        )
        const storedOf = Effect.fnUntraced(function* ({ sinceMs, wallet }: WalletSince) {
          const read = reads.of(wallet)
          const afterSlot = typeof read === "object" ? read.lastSlot : Number.POSITIVE_INFINITY
          const stored = yield* storedTradesOf(tape, { sinceMs, wallet }, { slot, afterSlot })
          const fromMs = afterGapsMs(tape)
          return { wallet, stored, read, accounts: typeof read === "object" ? { read, fromMs } : null }
        })
        const one = Effect.fnUntraced(function* ({ sinceMs, wallet }: WalletSince) {
          const own = yield* storedOf({ sinceMs, wallet })
          const links = yield* Effect.forEach(linked.get(wallet) ?? [], (other) => storedOf({ sinceMs, wallet: other }))
          // The cost of what comes from a wallet whose balances are not known is not known either.
          const others = links.filter(({ read }) => read !== "unavailable")
          if ([own, ...others].some(({ accounts: of }) => of !== null && of.read.chainMs < of.fromMs)) {
            return misses([wallet])
          }
          // Marked first, so that the ledger counts as whole once it is read.
          restored.restored({ sinceMs, wallet })
          const fits = state.restore(wallet, own.stored, own.accounts, others)
          groupOf(wallet).forEach((each) => reads.done(each))
          if (!fits) {
            misses([wallet])
          } else if (own.read === "unavailable") {
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
        relink()
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
