/** Positions and reserves of a new concentrated-liquidity pool. */
import { amountOfA, amountOfB } from "../../programs/math/concentrated.ts"
import { squareRoot } from "../../programs/math/integers.ts"
import { floorDiv } from "../../programs/math/ticks.ts"

/** One position around the initial price: its share of the reserves, and how many ticks it reaches to either side. */
export interface Spread {
  readonly share: number
  readonly halfWidth: number
}

/** How much liquidity begins or ends at a tick. */
export interface TickLiquidity {
  readonly net: bigint
  readonly gross: bigint
}

/** All liquidity of a pool before its first swap. */
export interface Liquidity {
  readonly sqrtPrice: bigint
  readonly tick: number
  /** Liquidity at the initial price. */
  readonly active: bigint
  readonly ticks: ReadonlyMap<number, TickLiquidity>
  /** Deposits of the providers. Each position is rounded up. */
  readonly amountA: bigint
  readonly amountB: bigint
}

/** The ticks of a program. */
export interface TickGrid {
  readonly spacing: number
  readonly sqrtPriceAt: (tick: number) => bigint
  readonly tickAt: (sqrtPrice: bigint) => number
}

/** Places positions around the price at which both amounts are worth the same. They hold about these amounts. */
export const provide = (
  { spacing, sqrtPriceAt, tickAt }: TickGrid,
  amounts: { readonly a: bigint; readonly b: bigint },
  spreads: ReadonlyArray<Spread>
): Liquidity => {
  const sqrtPrice = squareRoot((amounts.b << 128n) / amounts.a)
  const tick = tickAt(sqrtPrice)
  const ticks = new Map<number, TickLiquidity>()
  const record = (at: number, net: bigint, gross: bigint): void => {
    const before = ticks.get(at) ?? { net: 0n, gross: 0n }
    ticks.set(at, { net: before.net + net, gross: before.gross + gross })
  }
  let [active, amountA, amountB] = [0n, 0n, 0n]
  for (const { share, halfWidth } of spreads) {
    const lower = floorDiv(tick - halfWidth, spacing) * spacing
    const upper = (floorDiv(tick + halfWidth, spacing) + 1) * spacing
    const money = (amounts.b * BigInt(Math.round(share * 10_000))) / 10_000n
    const liquidity = (money << 64n) / (sqrtPrice - sqrtPriceAt(lower))
    record(lower, liquidity, liquidity)
    record(upper, -liquidity, liquidity)
    active += liquidity
    amountA += amountOfA(liquidity, sqrtPrice, sqrtPriceAt(upper), true)
    amountB += amountOfB(liquidity, sqrtPriceAt(lower), sqrtPrice, true)
  }
  return { sqrtPrice, tick, active, ticks, amountA, amountB }
}

/** Groups ticks by their array, given where the arrays start. */
export const byArray = (
  ticks: Liquidity["ticks"],
  startOf: (tick: number) => number
): ReadonlyMap<number, ReadonlyArray<readonly [number, TickLiquidity]>> => Map.groupBy(ticks, ([tick]) => startOf(tick))

/** Units of B per unit of A for a square-root price in Q64.64, as a double. */
export const priceAt = (sqrtPrice: bigint): number => (Number(sqrtPrice) / 2 ** 64) ** 2

/** Virtual reserves at the price, at most eight times the real ones. */
export const depthAt = (
  sqrtPrice: bigint,
  liquidity: bigint,
  held: { readonly a: number; readonly b: number }
): { readonly a: number; readonly b: number } => {
  const root = Number(sqrtPrice) / 2 ** 64
  return {
    a: Math.min(Number(liquidity) / root, held.a * 8),
    b: Math.min(Number(liquidity) * root, held.b * 8)
  }
}
