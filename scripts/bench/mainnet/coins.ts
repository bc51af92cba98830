/** Coins of a market as broad as one process can make it: the catalog's coins, and many with few pools. */
import { type Coin, coins, type PoolPlan } from "../../../src/simulator/pools/catalog.ts"

/** Kinds of the pools of the further coins, in turn. */
const PLANS: ReadonlyArray<PoolPlan> = [
  { kind: "pumpswap", quote: "SOL", sideUsd: 120_000 },
  { kind: "raydium-amm-v4", quote: "SOL", sideUsd: 300_000 },
  { kind: "raydium-cpmm", quote: "SOL", sideUsd: 90_000 },
  { kind: "meteora-damm-v2-quote", quote: "SOL", sideUsd: 60_000 },
  { kind: "raydium-clmm", quote: "SOL", sideUsd: 200_000 },
  { kind: "whirlpool", quote: "SOL", sideUsd: 150_000 },
  { kind: "meteora-dlmm", quote: "SOL", sideUsd: 80_000 }
]

const further = (place: number, pools: number): Coin => ({
  symbol: `COIN${place}`,
  name: `Coin ${place}`,
  decimals: 6,
  priceUsd: 0.0001 * (1 + (place % 97)),
  supply: 1_000_000_000,
  dailyVolatility: 0.5,
  transferFee: null,
  pools: Array.from({ length: pools }, (_, i) => PLANS[(place + i) % PLANS.length]).filter((plan) => plan !== undefined)
})

/** That many coins beside the catalog's, each with that many pools. */
export const broadMarket = (count: number, pools: number): ReadonlyArray<Coin> => [
  ...coins,
  ...Array.from({ length: count }, (_, place) => further(place, pools))
]
