/** The market stores in memory, for tests and embedders. Their content ends with the process. */
import { Effect, Layer, Stream } from "effect"
import { TradeStoreUnavailable } from "../api/schemas/Trade.ts"
import { barsOfTrades, inPools, secondOf } from "../market/history/barsOfTrades.ts"
import type { Denomination } from "../market/model/bar.ts"
import type { ChainIdentity } from "../market/model/ChainIdentity.ts"
import { contextOf, type MarketStorePorts, type MarketStores } from "../market/model/MarketStores.ts"
import type { Print } from "../market/model/outliers.ts"
import { lamportsOf, priceSolOf } from "../market/model/solWorth.ts"
import { type PrintsRequest, readTo } from "../market/model/StoredBars.ts"
import { LAST_MS, type RestoreRequest, type StoredBatch } from "../market/model/StoredBatch.ts"
import type { StoredSnapshot } from "../market/model/StoredSnapshot.ts"
import type { HolderSnapshot } from "../market/model/HolderHistory.ts"
import { liquidityIn, poolsOpenedIn } from "../market/model/StoredLiquidity.ts"
import { firstOpenings, openingsIn, relatedOpenings } from "../market/model/WalletOpenings.ts"
import { newestChanges, supplyRecordsOf } from "../market/model/StoredSupply.ts"
import type { TapeTrade } from "../market/model/TapeTrade.ts"
import { isMoneySwap } from "../market/model/TokenPrices.ts"
import { joinProgress, repairedProgress, type TradeProgress } from "../market/model/TradeProgress.ts"
import {
  inOrder,
  isOlder,
  isRequested,
  largestOf,
  type MoneySwapsRequest,
  newestFirst,
  newestSolSwaps,
  tokenSwapsAfter
} from "../market/model/TradesRequest.ts"

type Trades = ReadonlyArray<TapeTrade>

/** One chain. */
interface StoredChain {
  readonly chain: ChainIdentity
  readonly blocks: Map<number, StoredBatch>
  /** By mint and hour. */
  readonly holders: Map<string, HolderSnapshot>
  progress: TradeProgress | null
  snapshot: { readonly record: StoredSnapshot; readonly parts: ReadonlyArray<Uint8Array> } | null
}

/** A block joined with the new parts of its second copy. */
const joined = (known: StoredBatch | undefined, batch: StoredBatch): StoredBatch => {
  const have = new Set(known?.trades.map(({ index }) => index))
  const trades = [...(known?.trades ?? []), ...batch.trades.filter(({ index }) => !have.has(index))]
  return {
    ...batch,
    ...known,
    trades: trades.toSorted((a, b) => a.index - b.index),
    launches: known?.launches?.length ? known.launches : batch.launches,
    afterGap: false
  }
}

const blocksSince = (
  { blocks }: StoredChain,
  { after, most, second, untilMs = LAST_MS }: RestoreRequest
): ReadonlyArray<StoredBatch> => {
  const sorted = Array.from(blocks.values())
    .filter(({ slot, timeMs }) => slot > after && Math.floor(timeMs / 1000) >= second && timeMs <= untilMs)
    .filter(({ launches, trades }) => trades.length + (launches?.length ?? 0) > 0)
    .toSorted((a, b) => a.slot - b.slot)
  let room = most
  const first = sorted.findLastIndex(({ trades }) => (room -= trades.length) <= 0)
  return sorted.slice(Math.max(0, first))
}

const reprice = ({ blocks }: StoredChain, slot: number, trades: ReadonlyArray<TapeTrade>): void => {
  const batch = blocks.get(slot)
  if (batch !== undefined) {
    const now = new Map(trades.map((trade) => [trade.index, trade]))
    blocks.set(slot, { ...batch, trades: batch.trades.map((trade) => now.get(trade.index) ?? trade) })
  }
}

/** See `TradeHistory.moneySwaps`. */
export const newestMoneySwaps = (trades: Trades, slot: number, spanMs: number, most: number): Trades => {
  const until = inOrder(trades.filter((trade) => trade.slot <= slot))
  const fromMs = (until.at(-1)?.timeMs ?? 0) - spanMs
  const byMint = Map.groupBy(
    until.filter((trade) => trade.timeMs >= fromMs && isMoneySwap(trade)),
    ({ mint }) => mint
  )
  return inOrder(Array.from(byMint.values()).flatMap((swaps) => swaps.slice(-most)))
}

