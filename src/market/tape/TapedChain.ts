/** A chain in memory: its market state, launches and coverage. */
import type { Mint } from "../../domain/Address.ts"
import { type Coverage, covering } from "../../domain/Scalar.ts"
import { imageEntries, type ImageSteps, type StateImage } from "../columnar/StateImage.ts"
import type { StoredBatch } from "../store/StoredBatch.ts"
import type { TradeProgress } from "../store/TradeProgress.ts"
import type { TradeStore } from "../store/TradeStore.ts"
import { Continuity } from "./Continuity.ts"
import { Launches } from "./Launches.ts"
import { RecentTrades } from "./RecentTrades.ts"
import { type Applied, type MarketLimits, MarketState } from "./MarketState.ts"
import type { TapeTrade } from "./TapeTrade.ts"

/** Decimals of tokens that are no longer in memory, beside as many as there are tokens, before they are removed. */
const MOST_FORGOTTEN = 1024
/** Decimals of one step of an image. */
const DECIMALS_AT_ONCE = 1024

/** Decimals of the tokens in memory. Those of forgotten tokens are removed from time to time. */
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
  /** The local time at which the tape continued after stored blocks, whose successors are caught up with; null otherwise. */
  resumedAtMs: number | null
  /** True while stored blocks are not in memory yet. */
  isRestoring: boolean
  /** The second from which on blocks are in memory; of those read before this process, the store holds more. */
  heldFrom: number
  /** The repairs of the store that memory has. */
  repairs: number
  /** True once a block was added in part only: what it left is in no stored block. */
  isTorn: boolean
  store: TradeStore["Service"] | null
  /** The blocks after the stored ones, oldest first. */
  unstored: () => ReadonlyArray<StoredBatch>
  /** The time down to which earlier blocks are read; null once memory has them and every repair of the store, and where none are wanted. */
  backfillFromMs: number | null
}

/** A chain of which no block was read. */
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
    store: null,
    unstored: () => [],
    backfillFromMs: null
  }
}

/** Adds a block to a chain. */
export const addBlock = (chain: TapedChain, batch: StoredBatch, nowMs: number): Applied => {
  const { decimals, isTorn, launches, recent, state } = chain
  // Stays so when a step throws.
  chain.isTorn = true
  const applied = state.apply(batch.trades, nowMs)
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

/** Writes the sums of a chain, or reads them into an empty one. The newest trades and the progress are those of the store. */
export function* imageOfChain(chain: TapedChain, image: StateImage): ImageSteps {
  chain.heldFrom = image.number(chain.heldFrom)
  yield* chain.state.image(image)
  yield* chain.launches.image(image)
  yield* chain.decimals.image(image)
}

/** The coverage without its share when that is below the least for which values are shown. */
export const shownFrom =
  (least: number) =>
  ({ share, ...coverage }: Coverage): Coverage =>
    share === undefined || share < least ? coverage : { ...coverage, share }

/** Continues a chain after its stored blocks, of which those from a second on are in memory. */
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
