/** PumpSwap pools as the program writes them. Account layouts: pump-fun/pump-public-docs. */
import { associatedAddress } from "../../programs/layout/tokenAccount.ts"
import { ceilDiv } from "../../programs/math/integers.ts"
import { outputFor } from "../../programs/math/constantProduct.ts"
import { type FeeRates, feeConfigOf, netOf, readFeeRates } from "../../programs/pump/fees.ts"
import { poolAuthorityOf, pumpSwap, pumpSwapPoolAt as at, pumpSwapPoolOf } from "../../programs/pump/pumpSwap.ts"
import { ANCHOR_POOL } from "../../programs/layout/anchor.ts"
import { isFailure } from "../../programs/layout/unpriceable.ts"
import { newAccountData, writeAddress, writeU64 } from "../../programs/layout/bytes.ts"
import type { Address, Mint } from "../../domain/Address.ts"
import { inventAddress } from "../chain/addresses.ts"
import { ensurePumpFees } from "./pumpFeeAccounts.ts"
import { pumpSwapCall } from "./pumpCalls.ts"
import { newVaults, type PoolSpec, priced, type SimPool, type Pair, vaultDepth } from "../chain/SimPool.ts"
import type { Settlement } from "../chain/Settlement.ts"
import { balanceOf, supplyOf } from "../chain/tokens.ts"
import type { World } from "../chain/World.ts"

export interface PumpSwapSpec extends PoolSpec {
  /** True when the coin's own curve created the pool. The fees then depend on the market cap. */
  readonly canonical: boolean
  /** Who gets the creator fee; null for a coin without one. */
  readonly creator: Address | null
  /** Accounts that pay the first deposit; null creates new money. */
  readonly depositors: Pair | null
}

/** The addresses derived from a pool's coin. */
const addressesOf = (world: World, { base, quote, canonical, label }: PumpSwapSpec) => {
  const creator = canonical
    ? poolAuthorityOf(base, world.derive)
    : inventAddress(world.seed, `pumpswap ${label} pool creator`)
  return { creator, pool: pumpSwapPoolOf(creator, base, quote, world.derive) }
}

const newState = (world: World, spec: PumpSwapSpec, vaults: Pair, poolCreator: Address): Uint8Array => {
  const data = newAccountData(300, ANCHOR_POOL)
  data[at.bump] = 255
  writeAddress(data, at.creator, poolCreator)
  writeAddress(data, at.baseMint, spec.base)
  writeAddress(data, at.quoteMint, spec.quote)
  writeAddress(data, at.lpMint, inventAddress(world.seed, `pumpswap ${spec.label} lp mint`))
  writeAddress(data, at.baseVault, vaults.a)
  writeAddress(data, at.quoteVault, vaults.b)
  writeU64(data, at.lpSupply, 4_193_388_362_450n)
  if (spec.creator !== null) {
    writeAddress(data, at.coinCreator, spec.creator)
  }
  return data
}

const share = (amount: bigint, bps: bigint): bigint => ceilDiv(amount * bps, 10_000n)

/** This owner's token account for the quote, where fees go. */
const feeAccount = (world: World, label: string, quote: Mint, owner: Address): Address => {
  const address = inventAddress(world.seed, `pumpswap ${label} ${quote}`)
  if (world.bank.get(address) === undefined) {
    world.newTokenAccount(address, quote, owner)
  }
  return address
}