const moneySwapsOf = (trades: Trades, { fromMs, most, places }: MoneySwapsRequest): Trades => {
  const swaps = inOrder(trades.filter((trade) => trade.timeMs >= fromMs && isMoneySwap(trade)))
  const byMint = Map.groupBy(swaps, ({ mint }) => mint)
  const found = places.flatMap(({ mint, slot }) =>
    (byMint.get(mint) ?? []).filter((trade) => trade.slot <= slot).slice(-most)
  )
  return inOrder(Array.from(new Set(found)))
}

const printOf = (trade: TapeTrade, denom: Denomination): Print => {
  if (denom === "usd") {
    return { price: trade.priceUsd, volume: trade.volumeUsdNanos ?? 0n }
  }
  const price = priceSolOf(trade)
  return { price: Number.isNaN(price) ? null : price, volume: lamportsOf(trade) ?? 0n }
}

/** See `CandleHistory.prints`. Takes any trades in any order. */
export const printsOfTrades = (
  trades: Trades,
  { before, denom, from, limit, mint, pool }: PrintsRequest
): ReadonlyArray<Print> =>
  inPools(trades, { before, mint, pool })
    .filter((trade) => secondOf(trade) >= from)
    .slice(0, limit)
    .map((trade) => printOf(trade, denom))

