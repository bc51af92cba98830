/**
 * Average-cost ledger over observed trades. Exact: units and nano-dollars are integers, and the remainder of the only
 * division, the cost of units sold, stays with the units held.
 */
import { Schema } from "effect"
import { Address, type Mint } from "../domain/Address.ts"
import type { TapeTrade } from "../market/tape/TapeTrade.ts"
import { isMoney } from "../trades/sides.ts"

/** The fields of a trade that the ledger reads. A `TapeTrade` of role `wallet` or `both` is one. */
export type WalletTrade = Pick<
  TapeTrade,
  "amount" | "decimals" | "index" | "mint" | "side" | "signature" | "slot" | "timeMs" | "volumeUsdNanos"
>

const Units = Schema.BigInt.check(Schema.isGreaterThanOrEqualToBigInt(0n))
const Nanos = Schema.NullOr(Schema.BigInt)
const Cost = Schema.NullOr(Units)
const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
const Decimals = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 18 }))

/** The position of one wallet in one mint after the trades applied so far. Amounts in units and nano-dollars. */
export const Position = Schema.Struct({
  mint: Address,
  /** Null until a trade carries them. */
  decimals: Schema.NullOr(Decimals),
  /** Units bought and not sold since, as far as observed. */
  held: Units,
  /** Cost of the units held; null while that of any is unknown, zero when none are held. */
  costNanos: Cost,
  boughtUnits: Units,
  soldUnits: Units,
  /** Cost of all buys; null once that of one is unknown. */
  boughtNanos: Cost,
  /** Proceeds of all sells; null once those of one are unknown. */
  proceedsNanos: Nanos,
  /**
   * Proceeds less average cost of all units sold. Null for good once either is unknown for a sale: no later trade can
   * recover it.
   */
  realizedNanos: Nanos,
  buys: Count,
  sells: Count,
  /** Buys at an unknown price, and sells of more than was seen bought. */
  unknownBasis: Count,
  /** Null before the first trade. */
  firstAtMs: Schema.NullOr(Count),
  lastAtMs: Schema.NullOr(Count)
})
export type Position = typeof Position.Type

/** The position before the first trade. */
export const emptyPosition = (mint: Mint): Position => ({
  mint,
  decimals: null,
  held: 0n,
  costNanos: 0n,
  boughtUnits: 0n,
  soldUnits: 0n,
  boughtNanos: 0n,
  proceedsNanos: 0n,
  realizedNanos: 0n,
  buys: 0,
  sells: 0,
  unknownBasis: 0,
  firstAtMs: null,
  lastAtMs: null
})

/** The sum; null when a part is unknown. */
const plus = (a: bigint | null, b: bigint | null): bigint | null => (a === null || b === null ? null : a + b)

/** The difference; null when a part is unknown. */
export const minus = (a: bigint | null, b: bigint | null): bigint | null => (a === null || b === null ? null : a - b)

const buy = (position: Position, { amount, volumeUsdNanos }: WalletTrade): Partial<Position> => ({
  held: position.held + amount,
  costNanos: plus(position.costNanos, volumeUsdNanos),
  boughtUnits: position.boughtUnits + amount,
  boughtNanos: plus(position.boughtNanos, volumeUsdNanos),
  buys: position.buys + 1,
  unknownBasis: position.unknownBasis + (volumeUsdNanos === null ? 1 : 0)
})

/** The average cost of `amount` of the units held, rounded down to a nano-dollar; null when unknown. */
const costOf = ({ costNanos, held }: Position, amount: bigint): bigint | null => {
  if (amount === 0n) {
    return 0n
  }
  return costNanos === null || amount > held ? null : (costNanos * amount) / held
}

const sell = (position: Position, { amount, volumeUsdNanos }: WalletTrade): Partial<Position> => {
  const { held } = position
  const cost = costOf(position, amount)
  const left = amount >= held ? 0n : held - amount
  return {
    held: left,
    costNanos: left === 0n ? 0n : minus(position.costNanos, cost),
    soldUnits: position.soldUnits + amount,
    proceedsNanos: plus(position.proceedsNanos, volumeUsdNanos),
    realizedNanos: plus(position.realizedNanos, minus(volumeUsdNanos, cost)),
    sells: position.sells + 1,
    unknownBasis: position.unknownBasis + (amount > held ? 1 : 0)
  }
}

/**
 * The position after a trade of its mint. Trades come in chain order, by slot and then by index. A sale of more units
 * than are held has an unknown cost; nothing is estimated.
 */
export const applyTrade = (position: Position, trade: WalletTrade): Position => ({
  ...position,
  ...(trade.side === "buy" ? buy(position, trade) : sell(position, trade)),
  decimals: trade.decimals ?? position.decimals,
  firstAtMs: position.firstAtMs ?? trade.timeMs,
  lastAtMs: trade.timeMs
})

/** Chain order: negative when `a` comes first. */
export const byChainOrder = (a: Pick<WalletTrade, "index" | "slot">, b: Pick<WalletTrade, "index" | "slot">): number =>
  a.slot - b.slot || a.index - b.index

/** The positions of a wallet by mint after these trades, in any order. Quote money, which has no position, and pool swaps are left out. */
export const positionsOf = (trades: ReadonlyArray<TapeTrade>): ReadonlyMap<Mint, Position> => {
  const positions = new Map<Mint, Position>()
  for (const trade of trades.toSorted(byChainOrder)) {
    if (trade.role !== "pool" && !isMoney(trade.mint)) {
      positions.set(trade.mint, applyTrade(positions.get(trade.mint) ?? emptyPosition(trade.mint), trade))
    }
  }
  return positions
}
