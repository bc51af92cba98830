/** A chain in memory: its market state, launches and coverage. */
import type { Mint } from "../../domain/Address.ts"
import { type Coverage, covering } from "../../domain/Scalar.ts"
import { imageEntries, type ImageSteps, type StateImage } from "../columnar/StateImage.ts"
import type { StoredBatch } from "../model/StoredBatch.ts"
import type { TradeProgress } from "../model/TradeProgress.ts"
import type { StoredHistory } from "../model/MarketStores.ts"
import { Continuity } from "../model/Continuity.ts"
import { Launches } from "../model/Launches.ts"
import { RecentTrades } from "../model/RecentTrades.ts"
import { type Applied, type MarketLimits, MarketState, wholeOf } from "./MarketState.ts"
import type { TapeTrade } from "../model/TapeTrade.ts"

/** Decimals of forgotten tokens are removed once there are this many more than twice the tokens in memory. */
const MOST_FORGOTTEN = 1024
/** Decimals in one step of an image. */
const DECIMALS_AT_ONCE = 256

/** Decimals of the tokens in memory. Decimals of forgotten tokens are removed from time to time. */
const rememberDecimals = (state: Pick<MarketState, "has" | "tokens">) => {
  const known = new Map<Mint, number>()
  const note = (trades: ReadonlyArray<TapeTrade>): void => {
    for (const trade of trades) {
      if (trade.decimals !== null) {
        known.set(trade.mint, trade.decimals)
      }
    }
    if (known.size > 2 * state.tokens + MOST_FORGOTTEN) {
      Array.from(known.keys())
        .filter((mint) => !state.has(mint))
        .forEach((mint) => known.delete(mint))
    }
  }
  const image = (image: StateImage): ImageSteps =>
    imageEntries(image, known, DECIMALS_AT_ONCE, (mint, decimals) => [
      image.text(mint ?? "") as Mint,
      image.number(decimals ?? 0)
    ])
  return { image, note, of: (mint: Mint) => known.get(mint) ?? null }
}

/** The content of a tape: one chain. */
export interface TapedChain {
  readonly state: MarketState
  readonly launches: Launches
  readonly recent: RecentTrades
  readonly continuity: Continuity
  readonly decimals: ReturnType<typeof rememberDecimals>
  heardAtMs: number | null
  /** The local time at which the tape continued after stored blocks; null when it did not. */
  resumedAtMs: number | null
  /** True while stored blocks are not in memory yet. */
  isRestoring: boolean
  /** From this second on blocks are in memory. The store has older blocks that earlier processes read. */
  heldFrom: number
  /** The number of the store's repairs that memory contains. */
  repairs: number
  /** True once only part of a block was added. That part is in no stored block. */
  isTorn: boolean
  stored: StoredHistory | null
  /** The blocks after the stored ones, oldest first. */
  unstored: () => ReadonlyArray<StoredBatch>
  /**
   * How far back earlier blocks are being read, in milliseconds. Null when none are wanted, and once memory has them
   * and every repair of the store.
   */
  backfillFromMs: number | null
}

/** A chain without a block. */
export const emptyChain = (bounds: MarketLimits): TapedChain => {
  const state = new MarketState(bounds, crypto.randomUUID())
  return {
    state,
    launches: new Launches(bounds.tokens),
    recent: new RecentTrades(),
    continuity: new Continuity(),
    decimals: rememberDecimals(state),
    heardAtMs: null,
    resumedAtMs: null,
    isRestoring: false,
    heldFrom: Number.NEGATIVE_INFINITY,
    repairs: 0,
    isTorn: false,
    stored: null,
    unstored: () => [],
    backfillFromMs: null
  }
}

export const addBlock = (chain: TapedChain, batch: StoredBatch, nowMs: number): Applied =>
  wholeOf(addBlockInSteps(chain, batch, nowMs))

/** Adds a block in steps of about a millisecond. Between two steps the chain has only part of it. */
export function* addBlockInSteps(chain: TapedChain, batch: StoredBatch, nowMs: number): Generator<void, Applied> {
  const { decimals, isTorn, launches, recent, state } = chain
  // If a step throws, part of the block stays in memory, and so does the flag.
  chain.isTorn = true
  const applied = yield* state.inSteps(batch.trades, nowMs)
  for (const launch of batch.launches ?? []) {
    launches.add(launch, batch.timeMs)
    state.addLaunch(launch.event, launch.launchpad, batch.timeMs)
  }
  state.advance(batch.timeMs)
  decimals.note(batch.trades)
  recent.add(batch)
  chain.isTorn = isTorn
  return applied
}

/**
 * Writes the sums of a chain, or reads them into an empty chain. The newest trades and the progress come from the
 * store.
 */
export function* imageOfChain(chain: TapedChain, image: StateImage): ImageSteps {
  chain.heldFrom = image.number(chain.heldFrom)
  yield* chain.state.image(image)
  yield* chain.launches.image(image)
  yield* chain.decimals.image(image)
}

/** Drops the share of a coverage when it is below the least share for which values are shown. */
export const shownFrom =
  (least: number) =>
  ({ share, ...coverage }: Coverage): Coverage =>
    share === undefined || share < least ? coverage : { ...coverage, share }

/** Continues a chain after its stored blocks. Blocks from second `from` on are in memory. */
export const resumeChain = (chain: TapedChain, progress: TradeProgress, from: number): void => {
  chain.continuity.restore(progress)
  chain.heldFrom = from
  chain.repairs = progress.repairs
  chain.state.advance(progress.timeMs)
  chain.heardAtMs = progress.timeMs
}

/** The coverage of `[from, to]` in everything that was read. */
export const recordedCoverage = ({ backfillFromMs, continuity }: TapedChain, from: number, to: number): Coverage => {
  const read = continuity.coverage(from, to)
  const isComing = backfillFromMs !== null && from * 1000 >= backfillFromMs
  return read.reason === "not_captured" && isComing ? { ...read, reason: "backfill_running" } : read
}

/** The coverage of `[from, to]` in data that is held from a second on. */
export const coverageOf = (chain: TapedChain, from: number, to: number, heldFrom: number): Coverage => {
  const { continuity } = chain
  const read = recordedCoverage(chain, from, to)
  if (from >= heldFrom) {
    return read
  }
  const lacking = chain.isRestoring ? "backfill_running" : "limit_clipped"
  return covering(read.reason ?? lacking, continuity.seen(heldFrom, to) / Math.max(1, to - from + 1))
}
