/** Prices the trades of blocks, one block after the other. */
import { Clock, Effect, Schedule } from "effect"
import { type Mint, SOL } from "../../domain/Address.ts"
import { visitInParts } from "../../trades/blocks/PackedTransactions.ts"
import type { PriceBook } from "../../tokens/PriceBook.ts"
import type { Leg } from "../../domain/market/Trade.ts"
import type { DecodedTrades } from "../../trades/decode.ts"
import { isMoney } from "../../trades/sides.ts"
import { MOST_SWAPS, SolPrice, TRADED_MS } from "./SolPrice.ts"
import { repriced, revalued, solNanosOf, tapeTradesOf } from "./tapeTrades.ts"
import { tapeTransfersOf } from "./tapeTransfers.ts"
import { MOST_MONEY_SWAPS, TokenPrices } from "./TokenPrices.ts"
import type { TradeStore } from "../store/TradeStore.ts"
import type { TapeTrade } from "./TapeTrade.ts"
import type { TradeBatch } from "./TradeBatch.ts"
import type { PricedBatch } from "./TradeBatch.ts"

/** Prices blocks in the order of the chain, because earlier trades of SOL and of tokens price later blocks. */
export interface BlockPricing<E = never> {
  /** Yields to other work. For one block at a time. */
  readonly price: (batch: TradeBatch) => Effect.Effect<PricedBatch, E>
  /** Adds trades that were priced before; those for money price the blocks that follow. */
  readonly recall: (trades: ReadonlyArray<TapeTrade>) => void
  /** Stored trades of one block that have another price now, after those recalled. */
  readonly changed: (trades: ReadonlyArray<TapeTrade>, timeMs: number) => Effect.Effect<ReadonlyArray<TapeTrade>, E>
  /** Those of them whose value changes with prices of tokens: at the SOL price that they have. */
  readonly revalued: (trades: ReadonlyArray<TapeTrade>) => ReadonlyArray<TapeTrade>
  /** The newest block whose pricing has begun; 0 before the first. */
  readonly newest: () => number
}

/** Finds the earlier swaps that price these tokens. */
type EarlierSwaps<E> = (mints: ReadonlyArray<Mint>) => Effect.Effect<ReadonlyArray<TapeTrade>, E>

/** Adds the mints of swaps of which neither side is SOL or a dollar. */
const addTokens = (mints: Set<Mint>, swaps: DecodedTrades["legs"] | DecodedTrades["nets"]): void => {
  for (const { quote, token } of swaps) {
    if (!isMoney(quote.mint)) {
      mints.add(quote.mint).add(token.mint)
    }
  }
}

/** Attempts, a second apart, before new blocks are priced without stored swaps. */
const RECALL_TRIES = 5

/** Earlier swaps of tokens are looked for in this time, because blocks may be out of order by their times. */
const KEPT_MS = 2 * TRADED_MS

const isSame = (a: TapeTrade, b: TapeTrade): boolean =>
  a.volumeUsdNanos === b.volumeUsdNanos &&
  a.priceUsd === b.priceUsd &&
  a.solUsdNanos === b.solUsdNanos &&
  a.feeUsdNanos === b.feeUsdNanos

/** Pricing without earlier trades, but those of tokens that `earlier` finds once they are needed. */
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

  // Without earlier swaps to look for, tokens are not counted: the pricing of new blocks goes on for as long as the process.
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

  return {
    price: Effect.fnUntraced(function* (batch) {
      state.newest = Math.max(state.newest, batch.slot)
      const decoded: Array<DecodedTrades> = []
      const transfers: Array<TapeTrade> = []
      const mints = new Set<Mint>()
      const observed: Array<Leg> = []
      yield* visitInParts(batch.transactions, ({ index, legs, moves, nets, signature, unresolved }) => {
        decoded.push({ legs, nets, unresolved })
        transfers.push(...tapeTransfersOf({ index, moves, signature }, batch))
        observed.push(...legs)
        addTokens(mints, legs)
        addTokens(mints, nets)
      })
      sol.observe(observed, batch.timeMs)
      tokens.observe(observed, batch.timeMs)
      yield* find(mints)
      const { isStale, lifetime, of } = prices.at(yield* Clock.currentTimeMillis)
      const each = isStale ? null : (of(SOL)?.usd ?? null)
      const now = each === null || lifetime === null ? null : { price: each, observedAtMs: lifetime.observedAtMs }
      const microPerLamport = sol.at(batch.timeMs, now)
      const at = { timeMs: batch.timeMs, solNanos: solNanosOf(microPerLamport) }
      const price = {
        timeMs: batch.timeMs,
        microPerLamport,
        betterPriceOf: (a: Mint, b: Mint) => tokens.betterOf(a, b, at)
      }
      const trades: Array<TapeTrade> = []
      yield* visitInParts(decoded, (each) => trades.push(...tapeTradesOf(each, price)))
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

/** The reads of the store that pricing goes on from. */
type SwapStore = Pick<TradeStore["Service"], "moneySwaps" | "solSwaps">

/** Adds the stored trades up to and including a slot to a pricing, beside others that it is given meanwhile. */
export const recallStored = (store: SwapStore, pricing: Pick<BlockPricing, "recall">, slot: number) =>
  Effect.map(
    Effect.all([store.solSwaps(slot, MOST_SWAPS), store.moneySwaps(slot, KEPT_MS, MOST_MONEY_SWAPS)]),
    (swaps) => swaps.forEach((each) => pricing.recall(each))
  )

/**
 * The same for the pricing of new blocks, which do not wait for the store for long: while it does not answer they go on, and the
 * trades are added once it does.
 */
export const recallSoon = Effect.fnUntraced(function* (
  store: SwapStore,
  pricing: Pick<BlockPricing, "recall">,
  slot: number
) {
  const recall = Effect.sandbox(recallStored(store, pricing, slot))
  const again = Schedule.spaced("1 second")
  yield* recall.pipe(
    Effect.retry({ schedule: again, times: RECALL_TRIES }),
    Effect.catch((cause) =>
      Effect.logWarning("Blocks are priced without the swaps before them until these can be read", cause).pipe(
        Effect.andThen(Effect.forkScoped(Effect.retry(recall, { schedule: again })))
      )
    )
  )
})

/** Pricing after the stored trades up to and including a slot. */
export const pricingAfter = (store: SwapStore, prices: PriceBook["Service"], slot: number) =>
  Effect.suspend(() => {
    const pricing = makeBlockPricing(prices)
    return Effect.as(recallStored(store, pricing, slot), pricing)
  })

/** The same for blocks that are read again, with the swaps of the tokens in them alone. */
export const pricingAgainAfter = (
  store: Pick<TradeStore["Service"], "moneySwapsOf" | "solSwaps">,
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
