/** Prices the trades of blocks, one block after the other. */
import { Clock, Effect, Schedule } from "effect"
import { type Mint, SOL } from "../../domain/Address.ts"
import { makeTurns } from "../../domain/loopTime.ts"
import type { PriceBook } from "../../tokens/PriceBook.ts"
import type { Leg } from "../../api/schemas/Trade.ts"
import type { DecodedTrades } from "../../chain/decoding/decodeTrades.ts"
import { isMoney } from "../../domain/stables.ts"
import { keepTrying } from "../../operations/keepRunning.ts"
import { MOST_SWAPS, SolPrice, TRADED_MS } from "../model/SolPrice.ts"
import { repriced, revalued, solNanosOf, tapeTradesOf } from "../model/tapeTrades.ts"
import { tapeTransfersOf } from "../model/tapeTransfers.ts"
import { MOST_MONEY_SWAPS } from "../model/SwapLog.ts"
import { TokenPrices } from "../model/TokenPrices.ts"
import type { TradeHistory } from "../model/TradeHistory.ts"
import type { TapeTrade } from "../model/TapeTrade.ts"
import type { TradeBatch } from "../model/TradeBatch.ts"
import type { PricedBatch } from "../model/TradeBatch.ts"

/** Prices blocks. They come in the order of the chain, because trades of SOL and of tokens price later blocks. */
export interface BlockPricing<E = never> {
  /** Prices one block at a time, and yields to other work meanwhile. */
  readonly price: (batch: TradeBatch) => Effect.Effect<PricedBatch, E>
  /** Adds trades that already have a price. Their swaps for SOL and dollars price the blocks that follow. */
  readonly recall: (trades: ReadonlyArray<TapeTrade>) => void
  /** The stored trades of one block that have another price now, after the trades recalled so far. */
  readonly changed: (trades: ReadonlyArray<TapeTrade>, timeMs: number) => Effect.Effect<ReadonlyArray<TapeTrade>, E>
  /** The trades whose value changes with the prices of tokens. Their SOL price stays. */
  readonly revalued: (trades: ReadonlyArray<TapeTrade>) => ReadonlyArray<TapeTrade>
  /** The newest block whose pricing has begun; 0 before the first. */
  readonly newest: () => number
}

/** Finds the earlier swaps that price these tokens. */
type EarlierSwaps<E> = (mints: ReadonlyArray<Mint>) => Effect.Effect<ReadonlyArray<TapeTrade>, E>

/** Adds the mints of swaps in which neither side is SOL or a dollar. */
const addTokens = (mints: Set<Mint>, swaps: DecodedTrades["legs"] | DecodedTrades["nets"]): void => {
  for (const { quote, token } of swaps) {
    if (!isMoney(quote.mint)) {
      mints.add(quote.mint).add(token.mint)
    }
  }
}

/** Attempts, a second apart, before new blocks are priced without the stored swaps. */
const RECALL_TRIES = 5

/**
 * How far back earlier swaps of tokens are read: twice the time for which they count, because blocks may be out of
 * order by their times.
 */
const KEPT_MS = 2 * TRADED_MS

const isSame = (a: TapeTrade, b: TapeTrade): boolean =>
  a.volumeUsdNanos === b.volumeUsdNanos &&
  a.priceUsd === b.priceUsd &&
  a.solUsdNanos === b.solUsdNanos &&
  a.feeUsdNanos === b.feeUsdNanos