/** Creates a filled pool with the coin as base. */
export const newPumpSwapPool = (world: World, spec: PumpSwapSpec): SimPool => {
  ensurePumpFees(world)
  const { bank } = world
  const { base, quote } = spec
  const { creator: poolCreator, pool: address } = addressesOf(world, spec)
  const ata = (mint: Mint) => associatedAddress(world.derive, address, mint, bank.must(mint).owner)
  const sides = { a: [base, spec.baseAmount], b: [quote, spec.quoteAmount] } as const
  const vaults = newVaults(world, address, sides, (side) => ata(sides[side][0]), spec.depositors)
  world.newAccount(address, pumpSwap.programId, newState(world, spec, vaults, poolCreator))
  const protocolOwner = inventAddress(world.seed, "pump fee recipient")
  const protocol = feeAccount(world, "protocol fees", quote, protocolOwner)
  const creator = spec.creator === null ? null : feeAccount(world, `creator fees ${spec.creator}`, quote, spec.creator)
  const feeConfig = feeConfigOf(pumpSwap.programId, world.derive)
  const current = priced(world, pumpSwap, [address, vaults.a, vaults.b, base])

  const ratesNow = (): FeeRates | null => {
    const marketCap = (balanceOf(bank.must(vaults.b)) * supplyOf(bank.must(base))) / balanceOf(bank.must(vaults.a))
    const rates = readFeeRates(bank.must(feeConfig), { quoteMint: quote, canonical: spec.canonical, marketCap })
    return isFailure(rates) ? null : { ...rates, creator: creator === null ? 0n : rates.creator }
  }

  /** The fees of protocol and creator on a quote amount, as payments from this account. */
  const dues = (from: Address | "trader", amount: bigint, rates: FeeRates): Settlement["payments"] => [
    { from, to: protocol, mint: quote, amount: share(amount, rates.protocol) },
    ...(creator === null ? [] : [{ from, to: creator, mint: quote, amount: share(amount, rates.creator) }])
  ]

  const sold = (amountIn: bigint, amountOut: bigint, rates: FeeRates): Settlement["payments"] => {
    const gross = outputFor(amountIn, balanceOf(bank.must(vaults.a)), balanceOf(bank.must(vaults.b)))
    return [
      { from: "trader", to: vaults.a, mint: base, amount: amountIn },
      { from: vaults.b, to: "trader", mint: quote, amount: amountOut },
      ...dues(vaults.b, gross, rates)
    ]
  }

  const bought = (amountIn: bigint, amountOut: bigint, rates: FeeRates): Settlement["payments"] => {
    // The curve prices one unit less than the amount that the trader's fees are charged on.
    const fees = dues("trader", netOf(amountIn, rates) + 1n, rates)
    const kept = fees.reduce((left, { amount }) => left - amount, amountIn)
    return [
      { from: "trader", to: vaults.b, mint: quote, amount: kept },
      { from: vaults.a, to: "trader", mint: base, amount: amountOut },
      ...fees
    ]
  }

  /** The liquidity providers' fee. It stays in the pool, and the curve does not price it. */
  const kept = (aToB: boolean, amountIn: bigint, amountOut: bigint, rates: FeeRates): bigint => {
    const gross = aToB ? outputFor(amountIn, balanceOf(bank.must(vaults.a)), balanceOf(bank.must(vaults.b))) : amountIn
    const others = dues(vaults.b, aToB ? gross : netOf(amountIn, rates) + 1n, rates).reduce(
      (sum, { amount }) => sum + amount,
      0n
    )
    return gross - others - (aToB ? amountOut : netOf(amountIn, rates))
  }

  const plan: SimPool["plan"] = (aToB, amountIn, clock) => {
    const swap = current()?.swap(aToB, amountIn, clock)
    const rates = swap?.ending === "filled" ? ratesNow() : null
    if (swap === undefined || rates === null) {
      return null
    }
    const payments = (aToB ? sold : bought)(amountIn, swap.amountOut, rates)
    return {
      amountIn,
      amountOut: swap.amountOut,
      fee: kept(aToB, amountIn, swap.amountOut, rates),
      payments,
      writes: []
    }
  }

  const depth = vaultDepth(world, vaults)
  return {
    address,
    dex: pumpSwap.dex,
    programId: pumpSwap.programId,
    mintA: base,
    mintB: quote,
    open: () => true,
    plan,
    call: pumpSwapCall(
      world,
      {
        address,
        mints: { a: base, b: quote },
        vaults,
        part: (part) => inventAddress(world.seed, `pumpswap ${spec.label} ${part}`)
      },
      {
        protocolOwner,
        protocol,
        creator: spec.creator === null || creator === null ? null : { owner: spec.creator, account: creator },
        rates: ratesNow
      }
    ),
    price: () => depth().b / depth().a,
    depth
  }
}
