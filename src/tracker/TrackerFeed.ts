import { Context, type Effect, type Scope, type Stream } from "effect"
import type { Address } from "../domain/Address.ts"
import type { LiveEvent, LiveGap, PnlBody, PnlSummaryBody } from "../domain/LiveFrame.ts"
import type { TrackerTrade } from "../domain/Tracker.ts"

/** The newest trades of some wallets, and how far back they reach. */
export interface RecentTrades {
  /** Newest first. */
  readonly trades: ReadonlyArray<TrackerTrade>
  readonly oldestTs: number | null
  readonly newestTs: number | null
  /** Whether older trades of one of the wallets were seen and are no longer held. */
  readonly truncated: boolean
}

/** How what one wallet holds stands. */
export interface WalletStanding {
  /** Of every position, the one that traded last first. */
  readonly pnl: ReadonlyArray<PnlBody>
  readonly summary: PnlSummaryBody
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
  /** Whether anyone listens to the wallet. What nobody listens to is not made. */
  readonly wants: (wallet: Address) => boolean
  /** Everything of one moment: per wallet by slot and index, a trade before what it causes. */
  readonly take: (events: ReadonlyArray<LiveEvent>, nowMs: number) => void
  /** Something was missed: whatever was told before has to be told anew. */
  readonly lost: (gap: LiveGap, nowMs: number) => void
}

/** What tracked wallets do, from the blocks as they come: nothing from before a wallet was tracked. */
export class TrackerFeed extends Context.Service<
  TrackerFeed,
  {
    /** The newest trades of these wallets together, of about 250 held for each. */
    tradesOf(wallets: ReadonlyArray<Address>, limit: number): RecentTrades
    /** Block time of the newest activity since the wallet is tracked; null when none was seen. */
    lastEventAtMs(wallet: Address): number | null
    health(nowMs: number): FeedHealth
    /** Positions at the marks of now, by the trades seen since the wallet is tracked. */
    standingOf(wallet: Address, nowMs: number): WalletStanding
    /** Wallets that did something, each once a block, from the moment of subscription. */
    readonly activity: Stream.Stream<{ readonly wallet: Address; readonly atMs: number }>
    /** Tells the follower until the scope closes. */
    follow(follower: LiveFollower): Effect.Effect<void, never, Scope.Scope>
  }
>()("fathom/tracker/TrackerFeed") {}
