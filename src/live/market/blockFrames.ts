/** The frames that a block adds to the topics of a hub. */
import { toAtomic } from "../../domain/decimal.ts"
import type { LiveLaunch, LivePrice } from "../../api/schemas/MarketFrame.ts"
import type { LiveGap } from "../../api/schemas/LiveFrame.ts"
import { FrameEncoder, type SharedFrame } from "../frames.ts"
import type { LiquidityRecord } from "../../market/model/StoredLiquidity.ts"
import type { TapeTrade } from "../../market/model/TapeTrade.ts"
import type { PricedBatch } from "../../market/model/TradeBatch.ts"
import { priceSolOf } from "../../market/model/solWorth.ts"
import { liquidityEvent } from "../../market/reads/liquidityEvents.ts"
import { priceText, tokenTrade } from "../../market/reads/tokenTrade.ts"
import { jsonOf } from "../../domain/jsonOf.ts"
import type { MarketHub } from "./MarketHub.ts"
import type { Terms, Topic } from "./Topic.ts"

/** Frames by topic. */
export type Batches = Map<Topic, ReadonlyArray<SharedFrame>>

type LiquidityTerms = Extract<Terms, { readonly channel: "liquidity" }>
type TradeTerms = Extract<Terms, { readonly channel: "trades" }>

const USD_DECIMALS = 9

/** Least value of a topic's trades in nano-dollars; null without one. */
const leastOf = ({ minUsd }: TradeTerms): bigint | null => {
  const nanos = minUsd === undefined ? null : toAtomic(minUsd, USD_DECIMALS)
  return typeof nanos === "bigint" ? nanos : null
}

/** True for a pool swap that a topic of trades shows. */
export const passesTerms = (terms: TradeTerms): ((trade: TapeTrade) => boolean) => {
  const least = leastOf(terms)
  const { mint, pool, wallet } = terms
  return (trade) =>
    (trade.role === "pool" || trade.role === "both") &&
    (mint === undefined || trade.mint === mint) &&
    (pool === undefined || trade.pool === pool) &&
    (wallet === undefined || trade.wallet === wallet) &&
    (least === null || (trade.volumeUsdNanos !== null && trade.volumeUsdNanos >= least))
}

/** True for a change of liquidity that a topic shows. */
export const passesLiquidity = ({ kind, mint, pool }: LiquidityTerms, change: LiquidityRecord): boolean =>
  (mint === undefined || change.sides.some((side) => side.mint === mint)) &&
  (pool === undefined || change.pool === pool) &&
  (kind === undefined || change.kind === kind)

/** The changes of liquidity of a block. */
export const liquidityOf = ({ liquidity = [], slot, timeMs }: PricedBatch): ReadonlyArray<LiquidityRecord> =>
  liquidity.map((change) => ({ ...change, slot, timeMs }))

/** The price of a token at its last swap. */
export const livePrice = (trade: TapeTrade): LivePrice => ({
  mint: trade.mint,
  priceUsd: priceText(trade.priceUsd),
  priceSol: priceText(priceSolOf(trade)),
  slot: trade.slot,
  timeMs: trade.timeMs
})

/** Frames of one block by topic. Each is encoded once. */
export class TopicFrames {
  readonly #encoder = new FrameEncoder()
  readonly #frames = new Map<Topic, Array<SharedFrame>>()

  /** Adds a frame for these topics. Its body is made only when there is a topic. */
  add(topics: ReadonlyArray<Topic>, type: string, data: () => unknown): void {
    if (topics.length === 0) {
      return
    }
    const frame = this.#encoder.encode({ type, json: `{"data":${jsonOf(data())}}` })
    for (const topic of topics) {
      const frames = this.#frames.get(topic) ?? []
      this.#frames.set(topic, frames)
      frames.push(frame)
    }
  }

  get batches(): Batches {
    return this.#frames
  }
}

/** Topics with their tests, made once for each topic. */
const tests = new WeakMap<Topic, (trade: TapeTrade) => boolean>()

const shows = (topic: Topic, trade: TapeTrade): boolean => {
  const { terms } = topic
  if (terms.channel !== "trades") {
    return false
  }
  const test = tests.get(topic) ?? passesTerms(terms)
  tests.set(topic, test)
  return test(trade)
}

const NO_TOPICS: ReadonlyArray<Topic> = []

/** Adds the topics that show a trade. */
const addShown = (shown: Array<Topic> | undefined, topics: ReadonlySet<Topic>, trade: TapeTrade) => {
  let all = shown
  for (const topic of topics) {
    if (shows(topic, trade)) {
      all ??= []
      all.push(topic)
    }
  }
  return all
}

/** Topics of trades that show a trade. Most trades have none, so nothing is allocated for these. */
const topicsOfTrade = (hub: MarketHub, trade: TapeTrade): ReadonlyArray<Topic> => {
  let shown = addShown(undefined, hub.topicsOf("trades", trade.mint), trade)
  shown = trade.pool === null ? shown : addShown(shown, hub.topicsOf("trades", trade.pool), trade)
  shown = addShown(shown, hub.topicsOf("trades", trade.wallet), trade)
  return addShown(shown, hub.topicsOf("trades"), trade) ?? NO_TOPICS
}

/** Topics of liquidity that show a change. */
const topicsOfChange = (hub: MarketHub, change: LiquidityRecord): ReadonlyArray<Topic> => {
  const names = new Set([change.pool, ...change.sides.map(({ mint }) => mint)])
  return Array.from(names)
    .flatMap((name) => Array.from(hub.topicsOf("liquidity", name)))
    .filter(({ terms }) => terms.channel === "liquidity" && passesLiquidity(terms, change))
}

const CHAIN_FED = new Set(["trades", "liquidity", "candles", "price", "launches", "graduations"])

/** Trades in one step: a fraction of a millisecond when every one of them has a frame. */
const AT_ONCE = 32

/** The steps of `blockFrames`, at most. */
export const stepsOf = ({ trades }: PricedBatch): number => Math.floor(trades.length / AT_ONCE) + 1

/**
 * Makes the frames of trades, changes of liquidity, launches and graduations of a block, after the gap before it. A topic
 * that comes between two steps gets only a part of them: no reader of it may be open before they are published.
 */
export function* blockFrames(hub: MarketHub, batch: PricedBatch, gap: LiveGap | null): Generator<void, Batches> {
  const frames = new TopicFrames()
  if (gap !== null) {
    const fed = Array.from(hub.topics).filter(({ terms }) => CHAIN_FED.has(terms.channel))
    frames.add(fed, "gap", () => gap)
  }
  let left = AT_ONCE
  for (const trade of hub.hasTopics ? batch.trades : []) {
    frames.add(topicsOfTrade(hub, trade), "trade", () => tokenTrade(trade))
    if (--left === 0) {
      left = AT_ONCE
      yield
    }
  }
  for (const change of hub.hasTopics ? liquidityOf(batch) : []) {
    frames.add(topicsOfChange(hub, change), "liquidity", () => liquidityEvent(change))
  }
  for (const { event, launchpad, mint, pool } of batch.launches ?? []) {
    const [index, type] =
      event === "created" ? (["launches", "launch"] as const) : (["graduations", "graduation"] as const)
    frames.add(Array.from(hub.topicsOf(index)), type, (): LiveLaunch => ({
      mint,
      launchpad,
      pool,
      timeMs: batch.timeMs
    }))
  }
  return frames.batches
}
