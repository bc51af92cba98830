/** The answers of the tape, recomputed from a list of trades with loops and bigints only. */
import type { Address } from "../../../src/domain/Address.ts"
import { orderKey } from "../../../src/market/model/TradeRecord.ts"
import type { TapeTrade } from "../../../src/market/model/TapeTrade.ts"
import { rankingFrom, type TraderRow, type TraderWindow } from "../../../src/market/memory/Traders.ts"
import { windowFrom, type WindowName, windowIndex, windowSeconds } from "../../../src/market/model/windows.ts"

export const secondOf = ({ timeMs }: TapeTrade): number => Math.floor(timeMs / 1000)

const sum = (trades: ReadonlyArray<TapeTrade>, of: (trade: TapeTrade) => bigint | null): bigint =>
  trades.reduce((total, trade) => total + (of(trade) ?? 0n), 0n)

export const within = (trades: ReadonlyArray<TapeTrade>, now: number, window: WindowName) => {
  const width = windowSeconds[windowIndex[window]] ?? 0
  return trades.filter((trade) => secondOf(trade) > now - width && secondOf(trade) <= now)
}

/** Trades with a price, in the order of the chain. */
const priced = (trades: ReadonlyArray<TapeTrade>): ReadonlyArray<TapeTrade> =>
  trades
    .filter(({ priceUsd }) => priceUsd !== null)
    .toSorted((a, b) => orderKey(a.slot, a.index) - orderKey(b.slot, b.index))

const lastPrice = (trades: ReadonlyArray<TapeTrade>): number | null => priced(trades).at(-1)?.priceUsd ?? null

/** One window of a token. All trades are of that token. */
export const tokenWindow = (trades: ReadonlyArray<TapeTrade>, now: number, window: WindowName) => {
  const from = windowFrom(windowIndex[window], now)
  const inside = trades.filter((trade) => secondOf(trade) >= from)
  const buys = inside.filter(({ side }) => side === "buy").length
  return {
    trades: inside.length,
    buys,
    sells: inside.length - buys,
    volumeUsdNanos: sum(inside, ({ volumeUsdNanos }) => volumeUsdNanos),
    unpriced: inside.filter(({ volumeUsdNanos }) => volumeUsdNanos === null).length,
    traders: new Set(inside.map(({ wallet }) => wallet)).size,
    startPrice: lastPrice(trades.filter((trade) => secondOf(trade) < from)),
    lastPrice: lastPrice(trades),
    firstPrice: priced(trades).at(0)?.priceUsd ?? null
  }
}

/**
 * A window of a market, without distinct wallets. It moves in 300 steps: `now` ends with the running step, `after` with
 * the newest whole step, and `before` directly before `after`.
 */
export const marketSums = (
  trades: ReadonlyArray<TapeTrade>,
  now: number,
  window: WindowName,
  which: "now" | "after" | "before"
) => {
  const step = (windowSeconds[windowIndex[window]] ?? 0) / 300
  const whole = Math.floor((now + 1) / step) - 1
  const end = which === "now" ? Math.floor(now / step) : whole - (which === "before" ? 300 : 0)
  const inside = trades.filter((trade) => {
    const at = Math.floor(secondOf(trade) / step)
    return at > end - 300 && at <= end
  })
  const [buys, sells] = [inside.filter(({ side }) => side === "buy"), inside.filter(({ side }) => side === "sell")]
  return {
    buys: buys.length,
    sells: sells.length,
    buyUsdNanos: sum(buys, ({ volumeUsdNanos }) => volumeUsdNanos),
    sellUsdNanos: sum(sells, ({ volumeUsdNanos }) => volumeUsdNanos),
    unpricedBuys: buys.filter(({ volumeUsdNanos }) => volumeUsdNanos === null).length,
    unpricedSells: sells.filter(({ volumeUsdNanos }) => volumeUsdNanos === null).length,
    tokensCreated: 0,
    migrations: 0
  }
}

