/**
 * Raydium LaunchLab curves as the program writes them: raydium-sdk-v2,
 * src/raydium/launchpad/curve/constantProductCurve.ts.
 */
import { readU64, newAccountData, writeAddress, writeU64 } from "../../programs/layout/bytes.ts"
import { outputFor } from "../../programs/math/constantProduct.ts"
import { ceilDiv } from "../../programs/math/integers.ts"
import {
  LAUNCHLAB_DEX,
  LAUNCHLAB_DISCRIMINATOR,
  LAUNCHLAB_PROGRAM,
  LAUNCHLAB_SIZE,
  launchLabAt as at,
  launchLabAuthority,
  launchLabMigrateType,
  launchLabStatus
} from "../../programs/raydium/launchLabLayout.ts"
import type { LaunchLabCurve } from "../../programs/raydium/launchLabLaunches.ts"
import { type Address, type Mint, SOL } from "../../domain/Address.ts"
import { inventAddress } from "../chain/addresses.ts"
import type { LaunchCurve } from "../chain/LaunchCurve.ts"
import { launchLabSwapCall } from "./launchLabCalls.ts"
import { exchange, newVaults, type Pair, type SimPool } from "../chain/SimPool.ts"
import type { World } from "../chain/World.ts"

/**
 * The parameters of every curve: a billion coins with six decimals, 793.1 million of them for sale, for about 85 SOL.
 */
export const launchLabCurve: LaunchLabCurve = {
  decimals: 6,
  supply: 1_000_000_000_000_000n,
  totalBaseSell: 793_100_000_000_000n,
  totalQuoteFundRaising: 85_000_000_000n,
  migrateType: launchLabMigrateType.cpmm
}

/**
 * Virtual liquidity of a curve. It makes the sale of all coins raise the target, and the unsold supply fill a pool at
 * the last price.
 */
const virtualLiquidity = ({ supply, totalBaseSell, totalQuoteFundRaising }: LaunchLabCurve) => {
  const forSale = (totalQuoteFundRaising * totalBaseSell) / (supply - totalBaseSell)
  const excess = forSale - totalQuoteFundRaising
  return {
    base: (forSale * totalBaseSell) / excess,
    quote: (totalQuoteFundRaising * totalQuoteFundRaising) / excess
  }
}

const FEE_SCALE = 1_000_000n
/** Fees in millionths of the quote side, for the protocol and for the platform. */
const rates = { protocol: 2_500n, platform: 7_500n }
const TOTAL_RATE = rates.protocol + rates.platform

const newState = (world: World, mint: Mint, creator: Address, vaults: Pair): Uint8Array => {
  const data = newAccountData(LAUNCHLAB_SIZE, LAUNCHLAB_DISCRIMINATOR)
  const { base, quote } = virtualLiquidity(launchLabCurve)
  data[at.baseDecimals] = launchLabCurve.decimals
  data[at.quoteDecimals] = 9
  data[at.migrateType] = launchLabCurve.migrateType
  writeU64(data, at.supply, launchLabCurve.supply)
  writeU64(data, at.totalBaseSell, launchLabCurve.totalBaseSell)
  writeU64(data, at.virtualBase, base)
  writeU64(data, at.virtualQuote, quote)
  writeU64(data, at.totalQuoteFundRaising, launchLabCurve.totalQuoteFundRaising)
  writeAddress(data, at.globalConfig, inventAddress(world.seed, "launchlab global config"))
  writeAddress(data, at.platformConfig, inventAddress(world.seed, "launchlab platform config"))
  writeAddress(data, at.baseMint, mint)
  writeAddress(data, at.quoteMint, SOL)
  writeAddress(data, at.baseVault, vaults.a)
  writeAddress(data, at.quoteVault, vaults.b)
  writeAddress(data, at.creator, creator)
  return data
}

/** What a trader pays and gets on a curve, and the fee in quote units. */
interface Trade {
  readonly amountIn: bigint
  readonly amountOut: bigint
  readonly fee: bigint
}

interface Reserves {
  readonly base: bigint
  readonly quote: bigint
  /** Coins still for sale. */
  readonly left: bigint
}

