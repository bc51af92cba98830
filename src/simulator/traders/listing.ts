/** Coins and pools as they start, and how traders see them. */
import { type Mint, SOL, USDC } from "../../domain/Address.ts"
import { USDT } from "../../domain/stables.ts"
import { inventAddress, inventWallet } from "../chain/addresses.ts"
import { SLOT_MS } from "../chain/Bank.ts"
import type { SimMint, SimPool } from "../chain/SimPool.ts"
import type { World } from "../chain/World.ts"
import { type Coin, type PoolPlan, SOL_USD } from "../pools/catalog.ts"
import { newPool } from "../pools/newPool.ts"
import { type Cast, distribute } from "./cast.ts"
import type { Listing } from "./retail.ts"

const SLOTS_PER_DAY = 86_400_000 / SLOT_MS

const quotes = {
  SOL: { mint: SOL, decimals: 9, usd: SOL_USD },
  USDC: { mint: USDC, decimals: 6, usd: 1 },
  USDT: { mint: USDT, decimals: 6, usd: 1 }
} as const

const units = (whole: number, decimals: number): bigint => BigInt(Math.round(whole * 10 ** decimals))

/** What one atomic unit is worth, in lamports. */
export const worthOf = (usd: number, decimals: number): number => ((usd / SOL_USD) * 1e9) / 10 ** decimals

/** Creates one pool. Both sides have the same value. */
export const openPool = (world: World, base: SimMint, usd: number, plan: PoolPlan, index: number): SimPool => {
  const quote = quotes[plan.quote]
  return newPool(world, plan.kind, {
    label: `${base.symbol} ${index}`,
    base: base.address,
    quote: quote.mint,
    baseAmount: units(plan.sideUsd / usd, base.decimals),
    quoteAmount: units(plan.sideUsd / quote.usd, quote.decimals)
  })
}

/** A mint as traders see it. */
export const listing = (
  mint: Mint,
  worth: number,
  dailyVolatility: number,
  pools: ReadonlyArray<SimPool>,
  launched = false
): Listing => ({
  mint,
  worth,
  launched,
  volatility: dailyVolatility / Math.sqrt(SLOTS_PER_DAY),
  pools: pools.filter(({ open }) => open())
})

/** The wallet that has the power over the mints of coins with one. */
export const issuerOf = (seed: string) => inventWallet(seed, "issuer")

/** Creates a coin with its pools, and distributes the rest of its supply. The engine prices no mint with a hook. */
export const listCoin = (
  world: World,
  cast: Cast,
  coin: Coin
): { readonly mint: SimMint; readonly pools: ReadonlyArray<SimPool> } => {
  const { symbol, name, decimals, transferFee, power, priceUsd, supply } = coin
  const { seed } = world
  const address = coin.address ?? inventAddress(seed, `mint ${symbol}`)
  world.newMint({
    address,
    decimals,
    authority: cast.treasury,
    freezeAuthority: power === "freeze" ? issuerOf(seed) : null,
    transferFee,
    ...(power === "delegate" && { permanentDelegate: issuerOf(seed) }),
    ...(power === "hook" && { transferHook: inventAddress(seed, "hook program") }),
    naming: coin
  })
  const mint = { symbol, name, address, decimals }
  const pools = coin.pools
    .map((plan, index) => openPool(world, mint, priceUsd, plan, index))
    .map((pool) => (power === "hook" ? { ...pool, open: () => false } : pool))
  const inPools = coin.pools.reduce((sum, { sideUsd }) => sum + sideUsd / priceUsd, 0)
  distribute(world, cast, address, units(Math.max(supply - inPools, supply / 10), decimals))
  return { mint, pools }
}