/** Starts with no prices. Looks a token's earlier swaps up with `earlier` the first time that token is priced. */
export const makeBlockPricing = <E = never>(
  prices: PriceBook["Service"],
  earlier: EarlierSwaps<E> | null = null
): BlockPricing<E> => {
  const sol = new SolPrice()
  const tokens = new TokenPrices()
  const found = new Set<Mint>()
  const state = { newest: 0 }

  const recall = (trades: ReadonlyArray<TapeTrade>): void => {
    sol.recall(trades)
    tokens.recall(trades)
  }

  // `found` would grow as long as the process runs, so it stays empty where there is nothing to look up.
  const find = Effect.fnUntraced(function* (mints: ReadonlySet<Mint>) {
    if (earlier === null) {
      return
    }
    const missing = Array.from(mints).filter((mint) => !found.has(mint))
    if (missing.length > 0) {
      tokens.recall(yield* earlier(missing))
      missing.forEach((mint) => found.add(mint))
    }
  })

  const revalue = (trade: TapeTrade): TapeTrade =>
    revalued(trade, (a, b) => tokens.betterOf(a, b, { timeMs: trade.timeMs, solNanos: trade.solUsdNanos }))

  /**
   * The price of SOL by the pools, for a block with no recorded swap of SOL within five minutes. Reading the pools takes
   * milliseconds after one of them was written.
   */
  const byPools = Effect.fnUntraced(function* (timeMs: number, pause: Effect.Effect<void>) {
    const nowMs = yield* Clock.currentTimeMillis
    if (prices.at(nowMs).isStale) {
      return null
    }
    yield* pause
    const { lifetime, of } = prices.at(nowMs)
    const price = of(SOL)?.usd ?? null
    yield* pause
    return sol.at(timeMs, price === null || lifetime === null ? null : { price, observedAtMs: lifetime.observedAtMs })
  })

  return {
    price: Effect.fnUntraced(function* (batch) {
      state.newest = Math.max(state.newest, batch.slot)
      const turns = yield* makeTurns
      const decoded: Array<DecodedTrades> = []
      const transfers: Array<TapeTrade> = []
      const mints = new Set<Mint>()
      const swaps: Array<Leg> = []
      yield* turns.visit(batch.transactions, (transaction) => {
        const { legs, nets, unresolved } = transaction
        decoded.push({ legs, nets, unresolved })
        transfers.push(...tapeTransfersOf(transaction, batch))
        swaps.push(...legs)
        addTokens(mints, legs)
        addTokens(mints, nets)
      })
      // In one step, so that other pricing meanwhile has all swaps of the block or none. It takes less than a millisecond.
      tokens.observe(swaps, batch.timeMs)
      sol.observe(
        swaps.filter(({ token }) => token.mint === SOL),
        batch.timeMs
      )
      tokens.forget()
      yield* find(mints)
      const microPerLamport = sol.at(batch.timeMs, null) ?? (yield* byPools(batch.timeMs, turns.pause))
      const at = { timeMs: batch.timeMs, solNanos: solNanosOf(microPerLamport) }
      const price = {
        timeMs: batch.timeMs,
        microPerLamport,
        betterPriceOf: (a: Mint, b: Mint) => tokens.betterOf(a, b, at)
      }
      const trades: Array<TapeTrade> = []
      yield* turns.visit(decoded, (each) => trades.push(...tapeTradesOf(each, price)))
      return { ...batch, trades, transfers }
    }),
    recall,
    changed: Effect.fnUntraced(function* (trades, timeMs) {
      const mints = trades.flatMap(({ mint, otherToken }) => (otherToken === undefined ? [] : [mint, otherToken.mint]))
      yield* find(new Set(mints))
      const price = sol.at(timeMs, null)
      return trades.flatMap((trade) => {
        const again = revalue(repriced(trade, price))
        return isSame(trade, again) ? [] : [again]
      })
    }),
    revalued: (trades) =>
      trades.flatMap((trade) => {
        const again = revalue(trade)
        return isSame(trade, again) ? [] : [again]
      }),
    newest: () => state.newest
  }
}

type SwapStore = Pick<TradeHistory["Service"], "moneySwaps" | "solSwaps">

/** Recalls the stored swaps up to and including a slot. The pricing may get others meanwhile. */
export const recallStored = (store: SwapStore, pricing: Pick<BlockPricing, "recall">, slot: number) =>
  Effect.map(
    Effect.all([store.solSwaps(slot, MOST_SWAPS), store.moneySwaps(slot, KEPT_MS, MOST_MONEY_SWAPS)]),
    (swaps) => swaps.forEach((each) => pricing.recall(each))
  )

/**
 * Recalls the stored swaps for new blocks, which do not wait long: after five seconds they are priced without these
 * swaps, which follow once the store answers.
 */
export const recallSoon = Effect.fnUntraced(function* (
  store: SwapStore,
  pricing: Pick<BlockPricing, "recall">,
  slot: number
) {
  const recall = Effect.sandbox(recallStored(store, pricing, slot))
  yield* recall.pipe(
    Effect.retry({ schedule: Schedule.spaced("1 second"), times: RECALL_TRIES }),
    Effect.catch((cause) =>
      Effect.logWarning("Blocks are priced without the swaps before them until these can be read", cause).pipe(
        Effect.andThen(Effect.forkScoped(keepTrying("Reading the swaps before new blocks")(recall)))
      )
    )
  )
})

/** A pricing that knows the stored swaps up to and including a slot. */
export const pricingAfter = (store: SwapStore, prices: PriceBook["Service"], slot: number) =>
  Effect.suspend(() => {
    const pricing = makeBlockPricing(prices)
    return Effect.as(recallStored(store, pricing, slot), pricing)
  })

/** A pricing for blocks that are read again. It looks up the earlier swaps of their own tokens only. */
export const pricingAgainAfter = (
  store: Pick<TradeHistory["Service"], "moneySwapsOf" | "solSwaps">,
  prices: PriceBook["Service"],
  { slot, timeMs }: { readonly slot: number; readonly timeMs: number }
) =>
  Effect.map(store.solSwaps(slot, MOST_SWAPS), (swaps) => {
    const pricing = makeBlockPricing(prices, (mints) =>
      store.moneySwapsOf({
        places: mints.map((mint) => ({ mint, slot })),
        fromMs: timeMs - KEPT_MS,
        most: MOST_MONEY_SWAPS
      })
    )
    pricing.recall(swaps)
    return pricing
  })