const reservesIn = (data: Uint8Array): Reserves => {
  const sold = readU64(data, at.realBase)
  return {
    base: readU64(data, at.virtualBase) - sold,
    quote: readU64(data, at.virtualQuote) + readU64(data, at.realQuote),
    left: readU64(data, at.totalBaseSell) - sold
  }
}

const feeOn = (amount: bigint): bigint => ceilDiv(amount * TOTAL_RATE, FEE_SCALE)

const sale = ({ base, quote }: Reserves, amountIn: bigint): Trade => {
  const gross = outputFor(amountIn, base, quote)
  const fee = feeOn(gross)
  return { amountIn, amountOut: gross - fee, fee }
}

/** A purchase. The last purchase takes the remaining coins and costs less than was offered. */
const purchase = ({ base, quote, left }: Reserves, offered: bigint): Trade => {
  const fee = feeOn(offered)
  const amountOut = outputFor(offered - fee, quote, base)
  if (amountOut < left) {
    return { amountIn: offered, amountOut, fee }
  }
  const net = ceilDiv(left * quote, base - left)
  const amountIn = ceilDiv(net * FEE_SCALE, FEE_SCALE - TOTAL_RATE)
  return { amountIn, amountOut: left, fee: amountIn - net }
}

/** The curve after a trade. */
const moved = (before: Uint8Array, sells: boolean, { amountIn, amountOut, fee }: Trade): Uint8Array => {
  const data = before.slice()
  const add = (offset: number, amount: bigint) => writeU64(data, offset, readU64(data, offset) + amount)
  const protocol = (fee * rates.protocol) / TOTAL_RATE
  add(at.realBase, sells ? -amountIn : amountOut)
  add(at.realQuote, sells ? -(amountOut + fee) : amountIn - fee)
  add(at.protocolFee, protocol)
  add(at.platformFee, fee - protocol)
  const { left } = reservesIn(data)
  data[at.status] = left === 0n ? launchLabStatus.complete : launchLabStatus.funding
  return data
}

/** A new coin's curve, which holds the coin's whole supply. */
export const newLaunchLabCurve = (world: World, mint: Mint, creator: Address): LaunchCurve => {
  const { bank } = world
  const name = (part: string) => inventAddress(world.seed, `${LAUNCHLAB_DEX} ${mint} ${part}`)
  const address = name("pool")
  const sides = { a: [mint, launchLabCurve.supply], b: [SOL, 0n] } as const
  const vaults = newVaults(world, launchLabAuthority(world.derive), sides, (side) => name(`vault ${side}`))
  const mints = { a: mint, b: SOL }
  world.newAccount(address, LAUNCHLAB_PROGRAM, newState(world, mint, creator, vaults))

  const dataNow = () => bank.must(address).data
  const open = () => dataNow()[at.status] === launchLabStatus.funding

  const plan: SimPool["plan"] = (aToB, wanted) => {
    const before = dataNow()
    const reserves = reservesIn(before)
    const trade = aToB ? sale(reserves, wanted) : purchase(reserves, wanted)
    // No sale can bring back more coins than the curve has sold.
    if (!open() || trade.amountOut <= 0n || (aToB && wanted > readU64(before, at.realBase))) {
      return null
    }
    return {
      ...trade,
      payments: exchange(aToB, mints, vaults, { in: trade.amountIn, out: trade.amountOut }),
      writes: [{ address, data: moved(before, aToB, trade) }]
    }
  }

  return {
    address,
    dex: LAUNCHLAB_DEX,
    programId: LAUNCHLAB_PROGRAM,
    mintA: mint,
    mintB: SOL,
    open,
    plan,
    call: launchLabSwapCall(world, { address, mints, vaults, part: name }),
    price: () => {
      const { base, quote } = reservesIn(dataNow())
      return Number(quote) / Number(base)
    },
    depth: () => {
      const { base, quote } = reservesIn(dataNow())
      return { a: Number(base), b: Number(quote) }
    },
    complete: () => !open(),
    // The fees stay in the vault.
    remains: () => ({
      tokens: { from: vaults.a, amount: launchLabCurve.supply - launchLabCurve.totalBaseSell },
      lamports: { from: vaults.b, amount: readU64(dataNow(), at.realQuote) }
    }),
    close: () => {
      const data = dataNow().slice()
      data[at.status] = launchLabStatus.migrated
      bank.put({ ...bank.must(address), data })
    }
  }
}
