/** What the leader and the follower of a tape work with, and what they know of each other. */
import { Clock, type Config, Deferred, Duration, Effect, Latch, Option } from "effect"
import { keepTrying } from "../../operations/keepRunning.ts"
import type { ImportSettings } from "../../chain/importing/importSettings.ts"
import type { SourceState } from "../../operations/SourceMonitor.ts"
import type { Blocks } from "../../storage/bus/BlockBus.ts"
import type { PriceBook } from "../../tokens/PriceBook.ts"
import type { MarketLimits } from "../memory/MarketState.ts"
import type { StoreAccess } from "../model/BlockStore.ts"
import type { ChainIdentity } from "../model/ChainIdentity.ts"
import { ForkLog } from "../model/Gaps.ts"
import { isAcceptable } from "../model/isAcceptable.ts"
import type { MarketStores } from "../model/MarketStores.ts"
import type { StoredBatch } from "../model/StoredBatch.ts"
import type { PricedBatch } from "../model/TradeBatch.ts"
import { LATE_SECONDS } from "../model/windows.ts"
import type { RecordSettings } from "./recordTrades.ts"
import type { repairSettings } from "./RepairWorker.ts"
import type { snapshotSettings } from "./takeSnapshots.ts"
import type { TradeFeed } from "./TradeFeed.ts"
import type { WatchedSet } from "./WatchedWallets.ts"
import type { Tape } from "./Tape.ts"

export interface TapeParts {
  readonly feed: TradeFeed["Service"]
  readonly stores: MarketStores
  readonly prices: PriceBook["Service"]
  readonly tape: Tape["Service"]
}

export interface TapeSettings {
  readonly record: RecordSettings
  readonly repair: Config.Success<typeof repairSettings>
  readonly snapshots: Config.Success<typeof snapshotSettings>
  /** Blocks of the past that the writer imports beside its own; null for none. */
  readonly imports: ImportSettings | null
}

/** How blocks get from the leader to its followers. */
export interface BlockLine<Body> {
  readonly bus: Blocks<Body>
  readonly encode: (batch: PricedBatch) => Body
  /** Throws when the block cannot be read. */
  readonly decode: (body: Body) => PricedBatch
  /**
   * True for a bus that processes share, which keeps blocks for a while. A bus inside one process keeps only its newest
   * block, so the leader waits until its own process has taken a block before it appends the next.
   */
  readonly isShared: boolean
}

/** A slot that moves forward. Fibers can wait for it. */
export class Position {
  readonly #moved = Latch.makeUnsafe(false)
  #slot = 0

  get slot(): number {
    return this.#slot
  }

  readonly moveTo = (slot: number): Effect.Effect<void> =>
    Effect.suspend(() => {
      this.#slot = slot
      return Effect.asVoid(this.#moved.release)
    })

  readonly reached = (slot: number): Effect.Effect<void> =>
    Effect.suspend(() => (this.#slot >= slot ? Effect.void : Effect.andThen(this.#moved.await, this.reached(slot))))
}

/** What the two halves of one process know of each other. */
export interface TapeHalves {
  /** Completes once the stored blocks are in memory. */
  readonly restored: Deferred.Deferred<void>
  /** The newest block that the follower has applied or left out. */
  readonly applied: Position
  /** The forks that the blocks tell of, those of the bus and those of the feed. */
  readonly forks: ForkLog
  /** The newest stored slot. */
  durable: () => number
  /** The state of the recorder, in a process with a bus of its own. */
  health: (nowMs: number) => SourceState
}

export const makeHalves: Effect.Effect<TapeHalves> = Effect.map(Deferred.make<void>(), (restored) => ({
  restored,
  applied: new Position(),
  forks: new ForkLog(),
  durable: () => 0,
  health: () => ({ observedAtMs: null, status: "unavailable" })
}))

/**
 * The part of a block to store. It lacks trades that the market state rejects. It lacks transfers of a mint that the
 * wallet has never traded, unless the wallet is watched.
 */
export const storableBy =
  ({ isTrader }: Pick<Tape["Service"], "isTrader">, watched: WatchedSet) =>
  (
    {
      afterGap,
      earlierForks,
      forkedFrom,
      launches,
      liquidity,
      openings,
      slot,
      supply,
      timeMs,
      trades,
      transfers = []
    }: PricedBatch,
    nowMs: number
  ): StoredBatch => {
    const traded = new Set(trades.map(({ mint, wallet }) => `${wallet} ${mint}`))
    return {
      slot,
      timeMs,
      launches,
      supply,
      liquidity,
      openings,
      afterGap,
      forkedFrom,
      ...(earlierForks !== undefined && { earlierForks }),
      trades: trades.filter((trade) => isAcceptable(trade, nowMs)),
      transfers: transfers.filter(
        (transfer) =>
          (watched.has(transfer.wallet) || isTrader(transfer) || traded.has(`${transfer.wallet} ${transfer.mint}`)) &&
          isAcceptable(transfer, nowMs)
      )
    }
  }

const DEFAULT_HISTORY = Duration.hours(24)

/** Recorded blocks cost no node anything, so they are read as fast as they can be applied: so many a second. */
const RECORDED_RATE = 1_000

/**
 * How earlier and missing blocks are read. Unless set, earlier blocks are read 24 hours back beside a node, back to the
 * first one where they are recorded, and otherwise not at all.
 */
export const paceOf = (
  chain: ChainIdentity,
  { recorded }: Pick<TradeFeed["Service"], "recorded">,
  { history, rate }: TapeSettings["repair"]
) => ({
  history: Option.getOrElse(history, () => (chain.isSandbox ? null : DEFAULT_HISTORY)),
  first: Option.isNone(history) ? recorded : undefined,
  rate: recorded === undefined ? rate : Math.max(rate, RECORDED_RATE)
})

/**
 * Opens the chain and continues after its stored blocks. Until memory is rebuilt, it has only their launches. Returns
 * their progress; null when nothing is stored. Waits while the store does not answer.
 */
export const resumeStored = Effect.fnUntraced(function* (
  { stores, tape }: Pick<TapeParts, "stores" | "tape">,
  chain: ChainIdentity,
  limits: MarketLimits,
  access: StoreAccess
) {
  const progress = yield* keepTrying("Opening the stored chain", { source: "trades" })(
    stores.blocks.open(chain, access)
  )
  tape.keep(stores)
  if (progress !== null) {
    const end = Math.floor(progress.timeMs / 1000) + LATE_SECONDS
    const launches = yield* keepTrying("Reading stored launches")(stores.blocks.launchesBefore(end, limits.tokens))
    tape.resume(progress, launches, yield* Clock.currentTimeMillis)
  }
  return progress
})
