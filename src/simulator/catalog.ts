/** What the simulated market begins with: invented coins, and the pools that trade them. */
import type { TransferFee } from "./tokens.ts"

/** Which program a pool belongs to, and in which of its modes. */
export type Kind =
  | "raydium-amm-v4"
  | "raydium-amm-v4-closed"
  | "raydium-cpmm"
  | "raydium-cpmm-creator"
  | "raydium-cpmm-closed"

/** One pool of a coin. */
export interface PoolPlan {
  readonly kind: Kind
  readonly quote: "SOL" | "USDC"
  /** What each of the two sides is worth at first, in dollars. */
  readonly sideUsd: number
}

/** One coin with everything about it that does not change. */
export interface Coin {
  readonly symbol: string
  readonly name: string
  readonly decimals: number
  readonly priceUsd: number
  /** Supply at first, in whole coins. */
  readonly supply: number
  /** How far its worth wanders in a day, roughly, as a fraction. */
  readonly dailyVolatility: number
  readonly transferFee: TransferFee | null
  readonly pools: ReadonlyArray<PoolPlan>
}

/** Dollars for one SOL at first. */
export const SOL_USD = 150

const pool = (kind: Kind, sideUsd: number, quote: PoolPlan["quote"] = "SOL"): PoolPlan => ({ kind, quote, sideUsd })

/** Where SOL and USDC trade against each other. */
export const solUsdcPools: ReadonlyArray<PoolPlan> = [
  pool("raydium-amm-v4", 9_000_000),
  pool("raydium-cpmm", 1_500_000)
]

/** The coins, biggest first. */
export const coins: ReadonlyArray<Coin> = [
  {
    symbol: "FERN",
    name: "Fern Network",
    decimals: 6,
    priceUsd: 0.84,
    supply: 1_000_000_000,
    dailyVolatility: 0.08,
    transferFee: null,
    pools: [
      pool("raydium-amm-v4", 2_400_000),
      pool("raydium-cpmm", 800_000),
      pool("raydium-amm-v4", 600_000, "USDC"),
      pool("raydium-cpmm", 300_000, "USDC")
    ]
  },
  {
    symbol: "OTTER",
    name: "Otter",
    decimals: 5,
    priceUsd: 0.0000231,
    supply: 88_000_000_000_000,
    dailyVolatility: 0.2,
    transferFee: null,
    pools: [pool("raydium-amm-v4", 1_100_000), pool("raydium-cpmm", 400_000), pool("raydium-cpmm-closed", 20_000)]
  },
  {
    symbol: "TITHE",
    name: "Tithe",
    decimals: 9,
    priceUsd: 0.012,
    supply: 5_000_000_000,
    dailyVolatility: 0.25,
    transferFee: { bps: 300, maximum: 50_000_000_000_000n },
    pools: [pool("raydium-cpmm", 220_000), pool("raydium-cpmm-creator", 90_000)]
  }
]
