/** The coins of the simulated market and their pools, as they start in the first slot. */
import type { Mint } from "../../domain/Address.ts"
import { USDT } from "../../domain/stables.ts"
import type { Kind } from "./newPool.ts"
import type { TransferFee } from "../chain/tokens.ts"

export interface PoolPlan {
  readonly kind: Kind
  readonly quote: "SOL" | "USDC" | "USDT"
  /** Value of each side at the start, in dollars. */
  readonly sideUsd: number
}

export interface Coin {
  readonly symbol: string
  readonly name: string
  readonly decimals: number
  readonly priceUsd: number
  /** Supply at the start, in whole coins. */
  readonly supply: number
  /** Roughly how much the believed value changes per day, as a fraction. */
  readonly dailyVolatility: number
  readonly transferFee: TransferFee | null
  /** What the issuer can do to holders: freeze accounts, move their tokens, or run a program at each transfer. */
  readonly power?: "freeze" | "delegate" | "hook"
  /** The mint's address; derived from the seed when absent. */
  readonly address?: Mint
  readonly pools: ReadonlyArray<PoolPlan>
}

/** Price of one SOL at the start, in dollars. */
export const SOL_USD = 150

const sol = (kind: Kind, sideUsd: number): PoolPlan => ({ kind, quote: "SOL", sideUsd })
const usdc = (kind: Kind, sideUsd: number): PoolPlan => ({ kind, quote: "USDC", sideUsd })

/** The SOL/USDC pools. */
export const solUsdcPools: ReadonlyArray<PoolPlan> = [
  sol("whirlpool-tight", 12_000_000),
  sol("raydium-amm-v4", 9_000_000),
  sol("raydium-clmm-tight", 6_000_000),
  sol("meteora-dlmm-tight", 4_000_000),
  sol("raydium-cpmm", 1_500_000)
]

type Traits = Pick<Coin, "decimals" | "priceUsd" | "supply" | "dailyVolatility">

const coin = (symbol: string, name: string, traits: Traits, ...pools: ReadonlyArray<PoolPlan>): Coin => ({
  symbol,
  name,
  ...traits,
  transferFee: null,
  pools
})

const established: ReadonlyArray<Coin> = [
  coin(
    "FERN",
    "Fern Network",
    { decimals: 6, priceUsd: 0.84, supply: 1_000_000_000, dailyVolatility: 0.08 },
    sol("raydium-amm-v4", 2_400_000),
    sol("whirlpool", 1_800_000),
    sol("raydium-clmm", 900_000),
    sol("raydium-cpmm", 800_000),
    sol("meteora-dlmm", 700_000),
    sol("meteora-damm-v2", 350_000),
    usdc("raydium-amm-v4", 600_000),
    usdc("whirlpool", 250_000)
  ),
  coin(
    "OTTER",
    "Otter",
    { decimals: 5, priceUsd: 0.0000231, supply: 88_000_000_000_000, dailyVolatility: 0.2 },
    sol("raydium-amm-v4", 1_100_000),
    sol("whirlpool", 500_000),
    sol("raydium-cpmm", 400_000),
    usdc("raydium-clmm", 150_000),
    sol("raydium-cpmm-closed", 20_000)
  ),
  coin(
    "QUARRY",
    "Quarry Protocol",
    { decimals: 9, priceUsd: 3.2, supply: 120_000_000, dailyVolatility: 0.1 },
    sol("whirlpool", 1_300_000),
    sol("raydium-clmm", 700_000),
    usdc("whirlpool", 400_000),
    sol("raydium-cpmm-newer", 60_000)
  ),
  coin(
    "LANTERN",
    "Lantern",
    { decimals: 6, priceUsd: 0.045, supply: 3_000_000_000, dailyVolatility: 0.15 },
    sol("raydium-clmm", 500_000),
    sol("raydium-cpmm", 350_000),
    sol("raydium-amm-v4", 300_000)
  ),
  coin(
    "BASALT",
    "Basalt",
    { decimals: 8, priceUsd: 61, supply: 2_000_000, dailyVolatility: 0.06 },
    usdc("whirlpool", 900_000),
    sol("whirlpool", 600_000),
    sol("raydium-amm-v4", 250_000)
  )
]

const popular: ReadonlyArray<Coin> = [
  coin(
    "GOOSE",
    "Goose on the loose",
    { decimals: 6, priceUsd: 0.0042, supply: 1_000_000_000, dailyVolatility: 0.5 },
    sol("pumpswap", 400_000),
    sol("meteora-dlmm", 60_000),
    sol("whirlpool", 50_000)
  ),
  coin(
    "MUFFIN",
    "Muffin",
    { decimals: 6, priceUsd: 0.00081, supply: 1_000_000_000, dailyVolatility: 0.6 },
    sol("pumpswap", 120_000),
    sol("meteora-damm-v2-quote", 40_000)
  ),
  coin(
    "WALRUS",
    "Sir Walrus",
    { decimals: 6, priceUsd: 0.00022, supply: 1_000_000_000, dailyVolatility: 0.7 },
    sol("pumpswap", 55_000),
    sol("pumpswap-flat", 9_000)
  ),
  coin(
    "PICKLE",
    "Pickle",
    { decimals: 6, priceUsd: 0.000061, supply: 1_000_000_000, dailyVolatility: 0.8 },
    sol("pumpswap", 21_000)
  ),
  coin(
    "TEAPOT",
    "Short and stout",
    { decimals: 6, priceUsd: 0.0011, supply: 900_000_000, dailyVolatility: 0.5 },
    sol("raydium-cpmm-creator", 70_000),
    sol("raydium-amm-v4", 45_000),
    sol("raydium-amm-v4-closed", 5_000)
  )
]