interface Sale {
  readonly trade: TapeTrade
  readonly cost: bigint | null
  readonly gain: bigint | null
}

/** The average cost of each sale of one wallet, in the order of the trades. */
const salesOf = (trades: ReadonlyArray<TapeTrade>): ReadonlyArray<Sale> => {
  const state = { units: 0n, usd: 0n, lamports: 0n, usdKnown: true, lamportsKnown: true }
  const clear = () => Object.assign(state, { units: 0n, usd: 0n, lamports: 0n, usdKnown: true, lamportsKnown: true })
  return trades.flatMap((trade): ReadonlyArray<Sale> => {
    if (trade.side === "buy") {
      state.units += trade.amount
      state.usd += trade.volumeUsdNanos ?? 0n
      state.lamports += trade.lamports ?? 0n
      state.usdKnown &&= trade.volumeUsdNanos !== null
      state.lamportsKnown &&= trade.lamports !== null
      return []
    }
    if (trade.amount > state.units || state.units === 0n) {
      clear()
      return [{ trade, cost: null, gain: null }]
    }
    const cost = (state.usd * trade.amount) / state.units
    const paid = (state.lamports * trade.amount) / state.units
    const sale = {
      trade,
      cost: state.usdKnown ? cost : null,
      gain: state.lamportsKnown && trade.lamports !== null ? trade.lamports - paid : null
    }
    state.units -= trade.amount
    state.usd -= cost
    state.lamports -= paid
    if (state.units === 0n) {
      clear()
    }
    return [sale]
  })
}

const rowOf = (wallet: Address, all: ReadonlyArray<TapeTrade>, inside: ReadonlyArray<TapeTrade>): TraderRow => {
  const buys = inside.filter(({ side }) => side === "buy")
  const sells = inside.filter(({ side }) => side === "sell")
  const counted = new Set(inside)
  const sales = salesOf(all).filter(({ trade }) => counted.has(trade))
  const costs = sales.every(({ cost }) => cost !== null)
    ? sales.reduce((total, { cost }) => total + (cost ?? 0n), 0n)
    : null
  const soldUsdNanos = sum(sells, ({ volumeUsdNanos }) => volumeUsdNanos)
  const unpricedSells = sells.filter(({ volumeUsdNanos }) => volumeUsdNanos === null).length
  return {
    wallet,
    lastTradeMs: Math.max(...all.map(secondOf)) * 1000,
    buys: buys.length,
    sells: sells.length,
    bought: sum(buys, ({ amount }) => amount),
    sold: sum(sells, ({ amount }) => amount),
    boughtUsdNanos: sum(buys, ({ volumeUsdNanos }) => volumeUsdNanos),
    soldUsdNanos,
    unpricedBuys: buys.filter(({ volumeUsdNanos }) => volumeUsdNanos === null).length,
    unpricedSells,
    realizedUsdNanos: costs === null || unpricedSells > 0 ? null : soldUsdNanos - costs,
    costUsdNanos: costs,
    realizedLamports: sales.every(({ gain }) => gain !== null)
      ? sales.reduce((total, { gain }) => total + (gain ?? 0n), 0n)
      : null
  }
}

const volume = (row: TraderRow) => row.boughtUsdNanos + row.soldUsdNanos

/** The wallets of a token by volume. All trades are of that token. */
export const topTraders = (trades: ReadonlyArray<TapeTrade>, now: number, window: TraderWindow) => {
  const from = rankingFrom(window, now) ?? 0
  const inside = trades.filter((trade) => secondOf(trade) >= from)
  const all = Map.groupBy(trades, ({ wallet }) => wallet)
  const rows = Array.from(
    Map.groupBy(inside, ({ wallet }) => wallet),
    ([wallet, of]) => rowOf(wallet, all.get(wallet) ?? [], of)
  )
  return rows
    .toSorted((a, b) => Number(volume(b) - volume(a)) || (a.wallet < b.wallet ? -1 : 1))
    .map((row, place) => ({ rank: place + 1, ...row }))
}