/** Market stores whose content ends with the process. */
export const makeMemoryStores = (): MarketStores => {
  const chains = new Map<string, StoredChain>()
  const state: { open: StoredChain | null } = { open: null }

  const opened = Effect.suspend(() =>
    state.open === null
      ? Effect.fail(new TradeStoreUnavailable({ cause: new Error("no chain is open") }))
      : Effect.succeed(state.open)
  )
  const openings = ({ blocks }: StoredChain) => firstOpenings(openingsIn(Array.from(blocks.values())))
  const trades = (stored: StoredChain) => Array.from(stored.blocks.values()).flatMap((batch) => batch.trades)

  return {
    blocks: {
      open: (chain) =>
        Effect.sync(() => {
          for (const [genesis, stored] of chains) {
            if (stored.chain.isSandbox && genesis !== chain.genesis) {
              chains.delete(genesis)
            }
          }
          state.open = chains.get(chain.genesis) ?? {
            chain,
            blocks: new Map(),
            holders: new Map(),
            progress: null,
            snapshot: null
          }
          chains.set(chain.genesis, state.open)
          return state.open.progress
        }),
      append: (batches) =>
        Effect.map(opened, (stored) => {
          for (const batch of batches) {
            stored.blocks.set(batch.slot, joined(stored.blocks.get(batch.slot), batch))
          }
          stored.progress = joinProgress(stored.progress, batches)
        }),
      repair: (repair) =>
        Effect.map(opened, (stored) => {
          for (const batch of repair.batches) {
            stored.blocks.set(batch.slot, joined(stored.blocks.get(batch.slot), batch))
          }
          for (const [slot, trades] of Map.groupBy(repair.repriced, (trade) => trade.slot)) {
            reprice(stored, slot, trades)
          }
          stored.progress = stored.progress && repairedProgress(stored.progress, repair)
        }),
      repairable: Effect.asVoid(opened),
      progress: Effect.map(opened, ({ progress }) => progress),
      since: (request) =>
        Stream.unwrap(Effect.map(opened, (stored) => Stream.fromIterable(blocksSince(stored, request)))),
      launchesBefore: (second, most) =>
        Effect.map(opened, ({ blocks }) =>
          Array.from(blocks.values())
            .filter(({ timeMs }) => timeMs < second * 1000)
            .toSorted((a, b) => a.slot - b.slot)
            .flatMap(({ launches, slot, timeMs }) => (launches ?? []).map((launch) => ({ slot, timeMs, launch })))
            .slice(-most)
        ),
      closeBars: Effect.asVoid(opened)
    },
    trades: {
      solSwaps: (slot, most) => Effect.map(opened, (stored) => newestSolSwaps(trades(stored), slot, most)),
      moneySwaps: (slot, spanMs, most) =>
        Effect.map(opened, (stored) => newestMoneySwaps(trades(stored), slot, spanMs, most)),
      moneySwapsOf: (request) => Effect.map(opened, (stored) => moneySwapsOf(trades(stored), request)),
      tokenSwapsAfter: (request) => Effect.map(opened, (stored) => tokenSwapsAfter(trades(stored), request)),
      ofWallet: (wallet, limit) =>
        Effect.map(opened, (stored) =>
          Array.from(stored.blocks.values())
            .flatMap((batch) => [...batch.trades, ...(batch.transfers ?? [])])
            .filter((trade) => trade.wallet === wallet && trade.role !== "pool")
            .toSorted(newestFirst)
            .slice(0, limit)
        ),
      olderOf: (request) =>
        Effect.map(opened, (stored) => ({
          trades: Array.from(stored.blocks.values())
            .flatMap((batch) => [...batch.trades, ...(batch.transfers ?? [])])
            .filter((trade) => isOlder(trade, request))
            .toSorted(newestFirst)
            .slice(0, request.limit),
          searchedTo: null
        })),
      swapsOf: (request) =>
        Effect.map(opened, (stored) => ({
          trades: trades(stored)
            .filter((trade) => isRequested(trade, request))
            .toSorted(newestFirst)
            .slice(0, request.limit),
          searchedTo: null
        })),
      largestOf: (request) =>
        Effect.map(opened, (stored) => ({ trades: largestOf(trades(stored), request), clippedAtMs: null })),
      supplyOf: ({ from, mint, most }) =>
        Effect.map(opened, ({ blocks, progress }) => {
          const sorted = Array.from(blocks.values()).toSorted((a, b) => a.slot - b.slot)
          const changes = supplyRecordsOf(sorted, mint).filter(({ second }) => second >= from)
          return { ...newestChanges(changes, most, Number.NEGATIVE_INFINITY), toSlot: progress?.slot ?? 0 }
        }),
      liquidityOf: (request) =>
        Effect.map(opened, ({ blocks, progress }) => ({
          events: liquidityIn(Array.from(blocks.values()), request),
          from: Number.NEGATIVE_INFINITY,
          toSlot: progress?.slot ?? 0
        })),
      poolsOpened: (fromMs, most) =>
        Effect.map(opened, ({ blocks }) => ({
          events: poolsOpenedIn(Array.from(blocks.values()), fromMs, most),
          from: Number.NEGATIVE_INFINITY
        })),
      openingOf: (wallet) =>
        Effect.map(opened, (stored) => ({
          opening: openings(stored).find((each) => each.wallet === wallet) ?? null,
          from: Number.NEGATIVE_INFINITY,
          toMs: stored.progress?.timeMs ?? null
        })),
      openingsOf: (request) =>
        Effect.map(opened, (stored) => ({
          ...relatedOpenings(openings(stored), request),
          from: Number.NEGATIVE_INFINITY,
          toMs: stored.progress?.timeMs ?? null
        }))
    },
    candles: {
      bars: (request) => Effect.map(opened, (stored) => readTo(barsOfTrades(trades(stored), request), stored.progress)),
      prints: (request) => Effect.map(opened, (stored) => printsOfTrades(trades(stored), request)),
      revised: () => Effect.as(opened, []),
      keptSeconds: () => Number.POSITIVE_INFINITY
    },
    snapshots: {
      newest: Effect.map(opened, ({ snapshot }) => snapshot?.record ?? null),
      part: (id, number) =>
        Effect.map(opened, ({ snapshot }) => (snapshot?.record.id === id ? (snapshot.parts[number] ?? null) : null)),
      keep: ({ parts, size, state }) =>
        Effect.gen(function* () {
          const stored = yield* opened
          const kept = Array.from(yield* Stream.runCollect(parts))
          const { progress } = stored
          if (progress === null || progress.repairs !== state.repairs || progress.slot < state.slot) {
            return null
          }
          const bytes = kept.reduce((sum, part) => sum + part.length, 0)
          const record = { ...state, id: crypto.randomUUID(), size, bytes, parts: kept.length }
          stored.snapshot = { record, parts: kept }
          return record
        })
    },
    holders: {
      keep: (snapshots) =>
        Effect.map(opened, ({ holders }) => {
          for (const snapshot of snapshots) {
            const key = `${snapshot.mint} ${snapshot.hourMs}`
            holders.set(key, holders.get(key) ?? snapshot)
          }
        }),
      of: ({ fromMs, limit, mint, toMs }) =>
        Effect.map(opened, ({ holders }) =>
          Array.from(holders.values())
            .filter((each) => each.mint === mint && each.hourMs >= (fromMs ?? 0) && each.hourMs < (toMs ?? Infinity))
            .toSorted((a, b) => b.hourMs - a.hourMs)
            .slice(0, limit)
        )
    }
  }
}

/** Market stores in memory, each build with its own content. */
export const layer: Layer.Layer<MarketStorePorts> = Layer.effectContext(
  Effect.sync(() => contextOf(makeMemoryStores()))
)