const taxed: ReadonlyArray<Coin> = [
  {
    ...coin(
      "TITHE",
      "Tithe",
      { decimals: 9, priceUsd: 0.012, supply: 5_000_000_000, dailyVolatility: 0.25 },
      sol("raydium-cpmm", 220_000),
      sol("raydium-cpmm-creator", 90_000),
      sol("raydium-clmm", 80_000)
    ),
    transferFee: { bps: 300, maximum: 50_000_000_000_000n }
  },
  {
    ...coin(
      "TOLL",
      "Toll Road",
      { decimals: 6, priceUsd: 0.31, supply: 60_000_000, dailyVolatility: 0.2 },
      sol("whirlpool", 110_000),
      sol("meteora-dlmm", 80_000),
      sol("raydium-cpmm", 70_000)
    ),
    transferFee: { bps: 50, maximum: 2n ** 63n }
  }
]

/** All coins: long-listed, recently popular, and those with a transfer fee. */
export const coins: ReadonlyArray<Coin> = [...established, ...popular, ...taxed]

const usdt = (kind: Kind, sideUsd: number): PoolPlan => ({ kind, quote: "USDT", sideUsd })

/** Coin whose volume two wallets make. */
export const WASHED = "GUSHER"

/** Coins of a market with hardships. USDT comes first, because later coins are quoted in it. */
export const oddCoins: ReadonlyArray<Coin> = [
  {
    ...coin(
      "USDT",
      "Tether USD",
      { decimals: 6, priceUsd: 1, supply: 20_000_000, dailyVolatility: 0.01 },
      sol("raydium-clmm-tight", 2_000_000),
      usdc("whirlpool-tight", 3_000_000)
    ),
    address: USDT,
    power: "freeze"
  },
  coin(
    "HARBOR",
    "Harbor",
    { decimals: 7, priceUsd: 0.19, supply: 700_000_000, dailyVolatility: 0.2 },
    usdt("raydium-cpmm", 300_000),
    sol("raydium-cpmm-provided", 250_000)
  ),
  coin(
    "ABACUS",
    "Abacus",
    { decimals: 0, priceUsd: 0.6, supply: 40_000_000, dailyVolatility: 0.3 },
    sol("raydium-cpmm-provided", 180_000)
  ),
  coin(
    "ATOM12",
    "Twelve Decimals",
    { decimals: 12, priceUsd: 0.9, supply: 4_000_000, dailyVolatility: 0.3 },
    sol("raydium-cpmm-provided", 150_000)
  ),
  {
    ...coin(
      "CUSTODY",
      "Custody Dollar Fund",
      { decimals: 4, priceUsd: 10.2, supply: 900_000, dailyVolatility: 0.05 },
      sol("raydium-cpmm", 200_000)
    ),
    power: "freeze"
  },
  {
    ...coin(
      "LEASH",
      "Leash",
      { decimals: 6, priceUsd: 0.07, supply: 50_000_000, dailyVolatility: 0.4 },
      sol("whirlpool", 90_000)
    ),
    power: "delegate"
  },
  {
    ...coin(
      "SNARE",
      "Snare",
      { decimals: 6, priceUsd: 0.02, supply: 80_000_000, dailyVolatility: 0.4 },
      sol("whirlpool", 60_000)
    ),
    power: "hook"
  },
  coin(
    WASHED,
    "Gusher",
    { decimals: 6, priceUsd: 0.004, supply: 900_000_000, dailyVolatility: 0.1 },
    sol("raydium-cpmm", 40_000)
  ),
  coin(
    "MORIBUND",
    "Moribund",
    { decimals: 9, priceUsd: 0.0003, supply: 100_000_000, dailyVolatility: 0 },
    sol("raydium-amm-v4", 800)
  )
]

/**
 * Names of coins whose liquidity is pulled, used in turn. Most imitate another coin: with Greek capitals, a Cyrillic
 * letter, a zero, `rn` for `m`, `vv` for `w`, or the very same letters.
 */
export const falseNames: ReadonlyArray<readonly [symbol: string, name: string]> = [
  ["\u039cUFFI\u039d", "\u039cuffi\u03bd"],
  ["VVALRUS", "Sir VValrus"],
  ["F\u0395R\u039d", "Fern Network"],
  ["rnUFFIN", "rnuffin"],
  ["\u0405OL", "Solana"],
  ["\u03a4\u0395\u0391\u03a1\u039f\u03a4", "Short and stout"],
  ["USD\u03a4", "Tether USD"],
  ["PEBBLE", "Pebble"],
  ["G00SE", "Goose on the loose"],
  ["MOON", "Moon Shot"],
  ["B\u0391S\u0391L\u03a4", "Basalt"],
  ["OTTER", "Otter"]
]

/** Names of launched coins, used in turn. */
export const launchNames: ReadonlyArray<readonly [symbol: string, name: string]> = [
  ["NOODLE", "Noodle"],
  ["BADGER", "Badger"],
  ["SOCK", "Lost Sock"],
  ["TURNIP", "Turnip"],
  ["ECHO", "Echo Echo"],
  ["MOTH", "Moth"],
  ["PEBBLE", "Pebble"],
  ["YODEL", "Yodel"],
  ["CRUMB", "Crumb"],
  ["HERON", "Heron"],
  ["WAFFLE", "Waffle"],
  ["GNOME", "Garden Gnome"]
]
