import { type Address, type Mint, SOL, USDC } from "../domain/Address.ts"
import { inventAddress, inventWallet, SYSTEM_PROGRAM } from "./addresses.ts"
import { type Bank, type Block, SLOT_MS } from "./Bank.ts"
import { type Coin, coins, type PoolPlan, SOL_USD, solUsdcPools } from "./catalog.ts"
import { newPool } from "./newPool.ts"
import { makeRandom } from "./Random.ts"
import type { SimPool } from "./SimPool.ts"
import { type Cast, type Listing, makeTraders } from "./Traders.ts"
import { makeWorld, type World } from "./World.ts"

/** A mint of the market, for whoever wants to name it. */
export interface SimMint {
  readonly symbol: string
  readonly name: string
  readonly address: Mint
  readonly decimals: number
}

/** A wallet with a name, so that a reader of the tape can tell who is who. */
export interface SimWallet {
  readonly label: string
  readonly address: Address
}

/** A seeded market on a bank. */
export interface Market {
  readonly mints: ReadonlyArray<SimMint>
  readonly wallets: ReadonlyArray<SimWallet>
  readonly pools: () => ReadonlyArray<SimPool>
  /** Lets traders trade for one slot and finishes it. */
  readonly advance: () => Block
}

const SLOTS_PER_DAY = 86_400_000 / SLOT_MS
const WALLETS = { retail: 120, whale: 6, arbitrageur: 4 }

const units = (whole: number, decimals: number): bigint => BigInt(Math.round(whole * 10 ** decimals))

/** Atomic units of the quote, and its price: 9 decimals of SOL or 6 of USDC. */
const quotes = { SOL: { mint: SOL, decimals: 9, usd: SOL_USD }, USDC: { mint: USDC, decimals: 6, usd: 1 } } as const

const castOf = (seed: string): { readonly cast: Cast; readonly wallets: ReadonlyArray<SimWallet> } => {
  const named = (label: string): SimWallet => ({ label, address: inventWallet(seed, label) })
  const several = (kind: keyof typeof WALLETS) =>
    Array.from({ length: WALLETS[kind] }, (_, index) => named(`${kind} ${index + 1}`))
  const retail = several("retail")
  const whales = several("whale")
  const arbitrageurs = several("arbitrageur")
  const [treasury, validator] = [named("treasury"), named("validator")]
  const addresses = (wallets: ReadonlyArray<SimWallet>) => wallets.map(({ address }) => address)
  return {
    cast: {
      retail: addresses(retail),
      whales: addresses(whales),
      arbitrageurs: addresses(arbitrageurs),
      treasury: treasury.address,
      validator: validator.address
    },
    wallets: [...retail, ...whales, ...arbitrageurs, treasury, validator]
  }
}

const fund = (world: World, wallet: Address, mint: Mint, amount: bigint): void =>
  world.issue(world.purse(wallet, mint), mint, amount)

const fundCast = (world: World, { retail, whales, arbitrageurs, treasury, validator }: Cast): void => {
  const give = (wallets: ReadonlyArray<Address>, sol: number, usdc: number): void => {
    for (const wallet of wallets) {
      world.newAccount(wallet, SYSTEM_PROGRAM, new Uint8Array(0))
      world.issue(wallet, SOL, units(sol, 9))
      fund(world, wallet, USDC, units(usdc, 6))
    }
  }
  give([treasury], 40_000_000, 20_000_000_000)
  give([validator], 1, 0)
  give(arbitrageurs, 60_000, 9_000_000)
  give(whales, 20_000, 3_000_000)
  give(retail, 250, 30_000)
}

/** Everybody holds some of the coin, arbitrageurs none: they never keep any. */
const spread = (world: World, { retail, whales, treasury }: Cast, mint: Mint, left: bigint): void => {
  const share = left / 4n / BigInt(retail.length)
  retail.forEach((wallet) => fund(world, wallet, mint, share))
  whales.forEach((wallet) => fund(world, wallet, mint, left / 10n / BigInt(whales.length)))
  fund(world, treasury, mint, left / 2n)
}

/** Creates one pool of a coin, with both sides worth the same. */
const openPool = (
  world: World,
  base: Pick<SimMint, "address" | "decimals">,
  usd: number,
  plan: PoolPlan,
  label: string
) => {
  const quote = quotes[plan.quote]
  return newPool(world, plan.kind, {
    label,
    base: base.address,
    quote: quote.mint,
    baseAmount: units(plan.sideUsd / usd, base.decimals),
    quoteAmount: units(plan.sideUsd / quote.usd, quote.decimals)
  })
}

const listed = (mint: Mint, decimals: number, usd: number, daily: number, pools: ReadonlyArray<SimPool>): Listing => ({
  mint,
  pools: pools.filter(({ open }) => open),
  worth: ((usd / SOL_USD) * 1e9) / 10 ** decimals,
  volatility: daily / Math.sqrt(SLOTS_PER_DAY)
})

const listCoin = (
  world: World,
  cast: Cast,
  coin: Coin
): { readonly mint: SimMint; readonly pools: ReadonlyArray<SimPool> } => {
  const { symbol, name, decimals, transferFee } = coin
  const address = inventAddress(world.seed, `mint ${symbol}`)
  world.newMint({ address, decimals, authority: cast.treasury, freezeAuthority: null, transferFee })
  const mint = { symbol, name, address, decimals }
  const pools = coin.pools.map((plan, index) => openPool(world, mint, coin.priceUsd, plan, `${symbol} ${index}`))
  const locked = coin.pools.reduce((sum, { sideUsd }) => sum + sideUsd / coin.priceUsd, 0)
  spread(world, cast, address, units(Math.max(coin.supply - locked, coin.supply / 10), decimals))
  return { mint, pools }
}

/** The market of this seed, begun in one first slot of the bank. */
export const makeMarket = (options: {
  readonly seed: string
  readonly bank: Bank
  readonly swapsPerSecond: number
}): Market => {
  const { seed, bank, swapsPerSecond } = options
  const world = makeWorld(seed, bank)
  const { cast, wallets } = castOf(seed)
  const pools: Array<SimPool> = []
  const listings: Array<Listing> = []
  const mints: Array<SimMint> = [
    { symbol: "SOL", name: "Wrapped SOL", address: SOL, decimals: 9 },
    { symbol: "USDC", name: "USD Coin", address: USDC, decimals: 6 }
  ]

  const begin = (): ReadonlyArray<never> => {
    for (const { address, decimals } of mints) {
      world.newMint({ address, decimals, authority: null, freezeAuthority: null, transferFee: null })
    }
    fundCast(world, cast)
    const usdc = { address: USDC, decimals: 6 }
    const deep = solUsdcPools.map((plan, index) => openPool(world, usdc, 1, plan, `SOL-USDC ${index}`))
    pools.push(...deep)
    listings.push(listed(USDC, 6, 1, 0.03, deep))
    for (const coin of coins) {
      const { mint, pools: own } = listCoin(world, cast, coin)
      mints.push(mint)
      pools.push(...own)
      listings.push(listed(mint.address, mint.decimals, coin.priceUsd, coin.dailyVolatility, own))
    }
    return []
  }

  bank.produce(begin)
  const traders = makeTraders({ world, random: makeRandom(seed), cast, listings: () => listings, swapsPerSecond })
  return { mints, wallets, pools: () => pools, advance: () => bank.produce(traders.trade) }
}
